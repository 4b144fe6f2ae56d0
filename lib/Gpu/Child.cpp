//===- Child.cpp - The process that loads one library --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Hello -> Load -> Prepare -> (Run | Warm | Sample | Export)*
/// What this process says is a claim; what it writes to the shared memory is
/// compared elsewhere. What it knows (the request, its clock, where the other
/// buffers are) lies in pages that cannot be read while the library's code
/// runs; what decides about a call, and the reply's nonce, come after it.
///
//===----------------------------------------------------------------------===//

#include "stark/Gpu/Child.h"
#include "Buffers.h"
#include "EntryLibrary.h"
#include "Kernels.h"
#include "Measure.h"
#include "Preload.h"
#include "SealedPages.h"
#include "stark/Judge/Fill.h"
#include "stark/Judge/Race.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/File.h"
#include "stark/Posix/Lockdown.h"
#include <algorithm>
#include <cstring>
#include <cuda_profiler_api.h>
#include <new>
#include <optional>
#include <sstream>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

namespace {
/// A kernel of another stream has begun after so long, and written something.
constexpr std::chrono::microseconds UnderWay(200);

using Entry = EntryLibrary::Entry;

class Child {
public:
  /// \p Pages: where this object lies, and the requests.
  Child(const ChildOptions &Options, const SealedPages &Pages)
      : Options(Options), Pages(Pages) {}
  void answer(const Request &R, Reply &Out);

private:
  void hello(const Request &R, Reply &Out);
  void load(Reply &Out);
  void prepare(const Request &R, Reply &Out);
  void run(const Request &R, Reply &Out);
  void runBare(const Request &R, Reply &Out);
  std::string standStill(cudaStream_t Stream);
  void sample(const Request &R, Reply &Out);
  void warm(const Request &R, Reply &Out);
  void exportOutputs(const Request &R, Reply &Out);
  bool call(Entry Function, cudaStream_t Stream, Reply &Out);
  bool finish();
  bool prepareTensors(cudaStream_t Stream, Reply &Out);
  bool collect(cudaStream_t Stream, Reply &Out);
  bool hadProblem(Status What, const std::string &Name, Reply &Out);
  cudaStream_t freshStream();
  void endStream(cudaStream_t Stream);

  ChildOptions Options;
  const SealedPages &Pages;
  Request Then; ///< that of Finish
  bool Finished = false, Warming = false;
  Job J;
  bool TakesStream = false;
  char *Shared = nullptr;
  bool Pinned = false; ///< Shared, or that was tried
  EntryLibrary Code;
  std::optional<Buffers> Arguments;
  std::optional<Stopwatch> Watch;
};

void say(Reply &Out, Status What, const std::string &Text) {
  Out.What = What;
  std::strncpy(Out.Text, Text.c_str(), sizeof(Out.Text) - 1);
}
void harness(Reply &Out, const std::string &Text) {
  say(Out, Status::Infrastructure, Text);
}
/// What went wrong, if anything did.
void note(const std::string &Problem, Reply &Out) {
  if (!Problem.empty())
    harness(Out, Problem);
}
} // namespace

void Child::hello(const Request &R, Reply &Out) {
  DeviceFacts Facts;
  if (std::string P = openDevice(Options.Device, Facts); !P.empty())
    return harness(Out, P);
  if (R.Flags & Calibrate)
    if (std::string P = calibrate(Facts); !P.empty())
      return harness(Out, P);
  if (!Options.Sanitized)
    if (std::string P = selfTest(); !P.empty())
      return harness(Out, P);
  if (!Options.Folder.empty()) {
    std::string Error, Path = Options.Folder + "/job.json";
    if (std::optional<std::string> Text = posix::readFile(Path, Error))
      J = parseJob(*Text, Path, Error);
    if (!Error.empty())
      return harness(Out, Error);
    for (const Leaf &L : J.Leaves)
      TakesStream |= L.Kind == LeafKind::Stream;
    Arguments.emplace(J, Options.Folder, Options.Reference && !J.Torch.empty(),
                      Options.Sanitized);
    if (!Options.Sanitized)
      if (std::string P = Watch.emplace().open(Facts.L2Bytes); !P.empty())
        return harness(Out, P);
  }
  if (Options.SharedBytes) {
    void *At = mmap(nullptr, Options.SharedBytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED, Options.Shared, 0);
    if (At == MAP_FAILED)
      return harness(Out, std::string("cannot map the shared memory: ") +
                              std::strerror(errno));
    madvise(At, Options.SharedBytes, MADV_HUGEPAGE);
    Shared = static_cast<char *>(At);
  }
  std::string P = preload(Options);
  if (P.empty() && R.Flags & Profiles)
    P = showKernel();
  if (!P.empty())
    return harness(Out, P);
  Facts.Lockdown = posix::lockDown(readFolders(Options), writeFolder(R));
  say(Out, Status::Ok, printFacts(Facts));
}

void Child::load(Reply &Out) {
  std::string Path = Options.Folder + "/" + Options.Library;
  if (access(Path.c_str(), R_OK) != 0)
    return harness(Out, Path + ": cannot be read");
  if (std::string P = Code.load(Path, Options.Reference, !J.Torch.empty());
      !P.empty())
    say(Out, Status::Failed, P);
}

void Child::prepare(const Request &R, Reply &Out) {
  if (!Arguments || R.Case >= J.Cases.size())
    return harness(Out, "no such case");
  bool NoMemory = false;
  if (std::string P = keepPool(); !P.empty())
    return harness(Out, P);
  if (std::string P =
          Arguments->allocate(R.Case, R.Seed, R.WeightSeed, NoMemory);
      !P.empty())
    say(Out, NoMemory ? Status::NoMemory : Status::Infrastructure, P);
}

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
bool Child::call(Entry Function, cudaStream_t Stream, Reply &Out) {
  if (!Pages.callSealed(Function, Arguments->arguments(Stream))) {
    say(Out, Status::Failed, "the entry threw an exception");
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
  std::string P = Arguments->fill(R.Seed, R.WeightSeed, R.Round, false, Stream);
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

void Child::run(const Request &R, Reply &Out) {
  if (Options.Sanitized)
    return runBare(R, Out);
  cudaStream_t Stream = freshStream();
  bool Refers = Code.Reference && !(R.Flags & OwnCall);
  std::string P =
      Arguments->fill(R.Seed, R.WeightSeed, R.Round, R.Flags & Shaken, Stream);
  if (P.empty())
    P = Arguments->arm(Stream);
  if (P.empty())
    P = standStill(Stream);
  if (!P.empty())
    return harness(Out, P);
  if (!prepareTensors(Stream, Out) ||
      !call(Refers ? Code.Reference : Code.Call, Stream, Out) ||
      !collect(Stream, Out))
    return;
  // What was asked of another stream is under way by then.
  std::this_thread::sleep_for(UnderWay);
  Watch->release();
  // A launch error stays in the library's own copy of the runtime.
  cudaError_t Launch =
      Code.LastError ? cudaError_t(Code.LastError()) : cudaSuccess;
  cudaError_t Ran = cudaDeviceSynchronize();
  cudaError_t E = Ran != cudaSuccess ? Ran : Launch;
  if (E != cudaSuccess)
    return say(
        Out, Status::Failed,
        (Ran != cudaSuccess ? "the kernel failed: " : "the launch failed: ") +
            describe(E) + hintFor(E));
  bool Settled = true;
  P = Arguments->settled(Settled);
  if (P.empty() && !Settled)
    Out.What = Status::Escaped;
  else if (P.empty())
    P = Arguments->inspect(Stream, Out);
  endStream(Stream);
  if (!P.empty())
    return harness(Out, P);
  if (Out.What == Status::Ok && R.Flags & Shaken)
    return note(Arguments->keep(), Out);
  if (Out.What != Status::Ok || !Code.Tensors || !Options.Reference ||
      R.Flags & (OwnCall | NotKept))
    return;
  if (P = Arguments->keep(); !P.empty())
    return harness(Out, P);
  if (Refers && Code.Tensors->Note)
    say(Out, Status::Ok, Code.Tensors->Note());
}

void Child::sample(const Request &R, Reply &Out) {
  cudaStream_t Stream = freshStream();
  std::string P = Arguments->fill(R.Seed, R.WeightSeed, R.Round, false, Stream);
  if (!prepareTensors(Stream, Out))
    return;
  uint64_t Draw = judge::mix(R.Seed ^ R.Nonce) ^ R.Round;
  if (P.empty())
    P = Arguments->fingerprintPlaces(Stream, Draw, false);
  if (P.empty())
    P = Watch->start(Stream);
  if (P.empty())
    P = Arguments->fingerprintPlaces(Stream, Draw, true);
  if (P.empty())
    P = Watch->begin(Stream);
  if (!P.empty())
    return harness(Out, P);
  bool Called = call(Code.Call, Stream, Out);
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
}

void Child::warm(const Request &R, Reply &Out) {
  std::array<uint64_t, Quarters> Free = {};
  Warming = true;
  for (unsigned Q = 0; Q < Quarters && Out.What == Status::Ok; ++Q) {
    Out.Count += judge::callFor(R.Ms / Quarters, machineClock(), [&] {
      sample(R, Out);
      return Out.What == Status::Ok;
    });
    Free[Q] = freeMemory();
  }
  Warming = false;
  Out.Leaked = leakIn(Free);
}

void Child::exportOutputs(const Request &R, Reply &Out) {
  Pinned = Pinned || Arguments->pin(Shared, Options.SharedBytes);
  note(Arguments->exportTo(Shared, R.Flags & OfReference), Out);
}

void Child::answer(const Request &R, Reply &Out) {
  Finished = !isCall(R.What);
  Then = R;
  switch (R.What) {
  case Command::Hello:
    hello(R, Out);
    break;
  case Command::Load:
    load(Out);
    break;
  case Command::Prepare:
    prepare(R, Out);
    break;
  case Command::Run:
    run(R, Out);
    break;
  case Command::Warm:
    warm(R, Out);
    break;
  case Command::Sample:
    sample(R, Out);
    break;
  case Command::Finish: // follows a call, which reads it
    break;
  case Command::Export:
    exportOutputs(R, Out);
    break;
  case Command::Share:
    note(Arguments->share(Out.Memory, Out.Count), Out);
    break;
  case Command::Attach:
    note(Arguments->attach(R.Memory, R.Bytes), Out);
    break;
  case Command::Fault:
    note(showFault(Fault(R.Case)), Out);
    break;
  case Command::Compare:
    note(Arguments->compare(R, Out), Out);
    break;
  }
  finish();
  Out.Nonce = Then.Nonce;
}

namespace {
/// All that lies in sealed pages.
struct Known {
  Known(const ChildOptions &Options, const SealedPages &Pages)
      : C(Options, Pages) {}
  Child C;
  Request R;
  Reply Out;
};
} // namespace

int gpu::runChild(const ChildOptions &Options) {
  SealedPages Pages;
  void *At = Pages.open(sizeof(Known));
  if (!At)
    return 1;
  Known *K = new (At) Known(Options, Pages);
  while (recv(Options.Control, &K->R, sizeof(K->R), 0) == sizeof(K->R)) {
    K->Out = Reply();
    K->C.answer(K->R, K->Out);
    if (send(Options.Control, &K->Out, sizeof(K->Out), MSG_NOSIGNAL) !=
        sizeof(K->Out))
      break;
  }
  // Such a tool reports some of what it found when the context ends.
  if (Options.Sanitized)
    cudaDeviceReset();
  // Neither destructors nor atexit handlers: the library may have left some.
  _exit(0);
}
