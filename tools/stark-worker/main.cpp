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

#include "Worker.h"
#include "stark/Gpu/Device.h"
#include "stark/Posix/File.h"
#include <cstdio>
#include <cstdlib>
#include <getopt.h>
#include <unistd.h>

using namespace stark;
using namespace stark::gpu;
using namespace stark::worker;

static const char Help[] =
    R"(stark-worker JOBFOLDER [--result FILE] [--outputs DIR] [--device N]
stark-worker --spool DIR [--watch | --idle SECONDS | --serve [--tensors]]
             [--results DIR] [--outputs DIR] [--device N | --gpus WHICH]
stark-worker --probe [--device N]

Judges candidate kernels on a GPU: compares their outputs with the source's
on fresh inputs and times both, interleaved. Needs a CUDA driver; for entries
that take tensors libtorch, of the version that they were built with.

  JOBFOLDER       a folder with job.json and two libraries. The result goes to
                  FILE, or to standard output, as JSON.
  --spool DIR     works off DIR/jobs; results go to DIR/results/ID.json. Several
                  workers may share a folder. One line is printed a job.
  --once          with --spool: stop when no job is left (the default)
  --watch         with --spool: wait for more jobs until interrupted
  --idle SECONDS  with --spool: stop when no job came for so long
  --serve         with --spool: for the program that started it: waits for more
                  jobs, of which a line on standard input tells, until that
                  ends. The device is open before the first job is there
  --tensors       with --serve: and so is libtorch
  --results DIR   with --spool: where results go instead
  --outputs DIR   keeps what each candidate computed for its smallest size and
                  first seed: DIR/ID.LEAF.npy, LEAF being the argument's number
                  in job.json, bf16 as 16-bit unsigned integers
  --samples DIR   adds each timed sample to DIR/ID.jsonl, a line for each size
                  and pair of processes: the label, and a block for each time
                  that the buffers were placed anew, in microseconds
  --probe         prints the GPU's facts as JSON, or says why there is none
  --torch DIR     where libtorch is, for jobs whose entries take tensors: the
                  torch package of a Python, a virtual environment that has
                  it, or libtorch unpacked (default: $STARK_TORCH, the torch of
                  python3, /usr)
  --sanitizer P   path of compute-sanitizer, which looks at candidates that are
                  about to win, or "none" (default: on PATH, else in
                  /usr/local/cuda/bin)
  --ncu P         likewise of ncu, which reads the GPU's counters of candidates
                  that a search asks for, or "none"
  --cupti P       likewise of the library CUPTI, which records what the device
                  does in calls of candidates that are about to win, or "none"
                  (default: on LD_LIBRARY_PATH, else in /usr/local/cuda)
  --gpus WHICH    with --spool: a worker for each of several GPUs, "all", a
                  number of them, or places from 0 among those that
                  CUDA_VISIBLE_DEVICES has, or the driver: 0,2. One that dies
                  is started again
  --device N      which GPU, counted from 0 as the driver lists them

Exit codes: 0 every job at hand has a result (also when the candidate was
wrong), 1 failed (no GPU, a result that could not be written), 2 usage.

Example: stark-worker --spool /shared/jobs --watch
)";

int worker::usage(const std::string &Message) {
  std::fprintf(stderr, "error: %s; stark-worker --help says more\n",
               Message.c_str());
  return 2;
}

int worker::failed(const std::string &Message) {
  std::fprintf(stderr, "error: %s\n", Message.c_str());
  return 1;
}

namespace {
/// Option letters; upper case: only from this program to its children.
constexpr option Options[] = {{"help", no_argument, nullptr, 'h'},
                              {"spool", required_argument, nullptr, 's'},
                              {"results", required_argument, nullptr, 'd'},
                              {"result", required_argument, nullptr, 'r'},
                              {"outputs", required_argument, nullptr, 'o'},
                              {"device", required_argument, nullptr, 'n'},
                              {"once", no_argument, nullptr, '1'},
                              {"watch", no_argument, nullptr, 'w'},
                              {"idle", required_argument, nullptr, 'i'},
                              {"probe", no_argument, nullptr, 'p'},
                              {"child", no_argument, nullptr, 'C'},
                              {"control", required_argument, nullptr, 'D'},
                              {"shared", required_argument, nullptr, 'S'},
                              {"preload", required_argument, nullptr, 'P'},
                              {"torch", required_argument, nullptr, 't'},
                              {"samples", required_argument, nullptr, 'm'},
                              {"serve", no_argument, nullptr, 'V'},
                              {"tensors", no_argument, nullptr, 'T'},
                              {"gpus", required_argument, nullptr, 'g'},
                              {"sanitizer", required_argument, nullptr, 'z'},
                              {"ncu", required_argument, nullptr, 'u'},
                              {"cupti", required_argument, nullptr, 'c'},
                              {"sanitized", no_argument, nullptr, 'Z'},
                              {"records", required_argument, nullptr, 'R'},
                              {}};

/// False when the value of an option is not the number it should be.
template <class T> bool setNumber(T &Into) {
  char *End = nullptr;
  Into = T(std::strtoull(optarg, &End, 10));
  return *optarg >= '0' && *optarg <= '9' && !*End;
}

bool setFlag(Flags &F, int Letter) {
  switch (Letter) {
  case 's':
    F.Spool = optarg;
    return true;
  case 'd':
    F.Results = optarg;
    return true;
  case 'r':
    F.Result = optarg;
    return true;
  case 'o':
    F.Outputs = optarg;
    return true;
  case 'P':
    F.Child.Preload = optarg;
    return true;
  case 'm':
    F.Samples = optarg;
    return true;
  case 't':
    F.Torch = optarg;
    return true;
  case 'g':
    F.Gpus = optarg;
    return true;
  case 'z':
    F.Sanitizer = optarg;
    return true;
  case 'u':
    F.Ncu = optarg;
    return true;
  case 'c':
    F.Cupti = optarg;
    return true;
  case 'R':
    F.Child.Cupti = optarg;
    return true;
  case 'Z':
    return F.Child.Sanitized = true;
  case 'n':
    return setNumber(F.Child.Device);
  case 'D':
    return setNumber(F.Child.Control);
  case 'S':
    return setNumber(F.Child.Shared);
  case 'i':
    return setNumber(F.IdleSeconds);
  case 'w':
  case '1':
    F.Watch = Letter == 'w';
    return true;
  case 'h':
    return F.Help = true;
  case 'p':
    return F.Probe = true;
  case 'C':
    return F.IsChild = true;
  case 'V':
    return F.Serve = F.Watch = true;
  default:
    return F.Tensors = true;
  }
}
} // namespace

/// 0 when the command line is good, else the exit code.
static int parseFlags(int Argc, char **Argv, Flags &F) {
  opterr = 0;
  for (int Which, Letter; !F.Help;) {
    Letter = getopt_long(Argc, Argv, ":h", Options, &Which);
    if (Letter < 0)
      break;
    std::string Word = Argv[optind - 1];
    if (Letter == '?')
      return usage("unknown option '" + Word + "'");
    if (Letter == ':')
      return usage("option '" + Word + "' got no value");
    if (!setFlag(F, Letter))
      return usage("option '--" + std::string(Options[Which].name) + "' got '" +
                   optarg + "'");
    if (Letter != 'g') {
      F.OfWorkers.push_back("--" + std::string(Options[Which].name));
      if (Options[Which].has_arg)
        F.OfWorkers.push_back(optarg);
    }
  }
  if ((F.Serve && (F.Spool.empty() || !F.Gpus.empty())) ||
      (F.Tensors && !F.Serve))
    return usage("--serve is for --spool without --gpus, --tensors for "
                 "--serve");
  if (Argc - optind > 1 && !F.Help)
    return usage(std::string("got two job folders, '") + Argv[optind] +
                 "' and '" + Argv[optind + 1] + "'");
  if (optind < Argc)
    F.Job = Argv[optind];
  return 0;
}

static int runProbe(const Flags &F) {
  DeviceFacts Facts;
  std::string Error;
  if (!probeDevice(F.Child.Device, Facts, Error))
    return failed(Error);
  std::puts(printFacts(Facts).c_str());
  return 0;
}

int main(int Argc, char **Argv) {
  Flags F;
  if (int Code = parseFlags(Argc, Argv, F))
    return Code;
#ifdef CLOSE_RANGE_CLOEXEC
  // What whoever started this one left open is nothing to candidates.
  if (!F.IsChild)
    (void)::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
#endif
  if (F.Help) {
    std::fputs(Help, stdout);
    return 0;
  }
  if (F.IsChild)
    return F.Child.Control >= 0 ? runChild(F.Child)
                                : usage("--child is for stark-worker itself");
  int Modes = !F.Job.empty() + !F.Spool.empty() + F.Probe;
  if (Modes != 1)
    return usage("got " + std::to_string(Modes) +
                 " of a job folder, --spool and --probe, wanted one");
  if (!F.Gpus.empty() && (F.Spool.empty() || F.Child.Device))
    return usage("--gpus is for --spool, and instead of --device");
  std::string Error;
  for (const std::string &Folder : {F.Outputs, F.Samples})
    if (!Folder.empty() && !posix::createFolders(Folder, Error))
      return failed(Error);
  if (!F.Gpus.empty())
    return runSpools(F);
  if (!F.Spool.empty())
    return runSpool(F);
  return F.Probe ? runProbe(F) : runOne(F);
}
