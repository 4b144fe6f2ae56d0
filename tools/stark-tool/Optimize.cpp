//===- Optimize.cpp - stark-tool optimize --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRun.h"
#include "Verbs.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Report/Report.h"
#include "stark/Search/Preset.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
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
    "            replay:RUN    the verdicts of a run, no GPU needed\n\n"
    "Example:\n"
    "  stark-tool optimize softmax.cu --provider exchange:talk \\\n"
    "             --evaluator spool:jobs --run-dir run -o softmax.fast.cu\n\n"
    "Exit codes: 0 done, with a winner or without; 1 failed; 2 usage;\n"
    "75 suspended, for an answer or a result: run the same command again;\n"
    "130 interrupted: likewise.");

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
static Flag<std::string> Provider("provider", cl::value_desc("spec"),
                                  cl::Required,
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
                                       cl::Required,
                                       cl::desc("Who judges candidates"));
static Flag<std::string> RunFolder("run-dir", cl::value_desc("dir"),
                                   cl::Required,
                                   cl::desc("Where the run is kept"));
static Flag<std::string> Output("o", cl::value_desc("file"),
                                cl::desc("Where the winner's text goes"));
static Flag<unsigned> Attempts("attempts", cl::init(30), cl::value_desc("n"),
                               cl::desc("Attempts to make (default 30)"));
static cl::list<std::string>
    Limits("budget", cl::value_desc("limit"), cl::CommaSeparated,
           cl::desc("tokens=N, usd=X, minutes=M; code:usd=X is of one role. A "
                    "spent budget ends the run with the best so far"),
           cl::cat(tool::category()), cl::sub(Command));
static Flag<uint64_t> Seed("seed", cl::init(1), cl::value_desc("n"),
                           cl::desc("Of every draw of the search (default 1)"));
static Flag<std::string> Preset(
    "preset", cl::value_desc("name"),
    cl::desc("stark (the paper's search, default), or what it is compared "
             "with: sampling, reflexion, search-agent, ma-only; stark+ "
             "(docs/search.md). Flags beside it win"));
static Flag<std::string>
    AgentsFlag("agents", cl::init("team"), cl::value_desc("kind"),
               cl::desc("Who makes an attempt: team (plan and code, or debug; "
                        "default) or single (one agent, without anchors)"));
static Flag<bool>
    Windows("windows", cl::init(true),
            cl::desc("Show agents other attempts of the tree; "
                     "--windows=false: the selected one and the source alone"));
static Flag<std::string> PolicyFlag(
    "policy", cl::init("epsilon-greedy"), cl::value_desc("name"),
    cl::desc("How the next node is chosen: epsilon-greedy (the paper's adapted "
             "rule, default), plain-epsilon-greedy, greedy, mcts, "
             "evolutionary, beam, best-of-k, iterative, iterative-correct, "
             "random (docs/search.md)"));
static Flag<unsigned>
    Repairs("repairs", cl::init(0), cl::value_desc("n"),
            cl::desc("Repairs that --policy best-of-k gives a sample that "
                     "fails (default 0)"));
static Flag<double>
    Epsilon("epsilon", cl::init(0.3), cl::value_desc("p"),
            cl::desc("Share of attempts, from 0 to 1, that go on from a random "
                     "leaf (default 0.3)"));
static Flag<unsigned>
    RootThrottle("root-throttle", cl::init(5), cl::value_desc("n"),
                 cl::desc("Children that the source may have (default 5)"));
static Flag<unsigned>
    DeadBranch("dead-branch", cl::init(3), cl::value_desc("n"),
               cl::desc("A node with more children than this, all failing, is "
                        "given up (default 3)"));
static Flag<unsigned>
    Leaders("leaderboard", cl::init(2), cl::value_desc("n"),
            cl::desc("Best nodes that plans are shown (default 2)"));
static Flag<unsigned>
    Window("window", cl::init(5), cl::value_desc("n"),
           cl::desc("Nodes that an agent is shown at most (default 5)"));
static Flag<std::string> GroundingName(
    "grounding", cl::init("support"), cl::value_desc("mode"),
    cl::desc("What a candidate may change: strict (inside anchors), support "
             "(and new declarations, launches of anchored kernels; default), "
             "off (anything)"));
static Flag<unsigned>
    Jobs("jobs", cl::init(1), cl::value_desc("n"),
         cl::desc("Attempts in flight on the one tree, 1 to 256 (default 1, "
                  "which alone is repeatable with a live model)"));
static Flag<double>
    Margin("margin", cl::value_desc("factor"),
           cl::desc("Speed-up over the source that a winner needs (default: "
                    "the workload's, 1.02)"));
static Flag<std::string> CountersFlag(
    "counters", cl::value_desc("spec"),
    cl::desc("Show plan agents what each line does on a simulated GPU: sim, "
             "sim:GPU, or off (default: sim of the nearest GPU when a model's "
             "candidates are measured; a simulated judge says it anyway)"));
static Flag<std::string> Arch("arch", cl::value_desc("sm_NN"),
                              cl::desc("GPU architecture (default: that of the "
                                       "evaluator's GPU)"));
static Flag<std::string> CudaPath("cuda-path", cl::value_desc("dir"),
                                  cl::desc("CUDA toolkit (default: found)"));
static Flag<std::string>
    PromptFolder("prompts", cl::value_desc("dir"),
                 cl::desc("Prompt files (default: the run's own, then the "
                          "tool's)"));
static Flag<unsigned>
    Wait("wait", cl::init(0), cl::value_desc("seconds"),
         cl::desc("How long to wait for each answer or result before "
                  "suspending (default 0)"));
static Flag<bool>
    Estimate("estimate",
             cl::desc("Say what the run may cost in calls, tokens and money; "
                      "ask nobody and write nothing"));
static Flag<bool> Explain("explain",
                          cl::desc("Say which node was selected, why, and what "
                                   "the agents were shown"));
static Flag<bool> Quiet("quiet", cl::desc("Print the result alone"));
static Flag<bool> Json("json", cl::desc("Print the result as JSON"));

/// "2 siblings": how the nodes shown are related to the selected one.
static std::string describeShown(const Tree &T, unsigned Selected,
                                 const ShownTo &Shown) {
  unsigned Children = 0, Siblings = 0, Cousins = 0, Others = 0;
  std::vector<unsigned> Beside = T.siblings(Selected);
  for (unsigned N : Shown.Nodes) {
    int Parent = T.node(N).Parent;
    if (N == 0 || N == Selected)
      continue;
    if (Parent == int(Selected))
      ++Children;
    else if (Shown.Role != WindowRole::Plan && llvm::is_contained(Beside, N))
      ++Siblings;
    else if (Shown.Role == WindowRole::Plan || Shown.Role == WindowRole::Single)
      ++Others;
    else
      ++Cousins;
  }
  std::string Text = "root";
  auto Say = [&](unsigned Count, const char *One, const char *Many) {
    if (Count)
      Text += ", " + std::to_string(Count) + " " + (Count == 1 ? One : Many);
  };
  Say(Children, "child", "children");
  Say(Siblings, "sibling", "siblings");
  Say(Cousins, "child of siblings", "children of siblings");
  Say(Others, "leader", "leaders");
  return Text;
}

namespace {
class Progress : public SearchObserver {
public:
  void onSelect(unsigned Attempt, const Selection &S, const Tree &T,
                const std::vector<ShownTo> &Shown, bool Recorded) override {
    if (!Explain)
      return;
    static const char *Names[] = {"plan", "code", "debug", "single"};
    llvm::errs() << "attempt " << Attempt << ": node " << S.Node << " ("
                 << S.Reason << "); shown";
    for (const ShownTo &Part : Shown)
      llvm::errs() << (&Part == &Shown.front() ? " to " : "; to ")
                   << Names[unsigned(Part.Role)] << ": "
                   << describeShown(T, S.Node, Part);
    llvm::errs() << "\n";
  }

  void onStep(unsigned Attempt, llvm::StringRef What) override {
    if (Quiet)
      return;
    if (!What.starts_with("confirming"))
      llvm::errs() << "attempt " << Attempt << ": ";
    llvm::errs() << What << "\n";
  }

  void onNode(unsigned Attempt, const Node &N, const Tree &T,
              bool Recorded) override {
    // What an earlier call made is told again only to who asks for it.
    if (Quiet || (Recorded && !Explain))
      return;
    llvm::errs() << "attempt " << Attempt << ": " << verdictName(N.Found.Kind);
    if (N.Found.correct() && !N.Found.Timings.empty())
      llvm::errs() << llvm::format(", %.2f us, %.3f times the source's speed",
                                   N.scoreUs(), N.Found.speedup());
    if (!N.Given.Title.empty())
      llvm::errs() << " [" << N.Given.Title << "]";
    llvm::errs() << (Recorded ? " (from the journal)\n" : "\n");
  }

  void onNote(llvm::StringRef Note) override {
    llvm::errs() << "note: " << Note << "\n";
  }
};
} // namespace

static llvm::Error checkFlags() {
  if (!(Epsilon >= 0 && Epsilon <= 1))
    return usageError("--epsilon: got " + std::to_string(Epsilon) +
                      ", wanted a number from 0 to 1");
  if (Margin.getNumOccurrences() && !(Margin >= 1 && Margin < 1000))
    return usageError("--margin: got " + std::to_string(Margin) +
                      ", wanted a factor of 1 or more");
  if (Jobs < 1 || Jobs > 256)
    return usageError("--jobs: got " + llvm::Twine(Jobs) + ", wanted 1 to 256");
  for (const Flag<unsigned> *F :
       {&Attempts, &RootThrottle, &DeadBranch, &Repairs, &Leaders, &Window})
    if (F->getValue() > 100000)
      return usageError("--" + F->ArgStr + ": got " +
                        llvm::Twine(F->getValue()) + ", wanted at most 100000");
  return llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  if (llvm::Error E = checkFlags())
    return E;
  tool::SearchRequest Request;
  llvm::Expected<Grounding> Strictness = parseGrounding(GroundingName);
  if (!Strictness)
    return usageError("--grounding: " + llvm::toString(Strictness.takeError()));
  llvm::Expected<PolicyKind> Kind = parsePolicyKind(PolicyFlag);
  if (!Kind)
    return usageError("--policy: " + llvm::toString(Kind.takeError()));
  llvm::Expected<AgentsKind> Agents = parseAgentsKind(AgentsFlag);
  if (!Agents)
    return usageError("--agents: " + llvm::toString(Agents.takeError()));
  Request.Source = File;
  Request.Workload = WorkloadFile;
  Request.Provider = Provider;
  Request.Answering.Model = Model;
  Request.Answering.BaseUrl = BaseUrl;
  Request.Answering.ModelsFile = ModelsFile;
  Request.Evaluator = EvaluatorSpec;
  Request.RunFolder = RunFolder;
  Request.Counters = CountersFlag;
  Request.Prompts = PromptFolder;
  Request.Flags = Flags;
  Request.Arch = Arch;
  Request.Toolkit = CudaPath;
  Request.WaitMs = uint64_t(Wait) * 1000;
  // A replay has the options of its run, but for those that are given.
  llvm::Expected<std::optional<SearchOptions>> Replayed =
      tool::replayedOptions(Provider);
  if (!Replayed)
    return Replayed.takeError();
  SearchOptions &Search = Request.Search;
  if (*Replayed)
    Search = **Replayed;
  if (!Preset.empty())
    if (llvm::Error E = applyPreset(Preset, Search))
      return usageError("--preset: " + llvm::toString(std::move(E)));
  auto Take = [&](const auto &F, auto &Option) {
    if (F.getNumOccurrences())
      Option = F.getValue();
  };
  Take(Attempts, Search.Attempts);
  Take(Seed, Search.Seed);
  Take(Epsilon, Search.Policy.Epsilon);
  Take(RootThrottle, Search.Policy.RootThrottle);
  Take(DeadBranch, Search.Policy.DeadBranch);
  Take(Repairs, Search.Policy.Repairs);
  Take(Leaders, Search.Leaders);
  Take(Window, Search.WindowLimit);
  Take(Windows, Search.Windows);
  if (Jobs.getNumOccurrences() && Jobs != Search.Jobs)
    Search.Follow.clear();
  Take(Jobs, Search.Jobs);
  if (PolicyFlag.getNumOccurrences())
    Search.Policy.Kind = *Kind;
  if (AgentsFlag.getNumOccurrences()) {
    Search.Agents = *Agents;
    if (*Agents == AgentsKind::Single)
      Search.Strictness = Grounding::Off;
  }
  if (GroundingName.getNumOccurrences())
    Search.Strictness = *Strictness;
  if (llvm::Error E = checkOptions(Search))
    return E;
  if (Limits.getNumOccurrences()) {
    llvm::Expected<std::vector<BudgetLimit>> Budget = parseBudgetLimits(Limits);
    if (!Budget)
      return Budget.takeError();
    Search.Limits = std::move(*Budget);
  }
  Request.WorkloadMargin = !Margin.getNumOccurrences() && !*Replayed;
  if (Margin.getNumOccurrences())
    Search.Margin = Margin;
  if (Estimate)
    return tool::printRequestEstimate(Request, llvm::outs());
  watchInterrupts();
  Search.Cancelled = &interruptFlag();

  Progress Observer;
  llvm::Expected<tool::SearchResult> Result =
      tool::runSearchRequest(Request, Observer);
  if (!Result)
    return Result.takeError();
  const SearchOutcome &Outcome = Result->Outcome;
  if (Outcome.Winner >= 0 && !Output.empty())
    if (llvm::Error E = writeFileAtomically(
            Output, Outcome.T.node(unsigned(Outcome.Winner)).Text))
      return E;
  llvm::Expected<RecordedRun> Run = readRun(RunFolder);
  if (!Run)
    return Run.takeError();
  printSummary(*Run, Json ? ReportFormat::Json : ReportFormat::Text,
               llvm::outs());
  return llvm::Error::success();
}

tool::Verb tool::optimizeVerb() { return {Command, run}; }
