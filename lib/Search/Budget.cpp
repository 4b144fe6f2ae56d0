//===- Budget.cpp - What a run may spend ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Budget.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <cstdio>

using namespace stark;
using Of = BudgetLimit::Of;

llvm::Expected<BudgetLimit> stark::parseBudgetLimit(llvm::StringRef Text) {
  BudgetLimit L;
  auto [Name, Number] = Text.split('=');
  if (size_t Colon = Name.find(':'); Colon != llvm::StringRef::npos) {
    L.Role = Name.take_front(Colon).str();
    Name = Name.substr(Colon + 1);
  }
  double Value = 0;
  bool Good = !Number.empty() && !Number.getAsDouble(Value) &&
              std::isfinite(Value) && Value > 0 && Value < 1e12;
  bool RoleKnown = L.Role.empty() ? !Text.starts_with(":")
                                  : L.Role == "plan" || L.Role == "code" ||
                                        L.Role == "debug" || L.Role == "single";
  if (Name == "tokens" && Value == std::floor(Value)) {
    L.Limit = uint64_t(Value);
  } else if (Name == "usd") {
    L.What = Of::MicroUsd;
    L.Limit = uint64_t(std::llround(Value * 1e6));
  } else if (Name == "minutes" && L.Role.empty()) {
    L.What = Of::Seconds;
    L.Limit = uint64_t(std::ceil(Value * 60));
  } else {
    Good = false;
  }
  if (!Good || !RoleKnown || !L.Limit)
    return usageError("budget: got '" + Text +
                      "', wanted tokens=N, usd=X or minutes=M; before tokens "
                      "or usd a role may stand: plan:, code:, debug:, single:");
  return L;
}

llvm::Expected<std::vector<BudgetLimit>>
stark::parseBudgetLimits(const std::vector<std::string> &Texts) {
  std::vector<BudgetLimit> Limits;
  for (const std::string &Text : Texts) {
    llvm::Expected<BudgetLimit> L = parseBudgetLimit(Text);
    if (!L)
      return L.takeError();
    Limits.push_back(std::move(*L));
  }
  return Limits;
}

static std::string amount(Of What, uint64_t Value) {
  char Text[40];
  switch (What) {
  case Of::Tokens:
    return std::to_string(Value);
  case Of::MicroUsd:
    snprintf(Text, sizeof(Text), "%.6f", double(Value) * 1e-6);
    break;
  case Of::Seconds:
    snprintf(Text, sizeof(Text), "%.6g", double(Value) / 60);
    break;
  }
  std::string Short = Text;
  while (What == Of::MicroUsd && Short.size() > 4 && Short.back() == '0' &&
         Short[Short.size() - 3] != '.')
    Short.pop_back();
  return Short;
}

static const char *unit(Of What) {
  return What == Of::Tokens     ? "tokens"
         : What == Of::MicroUsd ? "usd"
                                : "minutes";
}

std::string stark::printBudgetLimit(const BudgetLimit &L) {
  return (L.Role.empty() ? "" : L.Role + ":") + unit(L.What) + "=" +
         amount(L.What, L.Limit);
}

Budget::Budget(std::vector<BudgetLimit> Limits, Clock &Time)
    : Limits(std::move(Limits)), Time(Time), Started(Time.now()) {}

uint64_t Budget::spent(const BudgetLimit &L) const {
  if (L.What == Of::Seconds)
    return (RecordedMs + Time.millisecondsSince(Started)) / 1000;
  return amountOf(Spent, L);
}

uint64_t Budget::amountOf(const PerRole &Roles, const BudgetLimit &L) {
  auto Found = Roles.find(L.Role);
  if (Found == Roles.end())
    return 0;
  return L.What == Of::Tokens ? Found->second.Tokens : Found->second.MicroUsd;
}

void Budget::count(PerRole &Roles, llvm::StringRef Role, int64_t Tokens,
                   int64_t MicroUsd) {
  for (llvm::StringRef Name : {llvm::StringRef(), Role}) {
    Amounts &Sum = Roles[Name.str()];
    Sum.Tokens += uint64_t(Tokens);
    Sum.MicroUsd += uint64_t(MicroUsd);
  }
}

void Budget::hold(llvm::StringRef Role, const WorstCase &Worst) {
  count(Held, Role, int64_t(Worst.tokens()), Worst.MicroUsd.value_or(0));
  ++CallsHeld;
}

void Budget::release(llvm::StringRef Role, const WorstCase &Worst) {
  count(Held, Role, -int64_t(Worst.tokens()), -Worst.MicroUsd.value_or(0));
  --CallsHeld;
}

llvm::Expected<std::string> Budget::reserve(llvm::StringRef Role,
                                            const WorstCase &Worst) const {
  for (const BudgetLimit &L : Limits) {
    if (!L.Role.empty() && L.Role != Role)
      continue;
    if (L.What == Of::MicroUsd && !Worst.MicroUsd)
      return usageError("budget " + printBudgetLimit(L) +
                        ": what a call costs is not known; a table of models "
                        "with its price (--models) or a limit in tokens is "
                        "wanted");
    uint64_t Next = L.What == Of::Tokens     ? Worst.tokens()
                    : L.What == Of::MicroUsd ? uint64_t(*Worst.MicroUsd)
                                             : 0;
    uint64_t Gone = spent(L);
    bool Fits = L.What == Of::Seconds
                    ? Gone < L.Limit
                    : Gone + amountOf(Held, L) + Next <= L.Limit;
    if (Fits)
      continue;
    std::string Why = "budget spent: " + std::string(unit(L.What)) +
                      (L.Role.empty() ? "" : " of " + L.Role) + ", " +
                      amount(L.What, Gone) + " of " + amount(L.What, L.Limit);
    if (Next)
      Why += ", and the next call may take " + amount(L.What, Next);
    return Why;
  }
  return std::string();
}

void Budget::settle(llvm::StringRef Role, const ChatReply &Reply,
                    const WorstCase &Worst) {
  const Usage &U = Reply.Tokens;
  uint64_t In =
      U.Input ? *U.Input + U.CacheRead.value_or(0) + U.CacheWrite.value_or(0)
              : Worst.InputTokens;
  uint64_t Out = U.Output.value_or(Worst.OutputTokens);
  int64_t Usd = Reply.CostMicroUsd.value_or(Worst.MicroUsd.value_or(0));
  // Answers that were thrown away are paid for, too.
  const DiscardedAnswers &Lost = Reply.Discarded;
  Out += Lost.Input + Lost.Output;
  if (Lost.Answers)
    Usd += Lost.CostMicroUsd.value_or(Worst.MicroUsd.value_or(0) *
                                      int64_t(Lost.Answers));
  count(Spent, Role, int64_t(In + Out), std::max<int64_t>(Usd, 0));
}

void Budget::lose(llvm::StringRef Role, const DiscardedAnswers &Lost) {
  count(Spent, Role, int64_t(Lost.Input + Lost.Output),
        Lost.CostMicroUsd.value_or(0));
}

void Budget::regain(llvm::StringRef Role, const DiscardedAnswers &Lost) {
  count(Spent, Role, -int64_t(Lost.Input + Lost.Output),
        -Lost.CostMicroUsd.value_or(0));
}

void Budget::settleRecorded(llvm::StringRef Role, const ChatReply &Reply,
                            const WorstCase &Worst) {
  settle(Role, Reply, Worst);
  RecordedMs += Reply.WallMs;
}
