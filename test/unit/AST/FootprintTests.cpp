//===- FootprintTests.cpp - Who is blamed for what ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Footprint.h"
#include "stark/Support/Random.h"
#include <ctime>
#include <gtest/gtest.h>

using namespace stark;

namespace {
/// A base with anchors written as «...», and a candidate.
struct Trial {
  std::string Base;
  std::vector<Anchor> Anchors;
  Footprint Print;

  Trial(std::string Marked, const std::string &Candidate) {
    while (true) {
      size_t Open = Marked.find("«");
      if (Open == std::string::npos)
        break;
      Marked.erase(Open, std::string("«").size());
      size_t Close = Marked.find("»");
      Marked.erase(Close, std::string("»").size());
      Anchor A;
      A.Bytes = {Open, Close};
      Anchors.push_back(A);
    }
    Base = Marked;
    Print = findFootprint(Base, Anchors, Candidate);
  }
  std::string complaints(Grounding G = Grounding::Support) const {
    std::string Result;
    for (const std::string &Line : Print.complaints(G))
      Result += Line + "\n";
    return Result;
  }
};
} // namespace

static const char *const Source = R"(#include <x.h>
__global__ void k(const float *x, float *y, int n) {
  int i = threadIdx.x;
  «for (; i < n; i += 32) {
    y[i] = x[i];
  }»
  y[0] = 1;
}
void other() { work(); }
void launch(const float *x, float *y, int n) {
  int block = 256;
  dim3 grid((n + 255) / 256);
  if (n == 0)
    return;
  k<<<grid, block>>>(x, y, n);
  check(n);
}
)";

static std::string plain(std::string Text) {
  for (const char *Quote : {"«", "»"})
    for (size_t At; (At = Text.find(Quote)) != std::string::npos;)
      Text.erase(At, std::string(Quote).size());
  return Text;
}

static std::string edited(const std::string &From, const std::string &To,
                          std::string Text = plain(Source)) {
  size_t At = Text.find(From);
  EXPECT_NE(At, std::string::npos) << From;
  return Text.replace(At, From.size(), To);
}

TEST(Footprint, SameTokensNoChange) {
  Trial T(Source, edited("y[0] = 1;", "y[0]=1; // now with a comment"));
  EXPECT_TRUE(T.Print.Changes.empty());
}

TEST(Footprint, InsideAnAnchor) {
  Trial T(Source, edited("y[i] = x[i];", "y[i] = __ldg(x + i);"));
  ASSERT_EQ(T.Print.Changes.size(), 1u);
  EXPECT_EQ(T.Print.Changes[0].Why.changeClass(), ChangeClass::Inside);
  EXPECT_TRUE(T.Print.grounded(Grounding::Strict));
}

// An insertion at either end of an anchor is inside it.
TEST(Footprint, AtTheEndsOfAnAnchor) {
  Trial Before(Source, edited("for (; i", "float s = 0;\n  for (; i"));
  EXPECT_TRUE(Before.Print.grounded(Grounding::Strict));
  Trial After(Source, edited("x[i];\n  }", "x[i];\n  }\n  { more(); }"));
  EXPECT_TRUE(After.Print.grounded(Grounding::Strict));
}

// A brace added inside is not blamed on the same brace outside.
TEST(Footprint, BracesAreNotConfused) {
  Trial T(Source, edited("y[i] = x[i];\n  }",
                         "if (i) {\n      y[i] = x[i];\n    }\n  }\n  {\n  }"));
  EXPECT_TRUE(T.Print.grounded(Grounding::Strict)) << T.complaints();
}

TEST(Footprint, OneLineOutsideIsNamed) {
  Trial T(Source, edited("y[0] = 1;", "y[0] = 2;"));
  EXPECT_EQ(
      T.complaints(),
      "line 7 is changed, but no anchor covers it (in function 'k'): line "
      "7 of the base has 'y[0] = 1;', the candidate 'y[0] = 2;'\n");
  EXPECT_TRUE(T.Print.grounded(Grounding::Off));
}

TEST(Footprint, InsideAndOutsideAtOnce) {
  Trial T(Source, edited("work();", "work(1);",
                         edited("y[i] = x[i];", "y[i] = 2 * x[i];")));
  ASSERT_EQ(T.Print.Changes.size(), 2u);
  EXPECT_EQ(T.Print.Changes[0].Why.changeClass(), ChangeClass::Inside);
  EXPECT_NE(T.complaints().find("line 9 is changed"), std::string::npos);
}

TEST(Footprint, AddedAndRemovedLines) {
  Trial Added(Source, edited("  check(n);", "  check(n);\n  check(n);"));
  EXPECT_NE(Added.complaints().find("line 17 is changed, but no anchor covers "
                                    "it (in function 'launch'): 'check(n);' is "
                                    "new"),
            std::string::npos)
      << Added.complaints();
  Trial Removed(Source, edited("  check(n);\n", ""));
  EXPECT_NE(Removed.complaints().find("'check(n);' of line 16 of the base is "
                                      "gone"),
            std::string::npos)
      << Removed.complaints();
  Trial Function(Source, edited("void other() { work(); }\n", ""));
  EXPECT_NE(Function.complaints().find("removes function 'other'"),
            std::string::npos)
      << Function.complaints();
}

TEST(Footprint, SupportingDeclarations) {
  for (std::string New :
       {"#include <cub/cub.cuh>\n", "#define TILE 32\n", "#pragma unroll\n",
        "static __device__ float sum(float v) { return v; }\n",
        "template <int N> struct Tile { float v[N]; };\n",
        "__device__ float sum(float);\n", "namespace fast { int a(); }\n",
        "using F4 = float4;\n", "constexpr int Block = 128;\n",
        "#if __CUDA_ARCH__ >= 900\n__device__ int a() { return 1; }\n#else\n"
        "__device__ int a() { return 0; }\n#endif\n",
        "template <typename T, int N = 4>\n__global__ void k2(T *x) {}\n"}) {
    Trial T(Source, edited("__global__ void k", New + "__global__ void k"));
    EXPECT_TRUE(T.Print.grounded(Grounding::Support)) << New << T.complaints();
    EXPECT_FALSE(T.Print.grounded(Grounding::Strict)) << New;
  }
}

TEST(Footprint, DeclarationsThatDoNotSupport) {
  for (std::string New :
       {"#define check(n) 0\n", "#define work other\n", "#undef block\n",
        "#if 0\n", "namespace n {\n", "}\n", "void other(int) {}\n",
        "#line 7\n", "#define CLOSE }\n", "#define OPEN(x) f(x\n",
        "%:define work other\n"}) {
    Trial T(Source, edited("void other", New + "void other"));
    EXPECT_FALSE(T.Print.grounded(Grounding::Support)) << New;
  }
  // Both halves of a conditional around old text.
  Trial If(Source, edited("void other() { work(); }",
                          "#if 0\nvoid other() { work(); }\n#endif"));
  EXPECT_FALSE(If.Print.grounded(Grounding::Support));
}

TEST(Footprint, LaunchOfAnAnchoredKernel) {
  for (auto [From, To] : std::vector<std::pair<std::string, std::string>>{
           {"int block = 256;", "int block = 128;"},
           {"dim3 grid((n + 255) / 256);",
            "int per = 4;\n  dim3 grid((n + per - 1) / per);"},
           {"k<<<grid, block>>>(x, y, n);", "k<<<grid, block, 64>>>(x, y, n);"},
           {"k<<<grid, block>>>(x, y, n);",
            "if (n > 1024)\n    k<<<grid, block>>>(x, y, n);\n  else\n    "
            "k<<<1, block>>>(x, y, n);"},
           {"k<<<grid, block>>>(x, y, n);",
            "cudaFuncSetAttribute(k, a, 1);\n  k<<<grid, block>>>(x, y, n);"},
           {"k<<<grid, block>>>(x, y, n);",
            "auto f = k;\n  f<<<grid, block>>>(x, y, n);"}}) {
    Trial T(Source, edited(From, To));
    EXPECT_TRUE(T.Print.grounded(Grounding::Support)) << To << T.complaints();
    EXPECT_FALSE(T.Print.grounded(Grounding::Strict)) << To;
  }
}

TEST(Footprint, WhatIsNotThatLaunch) {
  for (auto [From, To] : std::vector<std::pair<std::string, std::string>>{
           {"check(n);", "k2<<<1, 1>>>();"},
           {"check(n);", "check(block);"},
           {"check(n);", "cudaMemset(y, 0, n);\n  check(n);"},
           {"if (n == 0)", "if (n == 1)"},
           {"int block = 256;", "int block = 256; n = 3;"},
           {"void launch(", "int launch("},
           {"k<<<grid, block>>>(x, y, n);", ""}}) {
    Trial T(Source, edited(From, To));
    EXPECT_FALSE(T.Print.grounded(Grounding::Support)) << To;
  }
}

// A helper beside a kernel that is anchored as a whole, and a new signature of
// it with its forward declaration.
TEST(Footprint, WholeKernel) {
  std::string Base = "void h();\n__global__ void k(int *);\n"
                     "«__global__ void k(int *x) { *x = 1; }»\nvoid g() {}\n";
  Trial Helper(Base, edited("__global__ void k(int *x)",
                            "__device__ int one() { return 1; }\n"
                            "__global__ void k(int *x)",
                            plain(Base)));
  EXPECT_TRUE(Helper.Print.grounded(Grounding::Strict)) << Helper.complaints();
  Trial Signature(Base, "void h();\n__global__ void k(int *, int);\n"
                        "__global__ void k(int *x, int v) { *x = v; }\n"
                        "void g() {}\n");
  EXPECT_TRUE(Signature.Print.grounded(Grounding::Support))
      << Signature.complaints();
}

// Text added far from an anchor does not count as the anchor's, however much.
TEST(Footprint, AppendedTextIsNotTheAnchors) {
  std::string Base = "namespace n {\n«__global__ void k() { a(); }»\n}\n"
                     "void launch() { k<<<1, 1>>>(); done(); }\n";
  std::string More;
  for (int I = 0; I < 30; ++I)
    More += "static int f" + std::to_string(I) + "() { return 1; }\n";
  Trial T(Base, edited("a();", "b();", plain(Base)) + More);
  ASSERT_EQ(T.Print.Changes.size(), 31u);
  EXPECT_EQ(T.Print.Changes[0].Why.changeClass(), ChangeClass::Inside);
  EXPECT_EQ(T.Print.Changes[0].CandidateEndLine, 2u);
  EXPECT_FALSE(T.Print.grounded(Grounding::Strict));
  std::string Long;
  for (int I = 0; I < 40; ++I)
    Long += "  extra(" + std::to_string(I) + ");\n";
  Trial U(Source, edited("  y[0] = 1;\n", "  y[0] = 1;\n" + Long));
  EXPECT_EQ(U.complaints().substr(0, 24), "lines 8 to 47 are change")
      << U.complaints();
}

// An anchor's text may not close what stands around it.
TEST(Footprint, AnchorsCannotBreakOut) {
  Trial T(Source,
          edited("y[i] = x[i];\n  }", "y[i] = x[i];\n  } } void evil() { {"));
  EXPECT_FALSE(T.Print.grounded(Grounding::Support));
  Trial If(Source, edited("y[i] = x[i];\n  }", "y[i] = x[i];\n  }\n#if 0\n"));
  EXPECT_FALSE(If.Print.grounded(Grounding::Support));
  Trial Macro(Source, edited("y[i] = x[i];\n  }",
                             "y[i] = x[i];\n  }\n#define check(n)\n"));
  EXPECT_FALSE(Macro.Print.grounded(Grounding::Support));
}

// No token outside changes, yet the lines outside mean something else.
TEST(Footprint, AnchorsCannotCaptureWhatFollows) {
  std::string Base = "void f(int c) {\n  «a();»\n  while (c) { b(); }\n"
                     "  if (c)\n    «d();»\n  else\n    e();\n"
                     "  for (;;)\n    «g();»\n  h();\n}\n"
                     "«void w() {}»\nvoid z() {}\n";
  auto Got = [&](std::string From, std::string To) {
    return Trial(Base, edited(From, To, plain(Base))).complaints();
  };
  for (auto [From, To] : std::vector<std::pair<std::string, std::string>>{
           {"a();", "a(); if (0)"},
           {"a();", "a(); do { a(); }"},
           {"a();", "a(); else"},
           {"a();", "if (c) {} else"},
           {"a();", "struct S { int v; }"},
           {"a();", "auto l = [] {}"},
           {"a();", "a(); label:"},
           {"d();", "if (c > 1) d();"},
           {"d();", ""},
           {"g();", ""},
           {"void w() {}", "void w() {} static"},
           {"void w() {}", "void w() {} template <int N>"},
           {"void w() {}", "void w() {}\nstruct S {}"},
           {"void w() {}", "void w() {} __attribute__((weak))"}})
    EXPECT_NE(Got(From, To), "") << To;
  for (auto [From, To] : std::vector<std::pair<std::string, std::string>>{
           {"a();", ""},
           {"a();", "do { a(); } while (c);"},
           {"a();", "if (c) a(); else b();"},
           {"a();", "while (c) a();"},
           {"a();", "int v[] = {1, 2};"},
           {"d();", "{ if (c > 1) d(); }"},
           {"d();", "if (c > 1) d(); else e();"},
           {"void w() {}", ""},
           {"void w() {}", "struct S {};\ntemplate <int N = 2> void w() {}"},
           {"void w() {}", "void w() {}\n#undef X\n"},
           {"void w() {}", "struct S w2() { return {}; }\nstruct S f3() {}"}})
    EXPECT_EQ(Got(From, To), "") << To;
}

// Whatever single word goes or comes outside the anchor, it is seen; inside it
// never matters.
TEST(Footprint, EveryWordCounts) {
  Trial Same(Source, plain(Source));
  const Range Anchor = Same.Anchors[0].Bytes;
  std::string Text = Same.Base;
  for (size_t At = 0; At < Text.size();) {
    size_t Begin = Text.find_first_not_of(" \n", At);
    if (Begin == std::string::npos)
      break;
    size_t End = std::min(Text.find_first_of(" \n", Begin), Text.size());
    At = End;
    bool Inside = Anchor.Begin <= Begin && End <= Anchor.End;
    std::string Gone = Text, Come = Text;
    Gone.erase(Begin, End - Begin);
    Come.insert(Begin, "zap ");
    EXPECT_EQ(
        findFootprint(Text, Same.Anchors, Come).grounded(Grounding::Strict),
        Anchor.Begin <= Begin && Begin <= Anchor.End)
        << Come;
    bool Bracket = Text.substr(Begin, End - Begin).find_first_of("(){}") !=
                   std::string::npos;
    if (!Inside || !Bracket) {
      Footprint Print = findFootprint(Text, Same.Anchors, Gone);
      EXPECT_EQ(Print.grounded(Grounding::Strict), Inside) << Gone;
    }
  }
}

// No text, however broken, does more than come out as changed.
TEST(Footprint, BrokenTextsAreRead) {
  Trial Same(Source, plain(Source));
  const char *const Pieces[] = {"{",
                                "}",
                                "#if 0\n",
                                "\n#endif\n",
                                "(",
                                "<<<",
                                "\"",
                                "/*",
                                "\\\n",
                                ">>>",
                                "\n#define k x\n",
                                "template <",
                                "namespace n {",
                                "operator",
                                "\0",
                                "R\"(",
                                "//",
                                "\xff"};
  Random Draw(7);
  for (int Round = 0; Round < 2000; ++Round) {
    std::string Text = Same.Base;
    for (uint64_t Edits = 1 + Draw.below(6); Edits > 0; --Edits) {
      size_t At = Draw.below(Text.size());
      if (Draw.below(3) == 0)
        Text.erase(At, Draw.below(40));
      else
        Text.insert(At, Pieces[Draw.below(std::size(Pieces))]);
    }
    Footprint Print = findFootprint(Same.Base, Same.Anchors, Text);
    for (const Change &C : Print.Changes) {
      EXPECT_LE(C.Candidate.Begin, C.Candidate.End);
      EXPECT_LE(C.Candidate.End, Text.size());
      EXPECT_LE(C.Base.End, Same.Base.size());
    }
    EXPECT_EQ(Print.complaints(Grounding::Support).empty(),
              Print.grounded(Grounding::Support));
    stripMarks(Text);
    spliceAnchors(Same.Base, Same.Anchors, {Text}, Text);
  }
}

TEST(Footprint, RenamedKernelIsOutside) {
  std::string Renamed =
      edited("k<<<", "fast<<<", edited("void k(", "void fast("));
  Trial T(Source, Renamed);
  EXPECT_NE(T.complaints().find("line 2 is changed"), std::string::npos)
      << T.complaints();
}

TEST(Footprint, LineEndingsAndNullsDoNotMatter) {
  std::string Crlf;
  for (char C : plain(Source))
    Crlf += C == '\n' ? std::string("\r\n") : std::string(1, C);
  Trial T(Source, Crlf);
  EXPECT_TRUE(T.Print.Changes.empty()) << T.complaints();
  for (std::string Odd : {std::string(), std::string("\0\0{", 3),
                          std::string("}}}}((("), std::string("\"unterminated"),
                          std::string("/* unterminated"), std::string("#")})
    EXPECT_FALSE(Trial(Source, Odd).Print.grounded(Grounding::Support));
}

// 5,000 lines, nearly all rewritten, take the release build less than 100 ms.
// Were each token compared with each, it would be half a minute: the bound of
// processor time lies far from both, whatever the machine and the build.
TEST(Footprint, BigRewritesAreFast) {
  std::string Base = "void f() {\n", Other = Base;
  for (int I = 0; I < 5000; ++I) {
    Base += "  a" + std::to_string(I) + " = b[" + std::to_string(I * 7) +
            "] + c * 3;\n";
    Other += "  a" + std::to_string(I * 3) + " = d(" + std::to_string(I % 11) +
             ") * c + 4;\n";
  }
  Base += "}\n«void k() {}»\n";
  Other += "}\nvoid k() { x(); }\n";
  std::clock_t Start = std::clock();
  Trial T(Base, Other);
  double Seconds = double(std::clock() - Start) / CLOCKS_PER_SEC;
  EXPECT_FALSE(T.Print.grounded(Grounding::Support));
  EXPECT_LT(Seconds, 10);
  RecordProperty("ms", int(Seconds * 1000));
}
