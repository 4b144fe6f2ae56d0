//===- GpuRunner.cpp - Source and candidate on a GPU ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what the judge asks for -> requests to two children -> outputs, times, or
/// how the job ends
///
//===----------------------------------------------------------------------===//

#include "stark/Gpu/GpuRunner.h"
#include "Ending.h"
#include "Runner.h"
#include "stark/Posix/Secret.h"
#include <algorithm>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

/// Sizes with more bytes are compared with one seed: where the host has to
/// compare, it does some GB a second.
static constexpr uint64_t ManySeedsMaxBytes = uint64_t(4) << 30;

Request gpu::requestFor(Command What, unsigned Case) {
  Request R;
  R.What = What;
  R.Case = Case;
  return R;
}

Request gpu::requestFor(const Trial &T) {
  Request R = requestFor(Command::Run, T.Case);
  R.Seed = T.Seed;
  R.WeightSeed = T.WeightSeed.value_or(T.Seed);
  R.Round = T.Round;
  return R;
}

judge::CompareRule GpuRunner::rule() const {
  CompareRule Rule;
  Rule.ManySeedsMaxBytes = ManySeedsMaxBytes;
  Rule.DrawSeed = DrawSeed;
  return Rule;
}

MaybeStop GpuRunner::start(Party &P) {
  Stages::Scope Starting(Log, "start child");
  std::string Error;
  P.Child = ChildProcess::start(P.Spec, Time, Error);
  P.Prepared.reset();
  P.Brought = Attached = false;
  if (!P.Child)
    return hostFailed(Error);
  return std::nullopt;
}

MaybeStop GpuRunner::open(const Job &TheJob, Result &Out) {
  J = &TheJob;
  // Children of the same user could otherwise look into this process.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  uint64_t Shared = 0;
  for (const Case &C : J->Cases)
    Shared = std::max(Shared, outputBytes(outputPlaces(*J, C)));
  if (Shared == 0)
    return hostFailed("the job has no output to compare: mark one with "
                      "\"role\": \"output\" or \"inout\" in the workload");
  if (!J->Torch.empty()) {
    Stages::Scope Looking(Log, "find libtorch");
    if (MaybeStop S = findTorch())
      return S;
  }
  const posix::Libtorch *Needed = Torch ? &*Torch : nullptr;
  Source.Spec = {Folder, J->SourceLibrary, /*Reference=*/true,
                 Shared, Options.Device,   Needed};
  Candidate.Spec = {Folder, J->CandidateLibrary, false,
                    Shared, Options.Device,      Needed};
  if (Options.Known)
    Facts = *Options.Known;
  if (MaybeStop S = meetDevice(Options.Known ? 0 : Calibrate, Side::Source))
    return S;
  if (Options.Settle)
    Options.Settle();
  Out.Device = Facts.Name;
  Out.Driver = Facts.Driver;
  Out.EventPairUs = Facts.EventPairUs;
  Out.CopyGBs = Facts.CopyGBs;
  if (Options.Await)
    if (MaybeStop S = awaitLibraries())
      return S;
  return loadBoth();
}

MaybeStop GpuRunner::loadBoth() {
  pinBoth();
  if (MaybeStop S = load())
    return S;
  Answer A;
  Stages::Scope Loading(Log, "load candidate");
  return ask(Side::Candidate, requestFor(Command::Load), SetupLimitMs,
             "loading the library", A);
}

/// The one that the libraries were linked with, but for its patch.
MaybeStop GpuRunner::findTorch() {
  std::string Error;
  Torch = posix::findLibtorch(Options.Torch, Error);
  if (!Torch)
    return hostFailed("the job needs libtorch " + J->Torch + ": " + Error);
  auto Minor = [](const std::string &Version) {
    return Version.substr(0, Version.rfind('.'));
  };
  if (Minor(Torch->Version) != Minor(J->Torch))
    return hostFailed("the job needs libtorch " + J->Torch + ", but " +
                      Torch->Root + " has " + Torch->Version);
  return std::nullopt;
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
    if (MaybeStop S = start(party(Of)))
      return S;
  Request Hello;
  Candidate.Child->send(Hello);
  Hello.Flags = Flags;
  Answer A;
  if (MaybeStop S = ask(Side::Source, Hello, SetupLimitMs, "", A))
    return S;
  if (Flags & Calibrate && !parseFacts(A.R.Text, Facts))
    return hostFailed("a child described no device");
  // Nothing of the candidate's has been loaded yet: a failure is the host's.
  A = Candidate.Child->receive(SetupLimitMs);
  if (A.What != Answer::Replied)
    return hostFailed("a second child did not start");
  if (A.R.What != Status::Ok)
    return hostFailed(A.R.Text);
  return std::nullopt;
}

MaybeStop GpuRunner::awaitLibraries() {
  Stages::Scope Waiting(Log, "await libraries");
  char Line;
  if (::read(STDIN_FILENO, &Line, 1) == 1)
    return std::nullopt;
  return hostFailed("the libraries that it awaited did not come");
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

/// Has the source's child load, once it has answered Hello.
MaybeStop GpuRunner::load() {
  Stages::Scope Loading(Log, "load source");
  Answer A;
  return ask(Side::Source, requestFor(Command::Load), SetupLimitMs, "", A);
}

MaybeStop GpuRunner::leaveOut(unsigned) {
  // The device context of the child may be lost.
  if (!std::exchange(SourceFailed, false))
    return std::nullopt;
  if (MaybeStop S = start(Source))
    return S;
  Answer A;
  if (MaybeStop S = ask(Side::Source, Request(), SetupLimitMs, "", A))
    return S;
  pinBoth();
  return load();
}

/// Begins to place the buffers of \p Case; \p Draw: Command::Prepare.
Request GpuRunner::beginToPrepare(Side Of, unsigned Case, uint64_t Draw) {
  party(Of).Brought = false;
  if (Of == Side::Source)
    Referred.reset();
  Request R = requestFor(Command::Prepare, Case);
  if (Draw) {
    R.Seed = posix::secretNumber();
    R.WeightSeed = Draw;
  }
  party(Of).Child->send(R);
  return R;
}

MaybeStop GpuRunner::endPreparing(Side Of, const Request &R, Answer A) {
  if (hasNoMemory(A))
    if (MaybeStop S = makeRoom(Of, R, A))
      return S;
  if (MaybeStop S = judged(Of, R, SetupLimitMs, "setting up", A))
    return S;
  party(Of).Prepared = R.Case;
  return std::nullopt;
}

MaybeStop GpuRunner::prepareFor(Side Of, unsigned Case) {
  Stages::Scope Preparing(Log, "set up", J->Cases[Case].Label);
  // Memory is let go of before who owns it gives it back.
  if (MaybeStop S = detach())
    return S;
  Request R = beginToPrepare(Of, Case, 0);
  return endPreparing(Of, R, party(Of).Child->receive(SetupLimitMs));
}

/// The device has too little memory for a case. What the candidate did not give
/// back goes with its process: when that helps, the fault is its own.
MaybeStop GpuRunner::makeRoom(Side Of, const Request &Prepare, Answer &A) {
  bool Ran = std::exchange(CandidateRan, false);
  if (MaybeStop S = start(Candidate))
    return S;
  Answer Met = Candidate.Child->ask(Request(), SetupLimitMs);
  if (Met.What != Answer::Replied || Met.R.What != Status::Ok)
    return hostFailed("a child did not start again");
  Met = Candidate.Child->ask(requestFor(Command::Load), SetupLimitMs);
  if (Met.What != Answer::Replied || Met.R.What != Status::Ok)
    return hostFailed("a child could not load its library again");
  pinBoth();
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

SourceEnd GpuRunner::source(const Trial &T) {
  if (Source.Prepared != T.Case)
    if (MaybeStop S = prepareFor(Side::Source, T.Case)) {
      SourceFailed = true;
      return {SourceEnd::Failed, S->Diagnostics};
    }
  // A reference is computed once for the same inputs.
  std::tuple Inputs(T.Case, T.Seed, T.WeightSeed.value_or(T.Seed));
  if (Torch && std::exchange(Referred, Inputs) == Inputs)
    return {};
  Source.Brought = false;
  Finite.reset();
  Answer A;
  SourceFailed = true;
  if (shakes(T))
    if (MaybeStop S = shake(T))
      return {SourceEnd::Failed, S->Diagnostics};
  if (MaybeStop S = ask(Side::Source, requestFor(T), J->TimeoutMs, "", A))
    return {SourceEnd::Failed, S->Diagnostics};
  if (shakes(T))
    if (MaybeStop S = measureShake(T))
      return {SourceEnd::Failed, S->Diagnostics};
  SourceFailed = false;
  SourceUs = A.WallUs;
  if (!Torch)
    return {};
  if (A.R.Text[0])
    Found.add(T.Case, A.R.Text);
  if (MaybeStop S = measureOwnError(T))
    return {SourceEnd::Failed, S->Diagnostics};
  return {};
}

MaybeStop GpuRunner::candidate(const Trial &T) {
  if (Candidate.Prepared != T.Case)
    if (MaybeStop S = prepareFor(Side::Candidate, T.Case))
      return S;
  Candidate.Brought = false;
  CandidateRan = true;
  Answer A;
  return ask(Side::Candidate, requestFor(T),
             candidateLimitMs(J->TimeoutMs, SourceUs), nameOf(T), A);
}

MaybeStop GpuRunner::ask(Side Of, const Request &R, uint64_t LimitMs,
                         const std::string &Name, Answer &A,
                         uint32_t FinishFlags) {
  ChildProcess &Child = *party(Of).Child;
  Child.send(R);
  if (isCall(R.What)) {
    Request Then = requestFor(Command::Finish);
    Then.Flags = FinishFlags;
    Child.send(Then);
  }
  A = Child.receive(LimitMs);
  return judged(Of, R, LimitMs, Name, A);
}

MaybeStop GpuRunner::judged(Side Of, const Request &R, uint64_t LimitMs,
                            const std::string &Name, const Answer &A) {
  ChildProcess &Child = *party(Of).Child;
  if (A.What == Answer::Replied && A.R.What == Status::Ok)
    return std::nullopt;
  Ending End = {*J, R, LimitMs, A, Child};
  return Of == Side::Source ? endOfSource(End) : endOfCandidate(End, Name);
}

std::unique_ptr<Runner> gpu::makeGpuRunner(const std::string &Folder,
                                           GpuRunnerOptions Options,
                                           Clock &Time) {
  return std::make_unique<GpuRunner>(Folder, std::move(Options), Time);
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
  if (A.What == Answer::TimedOut)
    Error =
        "the GPU gave no answer within " + std::to_string(SetupLimitMs) + " ms";
  else if (A.What == Answer::Closed)
    Error = "the child that asks the GPU died: " + C->describeDeath();
  else if (A.R.What != Status::Ok)
    Error = A.R.Text;
  else if (!parseFacts(A.R.Text, Facts))
    Error = "a child described no device";
  return Error.empty();
}
