//===- Figures.cpp - What a report is drawn from -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "stark/Job/Names.h"
#include "stark/Judge/Judge.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

using namespace stark;

void CallFigures::add(const ChatReply &R) {
  ++Calls;
  const Usage &U = R.Tokens;
  WithoutUsage += !U.Input || !U.Output;
  uint64_t Read = U.CacheRead.value_or(0);
  Input += U.Input.value_or(0) + Read + U.CacheWrite.value_or(0);
  Cached += Read;
  Output += U.Output.value_or(0);
  CostKnown &= R.CostMicroUsd.has_value();
  CostMicroUsd += R.CostMicroUsd.value_or(0);
  add(R.Discarded);
}

void CallFigures::add(const DiscardedAnswers &D) {
  if (!D.Answers)
    return;
  Discarded += D;
  CostKnown &= D.CostMicroUsd.has_value();
  CostMicroUsd += D.CostMicroUsd.value_or(0);
}

Figures stark::countFigures(const RecordedRun &Run) {
  Figures F;
  std::map<VerdictKind, unsigned> Counts;
  for (unsigned I = 1; I < Run.Nodes.size(); ++I) {
    const Node &N = Run.Nodes.node(I);
    ++Counts[N.Found.Kind];
    if (!N.hasBug() && N.SameAs < 0 &&
        (F.Best < 0 ||
         N.scoreUs() < Run.Nodes.node(unsigned(F.Best)).scoreUs()))
      F.Best = int(I);
  }
  F.Counts.assign(Counts.begin(), Counts.end());
  std::stable_sort(F.Counts.begin(), F.Counts.end(),
                   [](auto &A, auto &B) { return A.second > B.second; });

  std::set<std::string> Models;
  for (const RecordedAttempt &A : Run.Attempts)
    for (const ReplyEvent &R : A.Replies) {
      F.Calls.add(R.Reply);
      F.Roles[roleOf(R.Id).str()].add(R.Reply);
      if (!R.Reply.Model.empty())
        Models.insert(R.Reply.Model);
    }
  for (const auto &[Id, Took] : Run.Lost) {
    F.Calls.add(Took);
    F.Roles[roleOf(Id).str()].add(Took);
  }
  F.Models.assign(Models.begin(), Models.end());

  if (!Run.End || Run.End->Winner < 0)
    return F;
  const Node &Named = Run.Nodes.node(unsigned(Run.End->Winner));
  const Verdict *Found = &Named.Found;
  for (const VerdictEvent &E : Run.Confirmations)
    if (E.Node == Named.Number) {
      Found = &E.Found;
      F.Confirmed = true;
    }
  // A record that calls winner what was not found correct is not believed.
  if (Named.hasBug() || !Found->correct()) {
    F.Confirmed = false;
    return F;
  }
  F.Winner = Run.End->Winner;
  F.WinnerFound = Found;
  return F;
}

std::string stark::fixed(double Value, int Digits) {
  if (!std::isfinite(Value))
    return "-";
  char Text[64];
  std::snprintf(Text, sizeof(Text), "%.*f", Digits, Value);
  return Text;
}

static std::string howTaken(bool Modelled, llvm::StringRef On) {
  return (Modelled ? "modelled for " : "measured on ") +
         (On.empty() ? "a device that was not named" : visibleLine(On));
}

std::string stark::howTaken(const Verdict &V) {
  return ::howTaken(V.Modelled, V.Device);
}

std::string stark::devicesOf(const RecordedRun &Run) {
  std::vector<std::string> Names;
  auto Add = [&](const Verdict &V) {
    if (V.correct() && !V.Device.empty() &&
        !llvm::is_contained(Names, V.Device))
      Names.push_back(V.Device);
  };
  for (unsigned I = 0; I < Run.Nodes.size(); ++I)
    Add(Run.Nodes.node(I).Found);
  for (const VerdictEvent &E : Run.Confirmations)
    Add(E.Found);
  return Names.empty() ? Run.Identity.Device : llvm::join(Names, " and ");
}

std::string stark::howTaken(const RecordedRun &Run) {
  return ::howTaken(Run.Nodes.size() && Run.Nodes.node(0).Found.Modelled,
                    devicesOf(Run));
}

static size_t variantsOf(const Tree &Nodes) {
  size_t Count = 0;
  for (unsigned N = 0; N < Nodes.size(); ++N)
    Count += Nodes.node(N).Tuned;
  return Count;
}

std::string stark::describeEnd(const RecordedRun &Run, const Figures &F) {
  size_t Variants = variantsOf(Run.Nodes);
  std::string Tuned = Run.Tuning ? ", then " + std::to_string(Variants) +
                                       " variants of node " +
                                       std::to_string(Run.Tuning->Node)
                                 : "";
  if (!Run.End)
    return "the run goes on after " +
           std::to_string(Run.Nodes.size() ? Run.Nodes.size() - 1 - Variants
                                           : 0) +
           " of " + std::to_string(Run.Identity.Options.Attempts) +
           " attempts" + Tuned;
  std::string Text = "ended: " + visibleLine(Run.End->Ended.Why) + Tuned + "; ";
  if (F.Winner < 0)
    return Text + "nothing beat the source by the required factor of " +
           fixed(Run.Identity.Options.Margin, 3);
  return Text + "the winner is node " + std::to_string(F.Winner) + ", " +
         fixed(F.WinnerFound->speedup(), 3) + " times as fast as the source" +
         (F.Confirmed ? ", confirmed on inputs that no attempt saw" : "");
}

std::string stark::nearestRewrites(const RecordedRun &Run) {
  constexpr llvm::StringLiteral Opens("; nearest: "), Lacks(" lacks: line ");
  llvm::StringRef Said;
  for (unsigned Number = 1; Number < Run.Nodes.size(); ++Number) {
    const Node &N = Run.Nodes.node(Number);
    llvm::StringRef Why = llvm::StringRef(N.Found.Run).split('\n').first;
    if ((N.Parent == 0 || Said.empty()) &&
        N.Found.Kind == VerdictKind::NoCandidate &&
        Why.split(": ").second.starts_with("no rewrite is left: ") &&
        Why.contains(Opens))
      Said = Why.split(Opens).second;
  }
  // A reason may hold what stands between two of them.
  std::string Text;
  for (; !Said.empty(); Said = Said.split("; ").second) {
    llvm::StringRef Part = Said.split("; ").first;
    bool Begins = Part.contains(Lacks);
    Text += (Text.empty() ? "Nearest: "
             : Begins     ? "\nNearest: "
                          : "; ") +
            visibleLine(Part.rtrim());
  }
  return Text.empty() ? "" : Text + "\n";
}

std::string stark::lineRange(size_t First, size_t Last) {
  return First == Last
             ? "line " + std::to_string(First)
             : "lines " + std::to_string(First) + " to " + std::to_string(Last);
}

/// A regime for who has not read of them.
static llvm::StringRef plainWords(job::Regime R) {
  switch (R) {
  case job::Regime::Given:
    return "its own values";
  case job::Regime::Hardened:
    return "weights drawn anew and inputs of mixed magnitude";
  case job::Regime::Tiny:
    return "much smaller ones";
  case job::Regime::Huge:
    return "much larger ones";
  case job::Regime::Mixed:
    return "ones of mixed magnitude";
  case job::Regime::Integers:
    return "whole numbers";
  case job::Regime::Zeros:
    return "zeros";
  case job::Regime::OneHot:
    return "rows with a single 1";
  case job::Regime::EqualRows:
    return "equal rows";
  case job::Regime::Denormals:
    return "denormal numbers";
  }
  return "";
}

std::string stark::otherValues(const Verdict &V) {
  std::vector<std::string> Said;
  for (llvm::StringRef Line : V.Proved) {
    if (!Line.consume_front(judge::OtherValues))
      continue;
    llvm::SmallVector<llvm::StringRef, 8> Names;
    Line.split(Names, ", ");
    for (llvm::StringRef Name : Names) {
      auto Known = llvm::find_if(job::RegimeNames, [&](const auto &Each) {
        return Name == Each.Name;
      });
      Said.push_back((Known == std::end(job::RegimeNames)
                          ? Name
                          : plainWords(Known->Value))
                         .str());
    }
  }
  return llvm::join(Said, ", ");
}
