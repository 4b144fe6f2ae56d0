//===- Attempt.cpp - One attempt, from the selected node to its child ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attempt.h"
#include "LiveCalls.h"
#include "WindowText.h"
#include "stark/Rewrite/Rewrite.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/Twine.h"

using namespace stark;

namespace {
/// What is known of a candidate before it is judged.
struct Checked {
  int SameAs = -1;              ///< node with the same tokens
  std::optional<Verdict> Found; ///< the judge need not be asked
};

/// What is known of a call on the GPU, for a request.
struct Measured {
  std::string Text; ///< goes on after "What bounds it, "; may be empty
  bool HasCounters = false;
};

class Maker {
public:
  Maker(SearchState &State, const SelectEvent &S)
      : State(State), S(S),
        Team(State.Setup.MakeTeam([this](const ChatRequest &Request) {
          return askModel(this->State, this->S.Attempt, Request);
        })) {}

  llvm::Error make();

private:
  llvm::Expected<std::string> askAgents(Node &N, const ParsedNode &Base);
  llvm::Expected<std::string> askSingle(AgentInput &In, Node &N);
  llvm::Expected<std::string> askPlan(AgentInput &In, Node &N);
  llvm::Expected<std::string> askCode(AgentInput &In, Node &N);
  void show(AgentInput &In, WindowRole Role) const;
  llvm::Expected<std::string> hints(const AgentInput &In, unsigned Base);
  llvm::Expected<std::string> counters(unsigned Base);
  Measured profile(unsigned Base);
  llvm::Error finish(Node N, const ParsedNode &Base,
                     const std::string &Problem);
  llvm::Expected<Checked> check(const Node &N, const ParsedNode &Base);
  llvm::Expected<Checked> announce(const Node &N, const ParsedNode &Base);
  llvm::Expected<Verdict> judge(Node &N, const ParsedNode &Base,
                                Checked Before);
  llvm::Expected<Verdict> found(const Node &N, const Verdict &V) {
    return journalCheck(State.Steps, S.Attempt, N.Number, N.Text, V);
  }

  SearchState &State;
  const SelectEvent &S;
  std::unique_ptr<AgentTeam> Team;
};
} // namespace

llvm::Error SearchState::checkCancelled() const {
  if (Setup.Cancelled && *Setup.Cancelled)
    return interrupted("interrupted; the same command goes on");
  return llvm::Error::success();
}

void SearchState::grow(unsigned Attempt, Node N, bool Recorded) {
  unsigned Number = Nodes.add(std::move(N));
  Leaders.update(Nodes, Number);
  Known.add(Nodes.node(Number));
  Observer.onNode(Attempt, Nodes.node(Number), Nodes, Recorded);
  // A spool's worker may have been another one meanwhile.
  const Verdict &V = Nodes.node(Number).Found, &First = Nodes.node(0).Found;
  if (V.correct() && V.Device != First.Device)
    Steps.noteOnce(RunSteps::Once::OtherDevice,
                   "node " + std::to_string(Number) + " was judged on " +
                       V.Device + ", the source on " + First.Device +
                       ": speed-ups hold, but times of the two are not "
                       "comparable, and the search compares them");
}

llvm::Error SearchState::record(unsigned Attempt, Node N, Verdict V) {
  NodeEvent E;
  E.Attempt = Attempt;
  E.Kind = V.Kind;
  if (!N.Text.empty()) {
    E.File = candidateFile(N.Number);
    E.Candidate = sha256(N.Text);
  } else if (!Steps.recordedStep(Attempt)) {
    // A process that was killed may have had another in mind for the number.
    Steps.remove(candidateFile(N.Number));
  }
  std::string Text = std::move(N.Text);
  E.N = std::move(N);
  llvm::Expected<NodeEvent> Back = Steps.step(Attempt, E);
  if (!Back)
    return Back.takeError();
  Back->N.Text = std::move(Text);
  Back->N.Found = std::move(V);
  grow(Attempt, std::move(Back->N), false);
  return llvm::Error::success();
}

llvm::Error Maker::make() {
  const Node &I = State.Nodes.node(S.Chosen.Node);
  Node N;
  N.Parent = int(I.Number);
  N.FromDebug = S.Debug;
  N.Base = S.Debug ? I.Base : int(I.Number);
  if (S.Debug)
    N.Given = I.Given;
  const Node &BaseNode = State.Nodes.node(unsigned(N.Base));
  llvm::Expected<std::shared_ptr<const ParsedNode>> Base =
      State.Parses.get(BaseNode.Number, BaseNode.Text);
  if (!Base)
    return Base.takeError();
  llvm::Expected<std::string> Problem = askAgents(N, **Base);
  if (!Problem)
    return Problem.takeError();
  return finish(std::move(N), **Base, *Problem);
}

/// It goes into a fence, and no line of it opens one.
static std::string inFence(llvm::StringRef Text) {
  std::string Lines = Text.rtrim().str();
  std::replace(Lines.begin(), Lines.end(), '`', '\'');
  return "```\n" + Lines + "\n```\n";
}

/// What the GPU itself says of node \p Base. Where its counters cannot be read
/// it is what CUPTI records without them. Empty when there is nothing.
Measured Maker::profile(unsigned Base) {
  const std::optional<job::Profile> &Found =
      State.Nodes.node(Base).Found.Counted;
  if (!Found || !State.Options.Profile)
    return {};
  if (!Found->Problem.empty())
    State.Steps.noteOnce(RunSteps::Once::NoProfile,
                         "agents are shown no counters of the GPU itself of "
                         "node " +
                             std::to_string(Base) + ": " + Found->Problem);
  if (Found->Text.empty())
    return {};
  if (Found->Problem.empty())
    return {"as the GPU's own counters have it, in a call under a "
            "profiler:\n\n" +
                inFence(Found->Text),
            true};
  return {"as CUPTI records it; nobody could read the GPU's counters:\n\n" +
              inFence(Found->Text),
          false};
}

/// For the plan agent, what node \p Base does on the GPU, else what its lines
/// do on a simulated one.
llvm::Expected<std::string> Maker::counters(unsigned Base) {
  Measured OfGpu = profile(Base);
  if (OfGpu.HasCounters)
    return "# Counters of the latest attempt\n\nWhat bounds it, " + OfGpu.Text;
  std::string Own = OfGpu.Text.empty() ? ""
                                       : "# The latest attempt on the GPU\n\n"
                                         "What it does there, " +
                                             OfGpu.Text;
  if (State.Options.CountersOf.empty())
    return Own;
  llvm::Expected<Counters> Found = askProfiler(State, S.Attempt, Base);
  if (!Found)
    return Found.takeError();
  if (Found->Text.empty() && Found->Problem.empty())
    return Own;
  if (!Own.empty())
    Own += "\n";
  if (Found->Text.empty())
    return Own +
           "# No counters of the latest attempt\n\nIt was to be run on a "
           "simulated GPU as well, and that failed. It says nothing "
           "of how the attempt was judged. The reason:\n\n" +
           inFence(Found->Problem);
  return Own + "# Counters of the latest attempt\n\nIt was also run on a " +
         Found->Device +
         ". Its times, registers and blocks an SM are a model's: what was "
         "measured, and what the compiler says above, holds. But it counts "
         "exactly what each line asks of memory; the worst lines of each "
         "kernel come first, numbered as in the latest attempt:\n\n" +
         inFence(Found->Text);
}

/// The rewrites that apply, and the counters.
llvm::Expected<std::string> Maker::hints(const AgentInput &In, unsigned Base) {
  std::string Hints;
  {
    TraceScope Traced("rewrites that apply");
    Hints = describeRewrites({In.Base, In.BaseSites, In.Of});
  }
  llvm::Expected<std::string> More = counters(Base);
  if (!More)
    return More.takeError();
  if (!Hints.empty() && !More->empty())
    Hints += "\n";
  return Hints + *More;
}

/// Puts what \p Role is shown of the tree into \p In.
void Maker::show(AgentInput &In, WindowRole Role) const {
  In.Window.clear();
  for (const ShownTo &Part : S.Shown)
    if (Part.Role == Role)
      for (unsigned Number : Part.Nodes)
        if (Number != 0 && Number != S.Chosen.Node)
          In.Window.push_back(windowEntry(State.Nodes, Number));
}

llvm::Expected<std::string> Maker::askSingle(AgentInput &In, Node &N) {
  show(In, WindowRole::Single);
  llvm::Expected<AgentResult<SingleAnswer>> Answer = Team->single(In);
  if (!Answer)
    return Answer.takeError();
  if (!Answer->Value)
    return "single: " + Answer->Problem;
  N.Given = std::move(Answer->Value->Given);
  State.Titles[S.Attempt] = N.Given.Title;
  N.Text = std::move(Answer->Value->Text);
  return std::string();
}

llvm::Expected<std::string> Maker::askPlan(AgentInput &In, Node &N) {
  show(In, WindowRole::Plan);
  if (Team->takesHints()) {
    llvm::Expected<std::string> Hints = hints(In, unsigned(N.Base));
    if (!Hints)
      return Hints.takeError();
    In.Hints = std::move(*Hints);
  }
  llvm::Expected<AgentResult<Instruction>> Plan = Team->plan(In);
  if (!Plan)
    return Plan.takeError();
  if (!Plan->Value)
    return "plan: " + Plan->Problem;
  N.Given = std::move(*Plan->Value);
  State.Titles[S.Attempt] = N.Given.Title;
  return std::string();
}

/// By the code agent, or by the debug agent.
llvm::Expected<std::string> Maker::askCode(AgentInput &In, Node &N) {
  In.Given = &N.Given;
  show(In, S.Debug ? WindowRole::Debug : WindowRole::Code);
  if (Measured OfGpu = S.Debug ? profile(unsigned(N.Base)) : Measured();
      !OfGpu.Text.empty())
    In.Hints =
        (OfGpu.HasCounters ? "# Counters of the text that it started from\n\n"
                             "What bounds that, "
                           : "# The text that it started from, on the GPU\n\n"
                             "What that does there, ") +
        OfGpu.Text;
  llvm::Expected<AgentResult<std::string>> Code =
      S.Debug ? Team->debug(In) : Team->code(In);
  if (!Code)
    return Code.takeError();
  if (!Code->Value)
    return (S.Debug ? "debug: " : "code: ") + Code->Problem;
  N.Text = std::move(*Code->Value);
  return std::string();
}

/// Fills in instruction and text; returns why there is no candidate.
llvm::Expected<std::string> Maker::askAgents(Node &N, const ParsedNode &Base) {
  WindowEntry Selected = windowEntry(State.Nodes, S.Chosen.Node);
  AgentInput In;
  In.Attempt = S.Attempt;
  In.Of = &State.Setup.Of;
  In.Base = Base.Source.get();
  In.BaseSites = &Base.All;
  In.Selected = &Selected;
  In.OfSource = &State.Nodes.node(0).Found;
  In.Device = deviceLine(*In.OfSource, State.Setup.Of);
  In.Beside = S.Beside;
  for (unsigned Child : State.Nodes.node(unsigned(N.Base)).Children)
    In.Tried.push_back(State.Nodes.node(Child).Given.Advice);
  In.Known = [this](llvm::StringRef Text) {
    return State.Known.find(Text) >= 0;
  };
  llvm::Expected<std::string> Problem = std::string();
  if (S.Single)
    Problem = askSingle(In, N);
  else if (!S.Debug)
    Problem = askPlan(In, N);
  if (Problem && Problem->empty() && !S.Single)
    Problem = askCode(In, N);
  if (Problem && Problem->empty() && N.Text.empty())
    return "the candidate is empty";
  return Problem;
}

llvm::Error Maker::finish(Node N, const ParsedNode &Base,
                          const std::string &Problem) {
  llvm::Expected<Checked> Before =
      Problem.empty() ? announce(N, Base) : Checked();
  if (!Before)
    return Before.takeError();
  // Whoever has its turn needs the run lock to end it.
  if (!State.Finishing.try_lock()) {
    TraceScope Traced("wait for its turn");
    State.Observer.onStep(S.Attempt, {SearchStep::Kind::Queue});
    RunLockReleased Released(State.RunLock);
    State.Finishing.lock();
  }
  std::lock_guard<std::mutex> Turn(State.Finishing, std::adopt_lock);
  N.Number = unsigned(State.Nodes.size());
  llvm::Expected<Verdict> V = Problem.empty()
                                  ? judge(N, Base, std::move(*Before))
                                  : found(N, noCandidate(Problem));
  if (!V) {
    State.JudgeStopped = true;
    return V.takeError();
  }
  return State.record(S.Attempt, std::move(N), std::move(*V));
}

llvm::Expected<Checked> Maker::check(const Node &N, const ParsedNode &Base) {
  Checked Now;
  Now.SameAs = State.Known.find(N.Text);
  llvm::Expected<std::optional<Verdict>> V = checkCandidate(
      {State.Setup.Of,
       Told{Base.Source->text(), N.Given.Anchors, State.Options.Strictness},
       N.Text, /*Known=*/Now.SameAs >= 0, State.Parses.headers(),
       State.Setup.Check});
  if (!V)
    return V.takeError();
  Now.Found = std::move(*V);
  return Now;
}

/// Where others are judged first, a queue may have it meanwhile.
llvm::Expected<Checked> Maker::announce(const Node &N, const ParsedNode &Base) {
  if (State.Known.find(N.Text) < 0 && !State.Steps.recordedStep(S.Attempt))
    prepareJudge(State, N.Text);
  llvm::Expected<Checked> Now = check(N, Base);
  if (Now && !Now->Found && Now->SameAs < 0 && State.Options.Jobs > 1 &&
      !State.Steps.recordedStep(S.Attempt))
    announceToJudge(State, N.Text);
  return Now;
}

llvm::Expected<Verdict> Maker::judge(Node &N, const ParsedNode &Base,
                                     Checked Before) {
  // Another attempt may have had these tokens since.
  if (int SameAs = State.Known.find(N.Text); SameAs != Before.SameAs) {
    llvm::Expected<Checked> Now = check(N, Base);
    if (!Now)
      return Now.takeError();
    Before = std::move(*Now);
  }
  if (Before.Found)
    return found(N, *Before.Found);
  N.SameAs = Before.SameAs;
  if (N.SameAs >= 0)
    return found(N, knownVerdict(State.Nodes.node(unsigned(N.SameAs))));
  return askJudge(State, S.Attempt, N.Number, Purpose::Attempt, N.Text);
}

llvm::Error stark::makeAttempt(SearchState &State, const SelectEvent &S) {
  TraceSubject Of("attempt " + std::to_string(S.Attempt));
  TraceScope Traced("attempt");
  return Maker(State, S).make();
}

bool stark::takeRecorded(SearchState &State, unsigned Attempt) {
  const RecordedRun &Before = State.Steps.run().recorded();
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
  std::optional<Node> Known = State.Steps.skipToNode(Attempt);
  if (!Known)
    return false;
  if (const std::optional<CountersEvent> &Had = Before.Attempts[Attempt].Found)
    State.Shown.keep(Had->Node, Had->Found);
  for (const ReplyEvent &R : Before.Attempts[Attempt].Replies) {
    ChatReply Reply = R.Reply;
    Reply.WallMs /= State.Options.Jobs;
    State.Budget.settleRecorded(roleOf(R.Id), Reply, WorstCase());
    State.Observer.onReply(Attempt, R.Id, R.Reply, /*Recorded=*/true);
  }
  State.grow(Attempt, std::move(*Known), true);
  return true;
}
