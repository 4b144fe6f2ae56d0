//===- PreludeTests.cpp - Headers that are parsed once --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Contract.h"
#include "stark/AST/Footprint.h"
#include "stark/AST/Prelude.h"
#include "stark/AST/Toolkit.h"
#include "stark/Support/File.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace stark;

/// The toolkit's own headers are parsed only where they are the point.
static ParseOptions builtIn() {
  ParseOptions Options;
  Options.Toolkit = "none";
  return Options;
}

static std::unique_ptr<ParsedSource> parse(const std::string &Path,
                                           const std::string &Text,
                                           const Prelude *Known,
                                           const ParseOptions &Options) {
  auto Source = parseSource(Path, Text, Options, Known);
  EXPECT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  return std::move(*Source);
}

/// All that a search asks of \p Text as a candidate for \p Base.
static std::string found(const ParsedSource &Base, const std::string &Text,
                         const Prelude *Known, const ParseOptions &Options) {
  auto Candidate = parse(Base.path(), Text, Known, Options);
  std::string Result = findSites(*Candidate).toJson(*Candidate);
  for (const Violation &V : checkContract(Base, *Candidate, ""))
    Result += std::to_string(V.Line) + ": " + V.message() + "\n";
  llvm::raw_string_ostream OS(Result);
  findFootprint(Base.text(), {}, Candidate->text()).print(OS);
  return Result;
}

static void expectSame(const ParsedSource &Base, const Prelude &Known,
                       const std::string &Text, const ParseOptions &Options) {
  EXPECT_EQ(found(Base, Text, nullptr, Options),
            found(Base, Text, &Known, Options));
}

/// With sites, violations and errors in it.
static const char *const Damaged = R"(
#define TWICE(x) ((x) + (x))
#if defined(NOT_SO)
__global__ void skipped(float *p) { p[0] = 1; }
#elif __CUDA_ARCH__ >= 900
__global__ void seen(float *p) { p[threadIdx.x] = TWICE(sqrtf(p[0])); }
#endif
template <class T> __device__ T widest(T a, T b) { return max(a, b); }
__global__ void broken(float *p) { int n = nothing; p[0] = widest(p[0], 1.f) + n; }
static int kept;
void launch(float *p, cudaStream_t s) { ++kept; cudaMalloc(0, 0); seen<<<1, 32, 0, s>>>(p); }
#define printf puts
)";

// Sites, errors, contract and footprint are those of a parse that reads the
// headers, whatever stands after them.
TEST(Prelude, SameFindings) {
  const ParseOptions Options; // the installed toolkit
  for (const char *Name : {"softmax", "add_rmsnorm", "matmul"}) {
    std::string Path =
        std::string(STARK_EXAMPLES) + "/" + Name + "/" + Name + ".cu";
    auto Text = readFile(Path);
    ASSERT_TRUE(bool(Text));
    auto Base = parse(Path, *Text, nullptr, Options);
    auto Known = Prelude::make(*Base, Options);
    // Without a toolkit the stand-ins for its headers lack some types.
    if (!Known && !findToolkit(""))
      continue;
    ASSERT_TRUE(Known);
    expectSame(*Base, *Known, *Text, Options);
    expectSame(*Base, *Known, *Text + Damaged, Options);
    // A header of its own, before and after the others.
    expectSame(*Base, *Known, "#include <cmath>\n" + *Text, Options);
    expectSame(*Base, *Known, *Text + "#include <cassert>\n" + Damaged,
               Options);
  }
}

// A text that begins with other headers, or fewer, is none for it.
TEST(Prelude, Opens) {
  std::string Text = "// a comment\n#include <cuda_runtime.h>\n#  include "
                     "<stdint.h> // another\n#include \"own.h\"\n";
  auto Base = parse("/nowhere/a.cu", Text, nullptr, builtIn());
  auto Known = Prelude::make(*Base, builtIn());
  ASSERT_TRUE(Known);
  EXPECT_TRUE(Known->opens(Text));
  EXPECT_TRUE(Known->opens("#include <cuda_runtime.h>\n#include <stdint.h>"));
  EXPECT_TRUE(Known->opens(
      "#include <cuda_runtime.h>\n#include <stdint.h>\n#include <math.h>\n"));
  for (const char *Not :
       {"", "#include <cuda_runtime.h>\n", "__global__ void k();\n",
        "#define A\n#include <cuda_runtime.h>\n#include <stdint.h>\n",
        "#include <stdint.h>\n#include <cuda_runtime.h>\n",
        "#include \"cuda_runtime.h\"\n#include <stdint.h>\n",
        "#if 0\n#include <cuda_runtime.h>\n#include <stdint.h>\n#endif\n"})
    EXPECT_FALSE(Known->opens(Not)) << Not;
}

// What comes after a header that may be read again is not shared: <assert.h>
// says something else after NDEBUG was defined.
TEST(Prelude, UnguardedHeader) {
  std::string Text = "#include <stdint.h>\n#include <assert.h>\n#include "
                     "<stdlib.h>\n__device__ int one() { return 1; }\n";
  auto Base = parse("/nowhere/b.cu", Text, nullptr, builtIn());
  auto Known = Prelude::make(*Base, builtIn());
  ASSERT_TRUE(Known);
  EXPECT_TRUE(Known->opens("#include <stdint.h>\n"));
  expectSame(*Base, *Known, Text, builtIn());
}

// Errors in headers are told with each parse, so nothing is kept.
TEST(Prelude, BrokenHeader) {
  std::string Text = "#include <stark-no-such-header.h>\n";
  auto Base = parse("/nowhere/c.cu", Text, nullptr, builtIn());
  auto Known = Prelude::make(*Base, builtIn());
  ASSERT_TRUE(Known);
  EXPECT_TRUE(Known->opens("int i;\n"));
  expectSame(*Base, *Known, Text, builtIn());
}

// What is kept for all runs serves whatever the headers do not see of the
// flags, and nothing else.
TEST(Prelude, OfToolkit) {
  if (!findToolkit(""))
    GTEST_SKIP() << "there is no toolkit";
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("kept"));
  std::string At = Folder.path().str();
  const char *Before = std::getenv("STARK_CACHE_DIR");
  std::string Kept = Before ? Before : "";
  setenv("STARK_CACHE_DIR", (At + "/cache").c_str(), 1);
  for (const char *Name : {"/own/math.h", "/other/mine.h"})
    llvm::cantFail(writeFileAtomically(At + Name, "\n"));
  auto With = [](std::vector<std::string> Flags) {
    ParseOptions Options;
    Options.Flags = std::move(Flags);
    return Prelude::ofToolkit(Options);
  };
  const Prelude *Plain = With({});
  ASSERT_NE(Plain, nullptr);
  EXPECT_EQ(With({"-DSTARK_TEST_SIZE=32", "-I", At + "/other", "-O3"}), Plain);
  EXPECT_EQ(With({"-D__USE_GNU"}), nullptr);
  EXPECT_EQ(With({"-UCUDA_API_PER_THREAD_DEFAULT_STREAM"}), nullptr);
  EXPECT_EQ(With({"-I" + At + "/own"}), nullptr);
  EXPECT_EQ(With({"-isystem=" + findToolkit("")->Root + "/include"}), Plain);
  const Prelude *Newer = With({"-std=c++20"});
  EXPECT_NE(Newer, nullptr);
  EXPECT_NE(Newer, Plain);
  EXPECT_TRUE(Prelude::isToolkits("#include \"own.h\"\n", ParseOptions()));
  EXPECT_FALSE(Prelude::isToolkits("#include <cfloat>\n", ParseOptions()));
  EXPECT_FALSE(Prelude::isToolkits("#include \"own.h\"\n", builtIn()));
  EXPECT_EQ(Prelude::ofToolkit(builtIn()), nullptr);
  if (Before)
    setenv("STARK_CACHE_DIR", Kept.c_str(), 1);
  else
    unsetenv("STARK_CACHE_DIR");
}
