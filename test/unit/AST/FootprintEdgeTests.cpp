//===- FootprintEdgeTests.cpp - What stands at an anchor's ends -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Footprint.h"
#include "stark/Support/Random.h"
#include "llvm/ADT/StringRef.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
/// The lines of a function's body, some runs of which are anchors.
struct Body {
  std::vector<std::string> Lines;
  std::vector<std::pair<size_t, size_t>> Anchors; ///< [first, last)

  static constexpr const char *Head = "void f() {\n", *Tail = "}\n";

  std::string text() const {
    std::string Out = Head;
    for (const std::string &Line : Lines)
      Out += Line + "\n";
    return Out + Tail;
  }
  std::vector<Anchor> anchors() const {
    std::vector<size_t> At = {std::string(Head).size()};
    for (const std::string &Line : Lines)
      At.push_back(At.back() + Line.size() + 1);
    std::vector<Anchor> Result;
    for (auto [First, Last] : Anchors) {
      Anchor A;
      A.Bytes = {At[First], At[Last] - 1};
      Result.push_back(A);
    }
    return Result;
  }
};

/// \p Marked has a line for each of the body, "[" and "]" around anchors.
Body bodyOf(llvm::StringRef Marked) {
  Body B;
  while (!Marked.empty()) {
    auto [Line, Rest] = Marked.split('\n');
    if (Line == "[")
      B.Anchors.push_back({B.Lines.size(), 0});
    else if (Line == "]")
      B.Anchors.back().second = B.Lines.size();
    else
      B.Lines.push_back(Line.str());
    Marked = Rest;
  }
  return B;
}

std::string complaintsOf(const Body &Base, const std::string &Candidate) {
  std::string Result;
  for (const std::string &Line :
       findFootprint(Base.text(), Base.anchors(), Candidate)
           .complaints(Grounding::Strict))
    Result += Line + "\n";
  return Result;
}

struct Row {
  const char *Base, *Candidate;
  const char *Wanted; ///< what the one complaint says; empty: grounded
};
struct AnchorEdge : testing::TestWithParam<Row> {};
} // namespace

// An anchor's text may be anything, its neighbours' lines included; what
// changed outside is named, and nothing else.
TEST_P(AnchorEdge, IsToldFromItsNeighbours) {
  Body Base = bodyOf(GetParam().Base);
  std::string Candidate =
      std::string(Body::Head) + GetParam().Candidate + Body::Tail;
  std::string Got = complaintsOf(Base, Candidate);
  EXPECT_EQ(llvm::StringRef(Got).count('\n'), GetParam().Wanted[0] ? 1u : 0u)
      << Got;
  EXPECT_NE(Got.find(GetParam().Wanted), std::string::npos) << Got;
}

static const Row Rows[] = {
    // Nothing outside is another.
    {"a();\n[\nb();\n]\nc();\n", "a();\nx();\nb();\nc();\n", ""},
    {"a();\n[\nb();\n]\nc();\n", "a();\nb();\nx();\nc();\n", ""},
    {"a();\n[\nb();\n]\nc();\n", "a();\nc();\n", ""},
    {"a();\n[\nb();\n]\nc();\n", "a();\na();\nb();\nc();\n", ""},
    {"a();\n[\nb();\n]\nc();\n", "a();\nb();\nc();\nc();\n", ""},
    {"a();\n[\nb();\n]\nc();\n", "a();\nc();\na();\nc();\na();\nc();\n", ""},
    {"a();\n[\na();\n]\na();\n", "a();\na();\n", ""},
    {"a();\n[\na();\n]\na();\n", "a();\na();\na();\na();\na();\n", ""},
    {"{ a(); }\n[\n{ b(); }\n]\n{ c(); }\n",
     "{ a(); }\n{ { c(); } }\n{ a(); }\n{ c(); }\n", ""},
    {"[\na();\n]\nb();\n", "b();\na();\nb();\n", ""},
    {"b();\n[\na();\n]\n", "b();\na();\nb();\n", ""},
    {"[\na();\n]\n[\nb();\n]\nc();\n", "b();\na();\nc();\nc();\n", ""},
    {"[\na();\n]\nm();\n[\nb();\n]\n", "m();\na();\nm();\nb();\nm();\n", ""},
    // A line outside is another, and the anchor repeats its neighbours.
    {"a();\n[\nb();\n]\nc();\nd();\n", "a();\nc();\nb();\nc();\nz();\n",
     "'d();', the candidate 'z();'"},
    {"z();\na();\n[\nb();\n]\nc();\n", "y();\na();\nb();\na();\nb();\nc();\n",
     "'z();', the candidate 'y();'"},
    {"a();\n[\nb();\n]\nc();\n", "a();\nx();\nd();\n",
     "'c();', the candidate 'd();'"},
    {"a();\n[\nb();\n]\nc();\n", "d();\nx();\nc();\n",
     "'a();', the candidate 'd();'"},
    {"a();\n[\nb();\n]\nc();\nd();\n", "a();\nc();\nd();\nc();\nd();\nx();\n",
     "'x();' is new after line 5"},
    {"a();\nb();\n[\nc();\n]\nd();\n", "a();\nc();\nb();\nd();\n",
     "'c();' is new after line 2"},
    {"a();\n[\nb();\n]\nc();\nd();\ne();\n",
     "a();\nb();\nc();\nd();\nc();\nd();\nx();\ne();\n",
     "'x();' is new after line 5"},
    // Moved into the anchor, or out of it.
    {"a();\n[\nb();\n]\nc();\nd();\n", "a();\nx();\nd();\n", "'c();'"},
    {"a();\nb();\n[\nc();\n]\nd();\n", "b();\nc();\na();\nd();\n",
     "'a();' of line 2 of the base is gone"},
    {"a();\nb();\n[\nc();\n]\nd();\n", "a();\nc();\nb();\nx();\nd();\n",
     "'c();' is new"},
    // Between two anchors.
    {"[\na();\n]\nm();\n[\nb();\n]\n", "a();\nb();\n", "'m();'"},
    {"[\na();\n]\nm();\n[\nb();\n]\n", "m2();\nn();\nm2();\n", "'m();'"},
    {"[\na();\n]\nm(1);\n[\nb();\n]\n", "m(2);\na();\nm(2);\nb();\n",
     "'m(1);'"},
};
INSTANTIATE_TEST_SUITE_P(Edges, AnchorEdge, testing::ValuesIn(Rows));

// Whatever anchors become, one line that changed outside is the only one named,
// but for a few in a hundred whose texts can be read in another way as well.
TEST(FootprintEdges, OneChangeOutsideIsOneComplaint) {
  Random Draw(12);
  unsigned Trials = 0, Other = 0;
  const char *const Few[] = {"a();", "b();", "{ a(); }", "x = a();", "{ }"};
  auto Any = [&] { return std::string(Few[Draw.below(5)]); };
  for (unsigned Trial = 0; Trial < 2000; ++Trial) {
    Body Base;
    size_t Count = 4 + Draw.below(8);
    for (size_t I = 0; I < Count; ++I)
      Base.Lines.push_back(Any());
    for (size_t I = Draw.below(3); I < Count; I += 1 + Draw.below(4)) {
      size_t Last = std::min<size_t>(Count, I + 1 + Draw.below(3));
      Base.Anchors.push_back({I, Last});
      I = Last;
    }
    std::vector<size_t> Outside;
    for (size_t I = 0; I < Count; ++I)
      if (std::none_of(Base.Anchors.begin(), Base.Anchors.end(),
                       [&](auto A) { return A.first <= I && I < A.second; }))
        Outside.push_back(I);
    if (Outside.empty() || Base.Anchors.empty())
      continue;
    size_t Changed = Outside[Draw.below(Outside.size())];
    Base.Lines[Changed] = "was(1, 2);";
    bool Gone = Draw.below(2);
    std::string Candidate = Body::Head;
    for (size_t I = 0; I < Count; ++I) {
      auto At = std::find_if(Base.Anchors.begin(), Base.Anchors.end(),
                             [&](auto A) { return A.first == I; });
      if (At != Base.Anchors.end()) {
        for (size_t N = Draw.below(5); N > 0; --N)
          Candidate += Any() + "\n";
        I = At->second - 1;
      } else if (I != Changed) {
        Candidate += Base.Lines[I] + "\n";
      } else if (!Gone) {
        Candidate += "is[3];\n";
      }
    }
    Candidate += Body::Tail;
    std::string Got = complaintsOf(Base, Candidate);
    ASSERT_FALSE(Got.empty()) << Base.text() << Candidate;
    ++Trials;
    Other += llvm::StringRef(Got).count('\n') != 1 ||
             Got.find("was(1, 2);") == std::string::npos;
  }
  EXPECT_GT(Trials, 1000u);
  EXPECT_LT(Other * 20, Trials) << Other << " of " << Trials;
}
