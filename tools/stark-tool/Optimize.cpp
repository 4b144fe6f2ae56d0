//===- Optimize.cpp - stark-tool optimize --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Report/Report.h"
#include "stark/Search/Preset.h"
#include "stark/Search/Record.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "optimize",
    "Search for a faster form of a CUDA source\n\n"
    "  stark-tool optimize FILE.cu --provider P --evaluator E --run-dir R\n"
    "             [-o OUT.cu] [--workload W] [flags] [-- compiler flags]\n\n"
    "Agents plan and write candidates, the evaluator judges each, and every\n"
    "step is kept in the run folder R. Killed or suspended at any moment, the\n"
    "same command goes on where it was; a run that has ended is shown again.\n"
    "The winner, confirmed on inputs that no attempt saw, is written to "
    "OUT.cu;\n"
    "when nothing beat the source by the margin, nothing is written.\n\n"
    "Providers:  NAME          a model over HTTP: anthropic, openai, gemini,\n"
    "                          llama.cpp, ... (docs/providers.md)\n"
    "            config:FILE   a provider and a model for each role\n"
    "            rules         rewrites of the syntax tree, no model needed\n"
    "            exchange:DIR  requests and answers as files in DIR\n"
    "            replay:RUN    the replies of a run, no model needed; flags "
    "that\n"
    "                          are not given are those of RUN\n"
    "Evaluators: cuda          this machine's GPU\n"
    "            sim[:GPU]     a GPU simulated on this CPU, times modelled\n"
    "                          (docs/sim.md): h200 (default), a100, ...\n"
    "            spool:DIR     jobs for `stark-worker --spool DIR` elsewhere\n"
    "            slurm[:P]     the same, by workers that Slurm starts in its\n"
    "                          partition P (docs/judging.md#slurm)\n"
    "            replay:RUN    the verdicts of a run, no GPU needed\n\n"
    "Example:\n"
    "  stark-tool optimize softmax.cu --provider exchange:talk \\\n"
    "             --evaluator spool:jobs --run-dir run -o softmax.fast.cu\n\n"
    "Exit codes: 0 done, with a winner or without; 1 failed; 2 usage;\n"
    "75 suspended, for an answer or a result: run the same command again;\n"
    "130 interrupted: likewise.");

static tool::SourceFlags Source(Command);
static tool::OneSearchFlags Shared(Command, cl::Required);
static Flag<std::string> RunFolder(Command, "run-dir", cl::value_desc("dir"),
                                   cl::Required,
                                   cl::desc("Where the run is kept"));
static Flag<std::string> Output(Command, "o", cl::value_desc("file"),
                                cl::desc("Where the winner's text goes"));
static Flag<std::string>
    AgentsFlag(Command, "agents", cl::init("team"), cl::value_desc("kind"),
               cl::desc("Who makes an attempt: team (plan and code, or debug; "
                        "default) or single (one agent, without anchors)"));
static Flag<bool>
    Windows(Command, "windows", cl::init(true),
            cl::desc("Show agents other attempts of the tree; "
                     "--windows=false: the selected one and the source alone"));
/// Flags keep no text of their own.
static llvm::StringRef policyText() {
  static const std::string Text = [] {
    std::string Names;
    for (PolicyKind K : allPolicyKinds())
      Names += (Names.empty() ? "" : ", ") + policyName(K).str();
    return "How the next node is chosen: " + Names +
           " (docs/search.md; default: the first, the paper's adapted rule)";
  }();
  return Text;
}
static Flag<std::string> PolicyFlag(Command, "policy",
                                    cl::init("epsilon-greedy"),
                                    cl::value_desc("name"),
                                    cl::desc(policyText()));
static Flag<unsigned>
    Repairs(Command, "repairs", cl::init(0), cl::value_desc("n"),
            cl::desc("Repairs that --policy best-of-k gives a sample that "
                     "fails (default 0)"));
static Flag<double>
    Epsilon(Command, "epsilon", cl::init(0.3), cl::value_desc("p"),
            cl::desc("Share of attempts, from 0 to 1, that go on from a random "
                     "leaf (default 0.3)"));
static Flag<unsigned>
    RootThrottle(Command, "root-throttle", cl::init(5), cl::value_desc("n"),
                 cl::desc("Children that the source may have (default 5)"));
static Flag<unsigned>
    DeadBranch(Command, "dead-branch", cl::init(3), cl::value_desc("n"),
               cl::desc("A node with more children than this, all failing, is "
                        "given up (default 3)"));
static Flag<unsigned>
    Leaders(Command, "leaderboard", cl::init(2), cl::value_desc("n"),
            cl::desc("Best nodes that plans are shown (default 2)"));
static Flag<unsigned>
    Window(Command, "window", cl::init(5), cl::value_desc("n"),
           cl::desc("Nodes that an agent is shown at most (default 5)"));
static Flag<std::string> GroundingName(
    Command, "grounding", cl::init("support"), cl::value_desc("mode"),
    cl::desc("What a candidate may change: strict (inside anchors), support "
             "(and new declarations, launches of anchored kernels; default), "
             "off (anything)"));
static Flag<double>
    Margin(Command, "margin", cl::value_desc("factor"),
           cl::desc("Speed-up over the source that a winner needs (default: "
                    "the workload's, 1.02)"));
static Flag<std::string> CountersFlag(
    Command, "counters", cl::value_desc("spec"),
    cl::desc("Show agents what bounds an attempt: cuda (the GPU's own "
             "counters, by ncu where the GPU is, else as sim), sim or sim:GPU "
             "(what each line does on a simulated GPU), or off (default: cuda "
             "when a model's candidates are measured; a simulated judge says "
             "it anyway)"));
static tool::FlagList
    Tune(Command, "tune", cl::value_desc("limit"), cl::CommaSeparated,
         cl::desc("Once the attempts are made, try other numbers (block sizes, "
                  "tiles, unroll factors) on the fastest: candidates=N, "
                  "minutes=M, or both"));
static Flag<bool>
    Estimate(Command, "estimate",
             cl::desc("Say what the run may cost in calls, tokens and money; "
                      "ask nobody and write nothing"));
static tool::ProgressFlags Told(Command);
static tool::RemarksFlag Remarks(Command);
static Flag<bool> Json(Command, "json", cl::desc("Print the result as JSON"));

static llvm::Error checkFlags() {
  if (!(Epsilon >= 0 && Epsilon <= 1))
    return usageError("--epsilon: got " + std::to_string(Epsilon) +
                      ", wanted a number from 0 to 1");
  if (Margin.given() && !(Margin >= 1 && Margin < 1000))
    return usageError("--margin: got " + std::to_string(Margin) +
                      ", wanted a factor of 1 or more");
  if (llvm::Error E = Shared.check())
    return E;
  for (const Flag<unsigned> *F :
       {&RootThrottle, &DeadBranch, &Repairs, &Leaders, &Window})
    if (llvm::Error E = tool::checkRange(*F, 0, 100000))
      return E;
  return llvm::Error::success();
}

/// Reads a flag that is one of several words, when it was given.
template <class T>
static llvm::Error takeWord(const Flag<std::string> &F,
                            llvm::Expected<T> (*Parse)(llvm::StringRef),
                            T &Option) {
  llvm::Expected<T> Word = Parse(F);
  if (!Word)
    return usageError("--" + F.ArgStr + ": " +
                      llvm::toString(Word.takeError()));
  if (F.given())
    Option = *Word;
  return llvm::Error::success();
}

/// What was given, on top of \p Search.
static llvm::Error applyFlags(SearchOptions &Search) {
  if (llvm::Error E = Shared.apply(Search))
    return E;
  auto Take = [](const auto &F, auto &Option) {
    if (F.given())
      Option = F.getValue();
  };
  Take(Epsilon, Search.Policy.Epsilon);
  Take(RootThrottle, Search.Policy.RootThrottle);
  Take(DeadBranch, Search.Policy.DeadBranch);
  Take(Repairs, Search.Policy.Repairs);
  Take(Leaders, Search.Leaders);
  Take(Window, Search.WindowLimit);
  Take(Windows, Search.Windows);
  if (Tune.given()) {
    llvm::Expected<TuneLimits> Limits = parseTuneLimits(Tune.values());
    if (!Limits)
      return usageError("--" + llvm::toString(Limits.takeError()));
    Search.Tune = *Limits;
  }
  Take(Margin, Search.Margin);
  if (llvm::Error E = takeWord(PolicyFlag, parsePolicyKind, Search.Policy.Kind))
    return E;
  if (llvm::Error E = takeWord(AgentsFlag, parseAgentsKind, Search.Agents))
    return E;
  if (AgentsFlag.given() && Search.Agents == AgentsKind::Single)
    Search.Strictness = Grounding::Off;
  if (llvm::Error E =
          takeWord(GroundingName, parseGrounding, Search.Strictness))
    return E;
  return checkOptions(Search);
}

static llvm::Expected<SearchRequest>
makeRequest(const std::vector<std::string> &Flags) {
  if (llvm::Error E = checkFlags())
    return E;
  llvm::Expected<SearchRequest> Request = Shared.request();
  if (!Request)
    return Request;
  Request->Source = Source.File;
  Request->Workload = Source.Workload;
  Request->Flags = Flags;
  llvm::Expected<CountersRequest> Counters = parseCountersRequest(CountersFlag);
  if (!Counters)
    return Counters.takeError();
  Request->Counters = std::move(*Counters);
  // A replay has the options of its run, but for those that are given.
  llvm::Expected<std::optional<SearchOptions>> Replayed =
      replayedOptions(Request->Provider);
  if (!Replayed)
    return Replayed.takeError();
  if (*Replayed)
    Request->Search = std::move(**Replayed);
  Request->WorkloadMargin = !Margin.given() && !*Replayed;
  if (llvm::Error E = applyFlags(Request->Search))
    return E;
  return Request;
}

static llvm::Expected<SearchOutcome> search(const SearchRequest &Request,
                                            SearchObserver &Observer) {
  llvm::Expected<std::unique_ptr<PreparedSearch>> Prepared =
      prepareSearch(Request, RunFolder, Observer);
  if (!Prepared)
    return Prepared.takeError();
  return (*Prepared)->run(RunFolder);
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  llvm::Expected<SearchRequest> Request = makeRequest(Flags);
  if (!Request)
    return Request.takeError();
  if (Estimate)
    return printRequestEstimate(*Request, RunFolder, llvm::outs());
  watchInterrupts();
  Request->Cancelled = &interruptFlag();
  llvm::Expected<std::unique_ptr<ProgressPrinter>> Observer =
      ProgressPrinter::create(Told.options());
  if (!Observer)
    return Observer.takeError();
  llvm::Expected<SearchOutcome> Outcome = search(*Request, **Observer);
  if (llvm::Error E = (*Observer)->finish(Outcome ? llvm::Error::success()
                                                  : Outcome.takeError()))
    return E;
  if (Outcome->Winner >= 0 && !Output.empty())
    if (llvm::Error E = writeFileAtomically(
            Output, Outcome->Nodes.node(unsigned(Outcome->Winner)).Text))
      return E;
  llvm::Expected<RecordedRun> Run = readRun(RunFolder);
  if (!Run)
    return Run.takeError();
  if (llvm::Error E = Remarks.write(*Run))
    return E;
  if (Json)
    return printReport(*Run, ReportFormat::Json, llvm::outs());
  printSummary(*Run, llvm::outs());
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
