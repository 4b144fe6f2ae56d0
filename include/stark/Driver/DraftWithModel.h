//===- DraftWithModel.h - A model settles what a draft guesses ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   draft + what its run found -> model -> workload -> checked, run -> what is
///   wrong goes back to the model, a few times -> workload, notes
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_DRAFTWITHMODEL_H
#define STARK_DRIVER_DRAFTWITHMODEL_H

#include "stark/Agent/DraftAgent.h"
#include "stark/Eval/Evaluator.h"
#include <functional>

namespace stark {

/// A file of \p Source's that a workload calls: "dir/k.cu" -> "k.call.cu".
std::string callName(llvm::StringRef Source);

/// \p Call, which includes \p Source by its file name, as the file \p Path: the
/// include says where the source is from there.
std::string callFor(const std::string &Call, llvm::StringRef Source,
                    llvm::StringRef Path);

struct ModelDraftRequest {
  DraftQuestion Question;
  unsigned Rounds = 3;     ///< answers, at most
  bool Prove = true;       ///< run them in the simulator
  bool FoundFault = false; ///< the draft's own run found one, and says so
  EvaluatorOptions Judge = {};
  /// Told who is asked, and what goes back; may be empty.
  std::function<void(const std::string &Note)> OnNote = {};
};

struct ModelDraft {
  std::string Workload; ///< empty: no answer passed
  /// A file that the workload is of, with an include of the source by its file
  /// name alone; empty: it is of the source.
  std::string Call;
  std::vector<std::string> Notes; ///< who, what was changed, what was found
};

/// Errors are those of \p Client (Suspended, Interrupted, the call failed),
/// where no answer has passed yet, and of the machine.
llvm::Expected<ModelDraft> draftWithModel(const ModelDraftRequest &Request,
                                          const Prompt &P, ChatClient &Client,
                                          const CallControl &Control);

/// What a call of a source may not do, "line 3: ..." each; empty: nothing.
/// \p Text is read in a child. Errors are the host's.
llvm::Expected<std::string> forbiddenInCall(llvm::StringRef Text,
                                            llvm::StringRef Source,
                                            const ParseOptions &Options);

/// What \p New has otherwise than \p Old, a line a field: "sizes[0]: n 1024 ->
/// 65536".
std::vector<std::string> workloadChanges(llvm::StringRef Old,
                                         llvm::StringRef New);

} // namespace stark

#endif
