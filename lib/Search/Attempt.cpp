//===- Attempt.cpp - One attempt, from the selected node to its child ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attempt.h"
#include "WindowText.h"
#include "stark/Agent/RulesTeam.h"
#include "stark/Rewrite/Rewrite.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"

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
class Maker {
public:
  Maker(SearchState &State, const SelectEvent &S)
      : State(State), S(S), ByRules(isRulesProvider(State.Chat.identity())),
        Team(makeTeam()) {}

  llvm::Error make();

private:
  std::unique_ptr<AgentTeam> makeTeam() {
    AskFunction Ask = [this](const ChatRequest &Request) {
      return ask(Request);
    };
    return ByRules ? makeRulesTeam(State.Options.Seed, std::move(Ask))
                   : makeAgentTeam(State.Prompts, State.Options.Heat,
                                   std::move(Ask));
  }
  llvm::Error reserve(const ChatRequest &Request, const WorstCase &Worst);
  llvm::Expected<ChatReply> ask(const ChatRequest &Request);
  llvm::Expected<std::string> askAgents(Node &N, const ParsedNode &Base);
  llvm::Expected<std::string> counters(unsigned Base);
  llvm::Error finish(Node N, const ParsedNode &Base,
                     const std::string &Problem);
  llvm::Expected<Verdict> judge(Node &N, const ParsedNode &Base);
  llvm::Expected<Verdict> found(const Node &N, Verdict V);

  SearchState &State;
  const SelectEvent &S;
  const bool ByRules; ///< the agents are rewrites, no model
  std::unique_ptr<AgentTeam> Team;
};
} // namespace

llvm::Error SearchState::checkCancelled() const {
  if (Options.Cancelled && *Options.Cancelled)
    return interrupted("interrupted; the same command goes on");
  return llvm::Error::success();
}

llvm::Expected<Verdict> SearchState::evaluate(unsigned Attempt, unsigned Number,
                                              Purpose Why,
                                              const std::string &Text) {
  std::string Purpose = Why == Purpose::Confirm ? "confirm" : "attempt";
  VerdictEvent E{Attempt, Number, Purpose, "", {}};
  return Run.verdict(E, Text, [&]() -> llvm::Expected<Verdict> {
    if (llvm::Error Stop = checkCancelled())
      return Stop;
    if (JudgeStopped)
      return suspended("an earlier candidate is being judged");
    Observer.onStep(Attempt, (Why == Purpose::Confirm ? "confirming node "
                                                      : "judging node ") +
                                 std::to_string(Number));
    Candidate C;
    C.Node = Number;
    C.Why = Why;
    C.Text = Text;
    C.Seed = seedFor(Options.Seed, Number, Purpose);
    BatonDown Down(Baton);
    return Judge.evaluate(C);
  });
}

void SearchState::grow(unsigned Attempt, Node N, bool Recorded) {
  unsigned Number = T.add(std::move(N));
  Leaders.update(T, Number);
  Known.add(T.node(Number));
  Observer.onNode(Attempt, T.node(Number), T, Recorded);
}

llvm::Error SearchState::record(unsigned Attempt, Node N, Verdict V) {
  N.Found = std::move(V);
  llvm::Expected<Node> Back = Run.node(Attempt, std::move(N));
  if (!Back)
    return Back.takeError();
  grow(Attempt, std::move(*Back), false);
  return llvm::Error::success();
}

/// Waits, when the call does not fit only because others are under way.
llvm::Error Maker::reserve(const ChatRequest &Request, const WorstCase &Worst) {
  while (true) {
    if (llvm::Error E = State.checkCancelled())
      return E;
    llvm::Expected<std::string> Why = State.Purse.reserve(Request.Role, Worst);
    if (!Why)
      return Why.takeError();
    if (Why->empty())
      break;
    if (!State.Purse.holdsAny())
      return llvm::make_error<BudgetSpent>(std::move(*Why));
    State.Changed.wait(State.Baton);
  }
  State.Purse.hold(Request.Role, Worst);
  return llvm::Error::success();
}

llvm::Expected<ChatReply> Maker::ask(const ChatRequest &Request) {
  std::optional<WorstCase> Worst = State.Chat.worstCase(Request);
  bool Recorded = true, Held = false;
  DiscardedAnswers Before = State.Run.lost(Request.Id);
  auto Live = [&]() -> llvm::Expected<ChatReply> {
    Recorded = false;
    if (llvm::Error E = State.checkCancelled())
      return E;
    if (Worst) {
      if (llvm::Error E = reserve(Request, *Worst))
        return E;
      Held = true;
    }
    State.Observer.onStep(S.Attempt, "asking for " + Request.Id);
    CallControl Control;
    Control.Cancelled = State.Options.Cancelled;
    BatonDown Down(State.Baton);
    return State.Chat.complete(Request, Control);
  };
  llvm::Expected<ChatReply> Reply = State.Run.reply(S.Attempt, Request, Live);
  if (Held)
    State.Purse.release(Request.Role, *Worst);
  // A reply counts what was lost before it.
  State.Purse.regain(Request.Role, Before);
  State.Purse.lose(Request.Role, State.Run.lost(Request.Id));
  if (Reply && Worst && Recorded)
    State.Purse.settleRecorded(Request.Role, *Reply, *Worst);
  else if (Reply && Worst)
    State.Purse.settle(Request.Role, *Reply, *Worst);
  State.Changed.notify_all();
  return Reply;
}

llvm::Expected<Verdict> Maker::found(const Node &N, Verdict V) {
  VerdictEvent E{S.Attempt, N.Number, "check", "", {}};
  return State.Run.verdict(E, N.Text,
                           [&] { return llvm::Expected<Verdict>(V); });
}

llvm::Error Maker::make() {
  const Node &I = State.T.node(S.Chosen.Node);
  Node N;
  N.Parent = int(I.Number);
  N.FromDebug = S.Debug;
  N.Base = S.Debug ? I.Base : int(I.Number);
  if (S.Debug)
    N.Given = I.Given;
  const Node &BaseNode = State.T.node(unsigned(N.Base));
  llvm::Expected<std::shared_ptr<const ParsedNode>> Base =
      State.Parses.get(BaseNode.Number, BaseNode.Text);
  if (!Base)
    return Base.takeError();
  llvm::Expected<std::string> Problem = askAgents(N, **Base);
  if (!Problem)
    return Problem.takeError();
  return finish(std::move(N), **Base, *Problem);
}

/// For the plan agent, what the lines of node \p Base do on a simulated GPU.
llvm::Expected<std::string> Maker::counters(unsigned Base) {
  if (State.Options.CountersOf.empty())
    return std::string();
  const std::string &Text = State.T.node(Base).Text;
  llvm::Expected<Counters> Found = State.Run.counters(
      S.Attempt, Base, Text, [&]() -> llvm::Expected<Counters> {
        if (llvm::Error E = State.checkCancelled())
          return E;
        if (!State.Options.Profile)
          return failed("there is no profiler for the counters of node " +
                        llvm::Twine(Base));
        State.Observer.onStep(S.Attempt,
                              "profiling node " + std::to_string(Base));
        Candidate C;
        C.Node = Base;
        C.Text = Text;
        C.Seed = seedFor(State.Options.Seed, Base, "counters");
        BatonDown Down(State.Baton);
        return State.Options.Profile->profile(C);
      });
  if (!Found)
    return Found.takeError();
  if (Found->Text.empty())
    return std::string();
  // It goes into a fence, and no line of it opens one.
  std::string Lines = llvm::StringRef(Found->Text).rtrim().str();
  std::replace(Lines.begin(), Lines.end(), '`', '\'');
  return "# Counters of the latest attempt\n\nIt was also run on a " +
         Found->Device +
         ". Its times are a model's and not to be compared with measured "
         "ones, but it counts exactly what each line asks of memory; the worst "
         "lines of each kernel come first, numbered as in the latest "
         "attempt:\n\n```\n" +
         Lines + "\n```\n";
}

/// Fills in instruction and text; returns why there is no candidate.
llvm::Expected<std::string> Maker::askAgents(Node &N, const ParsedNode &Base) {
  const Node &I = State.T.node(S.Chosen.Node);
  WindowEntry Selected = windowEntry(State.T, I.Number);
  AgentInput In;
  In.Attempt = S.Attempt;
  In.T = &State.Of;
  In.Base = Base.Source.get();
  In.BaseSites = &Base.All;
  In.Selected = &Selected;
  In.Device = deviceLine(State.T.node(0).Found, State.Of);
  for (unsigned Child : State.T.node(unsigned(N.Base)).Children)
    In.Tried.push_back(State.T.node(Child).Given.Advice);
  In.Known = [this](llvm::StringRef Text) {
    return State.Known.find(Text) >= 0;
  };
  auto Look = [&](WindowRole Role) {
    In.Window.clear();
    for (const ShownTo &Part : S.Shown)
      if (Part.Role == Role)
        for (unsigned Number : Part.Nodes)
          if (Number != 0 && Number != I.Number)
            In.Window.push_back(windowEntry(State.T, Number));
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
    if (!ByRules) {
      In.Hints = describeRewrites({In.Base, In.BaseSites, In.T});
      llvm::Expected<std::string> More = counters(unsigned(N.Base));
      if (!More)
        return More.takeError();
      if (!In.Hints.empty() && !More->empty())
        In.Hints += "\n";
      In.Hints += *More;
    }
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
  return Problem;
}

llvm::Error Maker::finish(Node N, const ParsedNode &Base,
                          const std::string &Problem) {
  // Whoever has its turn needs the baton to end it.
  if (!State.Finishing.try_lock()) {
    BatonDown Down(State.Baton);
    State.Finishing.lock();
  }
  std::lock_guard<std::mutex> Turn(State.Finishing, std::adopt_lock);
  N.Number = unsigned(State.T.size());
  llvm::Expected<Verdict> V =
      Problem.empty() ? judge(N, Base) : found(N, noCandidate(Problem));
  if (!V) {
    State.JudgeStopped = true;
    State.Parses.forget(N.Number);
    return V.takeError();
  }
  return State.record(S.Attempt, std::move(N), std::move(*V));
}

llvm::Expected<Verdict> Maker::judge(Node &N, const ParsedNode &Base) {
  llvm::Expected<std::shared_ptr<const ParsedNode>> Parsed =
      State.Parses.get(N.Number, N.Text);
  if (!Parsed) {
    // The base parsed, so it is the candidate that is beyond Clang.
    Verdict V;
    V.Kind = VerdictKind::NotCompiled;
    V.Compiler = llvm::toString(Parsed.takeError());
    return found(N, std::move(V));
  }
  const ParsedSource &Source = *(*Parsed)->Source;
  if (std::optional<Verdict> V =
          checkFootprint(Base.Source->text(), N.Given.Anchors,
                         State.Options.Strictness, Source.text()))
    return found(N, std::move(*V));
  N.SameAs = State.Known.find(N.Text);
  if (N.SameAs >= 0)
    return found(N, knownVerdict(State.T.node(unsigned(N.SameAs))));
  if (std::optional<Verdict> V = checkAgainstSource(State.Of, Source))
    return found(N, std::move(*V));
  return State.evaluate(S.Attempt, N.Number, Purpose::Attempt, N.Text);
}

llvm::Error stark::makeAttempt(SearchState &State, const SelectEvent &S) {
  return Maker(State, S).make();
}

bool stark::takeRecorded(SearchState &State, unsigned Attempt) {
  const RecordedRun &Before = State.Run.recorded();
  const std::vector<BudgetLimit> &Limits = State.Options.Limits;
  if (Attempt >= Before.Attempts.size())
    return false;
  bool Money = llvm::any_of(Limits, [](const BudgetLimit &L) {
    return L.What == BudgetLimit::Of::MicroUsd;
  });
  // What a reply does not tell counts for the worst, which only its request
  // tells: such an attempt is gone through again.
  for (const ReplyEvent &R : Before.Attempts[Attempt].Replies)
    if (!Limits.empty() && (!R.Reply.Tokens.Input || !R.Reply.Tokens.Output ||
                            (Money && !R.Reply.CostMicroUsd)))
      return false;
  std::optional<Node> Known = State.Run.recordedNode(Attempt);
  if (!Known)
    return false;
  for (const ReplyEvent &R : Before.Attempts[Attempt].Replies) {
    ChatReply Reply = R.Reply;
    Reply.WallMs /= State.Options.Jobs;
    State.Purse.settleRecorded(roleOf(R.Id), Reply, WorstCase());
  }
  State.grow(Attempt, std::move(*Known), true);
  return true;
}
