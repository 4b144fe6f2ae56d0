//===- GroundingReport.cpp - Anchors and what a candidate did -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/GroundingReport.h"
#include "stark/Json/Fields.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

static constexpr int64_t FormatVersion = 1;

void stark::printAnchors(const std::vector<Anchor> &Anchors,
                         llvm::raw_ostream &OS) {
  unsigned Number = 0;
  for (const Anchor &A : Anchors) {
    OS << "anchor " << ++Number << ": line " << A.Line;
    if (A.EndLine != A.Line)
      OS << "-" << A.EndLine;
    OS << ", bytes " << A.Bytes.Begin << "-" << A.Bytes.End << ": "
       << (A.SiteIds.empty() ? "no site" : llvm::join(A.SiteIds, ", "));
    if (A.GrewBefore || A.GrewAfter)
      OS << "; grew by " << A.GrewBefore << " tokens before, " << A.GrewAfter
         << " after";
    OS << "\n";
  }
}

std::vector<std::string> stark::complaintsOf(const CandidateFindings &Found,
                                             Grounding G) {
  std::vector<std::string> Complaints = Found.Changed.complaints(G);
  for (const Violation &V : Found.Breaches)
    Complaints.push_back(
        (V.Line ? "line " + std::to_string(V.Line) + ": " : std::string()) +
        V.message());
  return Complaints;
}

namespace stark {
static std::vector<size_t> bytes(const Range &R) { return {R.Begin, R.End}; }

static void fields(FieldWriter<json> &F, const Change &C) {
  F.required("class", changeClassName(C.Why.changeClass()).str());
  F.required("why", C.Why.str());
  F.required("base", bytes(C.Base));
  F.required("candidate", bytes(C.Candidate));
  F.required("base_line", C.BaseLine);
  F.required("line", C.CandidateLine);
  F.required("end_line", C.CandidateEndLine);
}

static void fields(FieldWriter<json> &F, const Violation &V) {
  F.required("line", V.Line);
  F.required("forbidden", V.forbidden());
  F.required("message", V.message());
}
} // namespace stark

std::string stark::groundingJson(const std::vector<Anchor> &Anchors,
                                 const CandidateFindings *Found, Grounding G) {
  FieldWriter<json> F;
  F.format("version", FormatVersion);
  // Not fields(): those of an Anchor are the journal's, and a type has one
  // list.
  std::vector<Anchor> Listed = Anchors;
  F.list("anchors", Listed, [](auto &F, const Anchor &A, size_t) {
    F.required("sites", A.SiteIds);
    F.required("line", A.Line);
    F.required("end_line", A.EndLine);
    F.required("bytes", bytes(A.Bytes));
    F.required("grew_before", A.GrewBefore);
    F.required("grew_after", A.GrewAfter);
  });
  if (Found) {
    F.required("changes", Found->Changed.Changes);
    F.required("violations", Found->Breaches);
    F.required("grounded", Found->Changed.grounded(G));
  }
  return dumpJson(F.take(), 2);
}
