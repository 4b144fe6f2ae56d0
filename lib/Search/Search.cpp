//===- Search.cpp - Algorithm 1 ------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Search.h"
#include "Check.h"
#include "RunFolder.h"
#include "WindowText.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace stark;

/// Seeds of the judge's comparisons: others for each node and purpose, so that
/// a confirmation sees inputs that no attempt has seen.
static uint64_t seedFor(uint64_t Seed, unsigned Node, llvm::StringRef Purpose) {
  std::string Digest = DigestBuilder()
                           .add("seed", std::to_string(Seed))
                           .add("node", std::to_string(Node))
                           .add("purpose", Purpose)
                           .finish();
  return std::stoull(Digest.substr(0, 12), nullptr, 16);
}

namespace {
class Search {
public:
  Search(const Task &Of, const PromptSet &Prompts, ChatClient &Chat,
         Evaluator &Judge, const SearchOptions &Options, RunFolder &Run,
         SearchObserver &Observer)
      : Of(Of), Chat(Chat), Judge(Judge), Options(Options), Run(Run),
        Observer(Observer), Parses(Of), Leaders(Options.Leaders),
        Draw(Options.Seed), Choose(makePolicy(Options.Policy)),
        Team(makeAgentTeam(
            Prompts, Options.Heat,
            [this](const ChatRequest &Request) { return ask(Request); })),
        Purse(Options.Limits) {}

  llvm::Expected<SearchOutcome> run() {
    const RecordedRun &Before = Run.recorded();
    if (Before.T.size() && !Before.End)
      Observer.onNote("the run goes on after attempt " +
                      std::to_string(Before.T.size() - 1) + " of " +
                      std::to_string(Options.Attempts));
    if (llvm::Error E = judgeSource())
      return E;
    std::string Why;
    while (Why.empty()) {
      Attempt = unsigned(T.size());
      if (Attempt > Options.Attempts) {
        Why = std::to_string(Options.Attempts) +
              (Options.Attempts == 1 ? " attempt" : " attempts");
        break;
      }
      llvm::Expected<bool> More = makeAttempt();
      if (More) {
        if (!*More)
          Why = "no node is eligible";
        continue;
      }
      // A spent budget ends a run as its last attempt does.
      if (llvm::Error E = llvm::handleErrors(
              More.takeError(),
              [&](const BudgetSpent &Spent) { Why = Spent.why(); }))
        return E;
    }
    return finish(Why);
  }

private:
  llvm::Error checkCancelled() const {
    if (Options.Cancelled && *Options.Cancelled)
      return interrupted("interrupted; the same command goes on");
    return llvm::Error::success();
  }

  llvm::Expected<ChatReply> ask(const ChatRequest &Request) {
    std::optional<WorstCase> Worst = Chat.worstCase(Request);
    bool Recorded = true;
    auto Live = [&]() -> llvm::Expected<ChatReply> {
      Recorded = false;
      if (llvm::Error E = checkCancelled())
        return E;
      if (Worst) {
        llvm::Expected<std::string> Why = Purse.reserve(Request.Role, *Worst);
        if (!Why)
          return Why.takeError();
        if (!Why->empty())
          return llvm::make_error<BudgetSpent>(std::move(*Why));
      }
      Observer.onStep(Attempt, "asking for " + Request.Id);
      CallControl Control;
      Control.Cancelled = Options.Cancelled;
      return Chat.complete(Request, Control);
    };
    llvm::Expected<ChatReply> Reply = Run.reply(Request, Live);
    if (Reply && Worst && Recorded)
      Purse.settleRecorded(Request.Role, *Reply, *Worst);
    else if (Reply && Worst)
      Purse.settle(Request.Role, *Reply, *Worst);
    return Reply;
  }

  llvm::Expected<Verdict> evaluate(unsigned Number, Purpose Why,
                                   const std::string &Text) {
    std::string Purpose = Why == Purpose::Confirm ? "confirm" : "attempt";
    VerdictEvent E{Attempt, Number, Purpose, sha256(Text), {}};
    return Run.verdict(E, [&]() -> llvm::Expected<Verdict> {
      if (llvm::Error Stop = checkCancelled())
        return Stop;
      Observer.onStep(Attempt, (Why == Purpose::Confirm ? "confirming node "
                                                        : "judging node ") +
                                   std::to_string(Number));
      Candidate C;
      C.Node = Number;
      C.Why = Why;
      C.Text = Text;
      C.Seed = seedFor(Options.Seed, Number, Purpose);
      return Judge.evaluate(C);
    });
  }

  llvm::Expected<Verdict> found(const Node &N, Verdict V) {
    VerdictEvent E{
        Attempt, N.Number, "check", N.Text.empty() ? "" : sha256(N.Text), {}};
    return Run.verdict(E, [&] { return llvm::Expected<Verdict>(V); });
  }

  void grow(Node N, bool Recorded) {
    unsigned Number = T.add(std::move(N));
    Leaders.update(T, Number);
    Observer.onNode(Attempt, T.node(Number), T, Recorded);
  }

  llvm::Error record(Node N, Verdict V) {
    N.Found = std::move(V);
    llvm::Expected<Node> Back = Run.node(Attempt, std::move(N));
    if (!Back)
      return Back.takeError();
    grow(std::move(*Back), false);
    return llvm::Error::success();
  }

  llvm::Error judgeSource() {
    Attempt = 0;
    if (std::optional<Node> Known = Run.recordedNode(0)) {
      grow(std::move(*Known), true);
      return Run.setDevice(T.node(0).Found.Device);
    }
    Node N;
    N.Text = Of.SourceText;
    llvm::Expected<Verdict> V = evaluate(0, Purpose::Attempt, N.Text);
    if (!V)
      return V.takeError();
    if (!V->correct())
      return failed("the source itself is " + verdictName(V->Kind) +
                    ", wanted correct: " +
                    trimForWindow(V->Compiler.empty() || !V->Run.empty()
                                      ? V->Run
                                      : V->Compiler,
                                  2000));
    if (llvm::Error E = Run.setDevice(V->Device))
      return E;
    return record(std::move(N), std::move(*V));
  }

  /// False when no node is eligible.
  llvm::Expected<bool> makeAttempt() {
    if (llvm::Error E = checkCancelled())
      return E;
    std::optional<Selection> Chosen = Choose->select(T, {}, Draw);
    if (!Chosen)
      return false;
    const Node &I = T.node(Chosen->Node);
    SelectEvent S;
    S.Attempt = Attempt;
    S.Chosen = *Chosen;
    S.Single = Options.Agents == AgentsKind::Single;
    S.Debug = !S.Single && I.hasBug();
    auto Show = [&](WindowRole Role) {
      S.Shown.push_back({Role, Options.Windows
                                   ? makeWindow(Role, T, Leaders, I.Number,
                                                Options.WindowLimit, Draw)
                                   : noWindow(I.Number)});
    };
    if (S.Single) {
      Show(WindowRole::Single);
    } else if (S.Debug) {
      Show(WindowRole::Debug);
    } else {
      Show(WindowRole::Plan);
      Show(WindowRole::Code);
    }
    bool Recorded = Run.recordedStep();
    if (llvm::Error E = Run.select(S))
      return E;
    Observer.onSelect(Attempt, S.Chosen, T, S.Shown, Recorded);
    if (std::optional<Node> Known = Run.recordedNode(Attempt)) {
      grow(std::move(*Known), true);
      return true;
    }
    if (llvm::Error E = refine(S))
      return E;
    return true;
  }

  llvm::Error refine(const SelectEvent &S) {
    const Node &I = T.node(S.Chosen.Node);
    Node N;
    N.Number = Attempt;
    N.Parent = int(I.Number);
    N.FromDebug = S.Debug;
    N.Base = S.Debug ? I.Base : int(I.Number);
    if (S.Debug)
      N.Given = I.Given;
    const Node &BaseNode = T.node(unsigned(N.Base));
    llvm::Expected<std::shared_ptr<const ParsedNode>> Base =
        Parses.get(BaseNode.Number, BaseNode.Text);
    if (!Base)
      return Base.takeError();

    WindowEntry Selected = windowEntry(T, I.Number);
    AgentInput In;
    In.Attempt = Attempt;
    In.T = &Of;
    In.Base = (*Base)->Source.get();
    In.BaseSites = &(*Base)->All;
    In.Selected = &Selected;
    In.Device = deviceLine(T.node(0).Found, Of);
    auto Look = [&](WindowRole Role) {
      In.Window.clear();
      for (const ShownTo &Part : S.Shown)
        if (Part.Role == Role)
          for (unsigned Number : Part.Nodes)
            if (Number != 0 && Number != I.Number)
              In.Window.push_back(windowEntry(T, Number));
    };

    std::string Problem;
    if (S.Single) {
      Look(WindowRole::Single);
      llvm::Expected<AgentResult<SingleAnswer>> Answer = Team->single(In);
      if (!Answer)
        return Answer.takeError();
      if (Answer->Value) {
        N.Given = std::move(Answer->Value->Given);
        N.Text = std::move(Answer->Value->Text);
      } else {
        Problem = "single: " + Answer->Problem;
      }
    } else if (!S.Debug) {
      Look(WindowRole::Plan);
      llvm::Expected<AgentResult<Instruction>> Plan = Team->plan(In);
      if (!Plan)
        return Plan.takeError();
      if (Plan->Value)
        N.Given = std::move(*Plan->Value);
      else
        Problem = "plan: " + Plan->Problem;
    }
    if (Problem.empty() && !S.Single) {
      In.Given = &N.Given;
      Look(S.Debug ? WindowRole::Debug : WindowRole::Code);
      llvm::Expected<AgentResult<std::string>> Code =
          S.Debug ? Team->debug(In) : Team->code(In);
      if (!Code)
        return Code.takeError();
      if (Code->Value)
        N.Text = std::move(*Code->Value);
      else
        Problem = (S.Debug ? "debug: " : "code: ") + Code->Problem;
    }
    if (Problem.empty() && N.Text.empty())
      Problem = "the candidate is empty";
    llvm::Expected<Verdict> V =
        Problem.empty() ? judge(N, **Base) : found(N, noCandidate(Problem));
    if (!V)
      return V.takeError();
    return record(std::move(N), std::move(*V));
  }

  llvm::Expected<Verdict> judge(Node &N, const ParsedNode &Base) {
    llvm::Expected<std::shared_ptr<const ParsedNode>> Parsed =
        Parses.get(N.Number, N.Text);
    if (!Parsed) {
      // The base parsed, so it is the candidate that is beyond Clang.
      Verdict V;
      V.Kind = VerdictKind::NotCompiled;
      V.Compiler = llvm::toString(Parsed.takeError());
      return found(N, std::move(V));
    }
    const ParsedSource &Source = *(*Parsed)->Source;
    if (std::optional<Verdict> V =
            checkFootprint(Base, N.Given.Anchors, Options.Strictness, Source))
      return found(N, std::move(*V));
    N.SameAs = sameTokensAs(T, N.Text);
    if (N.SameAs >= 0)
      return found(N, knownVerdict(T.node(unsigned(N.SameAs))));
    if (std::optional<Verdict> V = checkAgainstSource(Of, Source))
      return found(N, std::move(*V));
    return evaluate(N.Number, Purpose::Attempt, N.Text);
  }

  bool beatsTheSource(const Verdict &V) const {
    return V.correct() && V.speedup() >= Options.Margin && V.speedupLow() > 1;
  }

  llvm::Expected<SearchOutcome> finish(const std::string &Why) {
    SearchOutcome Outcome;
    Outcome.WhyEnded = Why;
    std::vector<unsigned> Order;
    for (unsigned I = 1; I < T.size(); ++I)
      if (T.node(I).SameAs < 0 && beatsTheSource(T.node(I).Found))
        Order.push_back(I);
    std::stable_sort(Order.begin(), Order.end(), [&](unsigned A, unsigned B) {
      return T.node(A).scoreUs() < T.node(B).scoreUs();
    });
    for (unsigned I : Order) {
      Outcome.Confirmed = T.node(I).Found;
      if (Options.Confirm) {
        llvm::Expected<Verdict> V =
            evaluate(I, Purpose::Confirm, T.node(I).Text);
        if (!V)
          return V.takeError();
        Outcome.Confirmed = std::move(*V);
        if (!beatsTheSource(Outcome.Confirmed)) {
          Observer.onNote("node " + std::to_string(I) +
                          " was not confirmed: " + confirmFailure(Outcome));
          continue;
        }
      }
      Outcome.Winner = int(I);
      break;
    }
    if (Outcome.Winner < 0)
      Outcome.Confirmed = Verdict();
    EndEvent End{Outcome.Winner, unsigned(T.size()) - 1, Why};
    if (llvm::Error E = Run.end(End))
      return E;
    Outcome.T = std::move(T);
    return Outcome;
  }

  std::string confirmFailure(const SearchOutcome &Outcome) const {
    const Verdict &V = Outcome.Confirmed;
    if (!V.correct())
      return verdictName(V.Kind).str();
    return describeSpeedup(V) + ", wanted " + std::to_string(Options.Margin);
  }

  const Task &Of;
  ChatClient &Chat;
  Evaluator &Judge;
  const SearchOptions &Options;
  RunFolder &Run;
  SearchObserver &Observer;
  ParsedNodes Parses;
  Tree T;
  Leaderboard Leaders;
  Random Draw;
  std::unique_ptr<Policy> Choose;
  std::unique_ptr<AgentTeam> Team;
  Budget Purse;
  unsigned Attempt = 0;
};
} // namespace

llvm::Expected<SearchOutcome>
stark::runSearch(const Task &T, const PromptSet &Prompts, ChatClient &Chat,
                 Evaluator &Judge, const SearchOptions &Options,
                 llvm::StringRef RunFolderPath, SearchObserver &Observer) {
  RunIdentity Identity;
  Identity.TaskName = T.Name;
  Identity.Entry = T.Load.Entry;
  Identity.TaskDigest = T.Digest;
  Identity.Arch = T.Parse.Arch;
  Identity.PromptsDigest = Prompts.Digest;
  Identity.Provider = Chat.identity();
  Identity.Evaluator = Judge.identity();
  Identity.Options = Options;
  llvm::Expected<RunFolder> Run =
      RunFolder::open(RunFolderPath, Identity, Prompts, Observer);
  if (!Run)
    return Run.takeError();
  return Search(T, Prompts, Chat, Judge, Options, *Run, Observer).run();
}
