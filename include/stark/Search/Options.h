//===- Options.h - What a search is held to -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   These are in run.json: a run goes on only with the options that it began
/// with. What a search works with is a SearchSetup.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_OPTIONS_H
#define STARK_SEARCH_OPTIONS_H

#include "stark/AST/Footprint.h"
#include "stark/Search/Budget.h"
#include "stark/Search/Policy.h"
#include "stark/Search/TuneLimits.h"

namespace stark {

/// Who makes an attempt.
enum class AgentsKind {
  Team,   ///< plan and code, or debug
  Single, ///< one agent for all of it, which has no anchors
};
llvm::StringRef agentsName(AgentsKind K); ///< "team", "single"
llvm::Expected<AgentsKind> parseAgentsKind(llvm::StringRef Name);

struct SearchOptions {
  unsigned Attempts = 30; ///< B; paper, appendix B, as the next ones
  uint64_t Seed = 1;
  PolicyOptions Policy;
  unsigned Leaders = 2; ///< r
  unsigned WindowLimit = 5;
  bool Windows = true; ///< off: {i, root} alone
  AgentsKind Agents = AgentsKind::Team;
  Grounding Strictness = Grounding::Support;
  Temperatures Temperature;
  double Margin = 1.02; ///< speed-up over the source that a winner needs
  bool Confirm = true;  ///< evaluate the winner again with new seeds
  std::vector<BudgetLimit> Limits; ///< beside Attempts
  /// No attempt is begun once so many in a row have made the best less than 5 %
  /// faster, one having beaten the source by as much; 0: never for that.
  unsigned Patience = 0;
  /// Nor once the fastest spends this share of its time, in each size, at
  /// least, on what the workload's "bytes" take at the device's copy rate; 0:
  /// never for that.
  double StopAt = 0;
  /// On the numbers of the fastest node, once no more attempts are begun.
  TuneLimits Tune;
  /// Attempts in flight on the one tree. Nodes are numbered in the order in
  /// which they are judged then.
  unsigned Jobs = 1;
  /// Whose counters a model's plan agent is shown for the selected node, as in
  /// "sim:h200"; empty: none. A judge that is simulated says them in its
  /// verdicts already.
  std::string CountersOf;
  /// Whether a profiler looks at what is correct, so that agents are shown the
  /// GPU's own counters, in place of those.
  bool Profile = false;
};

} // namespace stark

#endif
