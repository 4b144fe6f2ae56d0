//===- DispatchTests.cpp - What of a winner is taken along  --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Dispatch.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
/// What stands in both texts: the kernel and the entry.
const std::string Kernel =
    "__global__ void k(float *x, int n) { if (n) x[0] = TWO; }\n";
const std::string Launch =
    "void launch(float *x, int n) { k<<<1, 1>>>(x, n); }\n";

std::unique_ptr<ParsedSource> parsed(const std::string &Text) {
  ParseOptions Options;
  Options.Toolkit = "none";
  return llvm::cantFail(parseSource("k.cu", Text, Options));
}

llvm::Expected<DispatchCut> cut(const std::string &Source,
                                const std::string &Winner,
                                const char *Entry = "launch") {
  return cutWinner(*parsed(Source), *parsed(Winner), Entry, "s");
}

/// Why \p Winner is refused; empty when it is not.
std::string refusal(const std::string &Source, const std::string &Winner,
                    const char *Entry = "launch") {
  llvm::Expected<DispatchCut> Cut = cut(Source, Winner, Entry);
  return Cut ? "" : llvm::toString(Cut.takeError());
}

using Names = std::vector<std::string>;
Names renamed(const std::string &Source, const std::string &Winner) {
  DispatchCut Cut = llvm::cantFail(cut(Source, Winner));
  llvm::sort(Cut.Renamed);
  return Cut.Renamed;
}
} // namespace

// Kept is what changed, what needs it, and nothing that the entry does not
// reach; what is the same exists once.
TEST(Dispatch, KeepsWhatChanged) {
  std::string Same = "__device__ float same(float v) { return v; }\n";
  std::string Before = "#define TWO 2.0f\n" + Same + Kernel + Launch;
  EXPECT_EQ(renamed(Before, "#define TWO 3.0f\n" + Same + Kernel + Launch),
            (Names{"k", "launch"}));
  EXPECT_EQ(renamed(Before, "#define TWO 2.0f\n" + Same +
                                "__device__ void never() {}\n" + Kernel +
                                "static const int grid = 2;\n"
                                "void launch(float *x, int n) {"
                                " k<<<grid, 1>>>(x, n); }\n"),
            (Names{"grid", "launch"}));
}

// A variable that changes exists once: both kernels see what was put into it.
TEST(Dispatch, VariablesExistOnce) {
  std::string Variable = "__constant__ float TWO;\n";
  EXPECT_EQ(renamed(Variable + Kernel + Launch,
                    Variable +
                        "__global__ void k(float *x, int n) {"
                        " x[0] = TWO; }\n" +
                        Launch),
            (Names{"k", "launch"}));
  EXPECT_EQ(refusal(Variable + Kernel + Launch,
                    "__constant__ float TWO = 2;\n" + Kernel + Launch),
            "variable 'TWO' would exist twice, since the winner changes it or "
            "its type");
}

// Names that a macro pastes together are followed, too.
TEST(Dispatch, PastedNames) {
  std::string Make =
      "#define MAKE(n) __device__ float value_##n() { return n; }\n"
      "MAKE(TWO)\n#define TWO value_TWO()\n";
  std::string Other = Make;
  Other.replace(Other.find("return n"), 8, "return 2 * n");
  EXPECT_TRUE(llvm::is_contained(
      renamed(Make + Kernel + Launch, Other + Kernel + Launch), "value_TWO"));
}

// What cannot be moved is refused by its name.
TEST(Dispatch, Refusals) {
  std::string Two = "#define TWO 2.0f\n", Three = "#define TWO 3.0f\n";
  auto Changed = [&](const std::string &Text, const char *Entry = "launch") {
    return refusal(Two + Text, Three + Text, Entry);
  };
  EXPECT_EQ(
      refusal(Two + Kernel + Launch, Two + Kernel + "// other\n" + Launch),
      "the winner changes nothing that entry 'launch' reaches");
  EXPECT_EQ(
      Changed(Kernel + "template <class T> void launch(T *x) {"
                       " k<<<1, 1>>>(x, 1); }\n",
              "launch<float>"),
      "entry 'launch<float>' is a template, whose instances other files may "
      "make");
  EXPECT_EQ(Changed(Kernel, "k"),
            "entry 'k' is a kernel, which its callers launch: there is no host "
            "function to choose in");
  EXPECT_EQ(Changed(Kernel + "struct P { static const int two = TWO; };\n"
                             "void launch(P p) { k<<<1, 1>>>(nullptr, 1); }\n"),
            "the winner changes 'P', a type of the entry's parameters");
  EXPECT_EQ(Changed("struct V { float v; };\n__device__ V operator+(V a, V b) {"
                    " return {TWO}; }\n" +
                    Kernel + Launch),
            "the winner changes the function 'operator+'");
  EXPECT_EQ(Changed("#define KERNEL(n) __global__ void n(float *x, int) {"
                    " x[0] = TWO; }\nKERNEL(k)\n" +
                    Launch),
            "a macro writes the kernel 'k'");
  EXPECT_EQ(
      refusal(Two + Kernel + Launch,
              Two +
                  "#ifdef __CUDA_ARCH__\n#define X 1\n#else\nint host;\n"
                  "#endif\n" +
                  Kernel +
                  "void launch(float *x, int n) { k<<<2, 1>>>(x, n); }\n"),
      "the winner changes text that is compiled for the host or another "
      "architecture alone");
  EXPECT_EQ(
      refusal(Two + Kernel + Launch,
              Two + "#if 1\n#include <cuda.h>\n#endif\n" + Kernel +
                  "void launch(float *x, int n) { k<<<2, 1>>>(x, n); }\n"),
      "line 3: the winner includes a header under a condition");
  EXPECT_EQ(refusal(Two + Kernel + Launch,
                    Two + Kernel +
                        "#if 1\nvoid launch(float *x, int n) {\n"
                        "#endif\n k<<<2, 1>>>(x, n); }\n"),
            "line 4: a conditional ends outside of the declaration that it "
            "begins in");
}

// What the entry's own text needs to be called again.
TEST(Dispatch, Signature) {
  std::string Text =
      "extern \"C\" void launch(float *x, int n = 1 + 2, int) { k<<<"
      "1, 1>>>(x, n); }\n";
  std::string Two = "#define TWO 2.0f\n" + Kernel + Text;
  DispatchCut Cut =
      llvm::cantFail(cut(Two, "#define TWO 3.0f\n" + Kernel + Text));
  EXPECT_EQ(Cut.Linkage, "extern \"C\" ");
  EXPECT_EQ(Cut.Head, "void ");
  EXPECT_EQ(Cut.Tail, "( float * x , int n = 1 + 2 , int arg2 ) ");
  EXPECT_EQ(Cut.WinnerTail, "( float * x , int n , int arg2 ) ");
  EXPECT_EQ(Cut.Arguments, "x, n, arg2");
}
