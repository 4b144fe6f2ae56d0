//===- AnchorTests.cpp - Marks snap to what a person would expect ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Footprint.h"
#include "stark/AST/Parse.h"
#include <gtest/gtest.h>

using namespace stark;

static const char *const Text = R"(#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define FOR(i, n) for (int i = 0; i < n; ++i)
#define TWICE(body) body body
#define MAKE(name) __global__ void name(float *x) { x[0] = 1; }
namespace ns {
__device__ float helper(float v) { return v * 2; }
template <int N>
__global__ void __launch_bounds__(256) k(const float *x, float *y, int n) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    if (sum > N)
      sum = 0;
    else
      sum += 1;
  }
  FOR(j, 4) { y[j] = sum; }
  TWICE({ y[0] = 1; y[1] = 2; })
#if 0
  y[7] = 7;
#else
  y[8] = 8;
#endif
  y[1] = helper(sum);
}
MAKE(made)
} // namespace ns
#define MULTI(a) \
  a + \
  1
#if 0
void gone() { int a; }
#endif
struct Policy {
  static __device__ int width() { int w = 4; return w; }
};
void tail() {}
void tail2() {}
)";

namespace {
class Anchors : public testing::Test {
protected:
  void SetUp() override {
    ParseOptions Options;
    Options.Toolkit = "/nonexistent";
    Options.Flags = {"-nocudainc"};
    auto Parsed = parseSource("/anchors.cu", Text, Options);
    ASSERT_TRUE(bool(Parsed)) << llvm::toString(Parsed.takeError());
    Source = std::move(*Parsed);
    for (const SourceError &E : Source->errors())
      ADD_FAILURE() << E.Line << ": " << E.Message;
    Found = findSites(*Source);
  }

  /// The texts of the anchors when marks stand around each of \p Parts, or
  /// the error. \p Form: marks as comments in the line.
  std::string ground(std::vector<std::string> Parts, std::string Plan = Text) {
    for (const std::string &Part : Parts) {
      size_t At = Plan.find(Part);
      if (At == std::string::npos)
        return "no such part: " + Part;
      Plan = Plan.substr(0, At) + "/* <<<IMPROVE BEGIN>>> */" + Part +
             "/* <<<IMPROVE END>>> */" + Plan.substr(At + Part.size());
    }
    return groundText(Plan);
  }
  std::string groundText(const std::string &Plan) {
    auto Result = groundMarks(*Source, Found, Plan);
    if (!Result)
      return "error: " + llvm::toString(Result.takeError());
    Last = *Result;
    std::string All;
    for (const Anchor &A : *Result)
      All += (All.empty() ? "" : " | ") +
             Source->text().substr(A.Bytes.Begin, A.Bytes.size()).str();
    return All;
  }

  std::unique_ptr<ParsedSource> Source;
  Sites Found;
  std::vector<Anchor> Last;
};
} // namespace

TEST_F(Anchors, StatementsAreTakenWhole) {
  EXPECT_EQ(ground({"sum += x[i]"}), "sum += x[i];");
  EXPECT_EQ(Last[0].GrewBefore, 0u);
  EXPECT_EQ(Last[0].GrewAfter, 1u);
  EXPECT_EQ(ground({"x[i]"}), "sum += x[i];");
  EXPECT_EQ(ground({"float sum = 0;"}), "float sum = 0;");
  EXPECT_EQ(ground({"sum += 1"}), "sum += 1;");
  EXPECT_EQ(ground({"if (sum > N)"}),
            "if (sum > N)\n      sum = 0;\n    else\n      sum += 1;");
  EXPECT_EQ(ground({"sum += x[i];\n    if"}),
            "sum += x[i];\n    if (sum > N)\n      sum = 0;\n    else\n      "
            "sum += 1;");
}

TEST_F(Anchors, LoopsWithTheirPragma) {
  std::string Loop =
      "for (int i = 0; i < n; ++i) {\n    sum += x[i];\n    if "
      "(sum > N)\n      sum = 0;\n    else\n      sum += 1;\n  }";
  EXPECT_EQ(ground({"i < n; ++i) {"}), Loop);
  EXPECT_EQ(ground({Loop}), Loop);
  std::string Pragma = Text, At = "#pragma unroll\n";
  Pragma.replace(Pragma.find(At), At.size(),
                 "// <<<IMPROVE BEGIN>>>\n#pragma unroll\n"
                 "// <<<IMPROVE END>>>\n");
  EXPECT_EQ(groundText(Pragma), "#pragma unroll\n  " + Loop);
  EXPECT_EQ(ground({"y[j] = sum;"}), "y[j] = sum;");
  EXPECT_EQ(ground({"FOR(j, 4)"}), "FOR(j, 4) { y[j] = sum; }");
}

TEST_F(Anchors, FunctionHeadsMeanTheFunction) {
  for (std::string Head :
       {"template <int N>", "__launch_bounds__(256)", "const float *x",
        "k(const float *x, float *y, int n)"}) {
    std::string Got = ground({Head});
    EXPECT_EQ(Got.substr(0, 16), "template <int N>") << Head << ": " << Got;
    EXPECT_EQ(Got.substr(Got.size() - 21), "y[1] = helper(sum);\n}") << Got;
  }
  EXPECT_EQ(ground({"void tail() {}\nvoid tail2() {}"}),
            "void tail() {}\nvoid tail2() {}");
  EXPECT_EQ(ground({"tail() {}\nvoid"}), "void tail() {}\nvoid tail2() {}");
  EXPECT_EQ(ground({"int w = 4"}), "int w = 4;");
  EXPECT_EQ(ground({"return v * 2;"}), "return v * 2;");
}

TEST_F(Anchors, SeveralAndJoined) {
  EXPECT_EQ(ground({"float sum = 0;", "y[1] = helper(sum);"}),
            "float sum = 0; | y[1] = helper(sum);");
  // Two regions of one statement are one anchor.
  EXPECT_EQ(ground({"x[i]", "sum +="}), "sum += x[i];");
}

TEST_F(Anchors, ConditionalsStayPaired) {
  EXPECT_EQ(ground({"y[8] = 8;"}), "y[8] = 8;");
  std::string Plan = Text;
  Plan.insert(Plan.find("#else\n  y[8]"), "// <<<IMPROVE BEGIN>>>\n");
  Plan.insert(Plan.find("#endif\n  y[1]"), "// <<<IMPROVE END>>>\n");
  EXPECT_EQ(groundText(Plan), "#if 0\n  y[7] = 7;\n#else\n  y[8] = 8;\n#endif");
}

TEST_F(Anchors, RefusalsSayWhy) {
  EXPECT_EQ(groundText(Text),
            "error: the plan has no marks; put // <<<IMPROVE BEGIN>>> before "
            "and // <<<IMPROVE END>>> after what is to change");
  EXPECT_EQ(ground({""}), "error: the marks in lines 1 and 1 of the plan have "
                          "no code between them");
  EXPECT_EQ(ground({"y[0] = 1;"}),
            "error: the marks in lines 21 and 21 of the plan (line 21 of the "
            "source) lie inside the expansion of macro 'TWICE'; mark the whole "
            "of it or nothing of it");
  EXPECT_EQ(ground({"made"}),
            "error: the marks in lines 29 and 29 of the plan (line 29 of the "
            "source) lie inside the expansion of macro 'MAKE'; mark the whole "
            "of it or nothing of it");
  EXPECT_EQ(ground({"y[7] = 7;"}),
            "error: the marks in lines 23 and 23 of the plan (line 23 of the "
            "source) hold only text that the preprocessor skips");
  EXPECT_EQ(ground({"void gone() { int a; }"}),
            "error: the marks in lines 35 and 35 of the plan (line 35 of the "
            "source) hold only text that the preprocessor skips");
  EXPECT_EQ(ground({"a + \\\n"}), "error: the mark in line 32 of the plan "
                                  "stands inside a preprocessor directive");
  std::string Define = Text;
  Define = "// <<<IMPROVE BEGIN>>>\n" + Define;
  Define.insert(Define.find("#define __device__"), "// <<<IMPROVE END>>>\n");
  EXPECT_EQ(groundText(Define),
            "error: the marks in lines 1 and 3 of the plan (line 1 of the "
            "source) hold only preprocessor directives (#define); mark "
            "statements or declarations");
  std::string Begin = "// <<<IMPROVE BEGIN>>>\n",
              End = "// <<<IMPROVE END>>>\n";
  EXPECT_EQ(
      groundText(Begin + Text),
      "error: <<<IMPROVE BEGIN>>> in line 1 of the plan has no <<<IMPROVE "
      "END>>> after it");
  EXPECT_EQ(groundText(End + Text),
            "error: <<<IMPROVE END>>> in line 1 of the plan has no <<<IMPROVE "
            "BEGIN>>> before it");
  EXPECT_EQ(groundText(Begin + Begin + Text + End + End),
            "error: the mark in line 2 of the plan begins inside the region "
            "that begins in line 1; regions cannot be nested");
}

TEST_F(Anchors, DifferencesAreQuoted) {
  std::string Edited = Text;
  Edited.replace(Edited.find("sum += 1"), 8, "sum += 2");
  EXPECT_EQ(ground({"float sum = 0;"}, Edited),
            "error: the plan differs from the source: line 18 of the plan has "
            "'sum += 2;', line 18 of the source has 'sum += 1;'; a plan may "
            "add only marks and comments");
  EXPECT_EQ(ground({"tail3"}, "void tail3();"),
            "error: line 1 of the plan, 'void /* <<<IMPROVE BEGIN>>> "
            "*/tail3/* <<<IMPROVE END>>> */();', is not in the source; a plan "
            "may add only "
            "marks and comments");
}

// A plan may echo one whole function, or some of them in order.
TEST_F(Anchors, PartOfTheSource) {
  EXPECT_EQ(groundText("void /* <<<IMPROVE BEGIN>>> */ tail2() {}\n"
                       "// <<<IMPROVE END>>>\n"),
            "void tail2() {}");
  EXPECT_EQ(groundText("__device__ float helper(float v) {\n"
                       "  // <<<IMPROVE BEGIN>>> use an fma\n"
                       "  return v * 2;\n  // <<<IMPROVE END>>>\n}\n"
                       "// ... unchanged ...\n"
                       "// <<<IMPROVE BEGIN>>>\nvoid tail() {}\n"
                       "// <<<IMPROVE END>>>\n"),
            "return v * 2; | void tail() {}");
  EXPECT_EQ(groundText("<<<IMPROVE BEGIN>>>\nsum += 1;\n<<<IMPROVE END>>>\n"),
            "sum += 1;");
  EXPECT_EQ(groundText("<<<IMPROVE BEGIN>>>\nsum = 0;\n<<<IMPROVE END>>>\n"),
            "error: what the plan echoes occurs 2 times in the source (lines "
            "11, 16); echo the whole function around it");
  EXPECT_NE(groundText("y<<<1>>>;\n<<<IMPROVE BEGIN>>>\n;\n<<<IMPROVE END>>>")
                .find("error"),
            std::string::npos);
}

// Any site, put through every function, comes back as it was.
TEST_F(Anchors, RoundTripOfEverySite) {
  size_t Tried = 0;
  for (const Site &S : Found.All) {
    auto First = groundSites(*Source, Found, {S.Id});
    if (!First) {
      llvm::consumeError(First.takeError());
      continue;
    }
    ++Tried;
    ASSERT_EQ(First->size(), 1u);
    const Range &Bytes = First->front().Bytes;
    EXPECT_TRUE(Bytes.contains(S.Bytes)) << S.Id;
    std::string Marked = markAnchors(Text, *First);
    EXPECT_EQ(stripMarks(Marked), Text) << S.Id;
    auto Second = groundMarks(*Source, Found, Marked);
    ASSERT_TRUE(bool(Second)) << llvm::toString(Second.takeError()) << Marked;
    ASSERT_EQ(Second->size(), 1u);
    EXPECT_EQ(Second->front().Bytes, Bytes) << S.Id;
    EXPECT_EQ(Second->front().GrewBefore + Second->front().GrewAfter, 0u);
    std::string Piece = Source->text().substr(Bytes.Begin, Bytes.size()).str();
    EXPECT_EQ(spliceAnchors(Text, *First, {Piece}, ""), Text) << S.Id;
    EXPECT_TRUE(findFootprint(Text, *First, Text).Changes.empty());
    std::string Other = spliceAnchors(Text, *First, {"{ replaced(); }"}, "");
    Footprint Print = findFootprint(Text, *First, Other);
    EXPECT_TRUE(Print.grounded(Grounding::Strict)) << S.Id;
    EXPECT_FALSE(Print.Changes.empty()) << S.Id;
  }
  EXPECT_GE(Tried, 5u);
}

TEST_F(Anchors, SplicedTextFits) {
  ASSERT_EQ(ground({"float sum = 0;"}), "float sum = 0;");
  std::string Same = spliceAnchors(Text, Last, {"float sum = 0;"}, "");
  EXPECT_EQ(Same, Text);
  std::string New =
      spliceAnchors(Text, Last, {"  float sum = 1; // one\n"},
                    "#include <a.h>\n__device__ int one() { return 1; }\n");
  size_t At =
      New.find("__device__ int one() { return 1; }\n\ntemplate <int N>");
  EXPECT_NE(At, std::string::npos) << New;
  EXPECT_NE(New.find("\n  float sum = 1; // one\n#pragma"), std::string::npos)
      << New;
  EXPECT_EQ(New.find("#include <a.h>\n"), 0u) << New;
}

TEST(Splice, BytesOutsideStay) {
  std::string Base = "#include <x>\r\n// \xff caf\xe9\r\nextern \"C\" {\r\n"
                     "// about f\r\nvoid f() { a(); b(); }\r\n}";
  Anchor A;
  A.Bytes.Begin = Base.find("a();");
  A.Bytes.End = A.Bytes.Begin + 4;
  std::string New = spliceAnchors(Base, {A}, {"// one\nc();\n// two"},
                                  "#include <x>\n#include <y>\nint g();");
  EXPECT_EQ(New,
            "#include <x>\r\n#include <y>\r\nint g();\r\n\r\n"
            "// \xff caf\xe9\r\nextern \"C\" {\r\n// about f\r\nvoid f() { "
            "// one\r\nc();\r\n// two\r\n b(); }\r\n}");
}
