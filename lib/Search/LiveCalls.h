//===- LiveCalls.h - Model, judge and profiler, asked in a run ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request -> journal -> budget -> chat client
///   candidate -> journal -> judge | profiler
/// What the journal does not have is asked for, with the run lock let go
/// meanwhile.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_LIVECALLS_H
#define STARK_LIB_SEARCH_LIVECALLS_H

#include "Attempt.h"

namespace stark {

/// Waits, when the call does not fit the budget only because others are under
/// way. Errors: BudgetSpent, when it does not fit at all.
llvm::Expected<ChatReply> askModel(SearchState &State, unsigned Attempt,
                                   const ChatRequest &Request);

/// Tells the judge that it may be asked of an attempt with \p Text, while it is
/// checked whether it keeps the rules.
void prepareJudge(SearchState &State, const std::string &Text);

/// Tells the judge that it will be asked of an attempt with \p Text, before the
/// attempt's turn.
void announceToJudge(SearchState &State, const std::string &Text);

/// The verdict on node \p Number. Errors beside the judge's: Suspended, when an
/// evaluation in this process was broken off.
llvm::Expected<Verdict> askJudge(SearchState &State, unsigned Attempt,
                                 unsigned Number, Purpose Why,
                                 const std::string &Text);

/// The counters of node \p Base.
llvm::Expected<Counters> askProfiler(SearchState &State, unsigned Attempt,
                                     unsigned Base);

} // namespace stark

#endif
