//===- SearchRun.h - A search from file names ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   file names and specs -> task, prompts, chat client, evaluator -> runSearch
/// What `optimize` does, and `build` when the cache has no winner.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TOOL_SEARCHRUN_H
#define STARK_TOOL_SEARCHRUN_H

#include "stark/Eval/KnownVerdicts.h"
#include "stark/LLM/ProviderSpec.h"
#include "stark/Search/Search.h"

namespace stark::tool {

struct SearchRequest {
  std::string Source;
  std::string Workload; ///< empty: NAME.workload.json beside the source
  std::string Provider, Evaluator; ///< specs
  ChatClientOptions Answering;
  std::string RunFolder;
  /// Empty: the run's own, those of the run that a provider replays, else those
  /// that came with the tool.
  std::string Prompts;
  SearchOptions Search;
  /// Whose counters plans are shown: "sim", "sim:GPU", "off". Empty: those of
  /// the run that goes on or is replayed; else of the GPU nearest to the one
  /// that judges, when a model's candidates are measured.
  std::string Counters;
  bool WorkloadMargin = true; ///< take Search.Margin from the workload
  std::vector<std::string> Flags;
  std::string Arch;    ///< empty: the evaluator's
  std::string Toolkit; ///< empty: find it
  uint64_t WaitMs = 0; ///< for an answer or a result, before suspending
  /// Of earlier requests, asked and added to when the evaluator's verdicts are
  /// repeatable; may be null.
  KnownVerdicts *Known = nullptr;
};

struct SearchResult {
  Task T;
  SearchOutcome Outcome;
};

llvm::Expected<SearchResult> runSearchRequest(const SearchRequest &Request,
                                              SearchObserver &Observer);

/// What the request would cost, printed; nothing is written and nobody asked.
llvm::Error printRequestEstimate(const SearchRequest &Request,
                                 llvm::raw_ostream &OS);

/// The options of the run that \p Provider replays; unset for other specs.
llvm::Expected<std::optional<SearchOptions>>
replayedOptions(llvm::StringRef Provider);

/// The prompts that came with the tool: installed, else the source tree's.
std::string promptsFolder();

/// NAME.workload.json beside NAME.cu.
std::string defaultWorkload(llvm::StringRef Source);

} // namespace stark::tool

#endif
