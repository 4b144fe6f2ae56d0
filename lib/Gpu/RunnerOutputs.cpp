//===- RunnerOutputs.cpp - Outputs of source and candidate ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   outputs on the device -> compared there, or copied to the host
///
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include "Ending.h"
#include "Runner.h"
#include "stark/Judge/Fill.h"
#include "stark/Judge/NearZero.h"
#include <algorithm>
#include <utility>

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

MaybeStop GpuRunner::detach() {
  Answer A;
  if (!std::exchange(Attached, false))
    return std::nullopt;
  return ask(Side::Source, requestFor(Command::Attach), SetupLimitMs, "", A);
}

/// Before either gets another piece: memory is let go of before who owns it
/// gives it back.
MaybeStop GpuRunner::detachWhereMoved(Side Of, unsigned Case) {
  return fits(party(Of).PieceBytes, *J, Case) ? std::nullopt : detach();
}

/// Has the source's child find the candidate's outputs, unless it cannot: not
/// every driver shares memory among processes.
MaybeStop GpuRunner::attach() {
  if (Attached || CannotAttach)
    return std::nullopt;
  Answer A = Candidate.Child->ask(requestFor(Command::Share), SetupLimitMs);
  if (A.What != Answer::Replied)
    return endOfCandidate(
        {*J, requestFor(Command::Share), SetupLimitMs, A, *Candidate.Child},
        "sharing outputs");
  if (A.R.What == Status::Ok) {
    Request R = requestFor(Command::Attach);
    R.Memory = A.R.Memory;
    R.Bytes = A.R.Count;
    A = Source.Child->ask(R, SetupLimitMs);
    if (A.What != Answer::Replied)
      return endOfSource({*J, R, SetupLimitMs, A, *Source.Child});
    Attached = A.R.What == Status::Ok;
  }
  CannotAttach = !Attached;
  return std::nullopt;
}

MaybeStop GpuRunner::bring(Side Of) {
  Party &P = party(Of);
  if (std::exchange(P.Brought, true))
    return std::nullopt;
  Stages::Scope Bringing(Log, "copy to the host");
  Request R = requestFor(Command::Export, *P.Prepared);
  R.Flags = Of == Side::Source && Referred ? OfReference : 0;
  Answer A;
  return ask(Of, R, SetupLimitMs, "copying outputs", A);
}

/// Asks the source's child about each output; \p Agreed stays empty where it
/// cannot tell.
MaybeStop GpuRunner::compareOnDevice(const Trial &T, uint32_t Flags,
                                     const SlackOf &Slack,
                                     std::vector<bool> &Agreed) {
  std::vector<bool> Right(J->Leaves.size());
  for (const OutputPlace &Place : outputPlaces(*J, J->Cases[T.Case])) {
    Request R = requestFor(Command::Compare, T.Case);
    R.Flags = Flags;
    R.Round = T.Round;
    R.Leaf = Place.Leaf;
    R.Slack = Slack(Place.Leaf);
    R.Scale = T.Scale;
    R.Seed = Candidate.Place;
    Answer A;
    if (MaybeStop S = ask(Side::Source, R, J->TimeoutMs, "", A))
      return S;
    Right[Place.Leaf] = A.R.Count == 0;
    if (!(Flags & OfItself))
      continue;
    Found.add(T.Case, Place.Leaf, A.R.WorstError);
    Finite = Finite.value_or(true) && A.R.Wanted.AllFinite;
  }
  Agreed = std::move(Right);
  return std::nullopt;
}

MaybeStop GpuRunner::compare(const Trial &T, const SlackOf &Slack,
                             std::vector<bool> &Agreed) {
  if (MaybeStop S = attach())
    return S;
  Agreed.clear();
  uint32_t Flags = Referred ? OfReference : 0;
  if (Attached)
    if (MaybeStop S = compareOnDevice(T, Flags, Slack, Agreed))
      return S;
  std::vector<OutputPlace> Places = outputPlaces(*J, J->Cases[T.Case]);
  auto AllAgree = [&] {
    return Attached && !Agreed.empty() &&
           std::all_of(Places.begin(), Places.end(),
                       [&](const OutputPlace &P) { return Agreed[P.Leaf]; });
  };
  if (AllAgree())
    return std::nullopt;
  // The host says what is wrong, and whether it is.
  for (Side Of : {Side::Source, Side::Candidate})
    if (MaybeStop S = bring(Of))
      return S;
  if (!fewDiffer(T, Slack))
    return std::nullopt;
  if (MaybeStop S = measureScale(T))
    return S;
  auto Both = [&](unsigned L) { return std::max(Slack(L), slack(T, L)); };
  if (!fewDiffer(T, Both))
    ScaleNotes = "size '" + J->Cases[T.Case].Label +
                 "': an output of few elements that was near zero for one "
                 "draw of inputs was allowed what it is for others\n";
  return Attached ? compareOnDevice(T, Flags, Both, Agreed) : std::nullopt;
}

/// How far the source is off its reference, for the worst inputs so far.
MaybeStop GpuRunner::measureOwnError(const Trial &T) {
  if (Found.empty())
    return std::nullopt;
  Stages::Scope Measuring(Log, "own error", J->Cases[T.Case].Label);
  Request R = requestFor(T);
  R.Flags = OwnCall;
  Answer A;
  if (MaybeStop S = ask(Side::Source, R, J->TimeoutMs, "", A))
    return S;
  std::vector<bool> Agreed;
  return compareOnDevice(
      T, OfItself | OfReference, [](unsigned) { return 1; }, Agreed);
}

/// Whether an output of few elements is off by more than \p Slack allows. Both
/// sides' are here. A sum of whole numbers has no rounding.
bool GpuRunner::fewDiffer(const Trial &T, const SlackOf &Slack) const {
  const Case &C = J->Cases[T.Case];
  if (Torch || C.Filling == Regime::Integers)
    return false;
  std::vector<OutputPlace> Places = outputPlaces(*J, C);
  return std::any_of(Places.begin(), Places.end(), [&](const OutputPlace &P) {
    return isOfFew(C.Values[P.Leaf].elements()) &&
           !compareLeaf(*J, T.Case, P.Leaf, outputOf(Candidate, T.Case, P.Leaf),
                        outputOf(Source, T.Case, P.Leaf), Slack(P.Leaf),
                        T.Round, T.Scale)
                .ok();
  });
}

/// In how many ways inputs are moved in their last place.
uint32_t GpuRunner::shakes(const Trial &T) const {
  return Torch || T.Round != 0 ? 0 : waysToShake(*J, T.Case);
}

/// What comes of it is kept beside what the source gives for its own inputs.
MaybeStop GpuRunner::shake(const Trial &T, uint32_t Way) {
  Stages::Scope Shaking(Log, "shake", J->Cases[T.Case].Label);
  Request R = requestFor(T);
  R.Shake = Way;
  Answer A;
  return ask(Side::Source, R, J->TimeoutMs, "", A);
}

MaybeStop GpuRunner::measureShake(const Trial &T) {
  std::vector<bool> Agreed;
  return compareOnDevice(
      T, OfItself | OfReference, [](unsigned) { return 1; }, Agreed);
}

/// Has the source called with other draws of inputs, and with T's own.
MaybeStop GpuRunner::measureScale(const Trial &T) {
  UsualSizes Sizes;
  for (unsigned I = 0; I <= UsualSizes::Others; ++I) {
    Trial Drawn = T;
    // T's own come last.
    if (I < UsualSizes::Others)
      Drawn.Seed = mix(T.Seed + I + 1);
    Answer A;
    if (MaybeStop S = ask(Side::Source, requestFor(Drawn), J->TimeoutMs, "", A))
      return S;
    Source.Brought = false;
    if (MaybeStop S = bring(Side::Source))
      return S;
    for (const OutputPlace &Place : outputPlaces(*J, J->Cases[T.Case])) {
      uint64_t Count = J->Cases[T.Case].Values[Place.Leaf].elements();
      if (isOfFew(Count))
        Sizes.add(Place.Leaf, rootMeanSquare(J->Leaves[Place.Leaf].Type,
                                             ofSource(T, Place.Leaf), Count));
    }
  }
  Scales = Sizes.scales();
  ScaledFor = {T.Case, T.Seed};
  return std::nullopt;
}

double GpuRunner::slack(const Trial &T, unsigned Leaf) {
  auto Scale =
      ScaledFor == std::pair(T.Case, T.Seed) ? Scales.find(Leaf) : Scales.end();
  return std::max(Found.slack(T.Case, Leaf),
                  Scale == Scales.end() ? 1 : Scale->second);
}

std::optional<SourceLook> GpuRunner::look(const Trial &T) {
  if (Torch && (!Finite || J->Cases[T.Case].Added))
    return std::nullopt;
  if (Torch)
    return SourceLook{*Finite, false};
  SourceLook Seen;
  for (const OutputPlace &Place : outputPlaces(*J, J->Cases[T.Case])) {
    const Leaf &L = J->Leaves[Place.Leaf];
    Request R = requestFor(Command::Compare, T.Case);
    R.Flags = OfItself;
    R.Round = T.Round;
    R.Leaf = Place.Leaf;
    Answer A;
    if (ask(Side::Source, R, J->TimeoutMs, "", A))
      return std::nullopt;
    Seen.AllFinite &= A.R.Wanted.AllFinite;
    // A byte of the pattern is too likely as a value.
    Seen.HasGaps |= A.R.Unwritten && L.Use == Role::Output &&
                    (dtypeBytes(L.Type) > 1 || !L.Fields.empty());
  }
  return Seen;
}

MaybeStop GpuRunner::portray(const Trial &T, const Trial &Other,
                             Portraits &Out) {
  Out.clear();
  if (!Torch)
    return std::nullopt;
  if (SourceEnd Ended = source(T); Ended.What != SourceEnd::Done)
    return hostFailed(Ended.Text);
  Request R = requestFor(Other);
  R.Flags = NotKept;
  Answer A;
  if (MaybeStop S = ask(Side::Source, R, J->TimeoutMs, "", A))
    return S;
  Out.resize(J->Leaves.size());
  for (const OutputPlace &Place : outputPlaces(*J, J->Cases[T.Case])) {
    R = requestFor(Command::Compare, T.Case);
    R.Flags = OfItself | OfReference;
    R.Leaf = Place.Leaf;
    R.Slack = slack(T, Place.Leaf);
    if (MaybeStop S = ask(Side::Source, R, J->TimeoutMs, "", A))
      return S;
    Out[Place.Leaf] = {A.R.Wanted, A.R.Count == 0};
  }
  return std::nullopt;
}

const void *GpuRunner::outputOf(const Party &P, unsigned Case,
                                unsigned Leaf) const {
  for (const OutputPlace &Place : outputPlaces(*J, J->Cases[Case]))
    if (Place.Leaf == Leaf)
      return P.Child->shared() + Place.Offset;
  return nullptr;
}
