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
#include "ChildProcess.h"
#include "stark/Judge/Judge.h"
#include "stark/Judge/Race.h"
#include "stark/Posix/Secret.h"
#include <algorithm>
#include <sys/prctl.h>

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Driver start-up, module loading and allocation, not the libraries' work.
constexpr uint64_t SetupLimitMs = 120000;

/// One of the two, and the size that its buffers were last set up for.
struct Party {
  ChildSpec Spec; ///< to start it again
  std::unique_ptr<ChildProcess> Child;
  std::optional<unsigned> Prepared;
};

class GpuRunner : public Runner, private TimedPair {
public:
  GpuRunner(const std::string &Folder, int Device, Clock &Time)
      : Folder(Folder), Device(Device), Time(Time) {}

  MaybeStop open(const Job &J, Result &Out) override;
  CompareRule rule() const override { return {}; }
  void plan(const std::vector<Trial> &) override {}
  SourceEnd source(const Trial &T) override;
  MaybeStop candidate(const Trial &T) override;
  const void *ofSource(const Trial &T, unsigned Leaf) override {
    return outputOf(Source, T.Case, Leaf);
  }
  const void *ofCandidate(const Trial &T, unsigned Leaf) override {
    return outputOf(Candidate, T.Case, Leaf);
  }
  std::string nameOf(const Trial &T) const override {
    return T.Round ? "second call with the same inputs" : "call";
  }
  MaybeStop leaveOut(unsigned Case) override;
  MaybeStop time(unsigned Case, std::vector<Timing> &Timings,
                 std::string &Notes) override;

private:
  MaybeStop prepare(unsigned Case) override;
  MaybeStop warm(Side Of, const TimedCall &Call, uint64_t Ms, uint64_t LimitMs,
                 Warmth &W) override;
  MaybeStop sample(Side Of, const TimedCall &Call, uint64_t LimitMs,
                   Sample &S) override;
  MaybeStop verify(const TimedCall &Last) override;

  MaybeStop start(Party &P);
  MaybeStop meetDevice(Result &Out);
  MaybeStop load();
  MaybeStop prepareFor(Side Of, unsigned Case);
  /// What goes wrong in the source is not the candidate's fault; what goes
  /// wrong in the candidate ends the job with its outcome. \p Name: what is
  /// asked for, "timed call".
  MaybeStop ask(Side Of, const Request &R, uint64_t LimitMs,
                const std::string &Name, Answer &A);
  MaybeStop whySource(const Request &R, uint64_t LimitMs, const Answer &A);
  MaybeStop whyCandidate(const Request &R, uint64_t LimitMs,
                         const std::string &Name, const Answer &A);
  const void *outputOf(const Party &P, unsigned Case, unsigned Leaf) const;
  std::string leafName(uint32_t Leaf) const {
    return Leaf < J->Leaves.size() ? J->Leaves[Leaf].Name : "?";
  }

  std::string Folder;
  int Device;
  Clock &Time;
  const Job *J = nullptr;
  DeviceFacts Facts;
  Party Source, Candidate;
  double SourceUs = 0; ///< of the last verified call
};

/// A call of an entry, of which its inputs are told.
bool isCall(const Request &R) {
  return R.What == Command::Run || R.What == Command::Sample ||
         R.What == Command::Warm;
}

Request requestFor(Command What, unsigned Case = 0) {
  Request R;
  R.What = What;
  R.Case = Case;
  return R;
}

Stop hostFailed(const std::string &Why) {
  return Stop{Outcome::Infrastructure, Why};
}
} // namespace

MaybeStop GpuRunner::start(Party &P) {
  std::string Error;
  P.Child = ChildProcess::start(P.Spec, Time, Error);
  P.Prepared.reset();
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
  Source.Spec = {Folder, J->SourceLibrary, /*Reference=*/true, Shared, Device};
  Candidate.Spec = {Folder, J->CandidateLibrary, false, Shared, Device};
  for (Party *P : {&Source, &Candidate})
    if (MaybeStop S = start(*P))
      return S;
  if (MaybeStop S = meetDevice(Out))
    return S;
  if (MaybeStop S = load())
    return S;
  Answer A;
  return ask(Side::Candidate, requestFor(Command::Load), SetupLimitMs,
             "loading the library", A);
}

/// Has both claim the device. The candidate's child starts its driver while the
/// source's measures.
MaybeStop GpuRunner::meetDevice(Result &Out) {
  Request Hello;
  Candidate.Child->send(Hello);
  Hello.Flags = Calibrate;
  Answer A;
  if (MaybeStop S = ask(Side::Source, Hello, SetupLimitMs, "", A))
    return S;
  if (!parseFacts(A.R.Text, Facts))
    return hostFailed("a child described no device");
  Out.Device = Facts.Name;
  Out.Driver = Facts.Driver;
  Out.EventPairUs = Facts.EventPairUs;
  Out.CopyGBs = Facts.CopyGBs;
  // Nothing of the candidate's has been loaded yet: a failure is the host's.
  A = Candidate.Child->receive(SetupLimitMs);
  if (A.What != Answer::Replied)
    return hostFailed("a second child did not start");
  if (A.R.What != Status::Ok)
    return hostFailed(A.R.Text);
  return std::nullopt;
}

/// Has the source's child load, once it has answered Hello.
MaybeStop GpuRunner::load() {
  Answer A;
  return ask(Side::Source, requestFor(Command::Load), SetupLimitMs, "", A);
}

MaybeStop GpuRunner::leaveOut(unsigned) {
  // The device context of the child may be lost.
  if (MaybeStop S = start(Source))
    return S;
  Answer A;
  if (MaybeStop S = ask(Side::Source, Request(), SetupLimitMs, "", A))
    return S;
  return load();
}

MaybeStop GpuRunner::prepareFor(Side Of, unsigned Case) {
  Party &P = Of == Side::Source ? Source : Candidate;
  Answer A;
  if (MaybeStop S = ask(Of, requestFor(Command::Prepare, Case), SetupLimitMs,
                        "setting up", A))
    return S;
  P.Prepared = Case;
  return std::nullopt;
}

MaybeStop GpuRunner::prepare(unsigned Case) {
  if (MaybeStop S = prepareFor(Side::Source, Case))
    return S;
  return prepareFor(Side::Candidate, Case);
}

SourceEnd GpuRunner::source(const Trial &T) {
  if (Source.Prepared != T.Case)
    if (MaybeStop S = prepareFor(Side::Source, T.Case))
      return {SourceEnd::Failed, S->Diagnostics};
  Request R = requestFor(Command::Run, T.Case);
  R.Seed = T.Seed;
  R.Round = T.Round;
  Answer A;
  if (MaybeStop S = ask(Side::Source, R, J->TimeoutMs, "", A))
    return {SourceEnd::Failed, S->Diagnostics};
  SourceUs = A.WallUs;
  return {};
}

MaybeStop GpuRunner::candidate(const Trial &T) {
  if (Candidate.Prepared != T.Case)
    if (MaybeStop S = prepareFor(Side::Candidate, T.Case))
      return S;
  Request R = requestFor(Command::Run, T.Case);
  R.Seed = T.Seed;
  R.Round = T.Round;
  Answer A;
  return ask(Side::Candidate, R, candidateLimitMs(J->TimeoutMs, SourceUs),
             nameOf(T), A);
}

const void *GpuRunner::outputOf(const Party &P, unsigned Case,
                                unsigned Leaf) const {
  for (const OutputPlace &Place : outputPlaces(*J, J->Cases[Case]))
    if (Place.Leaf == Leaf)
      return P.Child->shared() + Place.Offset;
  return nullptr;
}

MaybeStop GpuRunner::time(unsigned Case, std::vector<Timing> &Timings,
                          std::string &) {
  return race(*J, Case, *this, {Facts.L2Bytes, Facts.CopyGBs},
              posix::secretNumber, Time, Timings);
}

MaybeStop GpuRunner::warm(Side Of, const TimedCall &Call, uint64_t Ms,
                          uint64_t LimitMs, Warmth &W) {
  Request R = requestFor(Command::Warm, Call.Case);
  R.Ms = Ms;
  R.Seed = Call.Seed;
  Answer A;
  if (MaybeStop S = ask(Of, R, LimitMs, "warm-up call", A))
    return S;
  W = {A.R.Count, A.WallUs};
  return std::nullopt;
}

MaybeStop GpuRunner::sample(Side Of, const TimedCall &Call, uint64_t LimitMs,
                            Sample &S) {
  Request R = requestFor(Command::Sample, Call.Case);
  R.Flags = Call.WaitForDevice ? SyncDevice : 0;
  R.Seed = Call.Seed;
  R.Round = Call.Round;
  Answer A;
  if (MaybeStop Ended = ask(Of, R, LimitMs, "timed call", A))
    return Ended;
  S = {A.R.EventUs, A.WallUs};
  return std::nullopt;
}

MaybeStop GpuRunner::verify(const TimedCall &Last) {
  Answer A;
  for (Side Of : {Side::Source, Side::Candidate})
    if (MaybeStop S = ask(Of, requestFor(Command::Export, Last.Case),
                          SetupLimitMs, "timed call", A))
      return S;
  Trial T = {0, Last.Case, Last.Seed, Last.Round};
  return compareOutputs(
      *J, T, "timed call", [&](unsigned L) { return ofCandidate(T, L); },
      [&](unsigned L) { return ofSource(T, L); }, Outcome::Wrong);
}

MaybeStop GpuRunner::ask(Side Of, const Request &R, uint64_t LimitMs,
                         const std::string &Name, Answer &A) {
  ChildProcess &Child = Of == Side::Source ? *Source.Child : *Candidate.Child;
  A = Child.ask(R, LimitMs);
  if (A.What == Answer::Replied && A.R.What == Status::Ok)
    return std::nullopt;
  return Of == Side::Source ? whySource(R, LimitMs, A)
                            : whyCandidate(R, LimitMs, Name, A);
}

MaybeStop GpuRunner::whySource(const Request &R, uint64_t LimitMs,
                               const Answer &A) {
  std::string Why;
  if (A.What == Answer::TimedOut)
    Why = "no answer within " + std::to_string(LimitMs) + " ms";
  else if (A.What == Answer::Closed)
    Why = Source.Child->describeDeath();
  else if (A.R.What == Status::Infrastructure)
    return hostFailed(A.R.Text);
  else if (A.R.What == Status::OutOfBounds)
    Why = "it writes outside '" + leafName(A.R.Leaf) + "'";
  else if (A.R.What == Status::InputChanged)
    Why = "it changes '" + leafName(A.R.Leaf) +
          "', which the workload calls an input; \"role\": \"inout\" would "
          "allow it";
  else if (A.R.What == Status::Escaped)
    Why = "it works on another stream than the one it is given";
  else
    Why = A.R.Text;
  std::string Where =
      isCall(R) ? " with size '" + J->Cases[R.Case].Label + "'" : "";
  return hostFailed("the source itself fails" + Where + ": " + Why);
}

MaybeStop GpuRunner::whyCandidate(const Request &R, uint64_t LimitMs,
                                  const std::string &Name, const Answer &A) {
  std::string Where = " (" + Name;
  if (isCall(R))
    Where += " with " + describeInputs(*J, R.Case, R.Seed);
  Where += ")";
  if (A.What == Answer::TimedOut)
    return Stop{Outcome::TimedOut,
                "the entry did not come back within " +
                    std::to_string(LimitMs) + " ms" + Where +
                    "; it was killed. A loop that never ends, a barrier that "
                    "not all threads reach, or a wait on another block would "
                    "do that."};
  if (A.What == Answer::Closed)
    return Stop{Candidate.Child->madeForbiddenCall() ? Outcome::Forbidden
                                                     : Outcome::Crashed,
                Candidate.Child->describeDeath() + Where};
  switch (A.R.What) {
  case Status::Ok:
    return std::nullopt;
  case Status::Failed:
    return Stop{Outcome::Crashed, A.R.Text + Where};
  case Status::InputChanged:
    return Stop{Outcome::Wrong, "the entry changed its input '" +
                                    leafName(A.R.Leaf) + "'" + Where +
                                    "; inputs must be left as they are"};
  case Status::OutOfBounds:
    return Stop{Outcome::Wrong,
                "the entry wrote outside '" + leafName(A.R.Leaf) +
                    "': at least " + std::to_string(A.R.Count) +
                    " bytes just before or after the buffer changed" + Where};
  case Status::Escaped:
    return Stop{Outcome::Forbidden,
                "work escapes the timed stream" + Where +
                    ": outputs changed after everything on the stream was "
                    "done. All work must be on the stream that the entry is "
                    "given"};
  case Status::Infrastructure:
    break;
  }
  return hostFailed(A.R.Text);
}

std::unique_ptr<Runner> gpu::makeGpuRunner(const std::string &Folder,
                                           int Device, Clock &Time) {
  return std::make_unique<GpuRunner>(Folder, Device, Time);
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
