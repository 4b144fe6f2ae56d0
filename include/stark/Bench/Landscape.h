//===- Landscape.h - Search without a model -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   task seed -> what an attempt from a node would come to -> a policy's tree
///
/// A landscape says what comes of an attempt, without a model and without a
/// judge, so that policies can be compared over thousands of tasks in seconds.
/// Its failure rates are those of the paper's table 2; what else it assumes is
/// in LandscapeOptions and docs/bench.md. It is a model of a search, not a
/// measurement of one.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_BENCH_LANDSCAPE_H
#define STARK_BENCH_LANDSCAPE_H

#include "stark/Search/Policy.h"
#include "stark/Search/Record.h"

namespace stark {

/// What came of an attempt of a recorded run. Speeds are natural logarithms of
/// the speed-up over the source.
struct RecordedMove {
  double From = 0; ///< speed of the correct node that was to be changed
  double Gain = 0; ///< of the candidate over From, when correct
  VerdictKind Kind = VerdictKind::Correct;
};

/// The moves of a run's tree.
struct RecordedMoves {
  std::vector<RecordedMove> First; ///< changes of the source
  std::vector<RecordedMove> Refinements;
  std::vector<RecordedMove> Repairs;
  double Best = 0; ///< speed of the fastest candidate
};

/// Speeds are natural logarithms of the speed-up over the source.
struct LandscapeOptions {
  std::string Name;
  /// Chance that a planned candidate compiles, and that it is correct, of a
  /// task in the middle.
  double Compiles = 0.935, Correct = 0.72;
  /// A child of the source is a new approach. Its speed is normal with this
  /// mean and deviation: a negative mean is what the paper calls root
  /// dominance. The mean itself deviates from task to task.
  double FirstMean = -0.62, FirstDeviation = 0.35, FirstTaskDeviation = 0.3;
  /// Speed that an approach can still gain: log-normal with this median and
  /// deviation of the logarithm.
  double HeadroomMedian = 0.8, HeadroomDeviation = 0.8;
  /// Chance that a refinement makes it slower, by an exponential with this
  /// mean; otherwise it takes the square of a uniform draw of the headroom.
  double Regress = 0.35, RegressMean = 0.15;
  /// Chance that a refinement opens headroom: exponential with this mean.
  double Breakthrough = 0.08, BreakthroughMean = 0.3;
  /// Chance that a repair succeeds, and the factor for each failed one before.
  double Repairs = 0.4, RepairAgain = 0.7;
  /// Factor on the chance to be correct for each level below the first.
  double Deeper = 0.97;
  /// Deviation over tasks of the log-odds to be correct.
  double TaskDeviation = 0.8;
  /// When not empty, attempts come to what those of recorded runs came to, and
  /// none of the figures above is used. Tasks take the runs in turn.
  std::vector<RecordedMoves> Recorded = {};
};

/// The paper's three levels, fitted to its tables 1 and 2; level 2 with little
/// root dominance, with little headroom, and with repairs that hardly work.
std::vector<LandscapeOptions> standardLandscapes();

/// One of each run in \p Folders and, when there are several, one of all in
/// turn. Errors: those of readRun(), and a run that has nothing to draw a first
/// change or a refinement of a correct candidate from.
llvm::Expected<std::vector<LandscapeOptions>>
recordedLandscapes(const std::vector<std::string> &Folders);

struct LandscapeRun {
  Tree Nodes;
  /// Of each attempt: the best speed-up of a correct candidate so far, 0 when
  /// there is none.
  std::vector<double> BestSoFar;
  unsigned Compiled = 0, Correct = 0; ///< of the attempts made
};

/// The k-th attempt from the same node of the same task comes to the same for
/// every policy, so that policies are compared on the same luck.
LandscapeRun runLandscape(const LandscapeOptions &Options, uint64_t TaskSeed,
                          Policy &P, unsigned Attempts);

} // namespace stark

#endif
