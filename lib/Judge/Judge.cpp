//===- Judge.cpp - One job, from folder to result -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   read -> open -> trials in the order of the plan -> timed sizes -> finish
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Judge.h"
#include "stark/Job/Npy.h"
#include "stark/Judge/Compare.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/File.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Sizes to draw from that the source may fail at before no other is tried.
constexpr unsigned MostFailures = 3;
/// An output that may be off by this share of its own size says nothing.
constexpr double MostlyRounding = 0.25;
/// That counters are read of.
constexpr size_t MostProfiledSizes = 4;

class Judge {
public:
  Judge(Runner &R, std::string Outputs, Clock &Time)
      : R(R), Outputs(std::move(Outputs)), Time(Time), Spent(Time, Out.Stages) {
    R.watch(Spent);
  }
  Result run(const std::string &Folder);

private:
  // What returns a MaybeStop may end the job with it.
  MaybeStop read(const std::string &Folder);
  MaybeStop compareAll();
  MaybeStop compareTrial(const Trial &T);
  MaybeStop leaveOut(const Trial &T, const std::string &Why);
  MaybeStop leaveOutAdded(const Trial &T);
  std::optional<std::string> unfit(const Trial &T, MaybeStop &Failed);
  MaybeStop keepOutputs(const Trial &T);
  MaybeStop timeAll();
  MaybeStop trace();
  MaybeStop sanitize();
  void profile();
  MaybeStop work(const std::string &Folder);

  Runner &R;
  std::string TooLarge; ///< of the last such of the workload's sizes, and why
  std::string Outputs;  ///< where the candidate's go, until they are written
  Job J;
  Result Out;
  Clock &Time;
  Stages Spent;
  CompareRule Rule;
  std::vector<bool> LeftOut, Compared; ///< by case
  unsigned DrawnLeftOut = 0;           ///< cases
  unsigned DrawnFailures = 0;          ///< of the source, in them
  std::string Figures;                 ///< of the timed sizes
  std::string Notes;
  std::vector<unsigned> Timed;      ///< cases
  std::vector<std::string> InOrder; ///< what other tools found so
};
} // namespace

MaybeStop Runner::timeAll(const Job &J, const std::vector<unsigned> &Cases,
                          std::vector<Timing> &Timings, std::string &Notes) {
  for (unsigned Case : Cases) {
    Stages::Scope Timed(Log, "time", J.Cases[Case].Label);
    if (MaybeStop S = time(Case, Timings, Notes))
      return S;
  }
  return std::nullopt;
}

MaybeStop Judge::read(const std::string &Folder) {
  std::string Error, Path = Folder + "/job.json";
  std::optional<std::string> Text = posix::readFile(Path, Error);
  if (Text)
    J = parseJob(*Text, Path, Error);
  Out.Id = J.Id;
  Out.Compiler = J.Compiler;
  Out.Precision = J.Precision;
  Out.CandidateDigest = J.CandidateDigest;
  Out.SourceDigest = J.SourceDigest;
  if (!Error.empty())
    return Stop{Outcome::Infrastructure, Error};
  return std::nullopt;
}

MaybeStop Judge::leaveOut(const Trial &T, const std::string &Why) {
  const Case &C = J.Cases[T.Case];
  LeftOut[T.Case] = true;
  if (C.Drawn)
    ++DrawnLeftOut;
  else
    Notes += "size '" + C.Label + "' was " + Why + "\n";
  return R.leaveOut(T.Case);
}

/// The source ended badly at a size that the tool added. One that cannot do
/// some will not do others either, and each takes a new process.
MaybeStop Judge::leaveOutAdded(const Trial &T) {
  if (J.Cases[T.Case].Drawn && ++DrawnFailures >= MostFailures)
    for (size_t I = 0; I < J.Cases.size(); ++I)
      if (J.Cases[I].Drawn && !LeftOut[I] && !Compared[I] && I != T.Case) {
        LeftOut[I] = true;
        ++DrawnLeftOut;
      }
  return leaveOut(T, "left out: the source itself cannot do it");
}

/// What keeps a candidate from being compared with what the source computed;
/// empty: nothing.
std::optional<std::string> Judge::unfit(const Trial &T, MaybeStop &Failed) {
  const Case &C = J.Cases[T.Case];
  bool SeeksGaps = C.Added && Rule.GapsLeaveOut,
       OtherValues = C.Filling != Regime::Given;
  if (!SeeksGaps && !OtherValues)
    return std::nullopt;
  std::optional<SourceLook> Seen = R.look(T);
  if (!Seen) {
    Failed = R.bring(Side::Source);
    if (Failed)
      return std::nullopt;
    Seen = lookHere(J, T, R);
  }
  if (SeeksGaps && Seen->HasGaps)
    return "left out: the source itself cannot do it";
  if (OtherValues && !Seen->AllFinite)
    return "left out: the source gives infinities or NaN there";
  // Hardened tensors are compared whatever they are.
  bool Rounds = C.Brief && OtherValues, Any = false;
  for (unsigned I = 0; I < J.Leaves.size() && Rounds; ++I) {
    if (!isOutput(J.Leaves[I]))
      continue;
    double Slack = R.slack(T, I);
    Any = true;
    Rounds = Slack > 1 && Slack * J.Leaves[I].Tolerance > MostlyRounding;
  }
  if (Rounds && Any)
    return "left out: what the source gives there is mostly its own rounding";
  return std::nullopt;
}

MaybeStop Judge::keepOutputs(const Trial &T) {
  if (!Outputs.empty())
    if (MaybeStop S = R.bring(Side::Candidate))
      return S;
  for (unsigned I = 0; I < J.Leaves.size() && !Outputs.empty(); ++I) {
    if (!isOutput(J.Leaves[I]))
      continue;
    auto *Data = static_cast<const char *>(R.ofCandidate(T, I));
    std::string Error, Path = Outputs + "." + std::to_string(I) + ".npy",
                       Array = printNpy(J.Leaves[I].Type,
                                        J.Cases[T.Case].Values[I].Shape, Data);
    if (!posix::writeFileAtomically(Path, Array, Error))
      return Stop{Outcome::Infrastructure, Error};
  }
  Outputs.clear();
  return std::nullopt;
}

MaybeStop Judge::compareTrial(const Trial &T) {
  bool Added = J.Cases[T.Case].Added;
  const std::string &Label = J.Cases[T.Case].Label;
  SourceEnd Source = [&] {
    Stages::Scope S(&Spent, "source", Label);
    return R.source(T);
  }();
  if (Source.What == SourceEnd::TooLarge) {
    if (!J.Cases[T.Case].Added)
      TooLarge = "\nsize '" + Label + "' is " + Source.Text;
    return leaveOut(T, "not compared: " + Source.Text);
  }
  if (Source.What == SourceEnd::Failed)
    return Added ? leaveOutAdded(T)
                 : Stop{Outcome::Infrastructure, Source.Text};
  MaybeStop Failed;
  if (std::optional<std::string> Why = unfit(T, Failed))
    return leaveOut(T, *Why);
  if (Failed)
    return Failed;
  MaybeStop Ended = [&] {
    Stages::Scope S(&Spent, "candidate", Label);
    return R.candidate(T);
  }();
  if (Ended) {
    Out.RightAsShipped = J.Cases[T.Case].Filling != Regime::Given;
    return Ended;
  }
  if (MaybeStop S = keepOutputs(T))
    return S;
  Compared[T.Case] = true;
  Stages::Scope Comparing(&Spent, "compare", Label);
  std::vector<bool> Agreed;
  if (MaybeStop S = R.compare(T, Agreed))
    return S;
  MaybeStop Bad = compareOutputs(
      J, T, R.nameOf(T), Agreed,
      [&](unsigned L) { return R.ofCandidate(T, L); },
      [&](unsigned L) { return R.ofSource(T, L); },
      [&](unsigned L) { return R.slack(T, L); },
      T.Round ? Outcome::Unstable : Outcome::Wrong);
  // All cases with the workload's own values came before.
  Out.RightAsShipped = Bad && J.Cases[T.Case].Filling != Regime::Given;
  return Bad;
}

MaybeStop Judge::compareAll() {
  std::vector<Trial> Trials = planTrials(J, Rule);
  R.plan(Trials);
  LeftOut.assign(J.Cases.size(), false);
  Compared.assign(J.Cases.size(), false);
  for (const Trial &T : Trials)
    if (!LeftOut[T.Case])
      if (MaybeStop S = compareTrial(T))
        return S;
  if (DrawnLeftOut)
    Notes += std::to_string(DrawnLeftOut) +
             " of the sizes and values to draw from were left out: the source "
             "itself cannot do them\n";
  if (std::find(Compared.begin(), Compared.end(), true) == Compared.end() &&
      Rule.Compares)
    return Stop{Outcome::Infrastructure,
                "no size is small enough to be compared on " + Rule.Place +
                    "; add one with \"check_only\": true to the workload" +
                    TooLarge};
  return std::nullopt;
}

MaybeStop Judge::timeAll() {
  for (unsigned I = 0; I < J.Cases.size(); ++I)
    if (J.Cases[I].Timed)
      Timed.push_back(I);
  if (Timed.empty())
    return std::nullopt;
  return R.timeAll(J, Timed, Out.Timings, Figures);
}

MaybeStop Judge::trace() {
  if (Timed.empty() || !isAboutToWin(J, Out.Timings))
    return std::nullopt;
  return R.trace(Timed, Out.Timings, InOrder, Notes);
}

MaybeStop Judge::sanitize() {
  if (!isAboutToWin(J, Out.Timings))
    return std::nullopt;
  std::vector<unsigned> Cases = sanitizedCases(J, Compared);
  if (Cases.empty()) {
    Notes += "no size is small enough for sanitizers\n";
    return std::nullopt;
  }
  return R.sanitize(Cases, InOrder, Notes);
}

/// The size that takes longest comes first, then the shortest ones; where none
/// is timed, those that have most and fewest outputs.
void Judge::profile() {
  std::map<std::string, double> MedianUs;
  for (const Timing &T : Out.Timings)
    MedianUs[T.Label] = T.MedianUs;
  std::vector<std::pair<double, unsigned>> Weights;
  for (unsigned I = 0; I < J.Cases.size(); ++I) {
    const Case &C = J.Cases[I];
    if (MedianUs.empty() ? Compared[I] && C.Filling == Regime::Given
                         : C.Timed && MedianUs.count(C.Label))
      Weights.push_back(
          {MedianUs.empty() ? double(outputBytes(J, I)) : MedianUs[C.Label],
           I});
  }
  if (Weights.empty())
    return;
  auto Less = [](const auto &A, const auto &B) { return A.first < B.first; };
  auto Most = std::max_element(Weights.begin(), Weights.end(), Less);
  std::vector<unsigned> Cases = {Most->second};
  Weights.erase(Most);
  std::stable_sort(Weights.begin(), Weights.end(), Less);
  for (const auto &[Us, Case] : Weights)
    if (Cases.size() < MostProfiledSizes)
      Cases.push_back(Case);
  R.profile(Cases, Out);
}

MaybeStop Judge::work(const std::string &Folder) {
  if (MaybeStop S = read(Folder))
    return S;
  {
    Stages::Scope Opening(&Spent, "open");
    if (MaybeStop S = R.open(J, Out))
      return S;
  }
  Rule = R.rule();
  if (MaybeStop S = compareAll())
    return S;
  if (J.CandidateDigest == J.SourceDigest && Rule.Admits) {
    Stages::Scope Admitting(&Spent, "admit");
    if (MaybeStop S = admit(J, R, LeftOut, Notes))
      return S;
  }
  Notes += R.notes();
  if (MaybeStop S = timeAll())
    return S;
  if (MaybeStop S = trace())
    return S;
  if (MaybeStop S = sanitize())
    return S;
  if (!J.ProfiledText.empty())
    profile();
  return std::nullopt;
}

Result Judge::run(const std::string &Folder) {
  Clock::Time Start = Time.now();
  R.identify(Out);
  if (MaybeStop S = work(Folder)) {
    Out.End = S->End;
    Out.Diagnostics = S->Diagnostics;
    Out.Timings.clear();
  } else {
    Out.End = Outcome::Correct;
    Out.Proved = proofOf(J, Compared);
    Out.Proved.insert(Out.Proved.end(), InOrder.begin(), InOrder.end());
    Out.Diagnostics = Figures + Notes;
  }
  Out.WallMs = Time.millisecondsSince(Start);
  return std::move(Out);
}

Result judge::judge(const std::string &Folder, Runner &R,
                    const std::string &Outputs, Clock &Time) {
  return Judge(R, Outputs, Time).run(Folder);
}
