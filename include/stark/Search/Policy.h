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
#include <map>

namespace stark {

enum class PolicyKind {
#define STARK_POLICY(Kind, Name, File) Kind,
#include "stark/Search/Policies.def"
};
llvm::StringRef policyName(PolicyKind K);
/// The error names all policies.
llvm::Expected<PolicyKind> parsePolicyKind(llvm::StringRef Name);
const std::vector<PolicyKind> &allPolicyKinds();

struct PolicyOptions {
  PolicyKind Kind = PolicyKind::EpsilonGreedy;
  double Epsilon = 0.3; ///< paper, appendix B
  /// Direct children of the root after which it is ineligible.
  unsigned RootThrottle = 5;
  /// A node with more children than this, all of which failed, is ineligible:
  /// with 3, a fourth failing child ends a node whose first three failed.
  unsigned DeadBranch = 3;
  /// Repairs that best-of-k gives a sample that fails.
  unsigned Repairs = 0;
};

struct Selection {
  unsigned Node = 0;
  /// "random leaf, eps 0.30", "best of 4 eligible", "best of 2 eligible, none
  /// correct".
  std::string Reason;
};

/// How many attempts in flight go on from each node; nodes without are absent.
using PendingChildren = std::map<unsigned, unsigned>;

class Policy {
public:
  virtual ~Policy() = default;
  /// Unset when no node is eligible: the search ends, or, when attempts are in
  /// flight, waits for one of them and asks again. Nothing was drawn then.
  virtual std::optional<Selection>
  select(const Tree &T, const PendingChildren &Pending, Random &Draw) = 0;
};

std::unique_ptr<Policy> makePolicy(const PolicyOptions &Options);

// What each does is said at the top of its file and in docs/search.md. None
// keeps a state of its own: a choice follows from the tree, what is pending and
// the draw.
#define STARK_POLICY(Kind, Name, File)                                         \
  std::unique_ptr<Policy> make##Kind(const PolicyOptions &Options);
#include "stark/Search/Policies.def"

/// Whether \p Number may be selected under \p Options, and if not, why: root
/// throttling, dead-branch pruning (the root too), and an attempt that gave no
/// plan, for there is nothing to refine or to repair. (A plan whose code could
/// not be used goes to the debug agent.) \p InFlight attempts count as children
/// that may fail.
bool eligible(const Tree &T, unsigned Number, const PolicyOptions &Options,
              std::string *Why = nullptr, unsigned InFlight = 0);

} // namespace stark

#endif
