//===- Budget.h - What a run may spend -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Limits on tokens, money and time, of the run or of one role. Before a call
/// the worst that it can cost is reserved; when that does not fit, the run ends
/// as it does after its last attempt, with the best so far. Afterwards what the
/// call did cost is settled.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_BUDGET_H
#define STARK_SEARCH_BUDGET_H

#include "stark/LLM/ChatClient.h"
#include "stark/Posix/Clock.h"
#include <map>
#include <string>
#include <vector>

namespace stark {

struct BudgetLimit {
  enum class Of { Tokens, MicroUsd, Seconds } What = Of::Tokens;
  std::string Role; ///< empty: of the whole run
  uint64_t Limit = 0;
};

/// "tokens=200000", "usd=2.50", "minutes=90", "code:usd=1": errors say what was
/// given and what is wanted. Time is of the run alone.
llvm::Expected<BudgetLimit> parseBudgetLimit(llvm::StringRef Text);
llvm::Expected<std::vector<BudgetLimit>>
parseBudgetLimits(const std::vector<std::string> &Texts);
std::string printBudgetLimit(const BudgetLimit &L);

class Budget {
public:
  /// Its minutes begin now, by \p Time.
  Budget(std::vector<BudgetLimit> Limits, Clock &Time);

  /// Empty when \p Worst fits; else why not: "tokens of code: 9000 of 10000
  /// spent, the next call may take 2000". A usage error when a limit is in
  /// money and the call's price is not known.
  llvm::Expected<std::string> reserve(llvm::StringRef Role,
                                      const WorstCase &Worst) const;
  /// A call is under way: until it is released, reserve() counts its worst.
  void hold(llvm::StringRef Role, const WorstCase &Worst);
  void release(llvm::StringRef Role, const WorstCase &Worst);
  bool holdsAny() const { return CallsHeld; }
  /// What the reply does not say is taken for \p Worst.
  void settle(llvm::StringRef Role, const ChatReply &Reply,
              const WorstCase &Worst);
  /// What answers of a call took that came to nothing, until regain() says that
  /// they count with a reply.
  void lose(llvm::StringRef Role, const DiscardedAnswers &Lost);
  void regain(llvm::StringRef Role, const DiscardedAnswers &Lost);
  /// A reply that an earlier process got.
  void settleRecorded(llvm::StringRef Role, const ChatReply &Reply,
                      const WorstCase &Worst);

private:
  struct Amounts {
    uint64_t Tokens = 0, MicroUsd = 0;
  };
  using PerRole = std::map<std::string, Amounts, std::less<>>; ///< "": all
  /// Adds to the whole run's and to \p Role's.
  static void count(PerRole &Roles, llvm::StringRef Role, int64_t Tokens,
                    int64_t MicroUsd);
  uint64_t spent(const BudgetLimit &L) const;
  static uint64_t amountOf(const PerRole &Roles, const BudgetLimit &L);

  const std::vector<BudgetLimit> Limits;
  Clock &Time;
  const Clock::Time Started;
  PerRole Spent, Held;
  unsigned CallsHeld = 0;
  uint64_t RecordedMs = 0; ///< of calls before this process
};

} // namespace stark

#endif
