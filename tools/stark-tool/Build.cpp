//===- Build.cpp - stark-tool build --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Driver/KernelBuild.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Search/Preset.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
using tool::FlagList;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "build",
    "Find or search a source's winner, keep it, and write what to build\n\n"
    "  stark-tool build FILE.cu --arch sm_NN --output OUT.cu [--store DIR]\n"
    "             [--provider P --evaluator E --run-dir R] [flags]\n"
    "             [-- compiler flags]\n"
    "  stark-tool build FILE.cu --from-run RUN [--store DIR] [--output "
    "OUT.cu]\n"
    "             [-- compiler flags]\n"
    "  stark-tool build FILE.cu --candidate C.cu --evaluator E [--arch sm_NN]\n"
    "             [--title T] [--author A] [--store DIR] [-- compiler flags]\n"
    "  stark-tool build FILE.cu --tune N --arch sm_NN --provider P "
    "--evaluator E\n"
    "             --run-dir R [--store DIR] [flags] [-- compiler flags]\n\n"
    "Looks through the stores and the user's cache. Without a winner there it\n"
    "searches as `stark-tool optimize` does, in a folder of its own below R, "
    "and\n"
    "keeps what it found in the first --store, else in the user's cache; then\n"
    "OUT.cu is the winner, or the source when nothing beat it.\n\n"
    "With --from-run the winner of a run that has ended is kept. The run must "
    "be\n"
    "of this source, workload and flags.\n\n"
    "With --candidate a whole rewritten FILE.cu, whoever wrote it, is judged "
    "as a\n"
    "search confirms its winner, and kept if it is correct and faster.\n\n"
    "Examples:\n"
    "  stark-tool build softmax.cu --from-run run --store stark-store\n"
    "  stark-tool build softmax.cu --arch sm_90 --store stark-store \\\n"
    "             --provider exchange:talk --evaluator cuda --run-dir runs \\\n"
    "             --output build/softmax.cu\n\n"
    "Exit codes: 0 done; 1 failed; 2 usage; 75 suspended, for an answer or a\n"
    "result: run the same command again (mode AUTO builds the source as it is\n"
    "meanwhile and exits with 0); 130 interrupted.");

static tool::SourceFlags Source(Command);
static tool::OneSearchFlags Shared(Command, cl::Optional);
static Flag<std::string> Output(Command, "output", cl::value_desc("file"),
                                cl::desc("Where the source to build goes"));
static Flag<std::string>
    Depfile(Command, "depfile", cl::value_desc("file"),
            cl::desc("Where what it depends on goes, as a makefile"));
static Flag<std::string>
    DepfileTarget(Command, "depfile-target", cl::value_desc("file"),
                  cl::desc("What that file says depends (default: the stamp)"));
static Flag<std::string> Stamp(Command, "stamp", cl::value_desc("file"),
                               cl::desc("An empty file, written when done"));
static FlagList
    Stores(Command, "store", cl::value_desc("dir"),
           cl::desc("A folder of winners; looked through in order, the first "
                    "keeps what is found"));
static Flag<std::string>
    FromRun(Command, "from-run", cl::value_desc("dir"),
            cl::desc("Keep the winner of this run; search nothing"));
static Flag<std::string>
    Written(Command, "candidate", cl::value_desc("file"),
            cl::desc("Keep this form of FILE.cu, if it is correct and faster"));
static Flag<std::string> Title(Command, "title", cl::value_desc("text"),
                               cl::desc("With --candidate: what it does, in a "
                                        "line"));
static Flag<std::string>
    Author(Command, "author", cl::value_desc("name"),
           cl::desc("With --candidate: who or what wrote it"));
static Flag<std::string>
    RunFolder(Command, "run-dir", cl::value_desc("dir"),
              cl::desc("Where searches are kept, a folder each"));
static Flag<std::string>
    ToolkitVersion(Command, "toolkit-version", cl::value_desc("version"),
                   cl::desc("CUDA toolkit of the build, e.g. 13.0 (default: "
                            "the run's, then the one found)"));
static Flag<std::string>
    FlagsFile(Command, "flags-file", cl::value_desc("file"),
              cl::desc("Compiler flags, one a line; those after -- follow"));
static FlagList MoreArchs(Command, "more-arch", cl::value_desc("sm_NN"),
                          cl::desc("Another architecture of the build, of "
                                   "which a winner is taken as well"));
static FlagList
    MoreWorkloads(Command, "more-workload", cl::value_desc("file"),
                  cl::desc("Another workload of the source, with a winner of "
                           "its own, which is taken where it was proved"));
static Flag<std::string>
    Mode(Command, "mode", cl::value_desc("mode"), cl::init("SEARCH"),
         cl::desc("SEARCH, or AUTO: a suspended search is no error (default "
                  "SEARCH)"));

static Flag<unsigned>
    Tune(Command, "tune", cl::value_desc("n"),
         cl::desc("Search even where there is a winner and keep the better "
                  "one: a search of before goes on for n attempts more (0: "
                  "what it found is confirmed and kept)"));

static tool::ProgressFlags Told(Command);

namespace {
/// A build's output is read when something happens, so little is said.
class Progress : public BuildObserver {
public:
  explicit Progress(SearchObserver &Inner) : Inner(Inner) {}

  void onBegin(const RunIdentity &Run) override { Inner.onBegin(Run); }
  void onSelect(unsigned Attempt, const Selection &S, const Tree &T,
                const std::vector<ShownTo> &Shown, bool Recorded) override {
    Inner.onSelect(Attempt, S, T, Shown, Recorded);
  }
  void onStep(unsigned Attempt, const SearchStep &Step) override {
    Inner.onStep(Attempt, Step);
  }
  void onReply(unsigned Attempt, llvm::StringRef Request, const ChatReply &R,
               bool Recorded) override {
    Inner.onReply(Attempt, Request, R, Recorded);
  }
  void onNode(unsigned Attempt, const Node &N, const Tree &T,
              bool Recorded) override {
    Inner.onNode(Attempt, N, T, Recorded);
  }
  void onNote(llvm::StringRef Note) override { Inner.onNote(Note); }
  void onEnd(const SearchOutcome &Outcome) override { Inner.onEnd(Outcome); }
  void onWarning(llvm::StringRef Warning) override {
    llvm::errs() << "warning: STARK: " << visibleLine(Warning) << "\n";
  }

private:
  SearchObserver &Inner;
};
} // namespace

static llvm::Expected<BuildStep>
makeStep(const std::vector<std::string> &Flags) {
  BuildStep Step;
  Step.In.SourcePath = Source.File;
  Step.In.WorkloadPath = Source.workload();
  llvm::Expected<std::vector<std::string>> Given = readFlagsFile(FlagsFile);
  if (!Given)
    return Given.takeError();
  Step.In.Flags = std::move(*Given);
  Step.In.Flags.insert(Step.In.Flags.end(), Flags.begin(), Flags.end());
  Step.In.Arch = Shared.Arch;
  Step.In.ToolkitVersion = ToolkitVersion;
  Step.MoreArchs = MoreArchs.values();
  Step.MoreWorkloads = MoreWorkloads.values();
  Step.Stores = Stores.values();
  Step.Output = Output;
  Step.Depfile = Depfile;
  Step.DepfileTarget = DepfileTarget;
  Step.Stamp = Stamp;
  return Step;
}

/// Unset when the flags do not say how to search.
static llvm::Expected<std::optional<BuildSearch>>
makeSearch(const BuildStep &Step, SearchOptions Options) {
  if (Shared.Provider.empty() || Shared.Evaluator.empty() || RunFolder.empty())
    return std::nullopt;
  llvm::Expected<SearchRequest> Request = Shared.request();
  if (!Request)
    return Request.takeError();
  Request->Source = Step.In.SourcePath;
  Request->Workload = Step.In.WorkloadPath;
  Request->Flags = Step.In.Flags;
  Request->Arch = Step.In.Arch;
  Request->Search = std::move(Options);
  watchInterrupts();
  Request->Cancelled = &interruptFlag();
  return BuildSearch{std::move(*Request), RunFolder};
}

static llvm::Expected<KeptCandidate> makeCandidate() {
  llvm::Expected<EvaluatorSpec> Judge = parseEvaluatorSpec(Shared.Evaluator);
  if (!Judge)
    return Judge.takeError();
  KeptCandidate C;
  C.File = Written;
  C.Title = Title.empty()
                ? llvm::sys::path::filename(C.File).str() + ", written by hand"
                : Title.getValue();
  C.Author = Author.empty() ? "somebody who was not named" : Author.getValue();
  C.Judged.Evaluator = std::move(*Judge);
  C.Judged.Toolkit = Shared.CudaPath;
  C.Judged.WaitMs = uint64_t(Shared.Wait) * 1000;
  watchInterrupts();
  C.Judged.Cancelled = &interruptFlag();
  return C;
}

static llvm::Error say(llvm::Expected<std::string> Kept) {
  if (!Kept)
    return Kept.takeError();
  llvm::outs() << "kept " << *Kept << "\n";
  return llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  std::optional<BuildMode> How = valueNamed<BuildMode>(Mode.getValue());
  if (How != BuildMode::Auto && How != BuildMode::Search)
    return usageError("--mode: got '" + Mode + "', wanted " +
                      nameOf(BuildMode::Auto) + " or " +
                      nameOf(BuildMode::Search));
  SearchOptions Options;
  if (llvm::Error E = Shared.check())
    return E;
  if (llvm::Error E = tool::checkRange(Tune, 0, 100000))
    return E;
  if (llvm::Error E = Shared.apply(Options))
    return E;
  llvm::Expected<BuildStep> Step = makeStep(Flags);
  if (!Step)
    return Step.takeError();
  ProgressOptions Printing = Told.options();
  Printing.Prefix = "STARK: ";
  Printing.Subject = llvm::sys::path::filename(Source.File).str() + ": ";
  llvm::Expected<std::unique_ptr<ProgressPrinter>> Printer =
      ProgressPrinter::create(std::move(Printing));
  if (!Printer)
    return Printer.takeError();
  Progress Observer(**Printer);
  if (!FromRun.empty() && !Written.empty())
    return usageError("got --from-run and --candidate, wanted one of them");
  if (!FromRun.empty())
    return say(keepWinner(*Step, FromRun, Shared.CudaPath, Observer));
  if (!Written.empty()) {
    llvm::Expected<KeptCandidate> Given = makeCandidate();
    return Given ? say(keepCandidate(*Step, *Given, Observer))
                 : Given.takeError();
  }
  if (Title.given() || Author.given())
    return usageError("--title and --author describe a --candidate");
  if (llvm::Error E = completeInputs(Step->In, nullptr, Shared.CudaPath))
    return E;
  if (Output.empty() && !Tune.given())
    return usageError("--output is needed, unless --from-run, --candidate or "
                      "--tune is given");
  llvm::Expected<std::optional<BuildSearch>> Search =
      makeSearch(*Step, std::move(Options));
  if (!Search)
    return Search.takeError();
  if (Tune.given() && !Step->MoreWorkloads.empty())
    return usageError("--tune searches for one workload: got --more-workload");
  if (Tune.given()) {
    if (!*Search)
      return usageError(
          "--tune searches, which needs --provider, --evaluator and --run-dir; "
          "in a project of CMake set STARK_PROVIDER and STARK_EVALUATOR");
    return (*Printer)->finish(tuneKernel(*Step, **Search, Tune, Observer));
  }
  return (*Printer)->finish(buildKernel(
      *Step, *Search, /*MayWait=*/How == BuildMode::Auto, Observer));
}

static const tool::Verb Registered(Command, run);
