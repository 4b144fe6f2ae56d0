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
  double Epsilon = 0.3;      ///< paper, appendix B
  unsigned RootThrottle = 5; ///< direct children of the root
  unsigned DeadBranch = 3;   ///< children, all failed, that end a node
};

struct Selection {
  unsigned Node = 0;
  std::string Reason; ///< "random leaf, eps 0.30"; "best of 4 eligible"
};

class Policy {
public:
  virtual ~Policy() = default;
  /// Unset when no node is eligible: the search ends.
  virtual std::optional<Selection> select(const Tree &T, Random &Draw) = 0;
};

/// The paper's adapted epsilon-greedy rule (section 4.2): root throttling,
/// dead-branch pruning, leaf-biased exploration.
std::unique_ptr<Policy> makeEpsilonGreedy(const PolicyOptions &Options);

/// Whether \p Number may be selected under \p Options, and if not, why.
bool eligible(const Tree &T, unsigned Number, const PolicyOptions &Options,
              std::string *Why = nullptr);

} // namespace stark

#endif
