//===- ExtractTests.cpp - Code in headers as one source -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Extract.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <gtest/gtest.h>
#include <optional>

using namespace stark;

namespace {
class Extract : public testing::Test {
protected:
  void SetUp() override {
    Folder.emplace(llvm::cantFail(TemporaryFolder::create("extract")));
  }
  void header(const std::string &Name, const std::string &Text) {
    std::string Path = (Folder->path() + "/" + Name).str();
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(Path));
    ASSERT_FALSE(bool(writeFileAtomically(Path, Text)));
  }
  llvm::Expected<Extraction> extracted(const std::string &Source,
                                       std::vector<std::string> Entries = {
                                           "launch"}) {
    ParseOptions Options;
    Options.Toolkit = "none";
    Options.Flags = {("-I" + Folder->path() + "/inc").str()};
    auto Parsed = llvm::cantFail(
        parseSource((Folder->path() + "/k.cu").str(), Source, Options));
    return extractEntry(*Parsed, Options, Entries);
  }
  /// The text, which has to be cut to what is reached.
  std::string text(const std::string &Source) {
    llvm::Expected<Extraction> Made = extracted(Source);
    if (!Made)
      return llvm::toString(Made.takeError());
    EXPECT_EQ(Made->Level, ExtractLevel::Least) << Made->WhyMore;
    return Made->Text;
  }

  std::optional<TemporaryFolder> Folder;
};

bool has(llvm::StringRef Text, llvm::StringRef Part) {
  return Text.contains(Part);
}

const std::string Launch = "void launch(float *x) { k<<<1, 1>>>(x); }\n";
} // namespace

// What the entry reaches comes along, in its order and with its comments;
// nothing else of the headers does.
TEST_F(Extract, KeepsWhatIsReached) {
  header("k.cuh", R"(#pragma once
#include "util.cuh"
// Nobody calls this.
__global__ void other(float *x) { *x = 3; }

// Doubles.
__global__ void k(float *x) { *x = twice(*x) * SCALE; }
)");
  header("util.cuh", R"(#ifndef UTIL
#define UTIL
#define SCALE BASE
#define BASE 2
#define UNUSED 3
namespace {
// Twice.
__device__ float twice(float x) { return 2 * x; }
__device__ float thrice(float x) { return 3 * x; }
}
namespace empty { int f(); }
#endif
)");
  EXPECT_EQ(
      text("#include \"k.cuh\"\nint main() { other<<<1, 1>>>(0); }\n" + Launch),
      R"(// From util.cuh
#define SCALE BASE
#define BASE 2
namespace {
// Twice.
__device__ float twice(float x) { return 2 * x; }
}

// From k.cuh
// Doubles.
__global__ void k(float *x) { *x = twice(*x) * SCALE; }

// From k.cu
void launch(float *x) { k<<<1, 1>>>(x); }
)");
}

// Each line says where it is from.
TEST_F(Extract, NamesLines) {
  header("k.cuh", "\n\n__global__ void k(float *x) { *x = 1; }\n");
  std::string Lines =
      llvm::cantFail(extracted("#include \"k.cuh\"\n" + Launch)).Lines;
  EXPECT_TRUE(has(Lines, "#line 3 \"" + Folder->path().str() +
                             "/k.cuh\"\n__global__ void k("));
  EXPECT_TRUE(has(Lines, "#line 2 \"" + Folder->path().str() +
                             "/k.cu\"\nvoid launch("));
}

// A template comes with the specialisations that are used, and a call that only
// an instance resolves with what it resolves to.
TEST_F(Extract, FollowsInstances) {
  header("k.cuh", R"(
template <class T> struct Traits { static constexpr int N = 1; };
template <> struct Traits<float> { static constexpr int N = 4; };
template <> struct Traits<double> { static constexpr int N = 2; };
template <class T> struct Traits<T *> { static constexpr int N = 8; };
struct Yes { static constexpr bool Is = true; };
struct No { static constexpr bool Is = false; };
template <class T> struct Small : No {};
template <> struct Small<float> : Yes {};
namespace lib {
struct Vec { float x; };
__device__ float sum(const Vec &v) { return v.x; }
__device__ float sum(const Vec *v) { return v->x; }
}
template <class T> __device__ float total(T v) { return sum(v); }
template <class T, int N = Traits<T>::N, bool S = Small<T>::Is>
__global__ void kernel(T *x) {
  lib::Vec v{float(N)};
  x[0] = total(v);
}
)");
  std::string Text = text("#include \"k.cuh\"\n"
                          "void launch(float *x) { kernel<<<1, 1>>>(x); }\n");
  EXPECT_TRUE(has(Text, "struct Traits<float>"));
  EXPECT_TRUE(has(Text, "struct Small<float>"));
  EXPECT_FALSE(has(Text, "struct Traits<double>"));
  EXPECT_TRUE(has(Text, "sum(const Vec &v)"));
  EXPECT_TRUE(has(Text, "namespace lib {"));
}

// Of classes and templates stands there what the entry's instances use: no
// other members, and no definition of a template that nothing is made of.
TEST_F(Extract, LeavesOutWhatNoInstanceUses) {
  header("k.cuh", R"(
__device__ float slow(float x) { return x; }
template <class T, int N> struct Vec {
  T data[N];
  __device__ float slowly() { return slow(data[0]); }
  Vec(T x);
};
template <class T> struct Base {
  T x;
  __device__ virtual T called() { return x; }
  __device__ T by_macro() { return x; }
  __device__ T apart();
  __device__ T never_apart();
  template <class U> __device__ U never(U y) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      y += hidden(y);
    return y;
  }
  template <class U> [[nodiscard]] __device__
  U hidden(U y) { return y; }
};
template <class T> __device__ T Base<T>::apart() { return x; }
template <class T> __device__ T Base<T>::never_apart() { return x; }
#define CALL(of) of.by_macro()
template <class T> struct Vec<T, 4> : Base<T> {
  static __device__ T made(const Vec &v) { return CALL(v); }
  __device__ T all() { return this->apart() + CALL((*this)); }
};
template <int BYTES> struct Word {};
template <> struct Word<8> { using Type = double; static_assert(sizeof(Type) == 8); };
template <> struct Word<4> { using Type = float; static_assert(sizeof(Type) == 4); };
template <int I> struct Get { template <class T> __device__ static T of(T x); };
template <> template <class T> __device__ T Get<0>::of(T x) { return x; }
template <> template <class T> __device__ T Get<1>::of(T x) { return x + 1; }
template <class T> __global__ void kernel(T *x) {
  typename Word<sizeof(T)>::Type y = 0;
  Vec<T, 4> v;
  x[0] = v.all() + Get<1>::of(y);
}
)");
  std::string Text = text("#include \"k.cuh\"\n"
                          "void launch(float *x) { kernel<<<1, 1>>>(x); }\n");
  EXPECT_TRUE(has(Text, "template <class T, int N> struct Vec;\n"));
  EXPECT_TRUE(has(Text, "template <int BYTES> struct Word;\n"));
  EXPECT_TRUE(has(Text, "struct Word<4> {"));
  EXPECT_TRUE(has(Text, "Get<1>::of"));
  for (const char *Used : {"T called()", "T by_macro()", "T apart();",
                           "T all()", "T Base<T>::apart()"})
    EXPECT_TRUE(has(Text, Used)) << Used;
  for (const char *Never : {"slow", "never", "unroll", "hidden", "nodiscard",
                            "made", "Word<8>", "Get<0>"})
    EXPECT_FALSE(has(Text, Never)) << Never << " in " << Text;
}

// What is left out changes a value that leaves no trace in Clang's tree: then
// classes come whole.
TEST_F(Extract, KeepsClassesWholeWhereItHasTo) {
  header("k.cuh", R"(
template <int N> struct Size { static constexpr int Of = 1; };
template <> struct Size<4> { static constexpr int Of = 2; static_assert(Of == 2); };
struct Row { float x; void never(); };
template <int N, int M = Size<N>::Of>
__global__ void kernel(float *x) { Row r{*x}; *x = M * r.x * Size<1>::Of; }
)");
  llvm::Expected<Extraction> Made =
      extracted("#include \"k.cuh\"\nvoid launch(float *x) { kernel<4><<<1, "
                "1>>>(x); }\n");
  ASSERT_TRUE(bool(Made));
  EXPECT_TRUE(has(Made->Text, "struct Size<4>"));
  EXPECT_TRUE(has(Made->Text, "never"));
  EXPECT_EQ(Made->Level, ExtractLevel::Reached);
  EXPECT_TRUE(has(Made->WhyMore, "would mean something else"));
}

// A function of Clang's own stands where it is first called, and takes nothing
// along from there.
TEST_F(Extract, LeavesOutTheFirstCallOfABuiltin) {
  header("k.cuh", R"(
__device__ void first(float *x) { *x = __builtin_sqrtf(*x); }
__global__ void k(float *x) { *x += __builtin_sqrtf(*x); }
)");
  EXPECT_FALSE(has(text("#include \"k.cuh\"\n" + Launch), "first"));
}

// Lines that only rule a header off are no comment.
TEST_F(Extract, LeavesOutRulers) {
  header("k.cuh", R"(
struct A { float x; };

//////////////////////////

struct B : A {
  // of B
  //------
  float y; // ----
};

/* ==== */
__global__ void k(float *x) { B b; b.y = *x; *x = b.y; /* */ }
)");
  EXPECT_EQ(text("#include \"k.cuh\"\n" + Launch), R"(// From k.cuh
struct A { float x; };

struct B : A {
  // of B
  float y; // ----
};

__global__ void k(float *x) { B b; b.y = *x; *x = b.y; /* */ }

// From k.cu
)" + Launch);
}

// A branch that macros of the project choose stands alone; one that another
// architecture or compiler chooses stays, with all that it names.
TEST_F(Extract, KeepsConditionalsOfOthers) {
  header("k.cuh", R"(
#define FAST 1
#if FAST
#define STEP 2
#else
#define STEP 3
#endif
__device__ float old_way(float x) { return x; }
__device__ float new_way(float x) { return x; }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
__device__ float way(float x) { return old_way(x); }
#else
__device__ float way(float x) { return new_way(x); }
#endif
__global__ void k(float *x) { *x = way(*x) + STEP; }
)");
  std::string Text = text("#include \"k.cuh\"\n" + Launch);
  EXPECT_TRUE(has(Text, "#define STEP 2"));
  EXPECT_FALSE(has(Text, "STEP 3"));
  EXPECT_FALSE(has(Text, "#if FAST"));
  EXPECT_TRUE(has(Text, "__CUDA_ARCH__ < 700"));
  EXPECT_TRUE(has(Text, "float old_way(float x) {"));
}

// What a macro that nobody defines keeps out is out, whatever a toolkit says.
TEST_F(Extract, LeavesOutWhatFlagsKeepOut) {
  for (const char *If :
       {"#if defined(WITH_FP4) && CUDA_VERSION >= 12080",
        "#if CUDA_VERSION >= 12080 && (defined WITH_FP4)",
        "#if (__CUDACC_VER_MAJOR__ > 9 || CUDA_VERSION > 9) && WITH_FP4"}) {
    header("k.cuh",
           "template <class T> struct Vec { T x; };\n" + std::string(If) + R"(
struct Four {};
template <> struct Vec<Four> { char of_four; };
#else
#define STEP 2
#endif
__global__ void k(float *x) { Vec<float> v{x[0]}; x[0] = v.x + STEP; }
)");
    std::string Text = text("#include \"k.cuh\"\n" + Launch);
    EXPECT_FALSE(has(Text, "Four")) << If;
    EXPECT_FALSE(has(Text, "WITH_FP4")) << If;
    EXPECT_TRUE(has(Text, "#define STEP 2")) << If;
  }
  for (const char *If : {"#if defined(WITH_FP4) || __CUDA_ARCH__ < 100",
                         "#if !defined(WITH_FP4) && __CUDA_ARCH__ < 100",
                         "#if true && __CUDA_ARCH__ < 100",
                         "#if __CUDA_ARCH__ < 100 or X && WITH_FP4",
                         "#if defined(STEP) && __CUDA_ARCH__ < 100"}) {
    header("k.cuh", "#define STEP 2\n" + std::string(If) + R"(
__device__ float way(float x) { return x; }
#else
__device__ float way(float x) { return 2 * x; }
#endif
__global__ void k(float *x) { x[0] = way(x[0]) + STEP; }
)");
    EXPECT_TRUE(has(text("#include \"k.cuh\"\n" + Launch), If)) << If;
  }
}

// nvcc needs no `template` before a member's name. Clang does, and sees each
// instance whole with it: only what is used comes along.
TEST_F(Extract, PutsTheWordTemplateWhereClangWantsIt) {
  header("k.cuh", R"(
template <class T> struct To {
  template <unsigned N> __device__ static void all(T *to, const int *from);
};
template <class T> struct Vec { T x; };
template <> struct Vec<char> { char of_char; };
template <class T> template <unsigned N>
__device__ void To<T>::all(T *to, const int *from) {
  Vec<T> v{T(from[N])};
  to[0] = v.x;
}
template <class T>
__device__ void convert(T *to, const int *from) {
  To<T>::all<4>(
      to,
      from);
}
__global__ void k(float *x) { int of[5] = {}; convert(x, of); }
)");
  std::string Text = text("#include \"k.cuh\"\n" + Launch);
  EXPECT_TRUE(has(Text, "To<T>::template all<4>("));
  EXPECT_FALSE(has(Text, "of_char"));
}

// What the host's pass alone compiles comes along as well.
TEST_F(Extract, ReadsBothPasses) {
  header("k.cuh", R"(
#ifdef __CUDA_ARCH__
__device__ float f(float x) { return x; }
#else
inline float checked(float x) { return x; }
inline float f(float x) { return checked(x); }
#endif
__global__ void k(float *x) { *x = 1; }
)");
  std::string Text = text("#include \"k.cuh\"\n"
                          "#ifndef __CUDA_ARCH__\n"
                          "void launch(float *x) { k<<<1, 1>>>(x); f(1); }\n"
                          "#else\n"
                          "void launch(float *x) { k<<<1, 1>>>(x); }\n"
                          "#endif\n");
  EXPECT_TRUE(has(Text, "float checked(float x)"));
  EXPECT_TRUE(has(Text, "#ifdef __CUDA_ARCH__"));
}

// A header that is read several times, each time for something else, stands
// there as often.
TEST_F(Extract, RepeatsWhatIsReadAgain) {
  header("list.inc", "X(one)\nX(two)\n");
  std::string Text = text(R"(
enum Kind {
#define X(name) name,
#include "list.inc"
#undef X
};
#define X(name) __device__ int f_##name() { return name; }
#include "list.inc"
#undef X
__global__ void k(float *x) { *x = f_one() + f_two(); }
)" + Launch);
  EXPECT_EQ(llvm::StringRef(Text).count("X(one)"), 2u);
  EXPECT_EQ(llvm::StringRef(Text).count("#undef X"), 2u);
}

// A macro has, where it is used, the definition that it had there.
TEST_F(Extract, KeepsMacrosApart) {
  header("a.cuh", "#define N 4\n__device__ int a() { return N; }\n#undef N\n");
  header("b.cuh", "#define N 8\n__device__ int b() { return N; }\n");
  std::string Text = text("#include \"a.cuh\"\n#include \"b.cuh\"\n"
                          "__global__ void k(float *x) { *x = a() + b(); }\n" +
                          Launch);
  EXPECT_LT(Text.find("#define N 4"), Text.find("#undef N"));
  EXPECT_LT(Text.find("#undef N"), Text.find("#define N 8"));
}

// Kernels that macros make, braces that macros open, includes inside a
// namespace, linkage blocks, assertions, operators and aliases.
TEST_F(Extract, TakesWhatProjectsWrite) {
  header("ns.h", "#define OPEN namespace lib {\n#define CLOSE }\n");
  header("inner.inc", "__device__ float inner(float x) { return x + 1; }\n"
                      "__device__ float never(float x) { return x; }\n");
  header("k.cuh", R"(#include "ns.h"
#define KERNEL(name, op) __global__ void name(float *x) { *x = *x op 2; }
OPEN
#include "inner.inc"
struct P { float a; };
static_assert(sizeof(P) == 4, "packed");
__device__ P operator+(P l, P r) { return {l.a + r.a}; }
__device__ P operator-(P l, P r) { return {l.a - r.a}; }
using Pair = P;
CLOSE
extern "C" {
__device__ float plain(float x) { return x; }
}
KERNEL(mul, *)
using namespace lib;
__device__ constexpr int Tile = 4;
__device__ float table[Tile];
__global__ void k(float *x) {
  Pair p{inner(*x)};
  *x = (p + p).a + plain(*x) + table[0];
}
)");
  std::string Text = text("#include \"k.cuh\"\nvoid launch(float *x) {\n"
                          "  mul<<<1, 1>>>(x);\n  k<<<1, 1>>>(x);\n}\n");
  for (const char *Kept :
       {"OPEN\n", "CLOSE\n", "float inner(", "static_assert", "operator+",
        "using Pair", "extern \"C\" {", "KERNEL(mul, *)", "int Tile"})
    EXPECT_TRUE(has(Text, Kept));
  for (const char *Dropped : {"never", "operator-"})
    EXPECT_FALSE(has(Text, Dropped));
}

// A variable whose construction changes what is kept is kept; others are not.
TEST_F(Extract, KeepsConstructionsThatMatter) {
  std::string Text = text(R"(
static int steps = 1;
static int fill() { return steps = 4; }
static int filled = fill();
static int noise() { return 3; }
static int heard = noise();
__global__ void k(float *x, int n) { *x = n; }
void launch(float *x) { k<<<1, 1>>>(x, steps); }
)");
  EXPECT_TRUE(has(Text, "filled"));
  EXPECT_FALSE(has(Text, "heard"));
}

// Line ends and bytes that are no UTF-8 stay.
TEST_F(Extract, KeepsBytes) {
  header("k.cuh", "// gr\xfc\xdf\r\n__global__ void k(float *x) {\r\n}\r\n");
  std::string Text = text("#include \"k.cuh\"\r\n" + Launch);
  EXPECT_TRUE(has(Text, "// gr\xfc\xdf\r\n__global__ void k(float *x) {\r\n}"));
}

// What cannot be cut is kept whole, and it is said why.
TEST_F(Extract, KeepsMoreWhereItHasTo) {
  header("open.h", "__global__ void k(float *x) {\n");
  header("close.h", "}\n__device__ int unused;\n");
  llvm::Expected<Extraction> Made = extracted(
      "#include \"open.h\"\n*x = 1;\n#include \"close.h\"\n" + Launch);
  ASSERT_TRUE(bool(Made)) << llvm::toString(Made.takeError());
  EXPECT_EQ(Made->Level, ExtractLevel::Whole);
  EXPECT_TRUE(has(Made->WhyMore, "begins in one file"));
  EXPECT_TRUE(has(Made->Text, "unused"));
}

// Headers of the system stay includes.
TEST_F(Extract, LeavesOthersHeaders) {
  header("sys/lib.cuh", "__device__ float lib(float x) { return x; }\n");
  header("k.cuh", "#include <lib.cuh>\n"
                  "__global__ void k(float *x) { *x = lib(*x); }\n");
  ParseOptions Options;
  Options.Toolkit = "none";
  Options.Flags = {("-isystem" + Folder->path() + "/sys").str()};
  auto Parsed =
      llvm::cantFail(parseSource((Folder->path() + "/k.cu").str(),
                                 "#include \"k.cuh\"\n" + Launch, Options));
  Extraction Made = llvm::cantFail(extractEntry(*Parsed, Options, {"launch"}));
  EXPECT_TRUE(has(Made.Text, "#include <lib.cuh>"));
  EXPECT_FALSE(has(Made.Text, "float lib("));
  EXPECT_TRUE(Made.DeviceCode);
}

// Of these only the ones that bring something: a header itself where one names
// it, else the one that brings least; the source's own stay.
TEST_F(Extract, LeavesOutIncludesThatBringNothing) {
  header("sys/lib.cuh", "__device__ float lib(float x);\n");
  header("sys/all.cuh", "#include <lib.cuh>\n#include <deep.cuh>\n");
  header("sys/some.cuh", "#include <deep.cuh>\n");
  header("sys/deep.cuh", "#pragma once\nstruct Deep { float x; };\n"
                         "__device__ Deep operator+(Deep a, Deep b);\n");
  header("sys/macro.h", "#define TWICE(x) (2 * (x))\n");
  header("sys/space.h", "namespace space { __device__ float in(float x); }\n");
  header("sys/never.h", "struct Never {};\nnamespace apart { struct A; }\n");
  header("k.cuh", "#include <all.cuh>\n"
                  "#include <some.cuh>\n"
                  "#include <lib.cuh>\n"
                  "#include <never.h>\n"
                  "#include <macro.h>\n"
                  "#include <space.h>\n"
                  "namespace s = space;\n"
                  "namespace a = apart;\n"
                  "#define HERE(x) TWICE(lib(x))\n"
                  "__global__ void k(float *x) {\n"
                  "  Deep d{*x};\n"
                  "  *x = HERE(s::in(d.x));\n"
                  "}\n");
  header("sys/own.h", "struct Own {};\n");
  ParseOptions Options;
  Options.Toolkit = "none";
  Options.Flags = {("-isystem" + Folder->path() + "/sys").str()};
  auto Extracted = [&](const std::string &Source) {
    auto Parsed = llvm::cantFail(
        parseSource((Folder->path() + "/k.cu").str(), Source, Options));
    return llvm::cantFail(extractEntry(*Parsed, Options, {"launch"}));
  };
  Extraction Made =
      Extracted("#include <own.h>\n#include \"k.cuh\"\n" + Launch);
  EXPECT_EQ(Made.Level, ExtractLevel::Least) << Made.WhyMore;
  for (const char *Kept : {"<own.h>", "<some.cuh>", "<lib.cuh>", "<macro.h>",
                           "<space.h>", "namespace s = space"})
    EXPECT_TRUE(has(Made.Text, Kept)) << Kept << " in " << Made.Text;
  for (const char *Left : {"<all.cuh>", "<never.h>", "apart"})
    EXPECT_FALSE(has(Made.Text, Left)) << Left << " in " << Made.Text;
  // A header that reads what another had to read before it.
  header("sys/before.h", "#define FACTOR 2\n");
  header("sys/after.h",
         "inline __device__ float late(float x) { return x * FACTOR; }\n");
  header("k.cuh", "#include <before.h>\n#include <after.h>\n"
                  "__global__ void k(float *x) { *x = late(*x); }\n");
  Made = Extracted("#include \"k.cuh\"\n" + Launch);
  EXPECT_EQ(Made.Level, ExtractLevel::Used);
  EXPECT_TRUE(has(Made.Text, "<before.h>"));
  EXPECT_TRUE(has(Made.WhyMore, "FACTOR"));
}

// An entry that no file defines is a usage error that names it.
TEST_F(Extract, NamesAMissingEntry) {
  llvm::Expected<Extraction> Made = extracted("void launch() {}\n", {"f"});
  ASSERT_FALSE(bool(Made));
  EXPECT_TRUE(
      has(llvm::toString(Made.takeError()), "entry 'f' is not defined"));
}
