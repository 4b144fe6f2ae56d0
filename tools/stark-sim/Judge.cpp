//===- Judge.cpp - One job, from folder to result -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Judge.h"
#include "Inputs.h"
#include "stark/Job/Lockdown.h"
#include "stark/Job/Npy.h"
#include "stark/Sim/Program.h"
#include "stark/Support/File.h"
#include "stark/Support/JsonFields.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using Json = nlohmann::json;

namespace {
/// Buffers of more than this are not compared in full: a simulated element
/// costs a thousand times what a GPU's does.
constexpr uint64_t CheckBytes = uint64_t(16) << 20;

/// Accesses that a source may make in a size that is compared. Counted, not
/// timed, so that a verdict is the same on every machine.
constexpr uint64_t SourceLimit = 60000000;

/// What a child tells; it lies in memory that both see.
struct Report {
  enum Status { Died, Done, Found, Unsupported, TooLong } What;
  char Kind[64];
  char Text[8192];
  double TimeUs;
  uint64_t Accesses;
  double ThreadInstructions, LaunchSeconds;
};

void copyText(char *To, size_t Size, const std::string &From) {
  size_t N = std::min(From.size(), Size - 1);
  std::memcpy(To, From.data(), N);
  To[N] = 0;
}

class Judge {
public:
  Judge(std::string Folder, const GpuDescription &Gpu)
      : Folder(std::move(Folder)), Gpu(Gpu) {}
  Result run();
  Speeds Took;
  std::string Outputs; ///< where the candidate's go, until they are written

private:
  bool stop(Outcome End, const std::string &Why) {
    Out.End = End;
    Out.Diagnostics = Why;
    return false;
  }
  bool read();
  bool build(const std::string &File, std::unique_ptr<Program> &Into,
             bool IsSource);
  Report child(Program &P, const char *Entry, Inputs &In, RunMode Mode,
               uint64_t Limit, uint64_t TimeoutMs);
  /// Against the outputs of the source, with every seed.
  bool compareCase(unsigned I);
  /// A source that is judged for itself: there is nothing to compare with.
  bool checkCase(unsigned I);
  bool timeCase(unsigned I);
  bool keepOutputs(unsigned I, const Inputs &In);
  std::string where(unsigned I, uint64_t Seed) const {
    return "size '" + J.Cases[I].Label + "', seed " + std::to_string(Seed);
  }
  bool candidateFailed(const Report &R, const std::string &Where);
  bool itself() const { return J.SourceDigest == J.CandidateDigest; }
  std::vector<uint64_t> seedsFor(unsigned I) const {
    std::vector<uint64_t> Seeds = J.Seeds;
    if (Inputs::bytesOf(J, I) > (1 << 20) && Seeds.size() > 1)
      Seeds.resize(1);
    return Seeds;
  }
  void tooLarge(const Case &C) {
    Notes += "size '" + C.Label +
             "' was not compared: too large to simulate in full\n";
  }
  void leftOut(const Case &C) {
    Notes +=
        "size '" + C.Label + "' was left out: the source itself cannot do it\n";
  }

  std::string Folder;
  const GpuDescription &Gpu;
  Job J;
  Result Out;
  CompileRequest Compile;
  std::unique_ptr<Program> Source, Candidate;
  std::string Notes, Profile;
  unsigned Compared = 0;
};

std::string describeStop(int Status, bool TimedOut, uint64_t TimeoutMs) {
  if (TimedOut)
    return "did not end within " + std::to_string(TimeoutMs) + " ms";
  if (WIFSIGNALED(Status))
    return std::string("the host code of the entry crashed: ") +
           strsignal(WTERMSIG(Status));
  return "the entry ended the process with exit code " +
         std::to_string(WEXITSTATUS(Status));
}
} // namespace

bool Judge::read() {
  std::string Path = Folder + "/job.json", Error;
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return stop(Outcome::Infrastructure, llvm::toString(Text.takeError()));
  J = parseJob(*Text, Path, Error);
  Out.Id = J.Id;
  Out.CandidateDigest = J.CandidateDigest;
  Out.SourceDigest = J.SourceDigest;
  Out.Device = "simulated " + Gpu.Name;
  Out.Modelled = true;
  if (!Error.empty())
    return stop(Outcome::Infrastructure, Error);
  Path = Folder + "/compile.json";
  Text = readFile(Path);
  if (!Text)
    return stop(Outcome::Infrastructure, llvm::toString(Text.takeError()));
  Json Object = Json::parse(*Text, nullptr, false);
  if (Object.is_discarded())
    return stop(Outcome::Infrastructure, Path + ": not valid JSON");
  FieldReader<Json> R(Object, Path, "");
  R.required("path", Compile.Path);
  R.required("folder", Compile.Folder);
  R.required("flags", Compile.Flags);
  R.required("arch", Compile.Arch);
  Error = R.problem();
  return Error.empty() || stop(Outcome::Infrastructure, Error);
}

bool Judge::build(const std::string &File, std::unique_ptr<Program> &Into,
                  bool IsSource) {
  llvm::Expected<std::string> Text = readFile(Folder + "/" + File);
  if (!Text)
    return stop(Outcome::Infrastructure, llvm::toString(Text.takeError()));
  CompileRequest Request = Compile;
  Request.Text = std::move(*Text);
  std::string Diagnostics, Unsupported;
  llvm::Expected<std::unique_ptr<Program>> P =
      Program::build(Request, Diagnostics, Unsupported);
  if (!P)
    return stop(Outcome::Infrastructure, llvm::toString(P.takeError()));
  Into = std::move(*P);
  if (Into)
    return true;
  if (!Unsupported.empty())
    return stop(IsSource ? Outcome::Infrastructure : Outcome::Unsupported,
                std::string(IsSource ? "the source itself: " : "") +
                    "the simulator cannot run " + Unsupported);
  if (IsSource)
    return stop(Outcome::Infrastructure,
                "the source itself does not compile for the simulator: " +
                    Diagnostics);
  Out.Compiler = Diagnostics;
  return stop(Outcome::NotCompiled, "");
}

Report Judge::child(Program &P, const char *Entry, Inputs &In, RunMode Mode,
                    uint64_t Limit, uint64_t TimeoutMs) {
  auto *Shared = static_cast<Report *>(mmap(nullptr, sizeof(Report),
                                            PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Report Copy{};
  if (Shared == MAP_FAILED)
    return Copy;
  std::fflush(nullptr);
  pid_t Pid = fork();
  if (Pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct rlimit NoCore = {0, 0};
    setrlimit(RLIMIT_CORE, &NoCore);
    // What it prints is nobody's.
    if (!freopen("/dev/null", "w", stdout) ||
        !freopen("/dev/null", "w", stderr))
      _exit(9);
    lockDown();
    RunHooks Hooks;
    Hooks.OnFinding = [&](const std::string &Kind, const std::string &Text) {
      copyText(Shared->Kind, sizeof(Shared->Kind), Kind);
      copyText(Shared->Text, sizeof(Shared->Text), Text);
      Shared->What = Report::Found;
      _exit(0);
    };
    Hooks.OnUnsupported = [&](const std::string &What) {
      copyText(Shared->Text, sizeof(Shared->Text), What);
      Shared->What = Report::Unsupported;
      _exit(0);
    };
    Hooks.AccessLimit = Limit;
    Hooks.OnLimit = [&] {
      Shared->What = Report::TooLong;
      _exit(0);
    };
    RunProfile Ran =
        P.run(Entry, In.arguments(), Gpu, Mode, In.buffers(), Hooks);
    if (Mode == RunMode::Profile)
      copyText(Shared->Text, sizeof(Shared->Text),
               describeProfile(Ran, P.tables()));
    Shared->TimeUs = Ran.timeUs();
    Shared->Accesses = Ran.Accesses;
    Shared->ThreadInstructions = Ran.ThreadInstructions;
    Shared->LaunchSeconds = Ran.LaunchSeconds;
    Shared->What = Report::Done;
    _exit(0);
  }
  int Status = 0;
  bool TimedOut = false;
  if (Pid > 0) {
    auto End =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(TimeoutMs);
    useconds_t Pause = 200;
    while (waitpid(Pid, &Status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > End) {
        kill(-Pid, SIGKILL);
        kill(Pid, SIGKILL);
        waitpid(Pid, &Status, 0);
        TimedOut = true;
        break;
      }
      usleep(Pause);
      Pause = std::min<useconds_t>(Pause * 2, 20000);
    }
    // Whatever it started goes with it.
    kill(-Pid, SIGKILL);
  }
  Copy = *Shared;
  Copy.Kind[sizeof(Copy.Kind) - 1] = Copy.Text[sizeof(Copy.Text) - 1] = 0;
  if (TimedOut || Copy.What == Report::Died || Pid < 0) {
    Copy.What = TimedOut ? Report::TooLong : Report::Died;
    copyText(Copy.Text, sizeof(Copy.Text),
             describeStop(Status, TimedOut, TimeoutMs));
  }
  munmap(Shared, sizeof(Report));
  Speed &S = Mode == RunMode::Check ? Took.Check : Took.Profile;
  S.ThreadInstructions += Copy.ThreadInstructions;
  S.Seconds += Copy.LaunchSeconds;
  return Copy;
}

/// Ends the job when the candidate did not come through.
bool Judge::candidateFailed(const Report &R, const std::string &Where) {
  std::string Text = std::string(R.Text) + "\n(" + Where + ")";
  switch (R.What) {
  case Report::Done:
    return false;
  case Report::Unsupported:
    return !stop(Outcome::Unsupported, "the simulator cannot run " + Text);
  case Report::TooLong:
    return !stop(Outcome::TimedOut,
                 "the candidate makes more than ten times the memory accesses "
                 "of the source, or never ends (" +
                     Where + ")");
  case Report::Died:
    return !stop(Outcome::Crashed, Text);
  case Report::Found:
    break;
  }
  std::string Kind = R.Kind;
  bool Crash = Kind == "out of bounds" || Kind == "misaligned" ||
               Kind == "launch" || Kind == "assert" || Kind == "trap" ||
               Kind == "stuck";
  return !stop(Crash ? Outcome::Crashed : Outcome::Wrong, Text);
}

bool Judge::compareCase(unsigned I) {
  const Case &C = J.Cases[I];
  for (uint64_t Seed : seedsFor(I)) {
    Inputs Mine(J, Folder), Theirs(J, Folder);
    for (Inputs *In : {&Mine, &Theirs})
      if (std::string Why = In->fill(I, Seed, false); !Why.empty())
        return stop(Outcome::Infrastructure, Why);
    Theirs.arm(0);
    Mine.arm(0);
    const char *Entry =
        Source->has("stark_reference") ? "stark_reference" : "stark_call";
    Report Wanted =
        child(*Source, Entry, Theirs, RunMode::Check, SourceLimit, J.TimeoutMs);
    if (Wanted.What != Report::Done) {
      if (Wanted.What == Report::TooLong) {
        tooLarge(C);
        return true;
      }
      if (C.Added) {
        leftOut(C);
        return true;
      }
      return stop(Outcome::Infrastructure,
                  std::string(Wanted.What == Report::Unsupported
                                  ? "the simulator cannot run "
                                  : "the source itself fails: ") +
                      Wanted.Text + "\n(" + where(I, Seed) + ")");
    }
    Report Got =
        child(*Candidate, "stark_call", Mine, RunMode::Check,
              std::max<uint64_t>(Wanted.Accesses * 10, 10000000), J.TimeoutMs);
    if (candidateFailed(Got, where(I, Seed)) || !keepOutputs(I, Mine))
      return false;
    for (size_t L = 0; L < J.Leaves.size(); ++L) {
      const Leaf &Of = J.Leaves[L];
      if (Of.Kind != LeafKind::Buffer ||
          (Of.Use != Role::Output && Of.Use != Role::InOut))
        continue;
      Comparison Found =
          compare(Of.Type, Mine.data(L), Theirs.data(L), C.Values[L].Shape,
                  Of.Tolerance, poisonPattern(Of.Type, 0));
      if (!Found.ok())
        return stop(Outcome::Wrong,
                    describeMismatch(Of, C.Values[L], Found,
                                     "simulated call with " + where(I, Seed)));
    }
  }
  ++Compared;
  return true;
}

bool Judge::checkCase(unsigned I) {
  const Case &C = J.Cases[I];
  for (uint64_t Seed : seedsFor(I)) {
    Inputs In(J, Folder);
    if (std::string Why = In.fill(I, Seed, false); !Why.empty())
      return stop(Outcome::Infrastructure, Why);
    In.arm(0);
    Report Got = child(*Source, "stark_call", In, RunMode::Check, SourceLimit,
                       J.TimeoutMs);
    if (Got.What == Report::TooLong) {
      tooLarge(C);
      return true;
    }
    if (Got.What != Report::Done && C.Added) {
      leftOut(C);
      return true;
    }
    if (candidateFailed(Got, where(I, Seed)) || !keepOutputs(I, In))
      return false;
  }
  ++Compared;
  return true;
}

bool Judge::keepOutputs(unsigned I, const Inputs &In) {
  for (size_t L = 0; L < J.Leaves.size() && !Outputs.empty(); ++L) {
    const Leaf &Of = J.Leaves[L];
    if (Of.Kind != LeafKind::Buffer ||
        (Of.Use != Role::Output && Of.Use != Role::InOut))
      continue;
    std::string Path = Outputs + "." + std::to_string(L) + ".npy";
    if (llvm::Error E = writeFileAtomically(
            Path, printNpy(Of.Type, J.Cases[I].Values[L].Shape, In.data(L))))
      return stop(Outcome::Infrastructure, llvm::toString(std::move(E)));
  }
  Outputs.clear();
  return true;
}

bool Judge::timeCase(unsigned I) {
  Inputs In(J, Folder);
  std::string Where = where(I, J.TimingSeed);
  if (std::string Why = In.fill(I, J.TimingSeed, true); !Why.empty())
    return stop(Outcome::Infrastructure, Why);
  Report After = child(itself() ? *Source : *Candidate, "stark_call", In,
                       RunMode::Profile, ~0ull, J.TimeoutMs);
  if (candidateFailed(After, Where))
    return false;
  Report Before = After;
  if (!itself())
    Before =
        child(*Source, "stark_call", In, RunMode::Profile, ~0ull, J.TimeoutMs);
  if (Before.What != Report::Done)
    return stop(Outcome::Infrastructure,
                std::string("the source itself cannot be modelled: ") +
                    Before.Text + "\n(" + Where + ")");
  Timing T;
  T.Label = J.Cases[I].Label;
  T.Samples = 1;
  T.MedianUs = T.MinUs = After.TimeUs;
  T.SourceMedianUs = T.SourceMinUs = Before.TimeUs;
  T.Speedup = T.SpeedupLow = T.SpeedupHigh = Before.TimeUs / After.TimeUs;
  Out.Timings.push_back(T);
  Profile += T.Label + ": " + After.Text;
  return true;
}

Result Judge::run() {
  auto Start = std::chrono::steady_clock::now();
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (read() && build(J.SourceLibrary, Source, true) &&
      (itself() || build(J.CandidateLibrary, Candidate, false))) {
    std::vector<unsigned> Order(J.Cases.size());
    std::iota(Order.begin(), Order.end(), 0u);
    std::stable_sort(Order.begin(), Order.end(), [&](unsigned A, unsigned B) {
      return Inputs::bytesOf(J, A) < Inputs::bytesOf(J, B);
    });
    bool Good = true;
    for (unsigned I : Order)
      if (Good && Inputs::bytesOf(J, I) <= CheckBytes)
        Good = itself() ? checkCase(I) : compareCase(I);
    if (Good && !Compared)
      Good =
          stop(Outcome::Infrastructure,
               "no size is small enough to be compared on the simulator; add "
               "one with \"check_only\": true to the workload");
    for (unsigned I = 0; I < J.Cases.size(); ++I)
      if (Good && J.Cases[I].Timed)
        Good = timeCase(I);
    if (Good) {
      Out.End = Outcome::Correct;
      Out.Diagnostics = Profile + Notes;
    }
  }
  Out.WallMs = uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::steady_clock::now() - Start)
                            .count());
  if (Out.End != Outcome::Correct)
    Out.Timings.clear();
  return Out;
}

Result sim::judge(const std::string &Folder, const GpuDescription &Gpu,
                  const std::string &Outputs, Speeds &Took) {
  Judge J(Folder, Gpu);
  J.Outputs = Outputs;
  Result R = J.run();
  Took = J.Took;
  return R;
}
