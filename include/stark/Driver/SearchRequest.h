//===- SearchRequest.h - A search from file names and specs --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   SearchRequest -> PreparedSearch: task, prompts, chat client, evaluator,
///                    options -> runSearch
/// What `optimize` does, `bench` for each run of a suite, and `build` when the
/// cache has no winner. A search is prepared before it is known where it is
/// kept: its identity says what a run folder is held to.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_SEARCHREQUEST_H
#define STARK_DRIVER_SEARCHREQUEST_H

#include "stark/Eval/KnownVerdicts.h"
#include "stark/LLM/ProviderSpec.h"
#include "stark/Search/RunExtent.h"
#include "stark/Search/Search.h"
#include "stark/Task/ExtractedTask.h"

namespace stark {

/// Whose counters plans are shown.
struct CountersRequest {
  enum class Kind {
    /// Those of the run that goes on or is replayed; else as Measured, when a
    /// model's candidates are measured.
    Default,
    Off,
    Measured, ///< of the GPU that judges, where it has none as Nearest
    Nearest,  ///< of the simulated GPU nearest to the architecture
    Named,    ///< of the simulated GPU that stark-sim calls Gpu
  };
  Kind Of = Kind::Default;
  std::string Gpu;
};

/// "cuda", "sim", "sim:GPU", "off"; empty: the default.
llvm::Expected<CountersRequest> parseCountersRequest(llvm::StringRef Text);

/// docs/search.md says what they were chosen by.
constexpr unsigned DefaultPatience = 5;
constexpr double DefaultStopAt = 0.95;

struct SearchRequest {
  std::string Source;
  std::string Workload; ///< empty: NAME.workload.json beside the source
  ProviderSpec Provider;
  EvaluatorSpec Evaluator;
  ChatClientOptions Answering;
  /// Empty: those of the run that goes on, of the run that the provider
  /// replays, else those that came with the tool.
  std::string Prompts;
  SearchOptions Search;
  /// In place of Search.Patience and Search.StopAt. Unset: those of the run
  /// that goes on or is replayed; else DefaultPatience, where somebody is asked
  /// who has to be paid or waited for, and DefaultStopAt.
  std::optional<unsigned> Patience;
  std::optional<double> StopAt;
  CountersRequest Counters;
  bool WorkloadMargin = true; ///< take Search.Margin from the workload
  std::vector<std::string> Flags;
  /// Search what the entry reaches in headers, too (ExtractedTask.h).
  bool Extract = true;
  std::string Arch;    ///< empty: the evaluator's
  std::string Toolkit; ///< empty: find it
  std::string Torch;   ///< as in ParseOptions
  uint64_t WaitMs = 0; ///< for an answer or a result, before suspending
  /// Of earlier requests, asked and added to when the evaluator's verdicts
  /// repeat; may be null.
  KnownVerdicts *Known = nullptr;
  /// Ends the search before its next step; may be null.
  const std::atomic<bool> *Cancelled = nullptr;
  Clock *Time = &machineClock(); ///< by which all of it waits and gives up
};

/// All that a search needs but for the folder that it is kept in.
class PreparedSearch {
public:
  virtual ~PreparedSearch() = default;
  virtual const Task &task() const = 0;
  /// The source as it is, where the task's was extracted of it; else null.
  virtual const UsersSource *users() const = 0;
  /// What a run folder is held to: a run goes on only with the same.
  virtual RunIdentity identity() const = 0;
  /// How far it goes, in place of what the request said.
  virtual void setExtent(const RunExtent &To) = 0;
  /// Runs, resumes or finishes the run in \p RunFolder, as runSearch() says.
  virtual llvm::Expected<SearchOutcome> run(llvm::StringRef RunFolder) = 0;
};

/// \p GoesOn: the folder of the run that is to go on, whose prompts and
/// counters are the default; empty, or no run yet: none does. \p Observer must
/// outlive what is returned.
llvm::Expected<std::unique_ptr<PreparedSearch>>
prepareSearch(const SearchRequest &Request, llvm::StringRef GoesOn,
              SearchObserver &Observer);

/// What the request would cost, printed; nothing is written and nobody asked.
llvm::Error printRequestEstimate(const SearchRequest &Request,
                                 llvm::StringRef GoesOn, llvm::raw_ostream &OS);

/// The options of the run that \p Provider replays; unset for other specs.
llvm::Expected<std::optional<SearchOptions>>
replayedOptions(const ProviderSpec &Provider);

/// Who answers; a replay under the name of the provider that its run had.
llvm::Expected<std::unique_ptr<ChatClient>>
makeAnsweringClient(const ProviderSpec &Provider, ChatClientOptions Options,
                    Clock &Time);

/// The prompts that came with the tool: installed, else the source tree's.
std::string promptsFolder();

/// NAME.workload.json beside NAME.cu.
std::string defaultWorkload(llvm::StringRef Source);

} // namespace stark

#endif
