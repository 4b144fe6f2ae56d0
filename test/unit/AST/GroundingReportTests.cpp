//===- GroundingReportTests.cpp - Text and JSON of a grounding ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/GroundingReport.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
const char *const Base = "void f() {\n  a();\n  b();\n}\n";

/// Of the call of b alone.
std::vector<Anchor> anchors() {
  Anchor A;
  A.Bytes = {20, 24};
  A.Line = A.EndLine = 3;
  A.SiteIds = {"f:statement1", "f:statement2"};
  A.GrewAfter = 1;
  return {A};
}

CandidateFindings findings(const char *Candidate) {
  CandidateFindings Found;
  Found.Changed = findFootprint(Base, anchors(), Candidate);
  return Found;
}
} // namespace

TEST(GroundingReport, AnchorsAreALineEach) {
  std::vector<Anchor> All = anchors();
  Anchor Bare;
  Bare.Bytes = {0, 9};
  Bare.Line = 1;
  Bare.EndLine = 2;
  All.push_back(Bare);
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printAnchors(All, OS);
  EXPECT_EQ(Text, "anchor 1: line 3, bytes 20-24: f:statement1, f:statement2; "
                  "grew by 0 tokens before, 1 after\n"
                  "anchor 2: line 1-2, bytes 0-9: no site\n");
}

// A broken contract is a complaint like a change that no anchor covers; one of
// something that is missing has no line.
TEST(GroundingReport, ComplainsOfChangesAndBreaches) {
  CandidateFindings Found = findings("void f() {\n  c();\n  b();\n}\n");
  Violation V;
  V.Kind = ViolationKind::NoSuchEntry;
  V.Name = "g";
  Found.Breaches = {V};
  V.Line = 7;
  Found.Breaches.push_back(V);
  std::vector<std::string> All = complaintsOf(Found, Grounding::Support);
  ASSERT_EQ(All.size(), 3u);
  EXPECT_NE(All[0].find("but no anchor covers"), std::string::npos) << All[0];
  EXPECT_EQ(All[1], V.message());
  EXPECT_EQ(All[2], "line 7: " + V.message());
  Found.Breaches.clear();
  EXPECT_TRUE(complaintsOf(Found, Grounding::Off).empty());
}

// Whether it is grounded is said of a candidate alone.
TEST(GroundingReport, Json) {
  std::string Alone = groundingJson(anchors(), nullptr, Grounding::Support);
  EXPECT_EQ(Alone, R"({
  "anchors": [
    {
      "bytes": [
        20,
        24
      ],
      "end_line": 3,
      "grew_after": 1,
      "grew_before": 0,
      "line": 3,
      "sites": [
        "f:statement1",
        "f:statement2"
      ]
    }
  ],
  "version": 1
})");
  CandidateFindings Found = findings("void f() {\n  c();\n  b();\n}\n");
  std::string Judged = groundingJson(anchors(), &Found, Grounding::Support);
  EXPECT_NE(Judged.find("\"class\": \"outside\""), std::string::npos) << Judged;
  EXPECT_NE(Judged.find("\"grounded\": false"), std::string::npos) << Judged;
  EXPECT_NE(Judged.find("\"violations\": []"), std::string::npos) << Judged;
}
