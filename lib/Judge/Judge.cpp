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

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
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
  MaybeStop keepOutputs(const Trial &T);
  MaybeStop timeAll();
  MaybeStop work(const std::string &Folder);
  bool leavesGaps(const Trial &T);
  bool isFinite(const Trial &T);
  MaybeStop bringSource(const Trial &T);
  MaybeStop portrayHere(const Trial &T, const Trial &Other, Portraits &Found);
  MaybeStop admit();

  Runner &R;
  std::string Outputs; ///< where the candidate's go, until they are written
  Job J;
  Result Out;
  Clock &Time;
  Stages Spent;
  CompareRule Rule;
  std::vector<bool> LeftOut; ///< by case
  unsigned Compared = 0;     ///< trials
  std::string Figures;       ///< of the timed sizes
  std::string Notes;
};
} // namespace

double judge::shareOfWhole(const Job &J) { return J.Torch.empty() ? 0 : 0.1; }

Comparison judge::compareLeaf(const Job &J, unsigned Case, unsigned Leaf,
                              const void *Got, const void *Wanted, double Slack,
                              unsigned Round) {
  const job::Leaf &L = J.Leaves[Leaf];
  const LeafValue &V = J.Cases[Case].Values[Leaf];
  double Share = shareOfWhole(J);
  double LeastRms =
      Share > 0 ? Share * rootMeanSquare(L.Type, Wanted, V.elements()) : 0;
  return compare(L.Type, Got, Wanted, V.Shape, L.Tolerance * Slack,
                 poisonPattern(L.Type, Round), LeastRms);
}

MaybeStop judge::compareOutputs(const Job &J, const Trial &T,
                                const std::string &Name,
                                const std::vector<bool> &Agreed,
                                const OutputOf &OfCandidate,
                                const OutputOf &OfSource, const SlackOf &Slack,
                                Outcome IfBad) {
  const Case &C = J.Cases[T.Case];
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    Leaf L = J.Leaves[I];
    bool Known = I < Agreed.size() && Agreed[I];
    const void *Wanted = isOutput(L) && !Known ? OfSource(I) : nullptr;
    if (!Wanted)
      continue;
    L.Tolerance *= Slack(I);
    Comparison Found =
        compareLeaf(J, T.Case, I, OfCandidate(I), Wanted, Slack(I), T.Round);
    if (!Found.ok())
      return Stop{IfBad,
                  describeMismatch(L, C.Values[I], Found,
                                   Name + " with " +
                                       describeInputs(J, T.Case, T.Seed))};
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
  Out.CandidateDigest = J.CandidateDigest;
  Out.SourceDigest = J.SourceDigest;
  if (!Error.empty())
    return Stop{Outcome::Infrastructure, Error};
  return std::nullopt;
}

/// Did the source leave a part of its outputs alone?
bool Judge::leavesGaps(const Trial &T) {
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    const Leaf &L = J.Leaves[I];
    // A byte of the pattern is too likely as a value.
    if (L.Kind == LeafKind::Buffer && L.Use == Role::Output &&
        dtypeBytes(L.Type) > 1 &&
        countPoison(L.Type, R.ofSource(T, I),
                    J.Cases[T.Case].Values[I].elements(),
                    poisonPattern(L.Type, T.Round)))
      return true;
  }
  return false;
}

MaybeStop Judge::leaveOut(const Trial &T, const std::string &Why) {
  LeftOut[T.Case] = true;
  Notes += "size '" + J.Cases[T.Case].Label + "' was " + Why + "\n";
  return R.leaveOut(T.Case);
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
  if (Source.What == SourceEnd::TooLarge)
    return leaveOut(T, "not compared: " + Source.Text);
  bool Failed = Source.What == SourceEnd::Failed;
  bool Hardened = J.Cases[T.Case].Hardened;
  std::optional<bool> Finite = Hardened && !Failed ? R.isFinite(T) : true;
  if (!Failed && (!Finite || (Added && Rule.GapsLeaveOut)))
    if (MaybeStop S = R.bring(Side::Source))
      return S;
  if (Added && (Failed || (Rule.GapsLeaveOut && leavesGaps(T))))
    return leaveOut(T, "left out: the source itself cannot do it");
  if (Failed)
    return Stop{Outcome::Infrastructure, Source.Text};
  if (!(Finite ? *Finite : isFinite(T)))
    return leaveOut(T, "left out: the source gives infinities or NaN there");
  MaybeStop Ended = [&] {
    Stages::Scope S(&Spent, "candidate", Label);
    return R.candidate(T);
  }();
  if (Ended) {
    Out.RightAsShipped = J.Cases[T.Case].Hardened;
    return Ended;
  }
  if (MaybeStop S = keepOutputs(T))
    return S;
  ++Compared;
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
  // All cases that are not hardened came before.
  Out.RightAsShipped = Bad && J.Cases[T.Case].Hardened;
  return Bad;
}

/// Is what the source computes finite?
bool Judge::isFinite(const Trial &T) {
  for (unsigned I = 0; I < J.Leaves.size(); ++I)
    if (isOutput(J.Leaves[I]) && R.ofSource(T, I) &&
        !extremes(J.Leaves[I].Type, R.ofSource(T, I),
                  J.Cases[T.Case].Values[I].elements())
             .AllFinite)
      return false;
  return true;
}

MaybeStop Judge::bringSource(const Trial &T) {
  if (SourceEnd Ended = R.source(T); Ended.What != SourceEnd::Done)
    return Stop{Outcome::Infrastructure, Ended.Text};
  return R.bring(Side::Source);
}

MaybeStop Judge::portrayHere(const Trial &T, const Trial &Other,
                             Portraits &Found) {
  if (MaybeStop S = bringSource(Other))
    return S;
  std::vector<std::vector<char>> Others(J.Leaves.size());
  for (unsigned I = 0; I < J.Leaves.size(); ++I)
    if (const void *Data = isOutput(J.Leaves[I]) ? R.ofSource(T, I) : nullptr) {
      auto *At = static_cast<const char *>(Data);
      Others[I].assign(At, At + J.Cases[T.Case].Values[I].elements() *
                                    dtypeBytes(J.Leaves[I].Type));
    }
  if (MaybeStop S = bringSource(T))
    return S;
  Found.resize(J.Leaves.size());
  for (unsigned I = 0; I < J.Leaves.size(); ++I)
    if (const void *Data = isOutput(J.Leaves[I]) ? R.ofSource(T, I) : nullptr)
      Found[I] = portrait(J, T.Case, I, Data,
                          Others[I].empty() ? nullptr : Others[I].data(),
                          R.slack(T, I));
  return std::nullopt;
}

/// Of a source that is judged against itself, before a search: is there
/// anything to judge by?
MaybeStop Judge::admit() {
  Stages::Scope Admitting(&Spent, "admit");
  for (unsigned Case = 0; Case < J.Cases.size(); ++Case) {
    if (LeftOut[Case] || J.Seeds.size() < 2)
      continue;
    // Two inputs, the same weights.
    Trial T{0, Case, J.Seeds[1], 0, J.Seeds[0]}, Other = T;
    Other.Seed = J.Seeds[0];
    Portraits Found;
    if (MaybeStop S = R.portray(T, Other, Found))
      return S;
    if (Found.empty())
      if (MaybeStop S = portrayHere(T, Other, Found))
        return S;
    Notes +=
        degeneracies(J, Case, Found, [&](unsigned L) { return R.slack(T, L); });
  }
  return std::nullopt;
}

MaybeStop Judge::compareAll() {
  std::vector<Trial> Trials = planTrials(J, Rule);
  R.plan(Trials);
  LeftOut.assign(J.Cases.size(), false);
  for (const Trial &T : Trials)
    if (!LeftOut[T.Case])
      if (MaybeStop S = compareTrial(T))
        return S;
  if (!Compared && Rule.Compares)
    return Stop{Outcome::Infrastructure,
                "no size is small enough to be compared on " + Rule.Place +
                    "; add one with \"check_only\": true to the workload"};
  return std::nullopt;
}

MaybeStop Judge::timeAll() {
  for (unsigned I = 0; I < J.Cases.size(); ++I)
    if (J.Cases[I].Timed) {
      Stages::Scope Timing(&Spent, "time", J.Cases[I].Label);
      if (MaybeStop S = R.time(I, Out.Timings, Figures))
        return S;
    }
  return std::nullopt;
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
  if (!J.Torch.empty() && J.CandidateDigest == J.SourceDigest)
    if (MaybeStop S = admit())
      return S;
  Notes += R.notes();
  return timeAll();
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
    Out.Diagnostics = Figures + Notes;
  }
  Out.WallMs = Time.millisecondsSince(Start);
  return std::move(Out);
}

Result judge::judge(const std::string &Folder, Runner &R,
                    const std::string &Outputs, Clock &Time) {
  return Judge(R, Outputs, Time).run(Folder);
}
