//===- main.cpp - stark-sim -----------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Judge.h"
#include "stark/Posix/Clock.h"
#include "stark/Sim/Program.h"
#include "stark/Sim/SimRunner.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <thread>

using namespace stark;
namespace cl = llvm::cl;

static cl::OptionCategory Category("stark-sim");
static cl::opt<std::string> Folder(cl::Positional, cl::desc("FOLDER"),
                                   cl::Required, cl::cat(Category));
static cl::opt<std::string>
    ResultFile("result", cl::value_desc("file"),
               cl::desc("Where the result goes (default: standard output)"),
               cl::cat(Category));
static cl::opt<std::string>
    Gpu("gpu", cl::value_desc("name"), cl::init(sim::DefaultGpu),
        cl::desc("One of lib/Sim/gpus (default: h200; an unknown name lists "
                 "them), or a .json file that describes a GPU"),
        cl::cat(Category));

static cl::opt<unsigned>
    Jobs("jobs", cl::value_desc("n"), cl::init(0),
         cl::desc("Calls that are simulated at once, each on one core; where "
                  "there are fewer, blocks of large launches are (default: one "
                  "a core, at most 8)"),
         cl::cat(Category));
static cl::opt<uint64_t> SpreadAfter(
    "spread-after", cl::value_desc("accesses"),
    cl::desc("Accesses of a launch before its blocks are spread over cores "
             "that are free; 0: before its first block, which then waits "
             "for them (default: 131072, and only over cores on which nothing "
             "else runs)"),
    cl::cat(Category));
static cl::opt<std::string> Outputs(
    "outputs", cl::value_desc("prefix"),
    cl::desc("Keep what the candidate computed for its smallest size and first "
             "seed: PREFIX.LEAF.npy, LEAF being the argument's number in "
             "job.json, bf16 as 16-bit unsigned integers"),
    cl::cat(Category));
static cl::opt<bool>
    CountersOnly("counters",
                 cl::desc("Compare nothing: counters of the timed sizes alone"),
                 cl::cat(Category));
static cl::opt<bool> Reach(
    "reach",
    cl::desc(
        "Compare nothing: which bytes of each argument the timed sizes "
        "read and write, and how many of those that they write are of elements "
        "with the most common value, as lines NAME BYTES READ WRITTEN ALIKE"),
    cl::cat(Category));
static cl::opt<bool>
    ShowSpeed("speed",
              cl::desc("Tell on standard error how many thread instructions a "
                       "second were simulated on one core, in launches that "
                       "are checked and in those that are profiled, and how "
                       "many parts of launches other cores ran"),
              cl::cat(Category));

static cl::opt<bool> Precompile(
    "precompile",
    cl::desc("Judge nothing: keep in FOLDER what the simulator reads before "
             "every source, so that it need not be parsed again"),
    cl::cat(Category));

static cl::opt<bool> Estimate(
    "estimate",
    cl::desc("Judge nothing: FOLDER is a CUDA source, and what is told are the "
             "registers, shared and local memory of each kernel, as they are "
             "estimated where there is no nvcc"),
    cl::cat(Category));
static cl::list<std::string>
    Flags("flag", cl::value_desc("flag"),
          cl::desc("Of --estimate: how the source is compiled"),
          cl::cat(Category));

static llvm::Error estimate() {
  sim::CompileRequest Request;
  Request.Path = Folder;
  llvm::Expected<std::string> Text = readFile(Folder);
  if (!Text)
    return Text.takeError();
  Request.Text = std::move(*Text);
  Request.Flags.assign(Flags.begin(), Flags.end());
  Request.Headers = sharedFolder("sim", "");
  Request.Lenient = true;
  std::string Diagnostics;
  llvm::Expected<sim::ResourceTable> Found =
      sim::estimateResources(Request, Diagnostics);
  if (!Found)
    return Found.takeError();
  if (Found->Kernels.empty() && !Diagnostics.empty())
    return failed(Diagnostics);
  llvm::outs() << sim::printResources(*Found) << "\n";
  return llvm::Error::success();
}

static void show(const char *Mode, const sim::Speed &S) {
  if (S.Seconds > 0)
    llvm::errs() << llvm::format(
        "%s: %.1f million thread instructions in %.3f s, %.1f million a "
        "second\n",
        Mode, S.ThreadInstructions * 1e-6, S.Seconds,
        S.ThreadInstructions * 1e-6 / S.Seconds);
}

static llvm::Error run() {
  if (Precompile)
    return sim::precompileHeaders(Folder);
  if (Estimate)
    return estimate();
  llvm::Expected<sim::GpuDescription> G = sim::describeGpu(Gpu);
  if (!G)
    return G.takeError();
  sim::SimRunnerOptions Options;
  Options.Jobs =
      Jobs ? Jobs : std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  if (SpreadAfter.getNumOccurrences())
    Options.SpreadAfter = SpreadAfter;
  Options.CountersOnly = CountersOnly || Reach;
  Options.Reach = Reach;
  Options.Headers = sharedFolder("sim", "");
  Options.Host = programFolder() + "/stark-sim-host";
  sim::Speeds Took;
  std::unique_ptr<judge::Runner> Runner =
      sim::makeSimRunner(Folder, *G, Options, machineClock(), Took);
  std::string Text =
      job::printResult(judge::judge(Folder, *Runner, Outputs, machineClock()));
  Runner.reset(); // adds up what is shown
  if (ShowSpeed) {
    show("check", Took.Check);
    show("profile", Took.Profile);
    llvm::errs() << "parts that other cores ran: " << Took.PartsTaken
                 << ", run again: " << Took.PartsRunAgain << "\n";
  }
  if (!ResultFile.empty())
    return writeFileAtomically(ResultFile, Text);
  llvm::outs() << Text << "\n";
  return llvm::Error::success();
}

int main(int Argc, char **Argv) {
  llvm::InitLLVM Setup(Argc, Argv);
  cl::HideUnrelatedOptions(Category);
  cl::ParseCommandLineOptions(
      Argc, Argv,
      "stark-sim: judges one job on a simulated GPU\n\n"
      "  stark-sim FOLDER [--gpu NAME] [--result FILE]\n\n"
      "FOLDER holds job.json, compile.json and the two sources that job.json\n"
      "names. stark-tool makes it (--evaluator sim) and reads the result.\n"
      "Exit codes: 0 a result was written, whatever it says; 1 failed; 2 "
      "usage.\n");
  llvm::Error E = run();
  int Code = exitCodeFor(E);
  llvm::handleAllErrors(std::move(E), [&](const llvm::ErrorInfoBase &Info) {
    llvm::errs() << "error: " << Info.message() << "\n";
  });
  return Code;
}
