//===- Counters.h - Whose counters plans are shown -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request, evaluator, earlier run -> GPU -> profiler
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRIVER_COUNTERS_H
#define STARK_LIB_DRIVER_COUNTERS_H

#include "stark/Driver/SearchRequest.h"

namespace stark {

struct CountersChoice {
  std::optional<EvaluatorSpec> Gpu; ///< a simulated one; unset: none
  enum class Source { Default, Recorded, Asked } From = Source::Default;
  bool Profile = false; ///< the GPU's own, where there are such
};

/// \p Before: the identity of the run that goes on, or null.
llvm::Expected<CountersChoice> chooseCounters(const SearchRequest &R,
                                              const RunIdentity *Before,
                                              const ChatClient &Chat,
                                              llvm::StringRef Arch);

/// What shows them; null when it is not there and nobody asked, or when a run
/// goes on whose journal may have them all. \p Judged: the identity of the run
/// that the evaluator replays, or null. \p Choice is left without a GPU when
/// there is no profiler for the default one, which \p Observer is told.
llvm::Expected<std::unique_ptr<Profiler>>
makeProfiler(const SearchRequest &R, const RunIdentity *Judged, const Task &T,
             EvaluatorOptions Options, CountersChoice &Choice,
             SearchObserver &Observer);

/// By which other numbers are put aside where a GPU judges; empty where none
/// does, where no numbers are tried, and, which \p Observer is told, where
/// there is no simulator.
TimeModel makeTimeModel(const SearchRequest &R, const Task &T,
                        EvaluatorOptions Options, SearchObserver &Observer);

} // namespace stark

#endif
