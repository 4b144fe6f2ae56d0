//===- CheckCandidate.cpp - What no evaluator need be asked for -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/CheckCandidate.h"
#include "stark/AST/Contract.h"
#include "stark/AST/Prelude.h"
#include "stark/AST/Site.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cerrno>
#include <cstring>

using namespace stark;

/// What a model's window can bear of one observation.
static constexpr size_t ObservationBytes = 4000;

static Verdict observed(VerdictKind Kind, llvm::StringRef What) {
  Verdict V;
  V.Kind = Kind;
  V.Compiler = trimForWindow(What, ObservationBytes);
  return V;
}

/// What the workload says that the entry reads.
static std::vector<EntryInput> inputsOf(const Task &T) {
  std::vector<EntryInput> All;
  for (const Argument &A : T.Load.Arguments) {
    if (!A.IsBuffer || A.Use != job::Role::Input)
      continue;
    auto [Name, Field] = llvm::StringRef(A.Name).split('.');
    for (unsigned I = 0; I < T.Entry.Parameters.size(); ++I)
      if (T.Entry.Parameters[I].Name == Name)
        All.push_back({I, A.Name, Field.str()});
  }
  return All;
}

static std::optional<Verdict>
checkAgainstSource(const Task &T, const ParsedSource &Candidate) {
  std::vector<Violation> Found = checkContract(
      *T.Parsed, Candidate, T.Load.Entry, T.Load.entryUsed(), inputsOf(T));
  if (Found.empty())
    return std::nullopt;
  bool Forbidden = false;
  std::string Text;
  for (const Violation &V : Found) {
    Forbidden |= V.forbidden();
    if (!Text.empty())
      Text += "\n";
    if (V.Line)
      Text += "line " + std::to_string(V.Line) + ": ";
    Text += V.message();
  }
  return observed(
      Forbidden ? VerdictKind::Forbidden : VerdictKind::ContractBroken, Text);
}

/// All that is done with a candidate's AST later is done here first, so that
/// what cannot bear it is found here.
static std::optional<Verdict> check(const CheckRequest &R) {
  std::string Outside;
  if (R.To && R.To->Strictness != Grounding::Off) {
    Footprint F = findFootprint(R.To->Base, R.To->Anchors, R.Text);
    if (!F.grounded(R.To->Strictness))
      Outside = llvm::join(F.complaints(R.To->Strictness), "\n");
  }
  if (Outside.empty() && R.Known)
    return std::nullopt;
  auto Parsed = parseSource(R.Of.SourcePath, R.Text, R.Of.Parse, R.Headers);
  if (!Parsed)
    return observed(VerdictKind::NotCompiled,
                    llvm::toString(Parsed.takeError()));
  findSites(**Parsed);
  std::optional<Verdict> Broken = checkAgainstSource(R.Of, **Parsed);
  if (Outside.empty())
    return Broken;
  return observed(VerdictKind::Ungrounded,
                  Broken ? Outside + "\n" + Broken->Compiler : Outside);
}

/// A child's answer: nothing, or a verdict's kind and what was observed.
static std::string answer(const std::optional<Verdict> &V) {
  return V ? char(V->Kind) + V->Compiler : std::string();
}

static std::optional<Verdict> readAnswer(const std::string &Text) {
  if (Text.empty())
    return std::nullopt;
  Verdict V;
  V.Kind = VerdictKind(Text.front());
  V.Compiler = Text.substr(1);
  return V;
}

llvm::Expected<std::optional<Verdict>>
stark::checkCandidate(const CheckRequest &R) {
  TraceScope Traced("check");
  posix::ChildAnswer Said =
      posix::askChild([&] { return answer(check(R)); }, R.Limits);
  auto Unreadable = [](const llvm::Twine &Why) {
    return std::optional<Verdict>(observed(
        VerdictKind::NotCompiled, ("Clang cannot read it: " + Why).str()));
  };
  switch (Said.End) {
  case posix::ChildEnd::Answered:
    return readAnswer(Said.Text);
  case posix::ChildEnd::OutOfTime:
    return Unreadable("it takes more than " +
                      llvm::Twine(R.Limits.CpuMs / 1000) + " s to parse");
  case posix::ChildEnd::OutOfMemory:
    return Unreadable("it takes more than " +
                      llvm::Twine(R.Limits.Bytes >> 20) + " MiB to parse");
  case posix::ChildEnd::Crashed:
    return Unreadable("it crashed" +
                      (Said.Signal ? " with signal " + llvm::Twine(Said.Signal)
                                   : llvm::Twine("")) +
                      ", as it does when something is nested too deeply");
  case posix::ChildEnd::Asleep:
    return failed("the process that read the candidate stands still");
  case posix::ChildEnd::Killed:
    return failed("the process that read the candidate was killed; is there "
                  "memory enough?");
  case posix::ChildEnd::NotStarted:
    return failed("no process can be started to read the candidate in: " +
                  llvm::StringRef(std::strerror(errno)));
  case posix::ChildEnd::Interrupted:
    return interrupted("interrupted while the candidate was read");
  }
  llvm_unreachable("all ends are named");
}
