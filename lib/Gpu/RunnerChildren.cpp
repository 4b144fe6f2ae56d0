//===- RunnerChildren.cpp - Source's and candidate's children -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   new or waiting children -> they have the device -> they have the job
/// The part of GpuRunner that starts processes.
///
//===----------------------------------------------------------------------===//

#include "CudaTool.h"
#include "Ending.h"
#include "Runner.h"
#include <algorithm>
#include <sched.h>
#include <utility>

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

ChildSpec GpuRunner::spec() const {
  ChildSpec Spec;
  Spec.Device = Options.Device;
  // Whether it is there at all has been asked.
  Spec.Alone = Options.Known.has_value();
  Spec.Torch = Torch;
  return Spec;
}

/// Null where none rests; nor for a confirmation, whose pairs are all new, nor
/// where the source's child reads files of the job's.
std::unique_ptr<ChildProcess> GpuRunner::takeRestedSource() {
  bool ReadsFiles =
      std::any_of(J->Leaves.begin(), J->Leaves.end(),
                  [](const Leaf &L) { return L.Fill.Kind == InitKind::File; });
  if (!Options.Waiting || Torch || J->Timing.Rounds > 1 || ReadsFiles ||
      J->SharedSource.empty())
    return nullptr;
  SourceLibrary = J->SharedSource;
  return Options.Waiting->takeRested(spec(), SourceLibrary);
}

/// One that rests, one that waits for an errand, or a new one, which begins to
/// open the device.
MaybeStop GpuRunner::start(Party &P, uint32_t Flags) {
  std::string Error;
  P.Prepared.reset();
  P.PieceBytes = 0;
  P.Brought = Attached = false;
  CandidateRan &= &P != &Candidate;
  P.Child = nullptr;
  if (&P == &Source && !std::exchange(SourceBegan, true))
    P.Child = takeRestedSource();
  P.HasLoaded = P.Child != nullptr;
  if (!P.Child && Options.Waiting)
    P.Child = Options.Waiting->take(spec());
  P.HasDevice = P.Child != nullptr;
  if (P.HasDevice)
    return std::nullopt;
  Stages::Scope Starting(Log, "start child");
  P.Child = ChildProcess::start(spec(), Time, Error);
  if (!P.Child)
    return hostFailed(Error);
  Request Hello;
  Hello.Flags = Flags;
  P.Child->send(Hello);
  return std::nullopt;
}

/// A failure of a child that has loaded nothing yet.
static MaybeStop beforeLoading(const Answer &A, const ChildProcess &Child) {
  std::string Why = failureOf(A, Child, SetupLimitMs);
  if (Why.empty())
    return std::nullopt;
  return hostFailed(A.What == Answer::Replied
                        ? Why
                        : "a child did not get as far as the job: " + Why);
}

/// Has it begin with its errand once it has the device.
MaybeStop GpuRunner::sendOff(Party &P) {
  if (!P.HasDevice)
    if (MaybeStop S = beforeLoading(P.Child->receive(SetupLimitMs), *P.Child))
      return S;
  P.HasDevice = true;
  std::string Error;
  if (!P.Child->send(P.Work, 0, Error))
    return hostFailed(Error);
  return std::nullopt;
}

/// Once it has read the job; \p Flags: it has measured the device.
MaybeStop GpuRunner::meet(Party &P, uint32_t Flags) {
  Answer A = P.Child->receive(SetupLimitMs);
  if (MaybeStop S = beforeLoading(A, *P.Child))
    return S;
  if (Flags & Calibrate && !parseFacts(A.R.Text, Facts))
    return hostFailed("a child described no device");
  return std::nullopt;
}

/// Up to where it can load its library.
MaybeStop GpuRunner::startAgain(Side Of) {
  if (MaybeStop S = start(party(Of)))
    return S;
  if (MaybeStop S = sendOff(party(Of)))
    return S;
  if (MaybeStop S = meet(party(Of)))
    return S;
  pinBoth();
  return std::nullopt;
}

void GpuRunner::killBoth() {
  for (Party *P : {&Source, &Candidate})
    if (P->Child)
      P->Child->beginToEnd();
}

void GpuRunner::beginToEnd() {
  if (Source.Child && AllWell && !SourceLibrary.empty())
    Options.Waiting->rest(std::move(Source.Child), spec(), SourceLibrary);
  killBoth();
}

/// And waits until they have given back their memory.
void GpuRunner::endBoth() {
  killBoth();
  Source.Child.reset();
  Candidate.Child.reset();
}

/// Starts both and has them claim the device. The candidate's child starts its
/// driver while the source's measures, if it does.
/// \p First: whose child is started first.
MaybeStop GpuRunner::meetDevice(uint32_t Flags, Side First) {
  Stages::Scope Meeting(Log, "meet device");
  // Those of before end meanwhile; they are waited for before anything is
  // asked.
  std::vector<std::unique_ptr<ChildProcess>> Ending;
  for (Party *P : {&Source, &Candidate})
    if (P->Child) {
      P->Child->beginToEnd();
      Ending.push_back(std::move(P->Child));
    }
  for (Side Of :
       {First, First == Side::Source ? Side::Candidate : Side::Source})
    if (MaybeStop S = start(party(Of), Of == Side::Source ? Flags : 0))
      return S;
  for (Party *P : {&Source, &Candidate})
    if (MaybeStop S = sendOff(*P))
      return S;
  if (MaybeStop S = meet(Source, Flags))
    return S;
  return meet(Candidate);
}

/// In new processes, with memory somewhere else.
MaybeStop GpuRunner::beginAgain(uint64_t Round) {
  if (MaybeStop S = meetDevice(0, Round % 2 ? Side::Candidate : Side::Source))
    return S;
  return loadBoth();
}

/// To the same processor, as they are never called at once: what launches many
/// small kernels is as fast as the processor that launches them, and two of
/// those differ by a third. Seen on an H200's host, in both directions.
void GpuRunner::pinBoth() {
  int Cpu = ::sched_getcpu();
  for (Party *P : {&Source, &Candidate})
    if (Cpu >= 0)
      P->Child->pinTo(Cpu);
}

void GpuRunner::settle() {
  if (Options.Settle)
    Options.Settle();
  if (Options.Waiting)
    Options.Waiting->await();
}

/// The device has too little memory for a case. What other jobs' children
/// hold is not the candidate's fault. What the candidate did not give
/// back goes with its process: when that helps, the fault is its own.
MaybeStop GpuRunner::makeRoom(Side Of, const Request &Prepare, Answer &A) {
  AllWell = false;
  if (Options.Settle)
    Options.Settle();
  if (Options.Waiting)
    Options.Waiting->drop();
  if (Options.Settle || Options.Waiting) {
    A = party(Of).Child->ask(Prepare, SetupLimitMs);
    if (!hasNoMemory(A))
      return std::nullopt;
  }
  bool Ran = std::exchange(CandidateRan, false);
  if (MaybeStop S = startAgain(Side::Candidate))
    return S;
  Answer Met = Candidate.Child->ask(requestFor(Command::Load), SetupLimitMs);
  if (Met.What != Answer::Replied || Met.R.What != Status::Ok)
    return hostFailed("a child could not load its library again");
  A = party(Of).Child->ask(Prepare, SetupLimitMs);
  if (A.What == Answer::Replied && A.R.What == Status::Ok && Ran)
    return Stop{
        Outcome::Crashed,
        "the entry holds memory of the device after its calls: there is "
        "none for size '" +
            J->Cases[Prepare.Case].Label +
            "', but there is once its process has ended"};
  return std::nullopt;
}

bool gpu::probeDevice(int Device, DeviceFacts &Facts, std::string &Error) {
  ChildSpec Spec;
  Spec.Device = Device;
  std::unique_ptr<ChildProcess> C =
      ChildProcess::start(Spec, machineClock(), Error);
  if (!C)
    return false;
  Request Hello;
  Hello.Flags = Calibrate;
  Answer A = C->ask(Hello, SetupLimitMs);
  if (A.What == Answer::Replied && A.R.What == Status::Ok &&
      C->send(Errand(), 0, Error))
    A = C->receive(SetupLimitMs);
  if (A.What == Answer::TimedOut)
    Error =
        "the GPU gave no answer within " + std::to_string(SetupLimitMs) + " ms";
  else if (A.What == Answer::Closed)
    Error = "the child that asks the GPU died: " + C->describeDeath();
  else if (A.R.What != Status::Ok)
    Error = A.R.Text;
  else if (Error.empty() && !parseFacts(A.R.Text, Facts))
    Error = "a child described no device";
  return Error.empty();
}
