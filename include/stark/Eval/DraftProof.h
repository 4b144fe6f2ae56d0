//===- DraftProof.h - Whether a draft runs --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   draft -> its small size on the simulated GPU, in one form after the other
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_DRAFTPROOF_H
#define STARK_EVAL_DRAFTPROOF_H

#include "stark/Draft/Draft.h"
#include "stark/Eval/Evaluator.h"

namespace stark {

struct DraftProof {
  SmallSize Form = SmallSize::Ragged;
  bool Proved = false;
  std::string Note; ///< what came of it
  /// What the run of the first form found, whole; of one that is correct, which
  /// outputs say little. Names no folder.
  std::string Found;
};

/// Runs the source \p SourcePath as \p D says, until a form of it is correct;
/// outputs that the source does not write in full are filled before each call.
/// One that is correct also counts the bytes that a call has to move.
/// What fails, or cannot be run there, is said in the note of the first form.
/// Errors: files cannot be written.
llvm::Expected<DraftProof> proveDraft(Draft &D, llvm::StringRef SourcePath,
                                      const ParseOptions &Parse,
                                      const EvaluatorOptions &Options);

} // namespace stark

#endif
