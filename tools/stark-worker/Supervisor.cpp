//===- Supervisor.cpp - One job, from folder to result -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   read job -> two children -> compare stage -> time stage -> result
///
//===----------------------------------------------------------------------===//

#include "Supervisor.h"
#include "Judge.h"
#include "Spool.h"
#include "stark/Job/Npy.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <numeric>
#include <sstream>
#include <sys/prctl.h>

using namespace stark;
using namespace stark::job;
using namespace stark::worker;

namespace {
/// Driver start-up, module loading and allocation, not the libraries' work.
constexpr uint64_t SetupLimitMs = 120000;

std::string readWhole(const std::string &Path, bool &Ok) {
  std::ifstream In(Path, std::ios::binary);
  std::stringstream Bytes;
  Ok = bool(Bytes << In.rdbuf());
  return Bytes.str();
}

/// Small sizes first: most wrong candidates end there.
std::vector<unsigned> caseOrder(const Job &J) {
  std::vector<unsigned> Order(J.Cases.size());
  std::iota(Order.begin(), Order.end(), 0u);
  auto Bytes = [&](unsigned I) {
    uint64_t Sum = 0;
    for (size_t L = 0; L < J.Leaves.size(); ++L)
      if (J.Leaves[L].Kind == LeafKind::Buffer)
        Sum += J.Cases[I].Values[L].elements() * dtypeBytes(J.Leaves[L].Type);
    return Sum;
  };
  std::stable_sort(Order.begin(), Order.end(),
                   [&](unsigned A, unsigned B) { return Bytes(A) < Bytes(B); });
  return Order;
}

/// Has the source's child load, once it has answered Hello.
bool loadSource(Judge &G) {
  Request Load;
  Load.What = Command::Load;
  Answer A;
  return G.askSource(Load, SetupLimitMs, A);
}

/// A new child in the place of one whose device context is lost.
bool restartSource(Judge &G) {
  std::string Error;
  if (!(G.Source = ChildProcess::start(G.SourceSpec, Error)))
    return G.stop(Outcome::Infrastructure, Error);
  Answer A;
  return G.askSource(Request(), SetupLimitMs, A) && loadSource(G);
}

/// Starts both children, has them claim the device and load.
bool openStage(Judge &G, const std::string &Folder, int Device) {
  uint64_t Shared = 0;
  for (const Case &C : G.J.Cases)
    Shared = std::max(Shared, outputBytes(outputPlaces(G.J, C)));
  if (Shared == 0)
    return G.stop(Outcome::Infrastructure,
                  "the job has no output to compare: mark one with "
                  "\"role\": \"output\" or \"inout\" in the workload");
  ChildSpec Spec;
  Spec.Folder = Folder;
  Spec.Library = G.J.SourceLibrary;
  Spec.Reference = true;
  Spec.SharedBytes = Shared;
  Spec.Device = Device;
  G.SourceSpec = Spec;
  std::string Error;
  if (!(G.Source = ChildProcess::start(Spec, Error)))
    return G.stop(Outcome::Infrastructure, Error);
  Spec.Library = G.J.CandidateLibrary;
  Spec.Reference = false;
  if (!(G.Candidate = ChildProcess::start(Spec, Error)))
    return G.stop(Outcome::Infrastructure, Error);

  // The candidate's child starts its driver while the source's measures.
  Request Hello;
  G.Candidate->send(Hello);
  Hello.Flags = Calibrate;
  Answer A;
  if (!G.askSource(Hello, SetupLimitMs, A))
    return false;
  if (!parseFacts(A.R.Text, G.Facts))
    return G.stop(Outcome::Infrastructure, "a child described no device");
  G.Out.Device = G.Facts.Name;
  G.Out.Driver = G.Facts.Driver;
  G.Out.EventPairUs = G.Facts.EventPairUs;
  G.Out.CopyGBs = G.Facts.CopyGBs;
  // Nothing of the candidate's has been loaded yet: a failure is the host's.
  A = G.Candidate->receive(SetupLimitMs);
  if (A.What != Answer::Replied || A.R.What != Status::Ok)
    return G.stop(Outcome::Infrastructure,
                  A.What == Answer::Replied ? std::string(A.R.Text)
                                            : "a second child did not start");
  Request Load;
  Load.What = Command::Load;
  Situation S;
  S.What = "loading the library";
  return loadSource(G) && G.askCandidate(Load, SetupLimitMs, S, A);
}

/// Did the source leave a part of its outputs alone?
bool sourceLeavesGaps(const Judge &G, unsigned CaseIndex, unsigned Round) {
  const Case &C = G.J.Cases[CaseIndex];
  for (const OutputPlace &P : outputPlaces(G.J, C)) {
    const Leaf &L = G.J.Leaves[P.Leaf];
    // A byte of the pattern is too likely as a value.
    if (L.Use == Role::Output && L.Type != DType::U8 &&
        countPoison(L.Type, G.Source->shared() + P.Offset,
                    C.Values[P.Leaf].elements(), poisonPattern(L.Type, Round)))
      return true;
  }
  return false;
}

/// Compares one size with every seed, twice each. \p Skip: the source cannot do
/// a size that the tool added.
bool compareCase(Judge &G, unsigned I, bool &Skip) {
  const Case &C = G.J.Cases[I];
  auto giveUp = [&] {
    Skip = C.Added;
    return false;
  };
  Request R;
  R.What = Command::Prepare;
  R.Case = I;
  Answer A;
  Situation S;
  S.Case = I;
  S.What = "setting up";
  if (!G.askSource(R, SetupLimitMs, A))
    return giveUp();
  if (!G.askCandidate(R, SetupLimitMs, S, A))
    return false;
  R.What = Command::Run;
  for (uint64_t Seed : G.J.Seeds)
    for (unsigned Round = 0; Round < 2; ++Round) {
      R.Seed = S.Seed = Seed;
      R.Round = Round;
      S.What = Round ? "second call with the same inputs" : "call";
      if (!G.askSource(R, G.J.TimeoutMs, A) ||
          (C.Added && sourceLeavesGaps(G, I, Round)))
        return giveUp();
      if (!G.askCandidate(R, G.candidateLimitMs(A.WallUs), S, A) ||
          !G.keepOutputs(I) ||
          !G.compareOutputs(S, Round,
                            Round ? Outcome::Unstable : Outcome::Wrong))
        return false;
    }
  return true;
}
} // namespace

uint64_t Judge::candidateLimitMs(double SourceUs) const {
  // A candidate a hundred times slower than the source is not worth the wait.
  return std::min<uint64_t>(J.TimeoutMs, 10000 + uint64_t(SourceUs / 10));
}

bool Judge::askSource(const Request &R, uint64_t TimeoutMs, Answer &A) {
  A = Source->ask(R, TimeoutMs);
  if (A.What == Answer::Replied && A.R.What == Status::Ok)
    return true;
  std::string Why;
  if (A.What == Answer::TimedOut)
    Why = "no answer within " + std::to_string(TimeoutMs) + " ms";
  else if (A.What == Answer::Died)
    Why = describeDeath(A, Source->printed());
  else if (A.R.What == Status::OutOfBounds && A.R.Leaf < J.Leaves.size())
    Why = "it writes outside '" + J.Leaves[A.R.Leaf].Name + "'";
  else if (A.R.What == Status::InputChanged && A.R.Leaf < J.Leaves.size())
    Why = "it changes '" + J.Leaves[A.R.Leaf].Name +
          "', which the workload calls an input; \"role\": \"inout\" would "
          "allow it";
  else if (A.R.What == Status::Escaped)
    Why = "it works on another stream than the one it is given";
  else
    Why = A.R.Text;
  std::string Where = R.What == Command::Run || R.What == Command::Sample ||
                              R.What == Command::Warm
                          ? " with size '" + J.Cases[R.Case].Label + "'"
                          : "";
  return stop(Outcome::Infrastructure,
              A.What == Answer::Replied && A.R.What == Status::Infrastructure
                  ? Why
                  : "the source itself fails" + Where + ": " + Why);
}

bool Judge::askCandidate(const Request &R, uint64_t TimeoutMs,
                         const Situation &S, Answer &A) {
  A = Candidate->ask(R, TimeoutMs);
  bool InCase = R.What == Command::Run || R.What == Command::Sample ||
                R.What == Command::Warm;
  std::string Where =
      InCase ? " (" + describeSituation(J, S) + ")" : " (" + S.What + ")";
  if (A.What == Answer::TimedOut)
    return stop(Outcome::TimedOut,
                "the entry did not come back within " +
                    std::to_string(TimeoutMs) + " ms" + Where +
                    "; it was killed. A loop that never ends, a barrier that "
                    "not all threads reach, or a wait on another block would "
                    "do that.");
  if (A.What == Answer::Died)
    return stop(A.Signal == SIGSYS ? Outcome::Forbidden : Outcome::Crashed,
                describeDeath(A, Candidate->printed()) + Where);
  std::string Leaf = A.R.Leaf < J.Leaves.size() ? J.Leaves[A.R.Leaf].Name : "?";
  switch (A.R.What) {
  case Status::Ok:
    return true;
  case Status::Failed:
    return stop(Outcome::Crashed, std::string(A.R.Text) + Where);
  case Status::InputChanged:
    return stop(Outcome::Wrong, "the entry changed its input '" + Leaf + "'" +
                                    Where +
                                    "; inputs must be left as they are");
  case Status::OutOfBounds:
    return stop(Outcome::Wrong,
                "the entry wrote outside '" + Leaf + "': at least " +
                    std::to_string(A.R.Count) +
                    " bytes just before or after the buffer changed" + Where);
  case Status::Escaped:
    return stop(Outcome::Forbidden,
                "work escapes the timed stream" + Where +
                    ": outputs changed after everything on the stream was "
                    "done. All work must be on the stream that the entry is "
                    "given");
  case Status::Infrastructure:
    break;
  }
  return stop(Outcome::Infrastructure, A.R.Text);
}

bool Judge::compareOutputs(const Situation &S, unsigned Round, Outcome IfBad) {
  const Case &C = J.Cases[S.Case];
  for (const OutputPlace &P : outputPlaces(J, C)) {
    const Leaf &L = J.Leaves[P.Leaf];
    Comparison Found = compare(
        L.Type, Candidate->shared() + P.Offset, Source->shared() + P.Offset,
        C.Values[P.Leaf].Shape, L.Tolerance, poisonPattern(L.Type, Round));
    if (!Found.ok())
      return stop(IfBad, describeMismatch(J, S, P.Leaf, Found));
  }
  return true;
}

bool Judge::keepOutputs(unsigned CaseIndex) {
  if (Outputs.empty())
    return true;
  const Case &C = J.Cases[CaseIndex];
  for (const OutputPlace &P : outputPlaces(J, C)) {
    std::string Error, Path = Outputs + "." + std::to_string(P.Leaf) + ".npy";
    if (!writeResultFile(Path,
                         printNpy(J.Leaves[P.Leaf].Type, C.Values[P.Leaf].Shape,
                                  Candidate->shared() + P.Offset),
                         Error))
      return stop(Outcome::Infrastructure, Error);
  }
  Outputs.clear();
  return true;
}

bool worker::compareStage(Judge &G) {
  for (unsigned I : caseOrder(G.J)) {
    bool Skip = false;
    if (compareCase(G, I, Skip))
      continue;
    if (!Skip)
      return false;
    G.Notes += "size '" + G.J.Cases[I].Label +
               "' was left out: the source itself cannot do it\n";
    G.Out.End = Outcome::Infrastructure;
    G.Out.Diagnostics.clear();
    if (!restartSource(G))
      return false;
  }
  return true;
}

Result worker::runJob(const std::string &Folder, int Device,
                      const std::string &Outputs) {
  auto Start = std::chrono::steady_clock::now();
  // Children of the same user could otherwise look into this process.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  Judge G;
  G.Outputs = Outputs;
  bool Read = false;
  std::string Error, Path = Folder + "/job.json";
  std::string Text = readWhole(Path, Read);
  if (!Read)
    Error = Path + ": cannot be read";
  else
    G.J = parseJob(Text, Path, Error);
  G.Out.Id = G.J.Id;
  G.Out.Compiler = G.J.Compiler;
  G.Out.CandidateDigest = G.J.CandidateDigest;
  G.Out.SourceDigest = G.J.SourceDigest;
  if (!Error.empty())
    G.stop(Outcome::Infrastructure, Error);
  else if (openStage(G, Folder, Device) && compareStage(G) && timeStage(G))
    G.Out.End = Outcome::Correct;
  if (G.Out.End == Outcome::Correct)
    G.Out.Diagnostics = G.Notes;
  G.Out.WallMs = uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(
                              std::chrono::steady_clock::now() - Start)
                              .count());
  if (G.Out.End != Outcome::Correct)
    G.Out.Timings.clear();
  return G.Out;
}

bool worker::probeDevice(int Device, DeviceFacts &Facts, std::string &Error) {
  ChildSpec Spec;
  Spec.Device = Device;
  std::unique_ptr<ChildProcess> C = ChildProcess::start(Spec, Error);
  if (!C)
    return false;
  Request Hello;
  Hello.Flags = Calibrate;
  Answer A = C->ask(Hello, SetupLimitMs);
  if (A.What == Answer::TimedOut)
    Error =
        "the GPU gave no answer within " + std::to_string(SetupLimitMs) + " ms";
  else if (A.What == Answer::Died)
    Error =
        "the child that asks the GPU died: " + describeDeath(A, C->printed());
  else if (A.R.What != Status::Ok)
    Error = A.R.Text;
  else if (!parseFacts(A.R.Text, Facts))
    Error = "a child described no device";
  return Error.empty();
}
