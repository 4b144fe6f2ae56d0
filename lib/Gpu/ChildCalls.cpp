//===- ChildCalls.cpp - Calls of the library that a child has loaded ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   fill -> stand still or flush -> call -> what became of the outputs, or how
/// long it took
///
//===----------------------------------------------------------------------===//

#include "ChildState.h"
#include "Kernels.h"
#include "stark/Judge/Fill.h"
#include "stark/Judge/Race.h"
#include "stark/Posix/Clock.h"
#include <algorithm>
#include <cstdlib>
#include <cuda_profiler_api.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace stark;
using namespace stark::gpu;

/// A kernel of another stream has begun after so long, and written something.
static constexpr std::chrono::microseconds UnderWay(200);

/// Reads what follows a call. Before, it is in no memory of this process.
bool Child::finish() {
  if (!std::exchange(Finished, true) &&
      recv(Options.Control, &Then, sizeof(Then), 0) != sizeof(Then))
    _exit(0);
  return Then.What == Command::Finish;
}

cudaStream_t Child::freshStream() {
  cudaStream_t Stream = nullptr;
  if (TakesStream)
    cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking);
  return Stream;
}

void Child::endStream(cudaStream_t Stream) {
  if (Stream)
    cudaStreamDestroy(Stream);
}

/// False when the library did something wrong; Out says what.
bool Child::call(EntryLibrary::Entry Function, cudaStream_t Stream,
                 Reply &Out) {
  CallEnd End = Pages.callSealed(Function, Arguments->arguments(Stream));
  if (End == CallEnd::Threw) {
    say(Out, Status::Failed, "the entry threw an exception");
    return false;
  }
  // What the source does as well is not held against anybody.
  if (End == CallEnd::ChangedFloats && !Work.Reference) {
    say(Out, Status::Forbidden,
        "the entry leaves its caller another floating-point environment "
        "(rounding mode, denormals, traps) than it was called in");
    return false;
  }
  return !hadProblem(Status::Failed, "the entry threw an exception", Out);
}

/// Did the last of the library's functions of tensors end with one?
bool Child::hadProblem(Status What, const std::string &Name, Reply &Out) {
  const char *Text = Code.Tensors ? Code.Tensors->Problem() : "";
  if (!*Text)
    return false;
  say(Out, What, Name + ": " + Text);
  return true;
}

/// Before a call: tensors over the buffers.
bool Child::prepareTensors(cudaStream_t Stream, Reply &Out) {
  if (!Code.Tensors)
    return true;
  Code.Tensors->Prepare(Arguments->arguments(Stream), onGpu());
  return !hadProblem(Status::Infrastructure, "no tensors can be made", Out);
}

/// After a call: what it returned goes to the buffers, on the same stream.
bool Child::collect(cudaStream_t Stream, Reply &Out) {
  if (!Code.Tensors)
    return true;
  bool Good = Code.Tensors->Collect(Arguments->arguments(Stream));
  return !hadProblem(Good ? Status::Failed : Status::BadResult,
                     "what the entry returned cannot be used", Out);
}

/// A call that a sanitizer or a profiler looks at.
void Child::runBare(const Request &R, Reply &Out) {
  cudaStream_t Stream = freshStream();
  std::string P = Arguments->fill(R.Seed, R.WeightSeed, R.Round, 0, Stream);
  if (!P.empty())
    return harness(Out, P);
  if (!prepareTensors(Stream, Out))
    return;
  // What fills the buffers is not looked at.
  cudaDeviceSynchronize();
  if (R.Flags & Profiled) {
    P = showKernel();
    if (!P.empty())
      return harness(Out, P);
    cudaProfilerStart();
  }
  bool Called = call(Code.Call, Stream, Out);
  cudaError_t E = cudaDeviceSynchronize();
  if (R.Flags & Profiled)
    cudaProfilerStop();
  endStream(Stream);
  if (Called && E != cudaSuccess)
    say(Out, Status::Failed, "the kernel failed: " + describe(E) + hintFor(E));
}

/// Outputs are as they were when the stream goes on, if all is asked of it.
std::string Child::standStill(cudaStream_t Stream) {
  std::string P = Arguments->fingerprintOutputs(Stream, false);
  if (P.empty())
    P = Watch->hold(Stream);
  return P.empty() ? Arguments->fingerprintOutputs(Stream, true) : P;
}

/// The stream is flushed and held, and its clock runs once that is over.
std::string Child::startClock(const Request &R, cudaStream_t Stream) {
  uint64_t Draw = judge::mix(R.Seed ^ R.Nonce) ^ R.Round;
  std::string P = Arguments->fingerprintPlaces(Stream, Draw, false);
  if (P.empty())
    P = Watch->start(Stream);
  if (P.empty())
    P = Arguments->fingerprintPlaces(Stream, Draw, true);
  return P.empty() ? Watch->begin(Stream) : P;
}

/// Before a verified call. What a call can tell from others (how long its
/// stream is held, whether caches are cold) is in half of these as in a timed
/// one, so that what is right only for the former is found.
bool Child::getReady(const Request &R, bool Watched, cudaStream_t Stream,
                     Reply &Out) {
  bool AsTimed = !Work.Reference && judge::mix(R.Nonce) & 1;
  auto Fill = [&] {
    return Arguments->fill(R.Seed, R.WeightSeed, R.Round, R.Shake, Stream);
  };
  // The first call with some inputs says which of them was changed, the second
  // whether one was changed and put back.
  bool Guarded = !Work.Reference && R.Round;
  std::string P = Arguments->guard(Guarded ? &Guard : nullptr);
  if (P.empty())
    P = Fill();
  if (P.empty())
    P = Arguments->arm(Stream);
  if (P.empty() && Watched)
    P = AsTimed ? Fill() : standStill(Stream);
  if (P.empty() && !prepareTensors(Stream, Out))
    return false;
  if (P.empty() && AsTimed)
    P = startClock(R, Stream);
  note(P, Out);
  return P.empty();
}

void Child::run(const Request &R, Reply &Out) {
  if (Options.Sanitized)
    return runBare(R, Out);
  cudaStream_t Stream = freshStream();
  bool Refers = Code.Reference && !(R.Flags & OwnCall);
  // A source that works on another stream does so the first time.
  bool Watched = !Work.Reference || !std::exchange(SourceSeen, true);
  if (!getReady(R, Watched, Stream, Out) ||
      !call(Refers ? Code.Reference : Code.Call, Stream, Out) ||
      !collect(Stream, Out))
    return;
  if (Watched) {
    // What was asked of another stream is under way by then.
    std::this_thread::sleep_for(UnderWay);
    Watch->release();
  }
  // A launch error stays in the library's own copy of the runtime.
  cudaError_t Launch =
      Code.LastError ? cudaError_t(Code.LastError()) : cudaSuccess;
  cudaError_t Ran = cudaDeviceSynchronize();
  cudaError_t E = Ran != cudaSuccess ? Ran : Launch;
  if (E != cudaSuccess)
    return say(
        Out, Status::Failed,
        (Ran != cudaSuccess ? "the kernel failed: " : "the launch failed: ") +
            describe(E) + hintFor(E) +
            (E == cudaErrorIllegalAddress && Arguments->isGuarded()
                 ? ", or wrote to an input, which could only be read in this "
                   "call"
                 : ""));
  bool Settled = true;
  std::string P = Watched ? Arguments->settled(Settled) : "";
  if (P.empty() && !Settled)
    Out.What = Status::Escaped;
  else if (P.empty())
    P = Arguments->inspect(Stream, Out);
  endStream(Stream);
  if (!P.empty())
    return harness(Out, P);
  if (Out.What == Status::Ok && R.Shake)
    return note(Arguments->keep(), Out);
  if (Out.What != Status::Ok || !Code.Tensors || !Work.Reference ||
      R.Flags & (OwnCall | NotKept))
    return;
  if (P = Arguments->keep(); !P.empty())
    return harness(Out, P);
  if (Refers && Code.Tensors->Note)
    say(Out, Status::Ok, Code.Tensors->Note());
}

/// With what CUPTI records of it, where it does.
bool Child::callTraced(cudaStream_t Stream, Reply &Out) {
  if (!Options.Cupti.empty())
    beginTracedCall();
  bool Called = call(Code.Call, Stream, Out);
  if (!Options.Cupti.empty())
    endTracedCall();
  return Called;
}

void Child::tellSpan(Reply &Out) {
  if (Options.Cupti.empty() || Warming)
    return;
  CallRecord Call = takeTracedCall();
  Out.KeptBytes = Call.KeptBytes;
  Done = std::move(Call.Works);
  Out.Count = Done.size();
  uint64_t EndNs = 0;
  for (const DeviceWork &Work : Done)
    EndNs = std::max(EndNs, Work.EndNs);
  if (!Done.empty())
    Out.WorkUs = 1e-3 * double(EndNs - Done.front().BeginNs);
}

void Child::describeWork(const Request &R, Reply &Out) const {
  if (R.Case >= Done.size())
    return harness(Out, "the device did less for the call");
  Out.Work = Done[R.Case];
}

void Child::sample(const Request &R, Reply &Out) {
  cudaStream_t Stream = freshStream();
  std::string P = Arguments->fill(R.Seed, R.WeightSeed, R.Round, 0, Stream);
  if (!prepareTensors(Stream, Out))
    return;
  if (P.empty())
    P = startClock(R, Stream);
  if (!P.empty())
    return harness(Out, P);
  bool Called = callTraced(Stream, Out);
  // Whether it is waited for was not known before.
  if (!Warming && finish() && Then.Flags & SyncDevice) {
    Watch->release();
    cudaDeviceSynchronize();
  }
  P = Watch->stop(Stream);
  if (!Called || !collect(Stream, Out))
    return;
  // Runs as soon as the stop event has, and sees what was written by then.
  if (P.empty())
    P = Arguments->fingerprintOutputs(Stream, false);
  cudaError_t Launch =
      Code.LastError ? cudaError_t(Code.LastError()) : cudaSuccess;
  cudaError_t Rest = cudaDeviceSynchronize();
  cudaError_t E = Rest != cudaSuccess ? Rest : Launch;
  if (E != cudaSuccess)
    return say(Out, Status::Failed,
               "a timed call failed: " + describe(E) + hintFor(E));
  bool Settled = true;
  if (P.empty())
    P = Watch->read(Out.EventUs);
  // What was returned may have changed since.
  if (!collect(Stream, Out))
    return;
  if (P.empty())
    P = Arguments->fingerprintOutputs(Stream, true);
  if (P.empty())
    P = Arguments->settled(Settled);
  endStream(Stream);
  if (!P.empty())
    return harness(Out, P);
  if (!Settled)
    Out.What = Status::Escaped;
  tellSpan(Out);
}

/// In bytes; memory that the driver pins is in it. 0: nobody can tell.
uint64_t Child::addressSpace() const {
  char Text[64] = {};
  if (pread(OwnSize, Text, sizeof(Text) - 1, 0) <= 0)
    return 0;
  return std::strtoull(Text, nullptr, 10) * uint64_t(sysconf(_SC_PAGESIZE));
}

void Child::warm(const Request &R, Reply &Out) {
  std::array<uint64_t, Quarters> Free = {}, Sizes = {};
  Warming = true;
  for (unsigned Q = 0; Q < Quarters && Out.What == Status::Ok; ++Q) {
    Out.Count += judge::callFor(R.Ms / Quarters, machineClock(), [&] {
      sample(R, Out);
      return Out.What == Status::Ok;
    });
    Free[Q] = freeMemory();
    Sizes[Q] = addressSpace();
  }
  Warming = false;
  Out.Leaked = leakIn(Free);
  Out.LeakedOfHost = growthOf(Sizes);
}
