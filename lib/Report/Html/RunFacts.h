//===- RunFacts.h - What a page says of a run -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   recorded run --> plain values, each once --> sections of a page
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REPORT_HTML_RUNFACTS_H
#define STARK_LIB_REPORT_HTML_RUNFACTS_H

#include "../Figures.h"
#include "../RunFloors.h"
#include "Code.h"
#include "stark/Sim/Gpu.h"

namespace stark {

/// A timed size, of the run's result.
struct SizeFacts {
  job::Timing Took;              ///< of the winner; of the source alone without
  std::optional<double> Bytes;   ///< that a call has to move
  std::optional<double> Flops;   ///< that it computes
  std::optional<double> FloorUs; ///< Bytes at the GPU's copy rate
  std::optional<Floor> Bound;    ///< the largest of all floors
};

/// How a verdict is drawn: a shape, and a colour of the same name.
struct VerdictMark {
  llvm::StringLiteral Class; ///< "correct", "wrong", ...
  llvm::StringLiteral Label; ///< for a legend
};
/// Of \p K; kinds that mean the same to a reader share one.
VerdictMark markOf(VerdictKind K);

struct RunFacts {
  const RecordedRun &Run;
  std::string Folder; ///< as given
  std::string Name;   ///< for headings: the folder's last part
  Figures Count;
  bool Modelled = false;
  std::string Device;           ///< "NVIDIA H200", as devicesOf()
  std::optional<Workload> Load; ///< unset: LoadProblem says why
  std::string LoadProblem;
  std::optional<sim::GpuDescription> Gpu; ///< of found()
  std::vector<SizeFacts> Sizes;           ///< timed ones
  /// From the source to the winner, or to the best so far; the source alone
  /// without.
  std::vector<unsigned> Path;
  std::vector<bool> OnPath;   ///< by node
  unsigned Result = 0;        ///< the winner or the best so far; 0: none
  std::vector<int> AttemptOf; ///< by node
  std::vector<std::unique_ptr<Code>> Texts; ///< by node

  RunFacts(const RecordedRun &Run, llvm::StringRef Folder);
  const Node &node(unsigned N) const { return Run.Nodes.node(N); }
  const Node &result() const { return node(Result); }
  /// Of the result: the confirmation's where there is one.
  const Verdict &found() const;
  bool hasWinner() const { return Count.Winner >= 0; }
  /// "measured", "modelled"
  const char *how() const { return Modelled ? "modelled" : "measured"; }
  /// Of a node's source; an empty one for what gave no candidate.
  const Code &code(unsigned N) const { return *Texts[N]; }
  /// The source's verdict is there and it is correct.
  bool hasSource() const;
};

/// "33.9", "2.70", "1.034": three digits or so.
std::string times(double Ratio);
/// "1,467 µs", "25.5 ms", "0.85 s"
std::string duration(double Us);
/// "12,345"
std::string grouped(uint64_t Value);

} // namespace stark

#endif
