//===- DraftAgent.h - What a model says of a draft ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + draft + what a run of it found -> request -> reply -> workload,
/// or a workload with a call of its own
/// What is read here is well formed and names no file; whether it fits the
/// source is asked of the task (Task/Task.h), whether it runs of the simulator.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AGENT_DRAFTAGENT_H
#define STARK_AGENT_DRAFTAGENT_H

#include "stark/AST/Parse.h"
#include "stark/AST/Signature.h"
#include "stark/Agent/Prompt.h"
#include "stark/LLM/ChatClient.h"
#include "llvm/ADT/ArrayRef.h"

namespace stark {

/// What the model is told.
struct DraftQuestion {
  const ParsedSource &Source;
  llvm::ArrayRef<std::unique_ptr<ParsedSource>> Callers;
  const ParseOptions &Options;
  std::string Entry;    ///< that the user named, or the draft is of; or empty
  bool IsFixed = false; ///< the user named it
  const Signature *Of = nullptr; ///< the draft's; null: there is no draft
  std::string Draft = {};        ///< workload; empty: there is none
  std::string WhyNone = {};
  std::vector<std::string> Notes = {}; ///< of the draft
  std::string Found = {};              ///< by a run of it; empty: no run
};

/// What the model says.
struct DraftAnswer {
  std::string Workload; ///< JSON, strict, printed as drafts are
  std::string Call;     ///< a file that calls the source; empty: none
  std::string Changes;  ///< in its own words, may be empty
  std::string Fault;    ///< that it takes for the program's own; or empty
};

/// draft.md in \p Folder. It is no part of a search, and of no run's digest.
llvm::Expected<Prompt> loadDraftPrompt(llvm::StringRef Folder);

/// The first request; its id is that of try 1.
llvm::Expected<ChatRequest> makeDraftRequest(const Prompt &P,
                                             const DraftQuestion &Q);

/// The error's text is the re-ask. \p Source is the name of the user's file,
/// which a call has to include.
llvm::Expected<DraftAnswer> readDraft(llvm::StringRef Reply,
                                      llvm::StringRef Source);

} // namespace stark

#endif
