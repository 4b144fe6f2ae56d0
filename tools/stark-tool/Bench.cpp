//===- Bench.cpp - stark-tool bench ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRun.h"
#include "Verbs.h"
#include "stark/Bench/Laboratory.h"
#include "stark/Bench/Suite.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Search/Preset.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "bench",
    "Compare presets on tasks, and policies without a model\n\n"
    "  stark-tool bench SUITE.json --provider P --evaluator E --out DIR\n"
    "             [--presets LIST] [--seeds N] [--attempts N] [flags]\n"
    "  stark-tool bench --landscape [--policies LIST] [--seeds N] [--attempts "
    "N]\n"
    "  stark-tool bench --landscape-from RUN,... [the same flags]\n\n"
    "The first form searches every task of the suite with every preset and "
    "the\nseeds 1 to N (default 1). Each is an ordinary run in "
    "DIR/TASK/PRESET/seed-S; the\nsame command goes on where it was. The "
    "paper's tables 1 to 3 are printed and\nwritten to DIR/tables.md, and with "
    "each run's figures to DIR/tables.json. In P and\nE, {task}, {preset}, "
    "{seed}, {run} (TASK/PRESET/seed-S) and {suite} (the folder "
    "of\nSUITE.json) "
    "are replaced.\n\n"
    "  { \"tasks\": [ {\"source\": \"softmax/softmax.cu\", \"group\": "
    "\"level 1\"} ] }\n\n"
    "is a suite; a task may have a name, a workload and flags (docs/bench.md)."
    "\n\n"
    "The second form runs policies on simulated landscapes, with no model and "
    "no GPU:\nbest speed-up so far after each attempt, over N tasks (default "
    "1000), as Markdown\n(or JSON with --json); with --out DIR as "
    "DIR/landscape.md and DIR/landscape.json.\nA policy of LIST is "
    "NAME[:EPSILON[:ROOT-THROTTLE[:DEAD-BRANCH]]]; the first is what\nthe "
    "others are compared with. The third form takes what attempts come to "
    "from\nrecorded runs.\n\n"
    "Examples:\n"
    "  stark-tool bench suite.json --provider anthropic --evaluator cuda \\\n"
    "             --presets stark,sampling --seeds 3 --out results\n"
    "  stark-tool bench --landscape --policies epsilon-greedy,mcts\n\n"
    "Exit codes: 0 done; 1 a run failed; 2 usage; 75 a run is suspended, for "
    "an answer\nor a result: run the same command again; 130 interrupted: "
    "likewise.");

namespace {
template <class T> struct Flag : cl::opt<T> {
  template <class... Mods>
  Flag(llvm::StringRef Name, const Mods &...M)
      : cl::opt<T>(Name, cl::sub(Command), cl::cat(tool::category()), M...) {}
};
} // namespace

static Flag<bool> Landscape("landscape",
                            cl::desc("Compare policies on simulated "
                                     "landscapes"));
static cl::list<std::string> LandscapeFrom(
    "landscape-from", cl::value_desc("run"), cl::CommaSeparated,
    cl::desc("Compare policies on what the attempts of this recorded run came "
             "to; several runs: on each, and on all in turn"),
    cl::cat(tool::category()), cl::sub(Command));
static cl::list<std::string>
    Policies("policies", cl::value_desc("list"), cl::CommaSeparated,
             cl::desc("Policies to compare (default: all, and epsilon-greedy "
                      "with other parameters)"),
             cl::cat(tool::category()), cl::sub(Command));
static cl::opt<std::string> SuiteFile(cl::Positional, cl::desc("SUITE.json"),
                                      cl::sub(Command));
static Flag<std::string> Provider("provider", cl::value_desc("spec"),
                                  cl::desc("Who answers, as of optimize"));
static Flag<std::string> EvaluatorSpec("evaluator", cl::value_desc("spec"),
                                       cl::desc("Who judges, as of optimize"));
static Flag<std::string> Model("model", cl::value_desc("name"),
                               cl::desc("Model of an HTTP provider"));
static Flag<std::string> BaseUrl("base-url", cl::value_desc("url"),
                                 cl::desc("Address of an HTTP provider"));
static Flag<std::string> ModelsFile("models", cl::value_desc("file"),
                                    cl::desc("More models and prices"));
static cl::list<std::string>
    Presets("presets", cl::value_desc("list"), cl::CommaSeparated,
            cl::desc("Presets to compare (default: sampling, reflexion, "
                     "search-agent, ma-only, stark)"),
            cl::cat(tool::category()), cl::sub(Command));
static cl::list<std::string>
    Limits("budget", cl::value_desc("limit"), cl::CommaSeparated,
           cl::desc("Budget of each run, as of optimize"),
           cl::cat(tool::category()), cl::sub(Command));
static Flag<unsigned> Jobs("jobs", cl::init(1), cl::value_desc("n"),
                           cl::desc("Attempts in flight in a run (default 1)"));
static Flag<unsigned>
    Wait("wait", cl::init(0), cl::value_desc("seconds"),
         cl::desc("How long to wait for each answer or result before a run is "
                  "suspended (default 0)"));
static Flag<std::string> Arch("arch", cl::value_desc("sm_NN"),
                              cl::desc("GPU architecture (default: that of the "
                                       "evaluator's GPU)"));
static Flag<std::string> CudaPath("cuda-path", cl::value_desc("dir"),
                                  cl::desc("CUDA toolkit (default: found)"));
static Flag<std::string> PromptFolder("prompts", cl::value_desc("dir"),
                                      cl::desc("Prompt files"));
static Flag<unsigned>
    Seeds("seeds", cl::value_desc("n"),
          cl::desc("Searches of each task and preset (default 1), or tasks of "
                   "a landscape (default 1000)"));
static Flag<unsigned> Attempts("attempts", cl::init(30), cl::value_desc("n"),
                               cl::desc("Attempts of a search (default 30)"));
static Flag<std::string> Out("out", cl::value_desc("dir"),
                             cl::desc("Where the results are written"));
static Flag<bool> Json("json", cl::desc("Print JSON"));
static Flag<bool> Quiet("quiet", cl::desc("Print the tables alone"));

static llvm::Error checkRange(const Flag<unsigned> &F, unsigned Most) {
  if (!F.getNumOccurrences() || (F.getValue() >= 1 && F.getValue() <= Most))
    return llvm::Error::success();
  return usageError("--" + F.ArgStr + ": got " + llvm::Twine(F.getValue()) +
                    ", wanted 1 to " + llvm::Twine(Most));
}

/// One landscape a run, and one of all of them.
static llvm::Expected<std::vector<LandscapeOptions>> recordedLandscapes() {
  std::vector<LandscapeOptions> Landscapes;
  LandscapeOptions Together;
  Together.Name = "all " + std::to_string(LandscapeFrom.size()) + " runs";
  for (const std::string &Folder : LandscapeFrom) {
    llvm::Expected<RecordedRun> Run = readRun(Folder);
    if (!Run)
      return Run.takeError();
    llvm::Expected<RecordedMoves> Moves = movesOf(*Run);
    if (!Moves)
      return withContext(Moves.takeError(), "--landscape-from: " + Folder);
    LandscapeOptions One;
    One.Name = Run->Identity.TaskName + " (" +
               std::to_string(Run->T.size() - 1) + " attempts)";
    One.Recorded = {*Moves};
    Together.Recorded.push_back(std::move(*Moves));
    Landscapes.push_back(std::move(One));
  }
  if (Landscapes.size() > 1)
    Landscapes.push_back(std::move(Together));
  return Landscapes;
}

static llvm::Error runLandscapes() {
  if (llvm::Error E = checkRange(Seeds, 1000000))
    return E;
  if (llvm::Error E = checkRange(Attempts, 1000))
    return E;
  unsigned Tasks = Seeds.getNumOccurrences() ? Seeds.getValue() : 1000;
  std::vector<std::string> Specs(Policies.begin(), Policies.end());
  if (Specs.empty())
    Specs = standardPolicySpecs();
  std::vector<LandscapeOptions> Landscapes = standardLandscapes();
  if (!LandscapeFrom.empty()) {
    llvm::Expected<std::vector<LandscapeOptions>> Recorded =
        recordedLandscapes();
    if (!Recorded)
      return Recorded.takeError();
    Landscapes = std::move(*Recorded);
  }
  llvm::Expected<std::vector<LandscapeFigures>> All =
      runLaboratory(Landscapes, Specs, Tasks, Attempts);
  if (!All)
    return usageError("--policies: " + llvm::toString(All.takeError()));
  std::string Markdown, AsJson = laboratoryJson(*All, Tasks);
  llvm::raw_string_ostream OS(Markdown);
  printLaboratory(*All, Tasks, OS);
  if (Out.empty()) {
    llvm::outs() << (Json ? AsJson : Markdown);
    return llvm::Error::success();
  }
  if (llvm::Error E = writeFileAtomically(Out + "/landscape.md", Markdown))
    return E;
  return writeFileAtomically(Out + "/landscape.json", AsJson);
}

namespace {
/// One search of the suite.
struct Cell {
  const SuiteTask *T;
  std::string Preset;
  unsigned Seed;
  std::string name() const {
    return T->Name + "/" + Preset + "/seed-" + std::to_string(Seed);
  }
};

class Progress : public SearchObserver {
public:
  explicit Progress(std::string Name) : Name(std::move(Name)) {}
  void onNode(unsigned Attempt, const Node &N, const Tree &,
              bool Recorded) override {
    if (!Quiet && !Recorded)
      llvm::errs() << Name << ": attempt " << Attempt << ": "
                   << verdictName(N.Found.Kind) << "\n";
  }
  void onNote(llvm::StringRef Note) override {
    llvm::errs() << "note: " << Name << ": " << Note << "\n";
  }

private:
  std::string Name;
};
} // namespace

static std::string filled(std::string Spec, const Cell &C) {
  std::string Folder = llvm::sys::path::parent_path(SuiteFile).str();
  for (const auto &[Name, Value] :
       {std::pair<const char *, std::string>("{task}", C.T->Name),
        {"{preset}", C.Preset},
        {"{seed}", std::to_string(C.Seed)},
        {"{run}", C.name()},
        {"{suite}", Folder.empty() ? "." : Folder}})
    for (size_t At = 0; (At = Spec.find(Name, At)) != std::string::npos;
         At += Value.size())
      Spec.replace(At, llvm::StringRef(Name).size(), Value);
  return Spec;
}

/// Runs, resumes or reads one cell.
static llvm::Expected<CellFigures>
runCell(const Cell &C, const SearchOptions &Common,
        const std::vector<std::string> &Flags, KnownVerdicts &Known) {
  tool::SearchRequest Request;
  Request.Source = C.T->Source;
  Request.Workload = C.T->Workload;
  Request.Provider = filled(Provider, C);
  Request.Answering.Model = Model;
  Request.Answering.BaseUrl = BaseUrl;
  Request.Answering.ModelsFile = ModelsFile;
  Request.Evaluator = filled(EvaluatorSpec, C);
  Request.RunFolder = Out + "/" + C.name();
  Request.Prompts = PromptFolder;
  Request.Flags = C.T->Flags;
  Request.Flags.insert(Request.Flags.end(), Flags.begin(), Flags.end());
  Request.Arch = Arch;
  Request.Toolkit = CudaPath;
  Request.WaitMs = uint64_t(Wait) * 1000;
  Request.Known = &Known;
  Request.Search = Common;
  Request.Search.Seed = C.Seed;
  if (llvm::Error E = applyPreset(C.Preset, Request.Search))
    return E;
  if (Common.Jobs > 1) {
    // A replay goes the recorded way.
    llvm::Expected<std::optional<SearchOptions>> Replayed =
        tool::replayedOptions(Request.Provider);
    if (!Replayed)
      return Replayed.takeError();
    if (*Replayed)
      Request.Search.Follow = (*Replayed)->Follow;
  }
  Progress Observer(C.name());
  llvm::Expected<tool::SearchResult> Result =
      tool::runSearchRequest(Request, Observer);
  if (!Result)
    return Result.takeError();
  llvm::Expected<RecordedRun> Run = readRun(Request.RunFolder);
  if (!Run)
    return Run.takeError();
  CellFigures F = figuresOf(*Run);
  F.Task = C.T->Name;
  F.Group = C.T->Group;
  F.Preset = C.Preset;
  return F;
}

static llvm::Expected<SearchOptions> commonOptions() {
  SearchOptions O;
  O.Attempts = Attempts;
  O.Jobs = Jobs;
  O.Cancelled = &interruptFlag();
  llvm::Expected<std::vector<BudgetLimit>> Budget = parseBudgetLimits(Limits);
  if (!Budget)
    return Budget.takeError();
  O.Limits = std::move(*Budget);
  return O;
}

static llvm::Error writeTables(const SuiteResult &R) {
  std::string Markdown, AsJson = suiteJson(R);
  llvm::raw_string_ostream OS(Markdown);
  printSuite(R, OS);
  if (llvm::Error E = writeFileAtomically(Out + "/tables.md", Markdown))
    return E;
  if (llvm::Error E = writeFileAtomically(Out + "/tables.json", AsJson))
    return E;
  llvm::outs() << (Json ? AsJson : Markdown);
  return llvm::Error::success();
}

static llvm::Error runSuite(const std::vector<std::string> &Flags) {
  for (const auto &[F, Name] :
       {std::pair(&Provider, "--provider"),
        std::pair(&EvaluatorSpec, "--evaluator"), std::pair(&Out, "--out")})
    if (F->empty())
      return usageError(std::string("bench: a suite needs ") + Name);
  for (const auto &[F, Most] :
       {std::pair(&Seeds, 10000u), std::pair(&Attempts, 100000u),
        std::pair(&Jobs, 256u)})
    if (llvm::Error E = checkRange(*F, Most))
      return E;
  llvm::Expected<std::string> Text = readFile(SuiteFile);
  if (!Text)
    return Text.takeError();
  llvm::Expected<Suite> S = parseSuite(*Text, SuiteFile);
  if (!S)
    return S.takeError();
  SuiteResult R;
  R.Suite = S->Name;
  R.Attempts = Attempts;
  R.Seeds = Seeds.getNumOccurrences() ? Seeds.getValue() : 1;
  R.Presets.assign(Presets.begin(), Presets.end());
  if (R.Presets.empty())
    R.Presets = {"sampling", "reflexion", "search-agent", "ma-only", "stark"};
  for (size_t I = 0; I < R.Presets.size(); ++I) {
    SearchOptions Unused;
    if (llvm::Error E = applyPreset(R.Presets[I], Unused))
      return usageError("--presets: " + llvm::toString(std::move(E)));
    if (llvm::is_contained(llvm::ArrayRef(R.Presets).take_front(I),
                           R.Presets[I]))
      return usageError("--presets: got '" + R.Presets[I] + "' twice");
  }
  watchInterrupts();
  llvm::Expected<SearchOptions> Common = commonOptions();
  if (!Common)
    return Common.takeError();

  // The other runs need not wait for one that failed or is suspended.
  std::string Failed, Suspended;
  // What one preset's candidate came to on a simulated GPU, the same candidate
  // of another one comes to as well.
  KnownVerdicts Known;
  for (const SuiteTask &T : S->Tasks)
    for (const std::string &Preset : R.Presets)
      for (unsigned Seed = 1; Seed <= R.Seeds; ++Seed) {
        Cell C{&T, Preset, Seed};
        llvm::Expected<CellFigures> F = runCell(C, *Common, Flags, Known);
        if (F) {
          R.Cells.push_back(std::move(*F));
          continue;
        }
        llvm::Error E = withContext(F.takeError(), C.name());
        ErrorKind Kind = errorKind(E);
        if (Kind == ErrorKind::Interrupted || Kind == ErrorKind::Usage)
          return E;
        std::string Why = llvm::toString(std::move(E));
        R.Missing.push_back(Why);
        std::string &Told = Kind == ErrorKind::Suspended ? Suspended : Failed;
        if (Told.empty())
          Told = Why;
      }
  if (llvm::Error E = writeTables(R))
    return E;
  std::string Others = "; " + std::to_string(R.Missing.size()) + " of " +
                       std::to_string(R.Missing.size() + R.Cells.size()) +
                       " runs have not ended";
  if (!Failed.empty())
    return failed(Failed + Others);
  if (!Suspended.empty())
    return suspended(Suspended + Others);
  return llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  bool Laboratory = Landscape || !LandscapeFrom.empty();
  if (Laboratory && !SuiteFile.empty())
    return usageError("bench: got '" + SuiteFile +
                      "' and --landscape, wanted one of them");
  if (Laboratory)
    return runLandscapes();
  if (!SuiteFile.empty())
    return runSuite(Flags);
  return usageError("bench: wanted SUITE.json or --landscape");
}

tool::Verb tool::benchVerb() { return {Command, run}; }
