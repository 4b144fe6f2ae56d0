//===- FootprintClass.h - Whether a change supports an anchor ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   hunk -> inside an anchor, supporting, or outside, and why
/// docs/grounding.md states the rules.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_FOOTPRINTCLASS_H
#define STARK_LIB_AST_FOOTPRINTCLASS_H

#include "FootprintHunks.h"
#include "stark/AST/Footprint.h"
#include <map>
#include <set>

namespace stark {

class ChangeClassifier {
public:
  ChangeClassifier(const Comparison &C, const std::vector<Hunk> &Hunks);

  ChangeReason reasonFor(const Hunk &H) const;

  /// Macros defined in hunks that lines outside the anchors use, or that hold
  /// half of a pair of brackets.
  std::vector<Change> redefinitions() const;

  /// Anchors whose new text changes what the text around them means.
  std::vector<Change> breakouts() const;

private:
  ChangeReason reasonForNew(const Hunk &H) const;
  Range newRun(const Hunk &H) const;
  bool balancedMacro(size_t Hash) const;
  bool isLaunch(const Hunk &H) const;
  Change outsideChange(Range CandidateTokens, size_t BaseToken,
                       ChangeReason Why) const;
  void findNames();

  const Comparison &C;
  const std::vector<Hunk> &Hunks;
  std::set<std::string> AnchoredFunctions, WhollyAnchored, BaseFunctions;
  std::set<std::string> NewKernels;
  struct LaunchPair {
    std::vector<bool> Base, Candidate;
  };
  mutable std::map<std::pair<int, int>, LaunchPair> Launches; ///< by pieces
};

} // namespace stark

#endif
