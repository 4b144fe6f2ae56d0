//===- Bench.cpp - stark-tool bench ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchFlags.h"
#include "stark/Bench/Laboratory.h"
#include "stark/Driver/KernelBenchSuite.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Posix/Libtorch.h"
#include "stark/Report/Progress.h"
#include "stark/Search/Preset.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::checkRange;
using tool::Flag;
using tool::FlagList;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "bench",
    "Compare presets on tasks, and policies without a model\n\n"
    "  stark-tool bench SUITE.json --provider P --evaluator E --out DIR\n"
    "             [--presets LIST] [--seeds N] [--attempts N] [--baselines "
    "DIR] "
    "[flags]\n"
    "  stark-tool bench --kernelbench DIR [--subset LIST] [--python PYTHON]\n"
    "             [as above]\n"
    "  stark-tool bench --landscape [--policies LIST] [--seeds N] [--attempts "
    "N]\n"
    "             [--patience LIST]\n"
    "  stark-tool bench --landscape-from RUN,... [the same flags]\n"
    "  stark-tool bench --torch-baselines TASK.py ... --out DIR\n"
    "             [--python PYTHON] [--variants LIST] [--device cpu] "
    "[--timeout "
    "S]\n"
    "             [--budget S] [--again]\n\n"
    "The first form searches every task of the suite with every preset and "
    "the\nseeds 1 to N (default 1). Each is an ordinary run in "
    "DIR/TASK/PRESET/seed-S; the\nsame command goes on where it was. The "
    "paper's tables 1 to 3 are printed and\nwritten to DIR/tables.md, and with "
    "each run's figures to DIR/tables.json. In P and\nE, {task}, {preset}, "
    "{seed}, {run} (TASK/PRESET/seed-S) and {suite} (the folder "
    "of\nSUITE.json) "
    "are replaced. With --baselines DIR, winners are compared with PyTorch's "
    "own "
    "times, too.\n\n"
    "  { \"tasks\": [ {\"source\": \"softmax/softmax.cu\", \"group\": "
    "\"level 1\"} ] }\n\n"
    "is a suite; a task may have a name, a workload and flags (docs/bench.md)."
    "\n\n"
    "The second form searches tasks of a clone of KernelBench, each imported "
    "once into\nDIR/tasks; what cannot be imported is named in the tables.\n\n"
    "The third form runs policies on simulated landscapes, with no model and "
    "no GPU:\nbest speed-up so far after each attempt, over N tasks (default "
    "1000), as Markdown\n(or JSON with --json); with --out DIR as "
    "DIR/landscape.md and DIR/landscape.json.\nA policy of LIST is "
    "NAME[:EPSILON[:ROOT-THROTTLE[:DEAD-BRANCH]]]; the first is what\nthe "
    "others are compared with. The fourth form takes what attempts come to "
    "from\nrecorded runs.\n\n"
    "The last form times modules in KernelBench's format as PyTorch runs them: "
    "eager,\ncompiled, autotuned, and CUDA graphs of these, by KernelBench's "
    "method and by the\njudge's, each in a child. What DIR/baselines.json has "
    "is not measured again;\nDIR/baselines.md compares. With --budget S no "
    "variant begins after S seconds.\n\n"
    "Examples:\n"
    "  stark-tool bench suite.json --provider anthropic --evaluator cuda \\\n"
    "             --presets stark,sampling --seeds 3 --out results\n"
    "  stark-tool bench --landscape --policies epsilon-greedy,mcts\n\n"
    "Exit codes: 0 done; 1 a run failed; 2 usage; 75 a run is suspended, for "
    "an answer\nor a result, or seconds are spent: run the same command "
    "again; 130 interrupted:\nlikewise.");

static Flag<bool> Landscape(Command, "landscape",
                            cl::desc("Compare policies on simulated "
                                     "landscapes"));
static FlagList LandscapeFrom(
    Command, "landscape-from", cl::value_desc("run"), cl::CommaSeparated,
    cl::desc("Compare policies on what the attempts of this recorded run came "
             "to; several runs: on each, and on all in turn"));
static FlagList
    Policies(Command, "policies", cl::value_desc("list"), cl::CommaSeparated,
             cl::desc("Policies to compare (default: all, and epsilon-greedy "
                      "with other parameters)"));
static cl::list<std::string> Files(cl::Positional,
                                   cl::desc("SUITE.json | TASK.py ..."),
                                   cl::sub(Command));
static tool::SearchFlags Shared(Command, cl::Optional);
static FlagList
    Presets(Command, "presets", cl::value_desc("list"), cl::CommaSeparated,
            cl::desc("Presets to compare (default: sampling, reflexion, "
                     "search-agent, ma-only, stark)"));
static Flag<unsigned>
    Seeds(Command, "seeds", cl::value_desc("n"),
          cl::desc("Searches of each task and preset (default 1), or tasks of "
                   "a landscape (default 1000)"));
static Flag<std::string> Out(Command, "out", cl::value_desc("dir"),
                             cl::desc("Where the results are written"));
static Flag<std::string> Python(
    Command, "python", cl::value_desc("program"), cl::init("python3"),
    cl::desc("The Python that has torch (default: python3); with "
             "--kernelbench sources are built with its libtorch, too, unless "
             "$STARK_TORCH names one"));
static Flag<std::string>
    KernelBench(Command, "kernelbench", cl::value_desc("dir"),
                cl::desc("Search the tasks of this clone of KernelBench"));
static Flag<std::string>
    Subset(Command, "subset", cl::value_desc("list"),
           cl::init("representative"),
           cl::desc("With --kernelbench: representative (default), paper, "
                    "all, or ids such as 1/3,2/33"));
static Flag<bool>
    Agree(Command, "agree-with-source",
          cl::desc("With --kernelbench: import as stark-tool import does with "
                   "this flag"));
static Flag<std::string>
    Compared(Command, "baselines", cl::value_desc("dir"),
             cl::desc("Compare winners with PyTorch's times in "
                      "dir/baselines.json"));
static FlagList
    Patience(Command, "patience", cl::value_desc("list"), cl::CommaSeparated,
             cl::desc("With --landscape, --landscape-from: what optimize "
                      "--patience would save and lose, for each of these "
                      "numbers"));
static tool::BaselineFlags Baselines(Command);
static Flag<bool> Json(Command, "json", cl::desc("Print JSON"));
static Flag<bool> Quiet(Command, "quiet", cl::desc("Print the tables alone"));

static llvm::Error checkCounts(unsigned MostSeeds, unsigned MostAttempts) {
  if (Seeds.given())
    if (llvm::Error E = checkRange(Seeds, 1, MostSeeds))
      return E;
  return checkRange(Shared.Attempts, 1, MostAttempts);
}

/// DIR/NAME.md and DIR/NAME.json
static llvm::Error writeTables(llvm::StringRef Name,
                               const std::string &Markdown,
                               const std::string &AsJson) {
  std::string File = (Out + "/" + Name).str();
  if (llvm::Error E = writeFileAtomically(File + ".md", Markdown))
    return E;
  return writeFileAtomically(File + ".json", AsJson);
}

static llvm::Expected<std::vector<unsigned>> patienceList() {
  std::vector<unsigned> Numbers;
  for (const std::string &Word : Patience.values()) {
    unsigned Number = 0;
    if (llvm::StringRef(Word).getAsInteger(10, Number) || Number > 1000)
      return usageError("--patience: got '" + Word +
                        "', wanted numbers from 0 to 1000");
    Numbers.push_back(Number);
  }
  return Numbers;
}

static llvm::Error runLandscapes() {
  if (llvm::Error E = checkCounts(1000000, 1000))
    return E;
  unsigned Tasks = Seeds.given() ? Seeds.getValue() : 1000;
  std::vector<std::string> Specs = Policies.values();
  if (Specs.empty())
    Specs = standardPolicySpecs();
  llvm::Expected<std::vector<LandscapeOptions>> Landscapes =
      LandscapeFrom.empty() ? standardLandscapes()
                            : recordedLandscapes(LandscapeFrom.values());
  if (!Landscapes)
    return Landscapes.takeError();
  llvm::Expected<std::vector<unsigned>> Waits = patienceList();
  if (!Waits)
    return Waits.takeError();
  llvm::Expected<std::vector<LandscapeFigures>> All =
      runLaboratory(*Landscapes, Specs, Tasks, Shared.Attempts, *Waits);
  if (!All)
    return usageError("--policies: " + llvm::toString(All.takeError()));
  std::string Markdown, AsJson = laboratoryJson(*All, Tasks);
  llvm::raw_string_ostream OS(Markdown);
  printLaboratory(*All, Tasks, OS);
  if (Out.empty()) {
    llvm::outs() << (Json ? AsJson : Markdown);
    return llvm::Error::success();
  }
  return writeTables("landscape", Markdown, AsJson);
}

namespace {
class Progress : public SuiteObserver {
public:
  void onNode(llvm::StringRef Run, unsigned Attempt, const Node &N,
              bool Recorded) override {
    if (!Quiet && !Recorded)
      llvm::errs() << Run << ": " << nodeLine(Attempt, N, Recorded) << "\n";
  }
  void onNote(llvm::StringRef Run, llvm::StringRef Note) override {
    llvm::errs() << "note: " << Run << ": " << visibleLine(Note) << "\n";
  }
};
} // namespace

/// Of SUITE.json, or of KernelBench.
static llvm::Error findTasks(SuiteRequest &Request, SuiteObserver &Observer) {
  if (!KernelBench.given()) {
    llvm::Expected<Suite> Tasks = readSuite(Files.front());
    if (!Tasks)
      return Tasks.takeError();
    Request.Tasks = std::move(*Tasks);
    Request.Folder = llvm::sys::path::parent_path(Files.front()).str();
    return llvm::Error::success();
  }
  Request.Folder = Out + "/tasks";
  // What was imported by one torch is not built with another's headers.
  if (Python.given() && !std::getenv("STARK_TORCH"))
    Request.Common.Torch = posix::torchOfPython(Python);
  llvm::Expected<KernelBenchSuite> Found = importKernelBench(
      {KernelBench, Subset, Request.Folder, Python, Agree}, Observer);
  if (!Found)
    return Found.takeError();
  Request.Tasks = std::move(Found->Tasks);
  Request.Missing = std::move(Found->Missing);
  Request.TasksMayBeWrong = true;
  return llvm::Error::success();
}

static llvm::Expected<SuiteRequest>
makeRequest(const std::vector<std::string> &Flags) {
  SuiteRequest Request;
  Request.Presets = Presets.empty() ? paperPresets() : Presets.values();
  if (llvm::Error E = checkPresets(Request.Presets))
    return E;
  Request.Seeds = Seeds.given() ? Seeds.getValue() : 1;
  Request.Provider = Shared.Provider;
  Request.Evaluator = Shared.Evaluator;
  Request.Common = Shared.request();
  // Presets are compared with as many attempts.
  Request.Common.Patience = 0;
  Request.Common.StopAt = 0;
  Request.Common.Flags = Flags;
  if (llvm::Error E = Shared.apply(Request.Common.Search))
    return E;
  Request.Out = Out;
  if (Compared.given()) {
    llvm::Expected<std::vector<torch::BaselineTime>> Times =
        torch::readBaselines(Compared);
    if (!Times)
      return Times.takeError();
    Request.Baselines = std::move(*Times);
  }
  return Request;
}

static llvm::Error runSearches(const std::vector<std::string> &Flags) {
  for (const Flag<std::string> *F : {&Shared.Provider, &Shared.Evaluator, &Out})
    if (F->empty())
      return usageError("bench: a suite needs --" + F->ArgStr);
  if (llvm::Error E = checkCounts(10000, 100000))
    return E;
  if (llvm::Error E = Shared.check())
    return E;
  llvm::Expected<SuiteRequest> Request = makeRequest(Flags);
  if (!Request)
    return Request.takeError();
  watchInterrupts();
  Request->Common.Cancelled = &interruptFlag();
  Progress Observer;
  if (llvm::Error E = findTasks(*Request, Observer))
    return E;
  llvm::Expected<SuiteResult> Result = runSuite(*Request, Observer);
  if (!Result)
    return Result.takeError();
  std::string Markdown, AsJson = suiteJson(*Result);
  llvm::raw_string_ostream OS(Markdown);
  printSuite(*Result, OS);
  if (llvm::Error E = writeTables("tables", Markdown, AsJson))
    return E;
  llvm::outs() << (Json ? AsJson : Markdown);
  return missingRuns(*Result);
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  bool Laboratory = Landscape || !LandscapeFrom.empty();
  if (Baselines.Measure)
    return Baselines.run({Files.begin(), Files.end()}, Out, Python,
                         Shared.Budget.values());
  if (Files.size() > 1)
    return usageError("bench: got '" + Files[1] + "', wanted one SUITE.json");
  if (Laboratory && !Files.empty())
    return usageError("bench: got '" + Files.front() +
                      "' and --landscape, wanted one of them");
  if (Laboratory)
    return runLandscapes();
  if (KernelBench.given() && !Files.empty())
    return usageError("bench: got '" + Files.front() +
                      "' and --kernelbench, wanted one of them");
  if (KernelBench.given() || !Files.empty())
    return runSearches(Flags);
  return usageError("bench: wanted SUITE.json, --kernelbench, --landscape "
                    "or --torch-baselines");
}

static const tool::Verb Registered(Command, run);
