//===- CheckCandidate.h - What no evaluator need be asked for -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   candidate -> footprint -> contract -> verdict, when either is broken
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_CHECKCANDIDATE_H
#define STARK_SEARCH_CHECKCANDIDATE_H

#include "stark/AST/Footprint.h"
#include "stark/Eval/Verdict.h"
#include "stark/Posix/ChildAnswer.h"
#include "stark/Task/Task.h"
#include <optional>

namespace stark {

class Prelude;

/// What a candidate was told to change, and where.
struct Told {
  llvm::StringRef Base;           ///< the text that it began from
  llvm::ArrayRef<Anchor> Anchors; ///< in it
  Grounding Strictness = Grounding::Support;
};

/// A candidate, and what is known of it before it is read.
struct CheckRequest {
  const Task &Of;
  std::optional<Told> To; ///< unset: it may change whatever it wants
  llvm::StringRef Text;
  /// Its tokens have been judged before: only where they differ from what it
  /// began from is new, and nothing is parsed for that.
  bool Known = false;
  const Prelude *Headers = nullptr; ///< of the source, where there are any
  /// Of the process that reads it.
  posix::ChildLimits Limits = {};
};

/// The verdict when the candidate changes what it was not told to, breaks the
/// contract with the source, or cannot be parsed within the limits; unset when
/// none of that is so. It is read in a child: what a model wrote may be without
/// end. Errors are the host's, or the user interrupted.
llvm::Expected<std::optional<Verdict>>
checkCandidate(const CheckRequest &Request);

} // namespace stark

#endif
