//===- main.cpp - stark-worker -------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   argv -> one job, a spool, a probe, or (started by itself) a child
/// Exit codes: 0 done, 1 failed, 2 usage. A verdict against a candidate is
/// done.
///
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "Spool.h"
#include "Supervisor.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

using namespace stark;
using namespace stark::worker;

static const char Help[] =
    R"(stark-worker JOBFOLDER [--result FILE] [--outputs DIR] [--device N]
stark-worker --spool DIR [--watch] [--results DIR] [--outputs DIR] [--device N]
stark-worker --probe [--device N]

Judges candidate kernels on a GPU: compares their outputs with the source's
on fresh inputs and times both, interleaved. Needs a CUDA driver, nothing else.

  JOBFOLDER       a folder with job.json and two libraries. The result goes to
                  FILE, or to standard output, as JSON.
  --spool DIR     works off DIR/jobs; results go to DIR/results/ID.json. Several
                  workers may share a folder. One line is printed a job.
  --once          with --spool: stop when no job is left (the default)
  --watch         with --spool: wait for more jobs until interrupted
  --results DIR   with --spool: where results go instead
  --outputs DIR   keeps what each candidate computed for its smallest size and
                  first seed: DIR/ID.LEAF.npy, LEAF being the argument's number
                  in job.json, bf16 as 16-bit unsigned integers
  --probe         prints the GPU's facts as JSON, or says why there is none
  --device N      which GPU, counted from 0 as the driver lists them

Exit codes: 0 every job at hand has a result (also when the candidate was
wrong), 1 failed (no GPU, a result that could not be written), 2 usage.

Example: stark-worker --spool /shared/jobs --watch
)";

namespace {
int usage(const std::string &Message) {
  std::fprintf(stderr, "error: %s; stark-worker --help says more\n",
               Message.c_str());
  return 2;
}

struct Flags {
  std::string Job, Result, Spool, Results, Outputs;
  bool Watch = false, Probe = false, IsChild = false;
  ChildOptions Child;
};

bool number(const char *Text, uint64_t &Value) {
  char *End = nullptr;
  Value = std::strtoull(Text, &End, 10);
  return *Text >= '0' && *Text <= '9' && !*End;
}
} // namespace

/// 0 when the command line is good, else the exit code.
static int parseFlags(int Argc, char **Argv, Flags &F) {
  for (int I = 1; I < Argc; ++I) {
    std::string Word = Argv[I];
    const char *Value = I + 1 < Argc ? Argv[I + 1] : nullptr;
    uint64_t Number = 0;
    auto Text = [&](std::string &Into) {
      if (Value)
        Into = Argv[++I];
      return Value != nullptr;
    };
    auto Count = [&](auto &Into) {
      if (!Value || !number(Argv[++I], Number))
        return false;
      Into = std::remove_reference_t<decltype(Into)>(Number);
      return true;
    };
    bool Good = true;
    if (Word == "--spool")
      Good = Text(F.Spool);
    else if (Word == "--results")
      Good = Text(F.Results);
    else if (Word == "--result")
      Good = Text(F.Result);
    else if (Word == "--outputs")
      Good = Text(F.Outputs);
    else if (Word == "--device")
      Good = Count(F.Child.Device);
    else if (Word == "--once")
      F.Watch = false;
    else if (Word == "--watch")
      F.Watch = true;
    else if (Word == "--probe")
      F.Probe = true;
    else if (Word == "--child")
      F.IsChild = true;
    else if (Word == "--control")
      Good = Count(F.Child.Control);
    else if (Word == "--shared")
      Good = Count(F.Child.Shared);
    else if (Word == "--shared-bytes")
      Good = Count(F.Child.SharedBytes);
    else if (Word == "--job")
      Good = Text(F.Child.Folder);
    else if (Word == "--library")
      Good = Text(F.Child.Library);
    else if (Word == "--reference")
      F.Child.Reference = true;
    else if (Word[0] == '-')
      return usage("unknown option '" + Word + "'");
    else if (!F.Job.empty())
      return usage("got two job folders, '" + F.Job + "' and '" + Word + "'");
    else
      F.Job = Word;
    if (!Good)
      return usage("option '" + Word + "' got " +
                   (Value ? "'" + std::string(Value) + "'" : "no value"));
  }
  return 0;
}

/// Judges one job; its outputs are named after its folder.
static job::Result judge(const Flags &F, const std::string &Folder) {
  namespace fs = std::filesystem;
  fs::path Name = fs::path(Folder).filename();
  if (Name.empty()) // "jobs/softmax/"
    Name = fs::path(Folder).parent_path().filename();
  return runJob(Folder, F.Child.Device,
                F.Outputs.empty() ? "" : (fs::path(F.Outputs) / Name).string());
}

static int runOne(const Flags &F) {
  job::Result R = judge(F, F.Job);
  std::string Text = printResult(R), Error;
  if (F.Result.empty())
    std::fputs(Text.c_str(), stdout);
  else if (!writeResultFile(F.Result, Text, Error))
    std::fprintf(stderr, "error: %s\n", Error.c_str());
  if (R.End == job::Outcome::Infrastructure)
    std::fprintf(stderr, "error: %s\n", R.Diagnostics.c_str());
  return R.End == job::Outcome::Infrastructure || !Error.empty();
}

int main(int Argc, char **Argv) {
  for (int I = 1; I < Argc; ++I)
    if (!std::strcmp(Argv[I], "--help") || !std::strcmp(Argv[I], "-h")) {
      std::fputs(Help, stdout);
      return 0;
    }
  Flags F;
  if (int Code = parseFlags(Argc, Argv, F))
    return Code;
  if (F.IsChild)
    return F.Child.Control >= 0 ? runChild(F.Child)
                                : usage("--child is for stark-worker itself");
  int Modes = !F.Job.empty() + !F.Spool.empty() + F.Probe;
  if (Modes != 1)
    return usage("got " + std::to_string(Modes) +
                 " of a job folder, --spool and --probe, wanted one");
  std::error_code Problem;
  if (!F.Outputs.empty() &&
      (std::filesystem::create_directories(F.Outputs, Problem), Problem)) {
    std::fprintf(stderr, "error: %s: cannot be created: %s\n",
                 F.Outputs.c_str(), Problem.message().c_str());
    return 1;
  }
  if (!F.Spool.empty()) {
    SpoolOptions Options;
    Options.Folder = F.Spool;
    Options.Results = F.Results;
    Options.Watch = F.Watch;
    Options.Judge = [&](const std::string &Folder) { return judge(F, Folder); };
    Options.Probe = [&](DeviceFacts &Facts, std::string &Error) {
      return probeDevice(F.Child.Device, Facts, Error);
    };
    return workOffSpool(Options);
  }
  if (!F.Probe)
    return runOne(F);
  DeviceFacts Facts;
  std::string Error;
  if (!probeDevice(F.Child.Device, Facts, Error)) {
    std::fprintf(stderr, "error: %s\n", Error.c_str());
    return 1;
  }
  std::printf("%s\n", printFacts(Facts).c_str());
  return 0;
}
