//===- Suite.h - Tasks x presets x seeds ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   SUITE.json -> cells, each an ordinary run -> figures -> the paper's tables
///
//===----------------------------------------------------------------------===//

#ifndef STARK_BENCH_SUITE_H
#define STARK_BENCH_SUITE_H

#include "stark/Bench/Statistics.h"
#include "stark/Search/Record.h"
#include "stark/Torch/Baselines.h"
#include <map>
#include <optional>

namespace stark {

struct SuiteTask {
  std::string Name, Group;
  std::string Source, Workload; ///< paths; Workload may be empty
  std::vector<std::string> Flags;
  /// SHA-256 of the PyTorch task that it is, in hexadecimal digits; or empty.
  std::string Digest;
  /// What a call has to read and write, at the least; 0: not known.
  uint64_t Bytes = 0;
};

struct Suite {
  std::string Name;
  std::vector<SuiteTask> Tasks;
};

/// \p File is in errors; the paths in it are relative to its folder. Names are
/// letters, digits and "_.-", for they name folders.
llvm::Expected<Suite> parseSuite(llvm::StringRef Text, llvm::StringRef File);

llvm::Expected<Suite> readSuite(llvm::StringRef File);

/// What one run came to.
struct CellFigures {
  std::string Task, Group, Preset;
  uint64_t Seed = 1;
  unsigned Attempts = 0, Compiled = 0, Correct = 0;
  bool Success = false; ///< a correct candidate that is not the source
  /// Of the winner as confirmed, else of the best correct candidate; 0 without.
  double Speedup = 0;
  double Delivered = 1; ///< of the winner, or 1: the source is kept
  /// Of what Speedup is of; 0 without.
  double MedianUs = 0;
  /// True where a candidate was right but for hardened inputs; unset: that is
  /// what Success says.
  std::optional<bool> SuccessAsShipped;
  /// By variant, what PyTorch needs on the same GPU, whether or not the run is
  /// a success.
  std::map<std::string, double> BaselineUs;
  double FloorShare = 0; ///< of MedianUs; 0: not known
  bool Modelled = false;
  std::string Device; ///< that Speedup was measured on, else the run's
};
/// Whether a candidate with this verdict got past the compiler.
bool compiledVerdict(VerdictKind K);
CellFigures figuresOf(const RecordedRun &Run);

/// Fills in what \p F is compared with, measured on the GPU of the run.
void compareWith(const SuiteTask &Of,
                 const std::vector<torch::BaselineTime> &Times, CellFigures &F);
/// "fastest" is the least of all that a run has.
inline constexpr const char FastestBaseline[] = "fastest";

/// One row: a preset over some tasks.
struct PresetFigures {
  std::string Preset;
  unsigned Cells = 0, Successes = 0, Fast1 = 0;
  uint64_t Attempts = 0, Compiled = 0, Correct = 0;
  double Mean, Median, GeometricMean; ///< of the speed-ups of successes
  Interval Spread;                    ///< of the geometric mean, over tasks
  double Delivered;                   ///< geometric mean over all cells
  double FloorShare;                  ///< median over successes that have one
  unsigned ToldAsShipped = 0, SuccessesAsShipped = 0;
};
PresetFigures summarize(llvm::StringRef Preset,
                        const std::vector<CellFigures> &Cells);

/// The cells of which \p Variant is known, with their speed-ups over it in
/// place of those over the source.
std::vector<CellFigures> overBaseline(const std::string &Variant,
                                      const std::vector<CellFigures> &Cells);
/// Those that any cell has, eager first and "fastest" last.
std::vector<std::string> baselinesOf(const std::vector<CellFigures> &Cells);

/// One that has not ended.
struct MissingRun {
  std::string Why;        ///< "softmax/stark/seed-1: why"
  bool Suspended = false; ///< else it failed
};

struct SuiteResult {
  std::string Suite;
  unsigned Attempts = 0;
  uint64_t Seeds = 0;
  std::vector<std::string> Presets;
  std::vector<CellFigures> Cells;  ///< that have ended
  std::vector<MissingRun> Missing; ///< the others
};
/// In the order of the suite.
std::vector<std::string> groupsOf(const SuiteResult &R);
std::vector<CellFigures> cellsOf(const SuiteResult &R, llvm::StringRef Group);

void printSuite(const SuiteResult &R, llvm::raw_ostream &OS);
std::string suiteJson(const SuiteResult &R);

} // namespace stark

#endif
