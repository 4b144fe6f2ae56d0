//===- Call.cpp - One call of an entry, in a child process ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   fork -> lockdown -> run, telling the parent by shared memory
///
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "HostedRun.h"
#include "stark/Posix/Lockdown.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace stark;
using namespace stark::sim;

static void copyText(char *To, size_t Size, const std::string &From) {
  size_t N = std::min(From.size(), Size - 1);
  std::memcpy(To, From.data(), N);
  To[N] = 0;
}

static std::string describeStop(const posix::ExitStatus &How, bool TimedOut,
                                uint64_t TimeoutMs) {
  if (TimedOut)
    return "did not end within " + std::to_string(TimeoutMs) + " ms";
  if (How.Signal)
    return std::string("the host code of the entry crashed: ") +
           strsignal(How.Signal);
  return "the entry ended the process with exit code " +
         std::to_string(How.ExitCode);
}

/// A child that computes is given processor time, so that a verdict is the same
/// on a machine that others use, too. For one that sleeps, or waits for another
/// process, the clock decides.
constexpr unsigned ClockFactor = 10;

constexpr std::chrono::milliseconds WaitStep(1);

/// How long cores count as idle or not: to ask costs as much as a small call.
constexpr uint64_t LookAgainMs = 2;

Call::Call(const CallSpec &Spec, const GpuDescription &Gpu, Clock &Time)
    : Spec(Spec), Time(Time),
      Deadline(Time.now() +
               std::chrono::milliseconds(Spec.TimeoutMs *
                                         (Spec.Host ? 1 : ClockFactor))) {
  if (Spec.Written)
    Written.emplace();
  if (!Shared || (Written && !*Written)) {
    notRun("no memory for a child's report");
    return;
  }
  Others = Spec.Spreads ? Team::create() : nullptr;
  if (Others)
    Starter.emplace(*Others, [this, &Gpu](unsigned I) {
      silence();
      posix::lockDown();
      this->Spec.Of->Kernels->runPart(Gpu, *Others, I);
    });
  std::fflush(nullptr);
  Child = posix::ChildGroup::start(posix::ChildGroup::Ties::WithParent,
                                   [&] { inChild(Gpu); });
  if (!Child)
    notRun("no child process can be started");
}

void Call::notRun(const char *Why) {
  Ended = true;
  Said.What = Report::NotRun;
  copyText(Said.Text, sizeof(Said.Text), Why);
}

Call::~Call() {
  Starter.reset();
  Child.reset();
  Team::destroy(Others);
}

void Call::wait(unsigned Partners) {
  while (!ended()) {
    lend(Partners);
    Time.sleep(WaitStep);
  }
}

/// Cores of this machine on which nothing runs now, as far as is known.
static unsigned idleCores() {
  // proc(5): of "0.20 0.18 0.12 2/80 11206" those that run, or could. One of
  // them is this process, which sleeps again soon.
  std::ifstream In("/proc/loadavg");
  double Loads[3];
  unsigned Running = 0;
  if (!(In >> Loads[0] >> Loads[1] >> Loads[2] >> Running))
    return 0;
  unsigned Busy = std::max(Running, 1u) - 1,
           Cores = std::thread::hardware_concurrency();
  return Cores > Busy ? Cores - Busy : 0;
}

unsigned Call::lend(unsigned Free) {
  if (!Starter)
    return 0;
  if (!Spec.SpreadAfter && Others->Now == Team::Wanted) {
    if (!LookedAt || Time.millisecondsSince(*LookedAt) >= LookAgainMs) {
      LookedAt = Time.now();
      Idle = idleCores();
    }
    Free = std::min(Free, Idle);
  }
  return Starter->look(Free);
}

std::vector<WrittenWord> Call::written() const {
  if (!Written || Said.What != Report::Done)
    return {};
  const WrittenTable &T = **Written;
  return {T.Words, T.Words + std::min<uint64_t>(T.Count, MostWrittenWords)};
}

PartCounts Call::parts() const {
  return Others ? PartCounts{Others->Taken, Others->RunAgain} : PartCounts();
}

/// What it prints is nobody's.
void Call::silence() {
  if (!freopen("/dev/null", "w", stdout) ||
      !freopen("/dev/null", "w", stderr)) {
    copyText(Shared->Text, sizeof(Shared->Text), "/dev/null cannot be opened");
    Shared->What = Report::NotRun;
    _exit(9);
  }
}

/// From host code.
void Call::hide() const {
  Shared.hide();
  if (Written)
    Written->hide();
}

void Call::show() const {
  Shared.show();
  if (Written)
    Written->show();
}

void Call::inChild(const GpuDescription &Gpu) {
  silence();
  RunHooks Hooks;
  Hooks.OnFinding = [&](const Finding &F) {
    show();
    Shared->Kind = F.Kind;
    copyText(Shared->Text, sizeof(Shared->Text), F.Text);
    Shared->What = Report::Found;
    _exit(0);
  };
  Hooks.OnUnsupported = [&](const Unsupported &U) {
    show();
    copyText(Shared->Text, sizeof(Shared->Text), U.text());
    Shared->What = Report::Unsupported;
    _exit(0);
  };
  Hooks.AccessLimit = Spec.AccessLimit;
  Hooks.Undefined = Spec.Undefined;
  Hooks.Reach = Spec.Reach;
  Hooks.Written = Written.has_value();
  Hooks.Others = Others;
  Hooks.SpreadAfter = Spec.SpreadAfter;
  Hooks.ResourcesLater = Spec.ResourcesLater;
  // Only there: a check is the same, whether ptxas has ended or not.
  if (Spec.Mode == RunMode::Profile && Spec.Of->Resources)
    Hooks.Resources = &*Spec.Of->Resources;
  Hooks.OnLimit = [&](const std::string &Progress) {
    show();
    copyText(Shared->Text, sizeof(Shared->Text), Progress);
    Shared->What = Report::TooMany;
    _exit(0);
  };
  RunProfile Ran;
  if (Spec.Host) {
    runHosted(Spec, Gpu, Hooks, Ran, *Shared);
    if (Shared->What != Report::Done)
      _exit(0);
  } else {
    posix::lockDown();
    Repetition Repeated(*Spec.Arguments, Spec.Repeats);
    if (Spec.Repeats > 1)
      Hooks.Again = [&](double Done) { return Repeated.again(Done); };
    hide();
    Ran =
        Spec.Of->Kernels->run(Spec.Reference ? "stark_reference" : "stark_call",
                              Spec.Arguments->arguments(), Gpu, Spec.Mode,
                              Spec.Arguments->buffers(), Hooks);
    show();
    copyText(Shared->Changed, sizeof(Shared->Changed), Repeated.changed());
  }
  static const Tables None;
  if (Spec.Mode == RunMode::Profile)
    copyText(Shared->Text, sizeof(Shared->Text),
             describeProfile(Ran, Spec.Of->Kernels ? Spec.Of->Kernels->tables()
                                                   : None));
  if (Written) {
    WrittenTable &T = **Written;
    T.Count = std::min(Ran.Written.size(), MostWrittenWords);
    std::copy_n(Ran.Written.begin(), T.Count, T.Words);
  }
  if (Spec.Reach)
    copyText(Shared->Text, sizeof(Shared->Text), printReach(Ran));
  copyText(Shared->Suspicion, sizeof(Shared->Suspicion), Ran.Suspicion);
  copyText(Shared->Elsewhere, sizeof(Shared->Elsewhere), Ran.Elsewhere);
  Shared->KeptBytes = Ran.KeptBytes;
  Shared->HostBytes = Ran.HostBytes;
  Shared->TimeUs = Ran.timeUs();
  Shared->Accesses = Ran.Accesses;
  Shared->ThreadInstructions = Ran.ThreadInstructions;
  Shared->LaunchSeconds = Ran.LaunchSeconds;
  Shared->What = Report::Done;
  _exit(0);
}

bool Call::ended() {
  if (Ended)
    return true;
  if (Child->ended()) {
    finish(false);
  } else if (Time.now() > Deadline ||
             (!Spec.Host &&
              Child->cpuMs() + (Others ? Others->TakenMs.load() : 0) >
                  Spec.TimeoutMs)) {
    Child->kill();
    finish(true);
  }
  return Ended;
}

void Call::finish(bool TimedOut) {
  Ended = true;
  Starter.reset();
  Said = *Shared;
  Said.Text[sizeof(Said.Text) - 1] = 0;
  if (TimedOut || Said.What == Report::Died) {
    Said.What = TimedOut ? Report::TooLong : Report::Died;
    copyText(Said.Text, sizeof(Said.Text),
             describeStop(Child->status(), TimedOut, Spec.TimeoutMs));
  }
}
