//===- HalvesTests.cpp - What each half of a candidate holds --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Halves.h"
#include "stark/AST/Prelude.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace stark;

namespace {
constexpr const char *Aten = R"(#pragma once
#include <brought.h>
#include <c10/util/Half.h>
namespace at {
using c10::Half;
struct Tensor {
  template <class T> T *data_ptr() const;
  int numel() const;
};
Tensor empty_like(const Tensor &);
Tensor relu(const Tensor &);
__device__ float gain(float);
} // namespace at
namespace c10_complex_math {
template <class T> at::Tensor exp(const at::Tensor &, T);
}
using c10_complex_math::exp;
#define TORCH_CHECK(c) ((c) ? 0 : 1)
#define TORCH_LIBRARY(name) static int before_##name; void name()
#define AT_LOOP(i, n) for (int i = 0; i < n; ++i)
#define AT_DISPATCH(...)                                                       \
  {                                                                            \
    { using scalar_t = float; __VA_ARGS__(); }                                 \
    { using scalar_t = double; __VA_ARGS__(); }                                \
  }
)";
constexpr const char *Half = R"(#pragma once
namespace c10 { struct Half { unsigned short x; }; }
)";
constexpr const char *Brought = R"(#pragma once
#define BROUGHT_MAX 7
__device__ inline float brought(float x) { return x; }
)";

/// A folder with something like torch's headers.
class HalvesTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("halves", Folder));
    write("torch/ATen/ATen.h", Aten);
    write("torch/c10/util/Half.h", Half);
    write("other/brought.h", Brought);
    write("user/mine.h", "void mine();\n");
    Options.Toolkit = "none";
    for (const char *Include : {"/torch", "/other"})
      Options.Flags.insert(Options.Flags.end(),
                           {"-isystem", (Folder + Include).str()});
    Options.Flags.insert(Options.Flags.end(), {"-I", (Folder + "/user").str()});
  }
  void TearDown() override { llvm::sys::fs::remove_directories(Folder); }

  void write(const char *Name, const char *Text) {
    std::string Path = (Folder + "/" + Name).str();
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(Path));
    llvm::Error E = writeFileAtomically(Path, Text);
    ASSERT_FALSE(bool(E)) << llvm::toString(std::move(E));
  }

  std::optional<Halves> tryApart(const std::string &Text) {
    auto Source = parseSource("/candidate.cu", Text, Options);
    EXPECT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
    return takeApart(**Source, {(Folder + "/torch").str()}, WhyNot);
  }
  Halves apart(const std::string &Text) {
    std::optional<Halves> Result = tryApart(Text);
    EXPECT_TRUE(Result) << WhyNot;
    return Result.value_or(Halves());
  }
  std::string whyNot(const std::string &Text) {
    EXPECT_FALSE(tryApart(Text));
    return WhyNot;
  }

  llvm::SmallString<128> Folder;
  ParseOptions Options;
  std::string WhyNot;
};
} // namespace

/// \p Text from the candidate's first line on, without the blanks that end
/// lines, and without lines that say nothing.
static std::string body(llvm::StringRef Text) {
  Text = Text.substr(Text.find("#line 1 \"/candidate.cu\"\n"));
  std::string Result;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (!Line.trim(" ;").empty() && !Line.starts_with("#line 1 \"/cand"))
      Result += Line.rtrim().str() + "\n";
  }
  return Result;
}

/// The line of the candidate on which \p Word stands in \p Half.
static size_t lineOf(llvm::StringRef Half, llvm::StringRef Word) {
  Half = Half.substr(Half.find("#line 1 \"/candidate.cu\"\n"));
  return Half.substr(0, Half.find(Word)).count('\n');
}

// The device gets kernels, the host declarations of them; lines stay.
TEST_F(HalvesTest, KernelsAndHost) {
  Halves H = apart("#include <ATen/ATen.h>\n"
                   "__device__ float twice(float x) {\n"
                   "  return x + x;\n"
                   "}\n"
                   "__global__ void k(const float *x, float *y, int n) {\n"
                   "  y[threadIdx.x] = twice(x[threadIdx.x]);\n"
                   "}\n"
                   "at::Tensor entry(const at::Tensor &x) {\n"
                   "  at::Tensor y = at::empty_like(x);\n"
                   "  k<<<1, dim3(32),\n"
                   "      0>>>(x.data_ptr<float>(), y.data_ptr<float>(), 3);\n"
                   "  return y;\n"
                   "}\n");
  EXPECT_EQ(body(H.Device),
            "__device__ float twice(float x) {\n"
            "  return x + x;\n"
            "}\n"
            "__global__ void k(const float *x, float *y, int n) {\n"
            "  y[threadIdx.x] = twice(x[threadIdx.x]);\n"
            "}\n");
  EXPECT_EQ(body(H.Host),
            "#include <ATen/ATen.h>\n"
            "__global__ void k(const float *x, float *y, int n) ;\n"
            "at::Tensor entry(const at::Tensor &x) {\n"
            "  at::Tensor y = at::empty_like(x);\n"
            "  (__cudaPushCallConfiguration(1 , dim3 ( 32 ) , 0) ? (void)0 : "
            "k\n"
            "(x.data_ptr<float>(), y.data_ptr<float>(), 3));\n"
            "  return y;\n"
            "}\n");
  EXPECT_EQ(lineOf(H.Device, "__global__"), 5u);
  EXPECT_EQ(lineOf(H.Host, "data_ptr"), 11u);
}

// Each kernel that a template makes for the host is instantiated by name, in
// the types that the device's half has.
TEST_F(HalvesTest, Templates) {
  std::string Kernel = "#include <ATen/ATen.h>\n"
                       "namespace ns { struct Op { float f; };\n"
                       "template <class T, int N, class F>\n"
                       "__global__ void k(T *x, F f) {} }\n";
  Halves H =
      apart(Kernel + "template <class T> void go(const at::Tensor &x) {\n"
                     "  ns::k<T, 4><<<1, 2>>>(x.data_ptr<T>(), ns::Op{1});\n"
                     "}\n"
                     "void entry(const at::Tensor &x) {\n"
                     "  AT_DISPATCH([&] { go<scalar_t>(x); });\n"
                     "  auto p = ns::k<int, 2, ns::Op>;\n"
                     "  p<<<1, 1>>>(x.data_ptr<int>(), {2});\n"
                     "}\n");
  for (const char *Line :
       {"template __global__ void ns::k<float, 4, ns::Op>(float *, ns::Op);\n",
        "template __global__ void ns::k<double, 4, ns::Op>(double *, ns::Op);",
        "template __global__ void ns::k<int, 2, ns::Op>(int *, ns::Op);\n"})
    EXPECT_NE(H.Device.find(Line), std::string::npos) << H.Device;
  EXPECT_NE(H.Host.find("? (void)0 : ns::k<T, 4>(x.data_ptr<T>()"),
            std::string::npos);
  EXPECT_NE(H.Host.find("(__cudaPushCallConfiguration(1 , 1) ? (void)0 : p("),
            std::string::npos);
  EXPECT_NE(H.Host.find("void k(T *x, F f) ;"), std::string::npos);

  H = apart(Kernel + "void entry(const at::Tensor &x) {\n"
                     "  ns::k<at::Half, 1><<<1, 1>>>(x.data_ptr<at::Half>(), "
                     "1);\n}\n");
  EXPECT_EQ(H.Device.find("#include <c10/util/Half.h>\n"), 0u) << H.Device;
  EXPECT_NE(H.Device.find("ns::k<c10::Half, 1, int>(c10::Half *, int);"),
            std::string::npos);

  EXPECT_EQ(whyNot(Kernel + "void entry(const at::Tensor &x) {\n"
                            "  ns::k<at::Tensor, 1><<<1, 1>>>(nullptr, 1);\n"
                            "}\n"),
            "'k' is made of a type that the device's half cannot name");
  EXPECT_EQ(whyNot(Kernel + "void entry(int *x) {\n"
                            "  struct L {};\n"
                            "  ns::k<int, 1><<<1, 1>>>(x, L());\n"
                            "}\n"),
            "'k' is made of a type that the device's half cannot name");
  EXPECT_EQ(whyNot(Kernel +
                   "template __global__ void ns::k<int, 1, int>(int *, int);\n"
                   "void entry(int *x) { ns::k<int, 1><<<1, 1>>>(x, 1); }\n"),
            "line 5 instantiates a template explicitly");
}

// A launch in a macro is edited where it is spelled, also when the kernel is
// the macro's parameter.
TEST_F(HalvesTest, Macros) {
  Halves H = apart("#include <ATen/ATen.h>\n"
                   "#define RUN(k, ...) \\\n"
                   "  k<<<1, \\\n"
                   "      2>>>(__VA_ARGS__)\n"
                   "#define ONE(T) one<T><<<1, 1>>>(x.data_ptr<T>())\n"
                   "template <class T> __global__ void one(T *) {}\n"
                   "__global__ void two(int) {}\n"
                   "void entry(const at::Tensor &x) {\n"
                   "  ONE(float); ONE(int);\n"
                   "  RUN(two, x.numel()); RUN((one<char>), nullptr);\n"
                   "}\n");
  EXPECT_NE(H.Host.find("  (__cudaPushCallConfiguration(1 , 2) ? (void)0 : "
                        "k\\\n(__VA_ARGS__))\n"),
            std::string::npos)
      << H.Host;
  EXPECT_NE(H.Host.find("(__cudaPushCallConfiguration(1 , 1) ? (void)0 : "
                        "one<T>(x.data_ptr<T>()))\n"),
            std::string::npos);
  for (const char *Made :
       {"one<float>(float *)", "one<int>(int *)", "one<char>(char *)"})
    EXPECT_NE(H.Device.find(Made), std::string::npos) << Made;
  EXPECT_NE(H.Device.find("#define ONE(T) one<T><<<1, 1>>>"),
            std::string::npos);
}

// Torch's is what names it, or names what does; the device's half loses it all.
TEST_F(HalvesTest, WhatIsTorchs) {
  Halves H = apart("#include <ATen/ATen.h>\n"
                   "using namespace at;\n"
                   "using at::Tensor;\n"
                   "using Both = Tensor;\n"
                   "struct Pair { Both a, b; };\n"
                   "struct Size { int n; };\n"
                   "constexpr int N = 4;\n"
                   "int calls = 0;\n"
                   "[[nodiscard]] static int add(int a) { return a + N; }\n"
                   "TORCH_LIBRARY(my) { calls = add(1); }\n"
                   "__global__ void k(Size s) { (void)(s.n + N); }\n"
                   "Pair entry(const Tensor &x) {\n"
                   "  TORCH_CHECK(x.numel());\n"
                   "  k<<<N, 1>>>(Size{3});\n"
                   "  return {x, x};\n"
                   "}\n");
  EXPECT_EQ(body(H.Device), "struct Size { int n; };\n"
                            "constexpr int N = 4;\n"
                            "__global__ void k(Size s) { (void)(s.n + N); }\n");
  EXPECT_NE(H.Host.find("using namespace at;\nusing at::Tensor;\n"),
            std::string::npos);
  EXPECT_EQ(whyNot("#include <ATen/ATen.h>\n"
                   "__device__ void f(const at::Tensor &x);\n"),
            "'f' is for the device and needs 'at::Tensor'");
  EXPECT_EQ(whyNot("#include <ATen/ATen.h>\n"
                   "__global__ void k(int n) { AT_LOOP(i, n) {} }\n"),
            "'k' is for the device and needs 'AT_LOOP'");
  EXPECT_EQ(whyNot("#include <ATen/ATen.h>\n"
                   "typedef at::Tensor T; struct S { T *t; };\n"
                   "__global__ void k(S s) {}\n"),
            "'k' is for the device and needs 'at::Tensor'");
}

// Torch's overloads for tensors and complex numbers are none that a kernel of
// plain numbers could mean.
TEST_F(HalvesTest, Overloads) {
  std::string Host = "void f(const at::Tensor &x) {\n"
                     "  k<<<1, 1>>>(x.data_ptr<float>());\n}\n";
  Halves H = apart("#include <ATen/ATen.h>\n"
                   "template <class T> __global__ void k(T *x) {\n"
                   "  x[0] = exp(x[0]);\n}\n" +
                   Host);
  EXPECT_NE(H.Device.find("x[0] = exp(x[0]);"), std::string::npos);
  EXPECT_EQ(whyNot("#include <ATen/ATen.h>\n"
                   "template <class T> __global__ void k(T *x) {\n"
                   "  x[0] = at::gain(x[0]);\n}\n" +
                   Host),
            "'k' is for the device and needs 'at::gain'");
}

// What only torch's headers included for a kernel is included in its half.
TEST_F(HalvesTest, WhatTorchBrings) {
  std::string Kernel = "__global__ void k(float *x) {\n"
                       "  x[0] = brought(BROUGHT_MAX);\n}\n";
  EXPECT_EQ(apart("#include <ATen/ATen.h>\n" + Kernel)
                .Device.find("#include <brought.h>\n"),
            0u);
  Halves H = apart("#include <brought.h>\n#include <ATen/ATen.h>\n" + Kernel);
  EXPECT_EQ(body(H.Device), "#include <brought.h>\n" + Kernel);
}

// What both sides call is in both halves; of what only the device calls the
// host sees nothing, and static kernels and unnamed namespaces get names.
TEST_F(HalvesTest, SharedAndUnnamed) {
  Halves H = apart("#include <ATen/ATen.h>\n"
                   "namespace {\n"
                   "struct F { __device__ int f() { return threadIdx.x; } };\n"
                   "__host__ __device__ int both(int x) { return x; }\n"
                   "__host__ __device__ int other(int x) { return x; }\n"
                   "__constant__ int taps[2] = {1, 2};\n"
                   "static __global__ void k(F f, int *x) {\n"
                   "  x[0] = f.f() + both(1) + other(2) + taps[0];\n"
                   "}\n"
                   "}\n"
                   "extern \"C\" __global__ void c(int) {}\n"
                   "void entry(const at::Tensor &x) {\n"
                   "  k<<<both(1), 2>>>(F(), x.data_ptr<int>());\n"
                   "  cudaFuncSetAttribute(c, cudaFuncAttribute(8), 100);\n"
                   "}\n");
  EXPECT_EQ(body(H.Host).substr(0, body(H.Host).find("void entry")),
            "#include <ATen/ATen.h>\n"
            "inline namespace stark_unnamed {\n"
            "struct F { __device__ int f() ;                        };\n"
            "__host__ __device__ int both(int x) { return x; }\n"
            "       __global__ void k(F f, int *x) ;\n"
            "}\n"
            "extern \"C\" __global__ void c(int) ;\n");
  EXPECT_NE(H.Device.find("inline namespace stark_unnamed {\n"),
            std::string::npos);
  // Weak there: the host's half defines it too.
  EXPECT_NE(H.Device.find("inline __host__ __device__ int both(int x)"),
            std::string::npos);
  EXPECT_NE(H.Device.find("\n       __global__ void k(F f, int *x) {"),
            std::string::npos);
}

// Where a half would not be what nvcc makes of the whole, there is none.
TEST_F(HalvesTest, NotTakenApart) {
  std::string Include = "#include <ATen/ATen.h>\n";
  EXPECT_EQ(
      whyNot(Include + "int a = gone;\n"),
      "Clang does not understand it: use of undeclared identifier 'gone'");
  EXPECT_EQ(whyNot(Include + "#include \"mine.h\"\n"), "it includes 'mine.h'");
  EXPECT_EQ(whyNot(Include + "__device__ int n;\n"
                             "void f() { (void)sizeof(n); }\n"),
            "the host uses the device's variable 'n'");
  EXPECT_EQ(whyNot(Include + "#ifdef __CUDACC__\nint a;\n#endif\n"),
            "line 2 asks for '__CUDACC__'");
  EXPECT_EQ(whyNot(Include + "#if BROUGHT_MAX > 3\nint a;\n#endif\n"),
            "line 2 asks for 'BROUGHT_MAX'");
  EXPECT_EQ(whyNot(Include + "#if __CUDA_ARCH__ > 3\nint a;\n#endif\n"),
            "line 2 asks for '__CUDA_ARCH__'");
  EXPECT_EQ(whyNot(Include + "#define KERNEL(n) __global__ void n() {}\n"
                             "KERNEL(k)\nvoid f() { k<<<1, 1>>>(); }\n"),
            "a macro writes the kernel 'k'");
  EXPECT_EQ(whyNot(Include + "struct S { int n; } s;\n"),
            "'S' and 's' are declared by one text");
  EXPECT_EQ(whyNot(Include + "#define OPEN <<<\n"
                             "__global__ void k() {}\n"
                             "void f() { k OPEN 1, 1>>>(); }\n"),
            "the launch in line 2 is not written in one piece");
}

// A conditional of its own macros stays, and so does one on the architecture
// in a kernel.
TEST_F(HalvesTest, Conditionals) {
  Halves H = apart("#include <ATen/ATen.h>\r\n"
                   "#define FAST 1\r\n"
                   "__global__ void k(int *x) {\r\n"
                   "#if __CUDA_ARCH__ >= 800 && FAST\r\n"
                   "  x[0] = 1;\r\n"
                   "#endif\r\n"
                   "}\r\n"
                   "#if FAST\r\n"
                   "void entry(int *x) { k<<<1, 1>>>(x); }\r\n"
                   "#else\r\n"
                   "void entry(int *x) { k<<<1, 2>>>(x); }\r\n"
                   "#endif\r\n");
  EXPECT_EQ(lineOf(H.Host, "void entry"), 9u);
  EXPECT_EQ(llvm::StringRef(H.Device).count("#if"), 2u);
  EXPECT_EQ(llvm::StringRef(H.Host).count("#endif\r\n"), 2u) << H.Host;
}

// Without kernels g++ gets the text as it is.
TEST_F(HalvesTest, NoKernels) {
  std::string Text = "#include <ATen/ATen.h>\n"
                     "at::Tensor f(const at::Tensor &x) { return relu(x); }\n";
  Halves H = apart(Text);
  EXPECT_EQ(H.Device, "");
  EXPECT_EQ(H.Host, Text);
}

// What flags include lies in a text of its own, at bytes that this one has,
// too.
TEST_F(HalvesTest, Long) {
  std::string Text = "#include <ATen/ATen.h>\n";
  for (unsigned I = 0; I < 2000; ++I)
    Text += "__device__ int d" + std::to_string(I) + "(int a) { return a; }\n";
  Halves H = apart(Text + "__global__ void k(int *x) { *x = d7(1); }\n"
                          "void f(const at::Tensor &x) { k<<<1, 2>>>(0); }\n");
  EXPECT_EQ(lineOf(H.Device, "__global__"), 2002u);
  EXPECT_EQ(lineOf(H.Host, "at::Tensor"), 2003u);
}

// Without libtorch a header of the project goes to both halves, unless it has
// something of the device's or asks who reads it.
TEST_F(HalvesTest, HeadersOfTheProject) {
  auto Apart = [&](const char *Header) {
    write("user/own.h", Header);
    auto Source = parseSource("/candidate.cu",
                              "#include \"own.h\"\n"
                              "__global__ void k(float *x) { x[0] = own; }\n"
                              "void f(float *x) { k<<<own, 1>>>(x); }\n",
                              Options);
    EXPECT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
    return takeApart(**Source, {}, WhyNot, KernelsOfHost::Stubs);
  };
  std::optional<Halves> Result = Apart("enum { own = 3 };\n");
  ASSERT_TRUE(Result) << WhyNot;
  for (const std::string &Half : {Result->Device, Result->Host})
    EXPECT_NE(Half.find("#include \"own.h\""), std::string::npos) << Half;
  for (const char *Header :
       {"#ifdef __CUDACC__\nenum { own = 3 };\n#else\nenum { own = 4 };\n"
        "#endif\n",
        "enum { own = 3 };\n__device__ inline int other() { return 1; }\n"}) {
    EXPECT_FALSE(Apart(Header)) << Header;
    EXPECT_EQ(WhyNot, "it includes 'own.h'");
  }
}

// Headers that were read before say the same.
TEST_F(HalvesTest, Prelude) {
  std::string Text = "#include <ATen/ATen.h>\n"
                     "__global__ void k(float *x) { x[0] = brought(1); }\n"
                     "void f(const at::Tensor &x) {\n"
                     "  k<<<1, max(1, 2)>>>(x.data_ptr<float>());\n}\n";
  auto Source = parseSource("/candidate.cu", Text, Options);
  ASSERT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  std::unique_ptr<const Prelude> Known = Prelude::make(**Source, Options);
  ASSERT_TRUE(Known);
  auto Again = parseSource("/candidate.cu", Text, Options, Known.get());
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  std::optional<Halves> Result =
      takeApart(**Again, {(Folder + "/torch").str()}, WhyNot);
  ASSERT_TRUE(Result) << WhyNot;
  Halves H = apart(Text);
  EXPECT_EQ(Result->Device, H.Device);
  EXPECT_EQ(Result->Host, H.Host);
}

// From 12.8 on nvcc would keep what templates make to itself.
TEST(Halves, DeviceFlags) {
  Toolkit Cuda;
  Cuda.Major = 12;
  EXPECT_TRUE(deviceFlags(Cuda).empty());
  Cuda.Minor = 8;
  EXPECT_EQ(deviceFlags(Cuda).size(), 1u);
}

// A developer's way in, for tests that run compilers: takes the file
// STARK_HALVES_FILE apart, with the include folders STARK_HALVES_TORCH (a:b),
// into STARK_HALVES_OUT.cu and .cpp.
TEST(Halves, OfFile) {
  const char *File = std::getenv("STARK_HALVES_FILE");
  const char *Out = std::getenv("STARK_HALVES_OUT");
  const char *Torch = std::getenv("STARK_HALVES_TORCH");
  if (!File || !Out || !Torch)
    GTEST_SKIP() << "STARK_HALVES_FILE, _OUT or _TORCH is not set";
  llvm::SmallVector<llvm::StringRef> Parts;
  llvm::StringRef(Torch).split(Parts, ':');
  std::vector<std::string> Folders;
  ParseOptions Options;
  for (llvm::StringRef Part : Parts) {
    Folders.push_back(Part.str());
    Options.Flags.insert(Options.Flags.end(), {"-isystem", Part.str()});
  }
  auto Text = readFile(File);
  ASSERT_TRUE(bool(Text)) << llvm::toString(Text.takeError());
  auto Source = parseSource(File, *Text, Options);
  ASSERT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  std::string WhyNot;
  std::optional<Halves> Result = takeApart(**Source, Folders, WhyNot);
  ASSERT_TRUE(Result) << "not taken apart: " << WhyNot;
  for (auto [Suffix, Half] :
       {std::pair{".cu", Result->Device}, std::pair{".cpp", Result->Host}}) {
    llvm::Error E = writeFileAtomically(std::string(Out) + Suffix, Half);
    ASSERT_FALSE(bool(E)) << llvm::toString(std::move(E));
  }
}
