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
#include "Arena.h"
#include "Ending.h"
#include "Runner.h"
#include "stark/Judge/Fill.h"
#include "stark/Posix/File.h"
#include "stark/Posix/Lockdown.h"
#include "stark/Posix/Secret.h"
#include <algorithm>
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

MaybeStop GpuRunner::open(const Job &TheJob, Result &Out) {
  J = &TheJob;
  // Children of the same user could otherwise look into this process.
  posix::closeToOthers(true);
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
  std::string Error;
  std::optional<std::string> Text =
      posix::readFile(Folder + "/job.json", Error);
  if (!Text)
    return hostFailed(Error);
  Source.Work = {Shared, /*Reference=*/true, *Text, Folder, J->SourceLibrary};
  Candidate.Work = {Shared, false, *Text, Folder, J->CandidateLibrary};
  if (Options.Known)
    Facts = *Options.Known;
  if (MaybeStop S = meetDevice(Options.Known ? 0 : Calibrate, Side::Source))
    return S;
  Out.Device = Facts.Name;
  Out.Driver = Facts.Driver;
  Out.EventPairUs = Facts.EventPairUs;
  Out.CopyGBs = Facts.CopyGBs;
  if (MaybeStop S = loadBoth())
    return S;
  if (Options.Follows)
    Options.Waiting->begin(spec());
  AllWell = true;
  return std::nullopt;
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

/// Has the source's child load, once it has answered Hello.
MaybeStop GpuRunner::load() {
  if (Source.HasLoaded)
    return std::nullopt;
  Stages::Scope Loading(Log, "load source");
  Answer A;
  return ask(Side::Source, requestFor(Command::Load), SetupLimitMs, "", A);
}

MaybeStop GpuRunner::leaveOut(unsigned) {
  // The device context of the child may be lost.
  if (!std::exchange(SourceFailed, false))
    return std::nullopt;
  if (MaybeStop S = startAgain(Side::Source))
    return S;
  return load();
}

/// Begins to place the buffers of \p Case; \p Common: as Command::Prepare has
/// it.
Request GpuRunner::beginToPrepare(Side Of, unsigned Case, uint64_t Common) {
  party(Of).Brought = false;
  party(Of).PieceBytes = 0;
  if (Of == Side::Source)
    Referred.reset();
  Request R = requestFor(Command::Prepare, Case);
  R.Seed = party(Of).Place = posix::secretNumber();
  R.WeightSeed = Common;
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
  party(Of).PieceBytes = A.R.Count;
  return std::nullopt;
}

MaybeStop GpuRunner::prepareFor(Side Of, unsigned Case) {
  Stages::Scope Preparing(Log, "set up", J->Cases[Case].Label);
  // Where a buffer begins tells no call whether it is timed.
  uint64_t Common = judge::mix(DrawSeed + Case);
  if (MaybeStop S = detachWhereMoved(Of, Case))
    return S;
  Request R = beginToPrepare(Of, Case, Common);
  return endPreparing(Of, R, party(Of).Child->receive(SetupLimitMs));
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
  // What it gives for its inputs as they are comes last.
  uint32_t Ways = shakes(T);
  for (uint32_t Way = std::min(1u, Ways); Way <= Ways; ++Way) {
    if (Way)
      if (MaybeStop S = shake(T, Way))
        return {SourceEnd::Failed, S->Diagnostics};
    if (MaybeStop S = ask(Side::Source, requestFor(T), J->TimeoutMs, "", A))
      return {SourceEnd::Failed, S->Diagnostics};
    if (Way)
      if (MaybeStop S = measureShake(T))
        return {SourceEnd::Failed, S->Diagnostics};
  }
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
    CandidateRan |= Of == Side::Candidate;
    Request Then = requestFor(Command::Finish);
    Then.Flags = FinishFlags;
    Child.send(Then);
  }
  A = Child.receive(LimitMs);
  return judged(Of, R, LimitMs, Name, A);
}

/// Asked when the job is over.
bool GpuRunner::sourceStillWorks() {
  Answer A = Source.Child->ask(
      requestFor(Command::Prepare, Source.Prepared.value_or(0)), SetupLimitMs);
  return A.What == Answer::Replied && A.R.What == Status::Ok;
}

MaybeStop GpuRunner::judged(Side Of, const Request &R, uint64_t LimitMs,
                            const std::string &Name, const Answer &A) {
  ChildProcess &Child = *party(Of).Child;
  if (A.What == Answer::Replied && A.R.What == Status::Ok)
    return std::nullopt;
  AllWell = false;
  // What fails only after the entry's calls, and in its process alone, is its.
  if (Of == Side::Candidate && CandidateRan && A.What == Answer::Replied &&
      A.R.What == Status::Infrastructure && sourceStillWorks())
    return Stop{Outcome::Crashed,
                "the process cannot be used any more once the entry was called "
                "(" +
                    Name + "): " + A.R.Text};
  Ending End = {*J, R, LimitMs, A, Child};
  return Of == Side::Source ? endOfSource(End) : endOfCandidate(End, Name);
}

std::unique_ptr<Runner> gpu::makeGpuRunner(const std::string &Folder,
                                           GpuRunnerOptions Options,
                                           Clock &Time) {
  return std::make_unique<GpuRunner>(Folder, std::move(Options), Time);
}
