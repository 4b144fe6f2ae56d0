//===- Search.cpp - Algorithm 1 ------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Search.h"
#include "LiveCalls.h"
#include "Tune.h"
#include "WindowText.h"
#include "stark/Search/StopRule.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <thread>

using namespace stark;

namespace {
/// An attempt that was selected and is not recorded yet.
struct Flight {
  SelectEvent S;
  std::thread Thread;
  bool Ended = false;
  bool Recorded = false; ///< ended without an error
};

class Search {
public:
  Search(const SearchSetup &Setup, const SearchOptions &Options, RunFolder &Run,
         SearchObserver &Observer)
      : Setup(Setup), Options(Options), Run(Run), Observer(Observer),
        State(Setup, Options, Run, Observer), Steps(State.Steps),
        Nodes(State.Nodes), Draw(Options.Seed),
        Choose(makePolicy(Options.Policy)) {}

  ~Search() { llvm::consumeError(std::move(Failure)); }

  llvm::Expected<SearchOutcome> run() {
    std::lock_guard<std::mutex> Held(State.RunLock);
    const RecordedRun &Before = Run.recorded();
    Observer.onBegin(Run.identity());
    if (Before.Nodes.size() && !Before.End)
      Observer.onNote("the run goes on after attempt " +
                      std::to_string(Before.Nodes.size() - 1) + " of " +
                      std::to_string(Options.Attempts));
    for (const auto &[Id, Took] : Before.Lost)
      State.Budget.lose(roleOf(Id), Took);
    if (llvm::Error E = judgeSource())
      return E;
    llvm::Expected<RunEnd> End =
        Options.Jobs > 1 ? makeAttemptsAtOnce() : makeAttempts();
    if (!End)
      return End.takeError();
    if (Before.Tuning) {
      Steps.skipToTuning();
      Begun = Before.Tuning->Attempts;
    }
    if (Options.Tune.any())
      if (llvm::Error E = tuneFastest(State, Begun, *End))
        return E;
    return finish(std::move(*End));
  }

private:
  llvm::Error judgeSource();
  /// \p Recorded is the step that is followed, if one is.
  llvm::Expected<std::optional<SelectEvent>>
  begin(unsigned Attempt, const ScheduleStep *Recorded = nullptr);
  std::vector<PlanInFlight> plansInFlight() const;
  llvm::Expected<RunEnd> makeAttempts();
  llvm::Expected<RunEnd> makeAttemptsAtOnce();
  llvm::Error follow();
  llvm::Error fly();
  void start(Flight &F);
  PendingChildren pending() const;
  void note(llvm::Error E);
  bool beatsTheSource(const Verdict &V) const;
  llvm::Expected<SearchOutcome> finish(RunEnd End);
  std::string confirmFailure(const SearchOutcome &Outcome) const;
  /// Unset while more may be begun.
  std::optional<RunEnd> enough() const {
    std::optional<std::string> Why = whyEnough(Nodes, Setup.Of.Load, Options);
    return Why ? std::optional<RunEnd>(RunEnd{std::move(*Why)}) : std::nullopt;
  }
  /// The journal goes on with tuning, so \p Attempt was not made whole.
  bool endedBefore(unsigned Attempt) const {
    const RecordedRun &Before = Run.recorded();
    return Before.Tuning && (Attempt > Before.Tuning->Attempts ||
                             !Before.Attempts[Attempt].Node);
  }
  RunEnd allAttempts() const {
    return {std::to_string(Options.Attempts) +
            (Options.Attempts == 1 ? " attempt" : " attempts")};
  }
  static RunEnd noneEligible() { return {"no node is eligible"}; }
  static RunEnd overBudget(const BudgetSpent &Over) {
    return {Over.why(), EndedBy::Budget};
  }

  const SearchSetup &Setup;
  const SearchOptions &Options;
  RunFolder &Run;
  SearchObserver &Observer;
  SearchState State;
  RunSteps &Steps;
  const Tree &Nodes;
  Random Draw;
  std::unique_ptr<Policy> Choose;
  unsigned Begun = 0; ///< attempts, from 1
  // With several jobs:
  std::map<unsigned, Flight> Flights; ///< by attempt
  std::optional<RunEnd> Spent;        ///< a budget ends the run
  llvm::Error Failure = llvm::Error::success();
};
} // namespace

llvm::Error Search::judgeSource() {
  if (takeRecorded(State, 0))
    return Run.setDevice(Nodes.node(0).Found.Device);
  Node N;
  N.Text = Setup.Of.SourceText;
  llvm::Expected<Verdict> V = askJudge(State, 0, 0, Purpose::Attempt, N.Text);
  if (!V)
    return V.takeError();
  if (!V->correct())
    return failed(
        "the source itself is " + verdictName(V->Kind) + ", wanted correct: " +
        trimForWindow(V->Compiler.empty() || !V->Run.empty() ? V->Run
                                                             : V->Compiler,
                      2000));
  if (llvm::Error E = Run.setDevice(V->Device))
    return E;
  if (llvm::Error E = State.record(0, std::move(N), std::move(*V)))
    return E;
  return Steps.flush();
}

/// Selects a node; unset when none is eligible.
llvm::Expected<std::optional<SelectEvent>>
Search::begin(unsigned Attempt, const ScheduleStep *Recorded) {
  if (llvm::Error E = State.checkCancelled())
    return E;
  std::optional<Selection> Chosen = Choose->select(Nodes, pending(), Draw);
  if (!Chosen)
    return std::nullopt;
  const Node &I = Nodes.node(Chosen->Node);
  SelectEvent S;
  S.Attempt = Attempt;
  S.Chosen = *Chosen;
  S.Single = Options.Agents == AgentsKind::Single;
  S.Debug = !S.Single && I.hasBug();
  auto Show = [&](WindowRole Role) {
    S.Shown.push_back(
        {Role, Options.Windows ? makeWindow(Role, Nodes, State.Leaders,
                                            I.Number, Options.WindowLimit, Draw)
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
  if (!S.Debug)
    S.Beside = Recorded ? Recorded->Beside : plansInFlight();
  bool Had = Steps.recordedStep(Attempt);
  if (llvm::Expected<SelectEvent> E = Steps.step(Attempt, S); !E)
    return E.takeError();
  Observer.onSelect(Attempt, S.Chosen, Nodes, S.Shown, Had);
  return S;
}

llvm::Expected<RunEnd> Search::makeAttempts() {
  for (unsigned Attempt = 1; Attempt <= Options.Attempts; ++Attempt) {
    if (endedBefore(Attempt))
      return Run.recorded().Tuning->Ended;
    if (std::optional<RunEnd> Enough = enough())
      return *Enough;
    llvm::Expected<std::optional<SelectEvent>> S = begin(Attempt);
    if (!S)
      return S.takeError();
    if (!*S)
      return noneEligible();
    Begun = Attempt;
    if (takeRecorded(State, Attempt))
      continue;
    // A spent budget ends a run as its last attempt does.
    if (llvm::Error E = llvm::handleErrors(
            makeAttempt(State, **S),
            [&](const BudgetSpent &Over) { Spent = overBudget(Over); }))
      return E;
    if (llvm::Error E = Steps.flush())
      return E;
    if (Spent)
      return *Spent;
  }
  return allAttempts();
}

/// What the planners are at whose attempts have begun and not ended.
std::vector<PlanInFlight> Search::plansInFlight() const {
  std::vector<PlanInFlight> Plans;
  for (const auto &[Attempt, F] : Flights) {
    if (F.Recorded || F.S.Debug)
      continue;
    auto Known = State.Titles.find(Attempt);
    Plans.push_back({Attempt, F.S.Chosen.Node,
                     Known == State.Titles.end() ? "" : Known->second});
  }
  return Plans;
}

PendingChildren Search::pending() const {
  PendingChildren Pending;
  for (const auto &[Attempt, F] : Flights)
    if (!F.Recorded)
      ++Pending[F.S.Chosen.Node];
  return Pending;
}

/// What an attempt comes to follows from its selection and, as for its number
/// and what is known already, from what was recorded before it. So a recorded
/// order of both, gone through one by one, gives the recorded tree.
llvm::Error Search::follow() {
  for (const ScheduleStep &Step :
       Setup.Follow.empty() ? Steps.schedule() : Setup.Follow) {
    if (Step.Begins && Step.Attempt > Options.Attempts)
      break;
    if (Step.Begins) {
      if (Step.Attempt != Begun + 1)
        return failed("the order to follow begins attempt " +
                      llvm::Twine(Step.Attempt) + " after attempt " +
                      llvm::Twine(Begun));
      llvm::Expected<std::optional<SelectEvent>> S = begin(Step.Attempt, &Step);
      if (!S)
        return S.takeError();
      if (!*S)
        return failed("the order to follow begins attempt " +
                      llvm::Twine(Step.Attempt) + ", but no node is eligible");
      Begun = Step.Attempt;
      Flights[Begun].S = std::move(**S);
      continue;
    }
    auto Found = Flights.find(Step.Attempt);
    if (Found == Flights.end())
      return failed("the order to follow ends attempt " +
                    llvm::Twine(Step.Attempt) + ", which did not begin");
    if (!takeRecorded(State, Step.Attempt))
      if (llvm::Error E = makeAttempt(State, Found->second.S))
        return E;
    Flights.erase(Found);
  }
  return llvm::Error::success();
}

void Search::note(llvm::Error E) {
  E = llvm::handleErrors(std::move(E), [&](const BudgetSpent &Over) {
    if (!Spent)
      Spent = overBudget(Over);
  });
  // One error is told: what failed rather than what waits.
  if (Failure && E && errorKind(Failure) == ErrorKind::Suspended)
    std::swap(Failure, E);
  if (Failure)
    llvm::consumeError(std::move(E));
  else
    Failure = std::move(E);
}

void Search::start(Flight &F) {
  F.Thread = std::thread(traced([this, &F] {
    std::lock_guard<std::mutex> Held(State.RunLock);
    llvm::Error E = makeAttempt(State, F.S);
    // Its node is in the journal, and no other event since: from here on it is
    // a child and not pending.
    F.Recorded = !E;
    note(std::move(E));
    note(Steps.flush());
    F.Ended = true;
    State.Changed.notify_all();
  }));
}

/// Keeps Jobs attempts in flight until none may begin and all have ended.
llvm::Error Search::fly() {
  while (true) {
    while (Flights.size() < Options.Jobs && Begun < Options.Attempts &&
           !Failure && !Spent && !enough()) {
      llvm::Expected<std::optional<SelectEvent>> S = begin(Begun + 1);
      if (!S) {
        note(S.takeError());
        break;
      }
      if (!*S)
        break;
      Flight &F = Flights[++Begun];
      F.S = std::move(**S);
      start(F);
    }
    if (Flights.empty())
      break;
    auto Ended = [&] {
      return llvm::any_of(Flights, [](auto &F) { return F.second.Ended; });
    };
    while (!Ended())
      State.Changed.wait(State.RunLock);
    for (auto I = Flights.begin(); I != Flights.end();) {
      if (!I->second.Ended) {
        ++I;
        continue;
      }
      // The thread may still be letting the run lock go.
      State.RunLock.unlock();
      I->second.Thread.join();
      State.RunLock.lock();
      I = Flights.erase(I);
    }
  }
  return std::move(Failure);
}

llvm::Expected<RunEnd> Search::makeAttemptsAtOnce() {
  if (llvm::Error E = follow())
    return E;
  if (Run.recorded().End)
    return Run.recorded().End->Ended;
  if (Run.recorded().Tuning)
    return Run.recorded().Tuning->Ended;
  // An attempt that was judged already has its number, so it goes first.
  for (auto I = Flights.begin(); I != Flights.end(); ++I)
    if (Steps.judgedOnly(I->first)) {
      if (llvm::Error E = makeAttempt(State, I->second.S))
        return E;
      Flights.erase(I);
      break;
    }
  for (auto &[Attempt, F] : Flights)
    start(F);
  if (llvm::Error E = fly())
    return E;
  if (Spent)
    return *Spent;
  if (Begun >= Options.Attempts)
    return allAttempts();
  std::optional<RunEnd> Enough = enough();
  return Enough ? *Enough : noneEligible();
}

bool Search::beatsTheSource(const Verdict &V) const {
  return V.correct() && V.speedup() >= Options.Margin && V.speedupLow() > 1;
}

llvm::Expected<SearchOutcome> Search::finish(RunEnd End) {
  SearchOutcome Outcome;
  Outcome.Ended = std::move(End);
  std::vector<unsigned> Order;
  for (unsigned I = 1; I < Nodes.size(); ++I)
    if (Nodes.node(I).SameAs < 0 && beatsTheSource(Nodes.node(I).Found))
      Order.push_back(I);
  std::stable_sort(Order.begin(), Order.end(), [&](unsigned A, unsigned B) {
    return Nodes.node(A).scoreUs() < Nodes.node(B).scoreUs();
  });
  for (unsigned I : Order) {
    Outcome.Confirmed = Nodes.node(I).Found;
    if (Options.Confirm) {
      llvm::Expected<Verdict> V =
          askJudge(State, unsigned(Nodes.size()), I, Purpose::Confirm,
                   Nodes.node(I).Text);
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
  EndEvent Last{Outcome.Winner, unsigned(Nodes.size()) - 1, Outcome.Ended};
  if (llvm::Expected<EndEvent> E = Steps.step(RunSteps::Tail, Last); !E)
    return E.takeError();
  if (llvm::Error E = Steps.flush())
    return E;
  Observer.onEnd(Outcome);
  Outcome.Nodes = std::move(State.Nodes);
  return Outcome;
}

std::string Search::confirmFailure(const SearchOutcome &Outcome) const {
  const Verdict &V = Outcome.Confirmed;
  if (!V.correct())
    return verdictName(V.Kind).str();
  return describeSpeedup(V) + ", wanted " + std::to_string(Options.Margin);
}

RunIdentity stark::identityOf(const SearchSetup &Setup,
                              const SearchOptions &Options) {
  RunIdentity I;
  I.TaskName = Setup.Of.Name;
  I.Entry = Setup.Of.Load.Entry;
  I.TaskDigest = Setup.Of.Digest;
  I.Arch = Setup.Of.Parse.Arch;
  I.PromptsDigest = Setup.Prompts.Digest;
  I.Provider = Setup.Chat.identity();
  I.Evaluator = Setup.Judge.identity();
  I.Options = Options;
  I.Versions = Setup.Versions;
  return I;
}

llvm::Expected<SearchOutcome> stark::runSearch(const SearchSetup &Setup,
                                               const SearchOptions &Options,
                                               llvm::StringRef RunFolderPath,
                                               SearchObserver &Observer) {
  llvm::Expected<RunFolder> Run =
      RunFolder::open(RunFolderPath, Setup, Options, Observer);
  if (!Run)
    return Run.takeError();
  return Search(Setup, Options, *Run, Observer).run();
}
