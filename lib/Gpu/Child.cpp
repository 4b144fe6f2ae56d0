//===- Child.cpp - The process that loads one library --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Hello -> Take -> Load -> Prepare -> (Run | Warm | Sample | Export)*
/// What this process says is a claim; what it writes to the shared memory is
/// compared elsewhere. What it knows (the request, its clock, where the other
/// buffers are) lies in pages that cannot be read while the library's code
/// runs; what decides about a call, and the reply's nonce, come after it.
///
//===----------------------------------------------------------------------===//

#include "stark/Gpu/Child.h"
#include "ChildState.h"
#include "Kernels.h"
#include "Preload.h"
#include "stark/Posix/Lockdown.h"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <memory_resource>
#include <new>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

void gpu::say(Reply &Out, Status What, const std::string &Text) {
  Out.What = What;
  std::strncpy(Out.Text, Text.c_str(), sizeof(Out.Text) - 1);
}
void gpu::harness(Reply &Out, const std::string &Text) {
  say(Out, Status::Infrastructure, Text);
}
void gpu::note(const std::string &Problem, Reply &Out) {
  if (!Problem.empty())
    harness(Out, Problem);
}
void Child::hello(const Request &R, Reply &Out) {
  std::string P = openDevice(Options.Device, Facts);
  if (P.empty() && R.Flags & Calibrate)
    P = calibrate(Facts);
  if (P.empty() && !Options.Sanitized)
    P = selfTest();
  if (P.empty() && !Options.Sanitized)
    Guard = openReadOnly(Facts);
  if (P.empty() && !Options.Sanitized)
    P = Watch.emplace().open(Facts.L2Bytes);
  if (P.empty())
    P = preload(Options);
  if (P.empty() && !Options.Cupti.empty())
    P = openCupti(Options.Cupti);
  if (P.empty() && R.Flags & Profiles)
    P = showKernel();
  if (!Options.Sanitized)
    posix::closeToOthers(true);
  note(P, Out);
}

void Child::take(const Request &R, Reply &Out) {
  if (recv(Options.Control, &Work, sizeof(Work), 0) != sizeof(Work))
    _exit(0);
  std::string P = Work.JobBytes ? readJob() : "";
  if (P.empty())
    P = mapShared(Options, Work, Shared);
  if (!P.empty())
    return harness(Out, P);
  // One that takes another job reads no other folder.
  if (Facts.Lockdown.empty())
    lockDown(R);
  say(Out, Status::Ok, printFacts(Facts));
}

void Child::lockDown(const Request &R) {
  posix::closeToOthers(false);
  OwnSize = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  Facts.Lockdown = posix::lockDown(readFolders(Options, Work), writeFolder(R));
}

std::string Child::readJob() {
  std::string Error, Folder = Work.Folder, Text;
  if (std::string P = readShared(Options, Work, Text); !P.empty())
    return P;
  J = parseJob(Text, Folder + "/job.json", Error);
  if (!Error.empty())
    return Error;
  TakesStream =
      std::any_of(J.Leaves.begin(), J.Leaves.end(),
                  [](const Leaf &L) { return L.Kind == LeafKind::Stream; });
  Arguments.emplace(J, Folder, Hidden, Work.Reference && !J.Torch.empty(),
                    Options.Sanitized);
  return "";
}

/// As before Take, but for what has been loaded.
void Child::rest() {
  Arguments.reset();
  Hidden.release();
  if (std::exchange(Pinned, false) && cudaHostUnregister(Shared) != cudaSuccess)
    cudaGetLastError();
  if (Shared)
    munmap(std::exchange(Shared, nullptr), Work.SharedBytes);
  J = Job();
  SourceSeen = false;
}

void Child::load(Reply &Out) {
  std::string Path = std::string(Work.Folder) + "/" + Work.Library;
  if (access(Path.c_str(), R_OK) != 0)
    return harness(Out, Path + ": cannot be read");
  if (std::string P = Code.load(Path, Work.Reference, !J.Torch.empty());
      !P.empty())
    say(Out, Status::Failed, P);
}

void Child::prepare(const Request &R, Reply &Out) {
  if (!Arguments || R.Case >= J.Cases.size())
    return harness(Out, "no such case");
  bool NoMemory = false;
  if (std::string P = keepPool(); !P.empty())
    return harness(Out, P);
  Placing Where = {R.Seed, R.WeightSeed};
  if (std::string P = Arguments->allocate(R.Case, Where, Out.Count, NoMemory);
      !P.empty())
    say(Out, NoMemory ? Status::NoMemory : Status::Infrastructure, P);
}

void Child::exportOutputs(const Request &R, Reply &Out) {
  Pinned = Pinned || Arguments->pin(Shared, Work.SharedBytes);
  note(Arguments->exportTo(Shared, R.Flags & OfReference), Out);
}

void Child::answer(const Request &R, Reply &Out) {
  Finished = !isCall(R.What);
  Then = R;
  switch (R.What) {
  case Command::Hello:
    hello(R, Out);
    break;
  case Command::Take:
    take(R, Out);
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
  case Command::Finish: // follows a call
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
  case Command::Describe:
    describeWork(R, Out);
    break;
  case Command::Compare:
    note(Arguments->compare(R, Out), Out);
    break;
  case Command::Rest:
    rest();
    break;
  }
  finish();
  Out.Nonce = Then.Nonce;
}

namespace {
/// All that lies in sealed pages.
struct Known {
  Known(const ChildOptions &Options, const SealedPages &Pages)
      : C(Options, Pages, Hidden) {}
  /// For what has another size in each job; a few hundred arguments fit.
  std::byte Room[size_t(1) << 16];
  std::pmr::monotonic_buffer_resource Hidden{Room, sizeof(Room)};
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
