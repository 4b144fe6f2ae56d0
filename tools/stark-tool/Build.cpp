//===- Build.cpp - stark-tool build --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRun.h"
#include "Verbs.h"
#include "WinnerEntry.h"
#include "stark/Cache/BuildStep.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Search/Preset.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "build",
    "Find or search a source's winner, keep it, and write what to build\n\n"
    "  stark-tool build FILE.cu --arch sm_NN --output OUT.cu [--store DIR]\n"
    "             [--provider P --evaluator E --run-dir R] [flags]\n"
    "             [-- compiler flags]\n"
    "  stark-tool build FILE.cu --from-run RUN [--store DIR] [--output "
    "OUT.cu]\n"
    "             [-- compiler flags]\n\n"
    "Looks through the stores and the user's cache. Without a winner there it\n"
    "searches as `stark-tool optimize` does, in a folder of its own below R, "
    "and\n"
    "keeps what it found in the first --store, else in the user's cache; then\n"
    "OUT.cu is the winner, or the source when nothing beat it.\n\n"
    "With --from-run the winner of a run that has ended is kept. The run must "
    "be\n"
    "of this source, workload and flags.\n\n"
    "Examples:\n"
    "  stark-tool build softmax.cu --from-run run --store stark-store\n"
    "  stark-tool build softmax.cu --arch sm_90 --store stark-store \\\n"
    "             --provider exchange:talk --evaluator cuda --run-dir runs \\\n"
    "             --output build/softmax.cu\n\n"
    "Exit codes: 0 done; 1 failed; 2 usage; 75 suspended, for an answer or a\n"
    "result: run the same command again (mode AUTO builds the source as it is\n"
    "meanwhile and exits with 0); 130 interrupted.");

namespace {
template <class T> struct Flag : cl::opt<T> {
  template <class... Mods>
  Flag(llvm::StringRef Name, const Mods &...M)
      : cl::opt<T>(Name, cl::sub(Command), cl::cat(tool::category()), M...) {}
};
} // namespace

static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.cu"),
                                 cl::Required, cl::sub(Command));
static Flag<std::string>
    WorkloadFile("workload", cl::value_desc("file"),
                 cl::desc("What the entry is called with (default: "
                          "NAME.workload.json beside FILE.cu)"));
static Flag<std::string> Output("output", cl::value_desc("file"),
                                cl::desc("Where the source to build goes"));
static Flag<std::string>
    Depfile("depfile", cl::value_desc("file"),
            cl::desc("Where what it depends on goes, as a makefile"));
static Flag<std::string> Stamp("stamp", cl::value_desc("file"),
                               cl::desc("An empty file, written when done"));
static cl::list<std::string>
    Stores("store", cl::value_desc("dir"),
           cl::desc("A folder of winners; looked through in order, the first "
                    "keeps what is found"),
           cl::cat(tool::category()), cl::sub(Command));
static Flag<std::string>
    FromRun("from-run", cl::value_desc("dir"),
            cl::desc("Keep the winner of this run; search nothing"));
static Flag<std::string> Provider("provider", cl::value_desc("spec"),
                                  cl::desc("Who answers the agents' requests"));
static Flag<std::string> Model("model", cl::value_desc("name"),
                               cl::desc("Model of an HTTP provider (default: "
                                        "the provider's)"));
static Flag<std::string>
    BaseUrl("base-url", cl::value_desc("url"),
            cl::desc("Address of an HTTP provider (default: the provider's)"));
static Flag<std::string>
    ModelsFile("models", cl::value_desc("file"),
               cl::desc("More models, capabilities and prices, as "
                        "docs/providers.md says"));
static Flag<std::string> EvaluatorSpec("evaluator", cl::value_desc("spec"),
                                       cl::desc("Who judges candidates"));
static Flag<std::string>
    RunFolder("run-dir", cl::value_desc("dir"),
              cl::desc("Where searches are kept, a folder each"));
static Flag<unsigned> Attempts("attempts", cl::init(30), cl::value_desc("n"),
                               cl::desc("Attempts to make (default 30)"));
static cl::list<std::string>
    Limits("budget", cl::value_desc("limit"), cl::CommaSeparated,
           cl::desc("Of a search: tokens=N, usd=X, minutes=M; code:usd=X is of "
                    "one role. A spent budget ends it with the best so far"),
           cl::cat(tool::category()), cl::sub(Command));
static Flag<std::string>
    Preset("preset", cl::value_desc("name"),
           cl::desc("How it searches, as of optimize (default: stark)"));
static Flag<unsigned>
    Jobs("jobs", cl::init(1), cl::value_desc("n"),
         cl::desc("Attempts in flight, 1 to 256 (default 1)"));
static Flag<uint64_t> Seed("seed", cl::init(1), cl::value_desc("n"),
                           cl::desc("Of every draw of the search (default 1)"));
static Flag<unsigned>
    Wait("wait", cl::init(0), cl::value_desc("seconds"),
         cl::desc("How long to wait for each answer or result before "
                  "suspending (default 0)"));
static Flag<std::string>
    Arch("arch", cl::value_desc("sm_NN"),
         cl::desc("GPU architecture (default: the run's)"));
static Flag<std::string>
    ToolkitVersion("toolkit-version", cl::value_desc("version"),
                   cl::desc("CUDA toolkit of the build, e.g. 13.0 (default: "
                            "the run's, then the one found)"));
static Flag<std::string> CudaPath("cuda-path", cl::value_desc("dir"),
                                  cl::desc("CUDA toolkit (default: found)"));
static Flag<std::string> PromptFolder("prompts", cl::value_desc("dir"),
                                      cl::desc("Prompt files (default: the "
                                               "tool's)"));
static Flag<std::string>
    FlagsFile("flags-file", cl::value_desc("file"),
              cl::desc("Compiler flags, one a line; those after -- follow"));
static Flag<std::string>
    Mode("mode", cl::value_desc("mode"), cl::init("SEARCH"),
         cl::desc("SEARCH, or AUTO: a suspended search is no error (default "
                  "SEARCH)"));

namespace {
/// A build's output is read when something happens, so little is said.
class Progress : public SearchObserver {
public:
  void onNode(unsigned Attempt, const Node &N, const Tree &T,
              bool Recorded) override {
    if (Attempt && !Recorded)
      llvm::errs() << "STARK: " << llvm::sys::path::filename(File)
                   << ": attempt " << Attempt << ": "
                   << verdictName(N.Found.Kind) << "\n";
  }
  void onNote(llvm::StringRef Note) override {
    llvm::errs() << "note: STARK: " << Note << "\n";
  }
};
} // namespace

/// Where a new entry goes.
static llvm::Expected<std::string> keepingFolder() {
  std::string Folder = Stores.empty() ? userCacheFolder() : Stores.front();
  if (Folder.empty())
    return usageError("there is no folder to keep a winner in: give --store or "
                      "set STARK_CACHE_DIR");
  if (llvm::Error E = checkWritable(Folder))
    return withContext(std::move(E), "the store cannot be used");
  return Folder;
}

/// Each search has its own folder: one of another source, of other flags or
/// with another seed is another run.
static llvm::Expected<std::string> runFolder(const tool::SearchRequest &R) {
  ParseOptions Parse;
  Parse.Flags = R.Flags;
  Parse.Toolkit = R.Toolkit;
  Parse.Arch = R.Arch;
  llvm::Expected<Task> T = loadTask(R.Source, R.Workload, Parse);
  if (!T)
    return T.takeError();
  DigestBuilder Name;
  Name.add("task", T->Digest);
  Name.add("arch", R.Arch);
  Name.add("provider", R.Provider);
  Name.add("model", R.Answering.Model);
  Name.add("evaluator", R.Evaluator);
  Name.add("attempts", std::to_string(R.Search.Attempts));
  Name.add("seed", std::to_string(R.Search.Seed));
  if (Preset.getNumOccurrences())
    Name.add("preset", Preset);
  if (Jobs != 1)
    Name.add("jobs", std::to_string(Jobs));
  for (const BudgetLimit &L : R.Search.Limits)
    Name.add("budget", printBudgetLimit(L));
  if (!R.Answering.BaseUrl.empty())
    Name.add("base-url", R.Answering.BaseUrl);
  return R.RunFolder + "/" + Name.finish().substr(0, 12);
}

/// What the flags say of a search.
static llvm::Expected<SearchOptions> searchOptions() {
  SearchOptions O;
  if (!Preset.empty())
    if (llvm::Error E = applyPreset(Preset, O))
      return usageError("--preset: " + llvm::toString(std::move(E)));
  if (Jobs < 1 || Jobs > 256)
    return usageError("--jobs: got " + llvm::Twine(Jobs) + ", wanted 1 to 256");
  if (Attempts > 100000)
    return usageError("--attempts: got " + llvm::Twine(Attempts) +
                      ", wanted at most 100000");
  O.Jobs = Jobs;
  O.Attempts = Attempts;
  O.Seed = Seed;
  llvm::Expected<std::vector<BudgetLimit>> Budget = parseBudgetLimits(Limits);
  if (!Budget)
    return Budget.takeError();
  O.Limits = std::move(*Budget);
  return O;
}

/// Searches and keeps what came of it.
static llvm::Error search(const BuildStep &Step, const SearchOptions &Options) {
  if (Provider.empty() || EvaluatorSpec.empty() || RunFolder.empty())
    return usageError("there is no winner yet, and a search needs --provider, "
                      "--evaluator and --run-dir");
  llvm::Expected<std::string> Folder = keepingFolder();
  if (!Folder)
    return Folder.takeError();
  tool::SearchRequest Request;
  Request.Source = Step.In.SourcePath;
  Request.Workload = Step.In.WorkloadPath;
  Request.Provider = Provider;
  Request.Answering.Model = Model;
  Request.Answering.BaseUrl = BaseUrl;
  Request.Answering.ModelsFile = ModelsFile;
  Request.Evaluator = EvaluatorSpec;
  Request.RunFolder = RunFolder;
  Request.Prompts = PromptFolder;
  Request.Search = Options;
  Request.Flags = Step.In.Flags;
  Request.Arch = Step.In.Arch;
  Request.Toolkit = CudaPath;
  Request.WaitMs = uint64_t(Wait) * 1000;
  llvm::Expected<std::string> Own = runFolder(Request);
  if (!Own)
    return Own.takeError();
  Request.RunFolder = *Own;
  watchInterrupts();
  Request.Search.Cancelled = &interruptFlag();
  Progress Observer;
  llvm::Expected<tool::SearchResult> Result =
      tool::runSearchRequest(Request, Observer);
  if (!Result)
    return Result.takeError();
  llvm::Expected<RecordedRun> Run = readRun(Request.RunFolder);
  if (!Run)
    return Run.takeError();
  llvm::Expected<std::string> Kept =
      storeWinner(Step.In, tool::makeEntry(*Run, Result->T.Headers), *Folder);
  if (!Kept)
    return withContext(Kept.takeError(), "the run is kept in '" +
                                             Request.RunFolder +
                                             "' (see --from-run)");
  return llvm::Error::success();
}

/// Writes what is found now.
static llvm::Error use(const BuildStep &Step, const Lookup &Found) {
  llvm::StringRef Name = llvm::sys::path::filename(Step.In.SourcePath);
  if (Found.Result == LookupResult::Hit)
    return Step.Output.empty() ? llvm::Error::success()
                               : useWinner(Step, Found);
  llvm::errs() << "note: STARK: " << Found.Note << " than " << Name
               << "; building it as it is\n";
  return Step.Output.empty() ? llvm::Error::success() : useSource(Step, Found);
}

static llvm::Error findOrSearch(const BuildStep &Step,
                                const SearchOptions &Options) {
  llvm::Expected<Lookup> Found = findWinner(Step.In, cacheFolders(Step));
  if (!Found)
    return Found.takeError();
  if (Found->Result == LookupResult::Miss ||
      Found->Result == LookupResult::Corrupt) {
    if (llvm::Error E = search(Step, Options)) {
      if (errorKind(E) != ErrorKind::Suspended || Mode != "AUTO" ||
          Step.Output.empty())
        return E;
      llvm::errs() << "warning: STARK: no winner for "
                   << llvm::sys::path::filename(Step.In.SourcePath)
                   << " yet; building the source as it is. The search goes on "
                      "with the next build: "
                   << llvm::toString(std::move(E)) << "\n";
      return useSource(Step, *Found, /*Again=*/true);
    }
    Found = findWinner(Step.In, cacheFolders(Step));
    if (!Found)
      return Found.takeError();
    if (Found->Result != LookupResult::Hit &&
        Found->Result != LookupResult::NothingWon)
      return failed("the winner was kept but is not found: " + Found->Note);
  }
  return use(Step, *Found);
}

/// Keeps the winner of a run that has ended.
static llvm::Error keep(BuildStep &Step, const RecordedRun &Run) {
  ParseOptions Parse;
  Parse.Flags = Step.In.Flags;
  Parse.Toolkit = CudaPath;
  Parse.Arch = Step.In.Arch;
  llvm::Expected<Task> T =
      loadTask(Step.In.SourcePath, Step.In.WorkloadPath, Parse);
  if (!T)
    return T.takeError();
  if (T->Digest != Run.Identity.TaskDigest)
    return failed("run '" + FromRun + "' is of task " +
                  Run.Identity.TaskDigest.substr(0, 12) + ", but " + File +
                  " with this workload, these headers and flags is task " +
                  T->Digest.substr(0, 12));
  if (!Run.End)
    return failed("run '" + FromRun + "' has not ended");
  if (Run.End->Winner < 0)
    return failed("run '" + FromRun + "' has no winner: " + Run.End->Why);
  llvm::Expected<std::string> Folder = keepingFolder();
  if (!Folder)
    return Folder.takeError();
  llvm::Expected<std::string> Kept =
      storeWinner(Step.In, tool::makeEntry(Run, T->Headers), *Folder);
  if (!Kept)
    return Kept.takeError();
  llvm::outs() << "kept " << *Kept << "\n";
  if (Step.Output.empty())
    return llvm::Error::success();
  llvm::Expected<Lookup> Found = findWinner(Step.In, {*Folder});
  if (!Found)
    return Found.takeError();
  return use(Step, *Found);
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  if (Mode != "AUTO" && Mode != "SEARCH")
    return usageError("--mode: got '" + Mode + "', wanted AUTO or SEARCH");
  llvm::Expected<SearchOptions> Options = searchOptions();
  if (!Options)
    return Options.takeError();
  BuildStep Step;
  Step.In.SourcePath = File;
  Step.In.WorkloadPath = WorkloadFile.empty() ? tool::defaultWorkload(File)
                                              : WorkloadFile.getValue();
  if (!FlagsFile.empty()) {
    llvm::Expected<std::vector<std::string>> Given = readFlagsFile(FlagsFile);
    if (!Given)
      return Given.takeError();
    Step.In.Flags = std::move(*Given);
  }
  Step.In.Flags.insert(Step.In.Flags.end(), Flags.begin(), Flags.end());
  Step.In.Arch = Arch;
  Step.In.ToolkitVersion = ToolkitVersion;
  Step.Stores.assign(Stores.begin(), Stores.end());
  Step.Output = Output;
  Step.Depfile = Depfile;
  Step.Stamp = Stamp;

  std::optional<RecordedRun> Run;
  if (!FromRun.empty()) {
    llvm::Expected<RecordedRun> Read = readRun(FromRun);
    if (!Read)
      return Read.takeError();
    Run = std::move(*Read);
    if (Arch.empty())
      Step.In.Arch = Run->Identity.Arch;
    else if (Arch != Run->Identity.Arch)
      return usageError("--arch: got " + Arch + ", but the run is for " +
                        Run->Identity.Arch);
    auto Then = Run->Identity.Options.Versions.find("toolkit");
    if (ToolkitVersion.empty() && Then != Run->Identity.Options.Versions.end())
      Step.In.ToolkitVersion = Then->second;
  }
  if (Step.In.Arch.empty())
    return usageError("--arch is needed, e.g. --arch sm_90");
  if (Step.In.ToolkitVersion.empty()) {
    std::optional<Toolkit> Found = findToolkit(CudaPath);
    if (!Found)
      return usageError("no CUDA toolkit was found: give --toolkit-version or "
                        "--cuda-path");
    Step.In.ToolkitVersion = Found->version();
  }
  if (Run)
    return keep(Step, *Run);
  if (Output.empty())
    return usageError("--output is needed, unless --from-run is given");
  return findOrSearch(Step, *Options);
}

tool::Verb tool::buildVerb() { return {Command, run}; }
