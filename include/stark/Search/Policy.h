//===- Policy.h - Which node is refined next -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A policy never changes the tree, so the same seed and the same replies
/// always take the same path.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_POLICY_H
#define STARK_SEARCH_POLICY_H

#include "stark/Search/Tree.h"
#include "stark/Support/Random.h"

namespace stark {

struct PolicyOptions {
  double Epsilon = 0.3; ///< paper, appendix B
  /// Direct children of the root after which it is ineligible.
  unsigned RootThrottle = 5;
  /// A node with more children than this, all of which failed, is ineligible:
  /// with 3, a fourth failing child ends a node whose first three failed.
  unsigned DeadBranch = 3;
};

struct Selection {
  unsigned Node = 0;
  /// "random leaf, eps 0.30", "best of 4 eligible", "best of 2 eligible, none
  /// correct".
  std::string Reason;
};

class Policy {
public:
  virtual ~Policy() = default;
  /// Unset when no node is eligible: the search ends.
  virtual std::optional<Selection> select(const Tree &T, Random &Draw) = 0;
};

/// The paper's adapted epsilon-greedy rule (section 4.2). With probability
/// Epsilon a leaf, drawn uniformly from the eligible nodes without children,
/// failing or not; otherwise the eligible node with the lowest score, the
/// source included. When every eligible node fails, all score +infinity: then
/// the one with the fewest children is taken. Ties go to the older node.
std::unique_ptr<Policy> makeEpsilonGreedy(const PolicyOptions &Options);

/// Whether \p Number may be selected under \p Options, and if not, why: root
/// throttling, dead-branch pruning (the root too), and an attempt that gave no
/// plan, for there is nothing to refine or to repair. (A plan whose code could
/// not be used goes to the debug agent.)
bool eligible(const Tree &T, unsigned Number, const PolicyOptions &Options,
              std::string *Why = nullptr);

} // namespace stark

#endif
