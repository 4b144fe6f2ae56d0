//===- GroundingReport.h - Anchors and what a candidate did ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   anchors, footprint, breaches of the contract -> text and JSON
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_GROUNDINGREPORT_H
#define STARK_AST_GROUNDINGREPORT_H

#include "stark/AST/Contract.h"
#include "stark/AST/Footprint.h"

namespace stark {

/// What a candidate changed, and what it broke.
struct CandidateFindings {
  Footprint Changed;
  std::vector<Violation> Breaches;
};

/// One line each: "anchor 1: line 14-16, bytes 300-410: k:loop1".
void printAnchors(const std::vector<Anchor> &Anchors, llvm::raw_ostream &OS);

/// One line for each thing that is wrong with the candidate, changes first;
/// empty when it is grounded as \p G wants and keeps the contract.
std::vector<std::string> complaintsOf(const CandidateFindings &Found,
                                      Grounding G);

/// What `stark-tool ground --json` prints. \p Found: null without a candidate.
std::string groundingJson(const std::vector<Anchor> &Anchors,
                          const CandidateFindings *Found, Grounding G);

} // namespace stark

#endif
