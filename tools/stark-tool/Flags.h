//===- Flags.h - Flags that verbs share ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   command line -> groups of flags, an instance a verb -> SearchRequest, ...
/// A flag that several verbs have is defined once, with its text and its
/// limits. A group is a static object of the verb's file.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TOOL_FLAGS_H
#define STARK_TOOL_FLAGS_H

#include "Verbs.h"
#include "stark/Driver/SearchRequest.h"
#include "stark/Report/ProgressPrinter.h"

namespace stark::tool {

namespace cl = llvm::cl;

/// A flag of the verb \p Of.
template <class T> struct Flag : cl::opt<T> {
  template <class... Mods>
  Flag(cl::SubCommand &Of, llvm::StringRef Name, const Mods &...M)
      : cl::opt<T>(Name, cl::sub(Of), cl::cat(category()), M...) {}
  bool given() const { return this->getNumOccurrences() != 0; }
};

/// One that may be given several times.
struct FlagList : cl::list<std::string> {
  template <class... Mods>
  FlagList(cl::SubCommand &Of, llvm::StringRef Name, const Mods &...M)
      : cl::list<std::string>(Name, cl::sub(Of), cl::cat(category()), M...) {}
  bool given() const { return getNumOccurrences() != 0; }
  std::vector<std::string> values() const { return {begin(), end()}; }
};

/// A usage error unless \p F is from \p Least to \p Most.
llvm::Error checkRange(const Flag<unsigned> &F, unsigned Least, unsigned Most);

/// FILE.cu and what it is called with.
struct SourceFlags {
  explicit SourceFlags(cl::SubCommand &Of);
  cl::opt<std::string> File;
  Flag<std::string> Workload;
  /// Of --workload, else the default.
  std::string workload() const;
};

/// How a source is parsed where no GPU says it.
struct ParseFlags {
  explicit ParseFlags(cl::SubCommand &Of);
  Flag<std::string> Arch, CudaPath;
  /// Without \p Flags, those of compile_commands.json for \p File.
  llvm::Expected<ParseOptions>
  options(llvm::StringRef File, const std::vector<std::string> &Flags) const;
};

/// Who answers.
struct ProviderFlags {
  ProviderFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need);
  Flag<std::string> Provider, Model, BaseUrl, Models;
  ChatClientOptions answering() const;
};

/// Who judges, and for which GPU.
struct EvaluatorFlags {
  EvaluatorFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need);
  Flag<std::string> Evaluator;
  Flag<unsigned> Wait;
  Flag<std::string> Arch, CudaPath;
};

/// How a search is made: by optimize, by build, and by bench many times.
struct SearchFlags : ProviderFlags, EvaluatorFlags {
  SearchFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need);
  Flag<unsigned> Attempts, Jobs;
  FlagList Budget;
  Flag<std::string> Prompts;
  Flag<bool> NoExtract;

  /// Usage errors name the flag.
  llvm::Error check() const;
  /// Without the specs, the source and the compiler's flags.
  SearchRequest request() const;
  /// What was given of attempts, jobs and budget.
  llvm::Error apply(SearchOptions &Search) const;
};

/// What is said while a search goes on.
struct ProgressFlags {
  explicit ProgressFlags(cl::SubCommand &Of);
  Flag<bool> Quiet, Explain;
  Flag<std::string> Events;
  ProgressOptions options() const;
};

/// --remarks FILE
struct RemarksFlag : Flag<std::string> {
  explicit RemarksFlag(cl::SubCommand &Of);
  /// Nothing when it was not given.
  llvm::Error write(const RecordedRun &Run) const;
};

/// One search.
struct OneSearchFlags : SearchFlags {
  OneSearchFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need);
  Flag<uint64_t> Seed;
  Flag<std::string> Preset;
  Flag<unsigned> Patience;
  Flag<double> StopAt;

  /// Usage errors name the flag.
  llvm::Error check() const;
  /// With both specs.
  llvm::Expected<SearchRequest> request() const;
  /// What was given of preset, seed and the rest, on top of \p Search.
  llvm::Error apply(SearchOptions &Search) const;
};

} // namespace stark::tool

#endif
