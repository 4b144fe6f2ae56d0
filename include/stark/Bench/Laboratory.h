//===- Laboratory.h - Policies over landscapes ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_BENCH_LABORATORY_H
#define STARK_BENCH_LABORATORY_H

#include "stark/Bench/Landscape.h"
#include "stark/Bench/Statistics.h"

namespace stark {

/// "mcts", "epsilon-greedy:0.4", "epsilon-greedy:0.4:8:3": a policy, and then
/// epsilon, root throttle, dead branch. The error says what was wanted.
llvm::Expected<PolicyOptions> parsePolicySpec(llvm::StringRef Spec);

/// What `optimize --patience` would have come to.
struct PatienceFigures {
  unsigned Patience = 0;
  double Made = 0; ///< share of the attempts
  /// Share of the gain: sums over the tasks of the logarithm of what the user
  /// has at the end.
  double Kept = 0;
};

struct PolicyFigures {
  std::string Spec;
  double Success = 0;               ///< share of tasks with a correct candidate
  double Fast1 = 0;                 ///< with one at least as fast as the source
  double Compiled = 0, Correct = 0; ///< shares of the attempts
  /// Of each attempt: geometric mean over the tasks of what the user has then,
  /// the best candidate's speed-up or 1.
  std::vector<double> Curve;
  /// At the end, over that of the first policy: geometric mean of the tasks'
  /// ratios with its 95 % interval.
  double Against = 1;
  Interval AgainstInterval{1, 1};
  std::vector<PatienceFigures> Patience; ///< in the order that was asked for
};

struct LandscapeFigures {
  LandscapeOptions Landscape;
  std::vector<PolicyFigures> Policies;
};

/// Seeds tasks of each landscape, the same for every policy; the first of
/// \p Specs is what the others are compared with. Each policy's runs are also
/// followed with each of \p Patience.
llvm::Expected<std::vector<LandscapeFigures>>
runLaboratory(const std::vector<LandscapeOptions> &Landscapes,
              const std::vector<std::string> &Specs, unsigned Seeds,
              unsigned Attempts, llvm::ArrayRef<unsigned> Patience = {});

/// Every policy, and the paper's with other epsilons.
const std::vector<std::string> &standardPolicySpecs();

void printLaboratory(const std::vector<LandscapeFigures> &All, unsigned Seeds,
                     llvm::raw_ostream &OS);
std::string laboratoryJson(const std::vector<LandscapeFigures> &All,
                           unsigned Seeds);

} // namespace stark

#endif
