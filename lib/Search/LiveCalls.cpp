//===- LiveCalls.cpp - Model, judge and profiler, asked in a run ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveCalls.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/Twine.h"
#include <utility>

using namespace stark;

/// Seeds of the judge's comparisons: others for each text and purpose, so that
/// a confirmation sees inputs that no attempt has seen. Of the node's number
/// they do not depend, which is known only when it is its turn.
static uint64_t seedFor(uint64_t Seed, llvm::StringRef Text,
                        llvm::StringRef Purpose) {
  std::string Digest = DigestBuilder()
                           .add("seed", std::to_string(Seed))
                           .add("text", Text)
                           .add("purpose", Purpose)
                           .finish();
  return std::stoull(Digest.substr(0, 12), nullptr, 16);
}

namespace {
/// Whose attempt asks.
struct LiveCall {
  LiveCall(SearchState &State, unsigned Attempt)
      : State(State), Attempt(Attempt) {}

  SearchState &State;
  const unsigned Attempt;
};

/// Each call within the budget.
class LiveClient : public ChatClient, LiveCall {
public:
  using LiveCall::LiveCall;

  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override;
  std::optional<WorstCase>
  worstCase(const ChatRequest &Request) const override {
    return State.Setup.Chat.worstCase(Request);
  }
  std::string identity() const override { return State.Setup.Chat.identity(); }

private:
  llvm::Error reserve(const ChatRequest &Request, const WorstCase &Worst);
};

class LiveJudge : public Evaluator, LiveCall {
public:
  using LiveCall::LiveCall;

  llvm::Expected<Verdict> evaluate(const Candidate &C) override {
    if (llvm::Error Stop = State.checkCancelled())
      return Stop;
    if (State.JudgeStopped)
      return suspended("an earlier candidate is being judged");
    bool Confirms = C.Why == Purpose::Confirm;
    State.Observer.onStep(Attempt, {Confirms ? SearchStep::Kind::Confirm
                                             : SearchStep::Kind::Judge,
                                    C.Node});
    RunLockReleased Released(State.RunLock);
    TraceSubject Of("node " + std::to_string(C.Node));
    TraceScope Traced(Confirms ? "confirm" : "judge");
    Candidate Judged = C;
    Judged.OnWait = [this](llvm::StringRef Why) {
      std::lock_guard<std::mutex> Held(State.RunLock);
      if (!std::exchange(State.ToldToWait, true))
        State.Observer.onNote(Why);
    };
    return State.Setup.Judge.evaluate(Judged);
  }
  std::string identity() const override { return State.Setup.Judge.identity(); }
};

class LiveProfiler : public Profiler, LiveCall {
public:
  using LiveCall::LiveCall;

  llvm::Expected<Counters> profile(const Candidate &C) override {
    if (llvm::Error E = State.checkCancelled())
      return E;
    if (!State.Setup.Profile)
      return failed("there is no profiler for the counters of node " +
                    llvm::Twine(C.Node));
    State.Observer.onStep(Attempt, {SearchStep::Kind::Profile, C.Node});
    RunLockReleased Released(State.RunLock);
    TraceSubject Of("node " + std::to_string(C.Node));
    TraceScope Traced("profile");
    return State.Setup.Profile->profile(C);
  }
};
} // namespace

llvm::Error LiveClient::reserve(const ChatRequest &Request,
                                const WorstCase &Worst) {
  while (true) {
    if (llvm::Error E = State.checkCancelled())
      return E;
    llvm::Expected<std::string> Why = State.Budget.reserve(Request.Role, Worst);
    if (!Why)
      return Why.takeError();
    if (Why->empty())
      break;
    if (!State.Budget.holdsAny())
      return llvm::make_error<BudgetSpent>(std::move(*Why));
    State.Changed.wait(State.RunLock);
  }
  State.Budget.hold(Request.Role, Worst);
  return llvm::Error::success();
}

llvm::Expected<ChatReply> LiveClient::complete(const ChatRequest &Request,
                                               const CallControl &Control) {
  if (llvm::Error E = State.checkCancelled())
    return E;
  std::optional<WorstCase> Worst = worstCase(Request);
  if (Worst)
    if (llvm::Error E = reserve(Request, *Worst))
      return E;
  State.Observer.onStep(Attempt, {SearchStep::Kind::Ask, 0, Request.Id});
  llvm::Expected<ChatReply> Reply = [&] {
    RunLockReleased Released(State.RunLock);
    TraceScope Traced("ask", Request.Id);
    return State.Setup.Chat.complete(Request, Control);
  }();
  if (Worst)
    State.Budget.release(Request.Role, *Worst);
  // A reply counts what was lost before it.
  DiscardedAnswers Lost = State.Lost.of(Request.Id);
  State.Budget.regain(Request.Role, Lost);
  State.Changed.notify_all();
  if (!Reply) {
    llvm::Error E = Reply.takeError();
    Lost += lostBy(E);
    State.Budget.lose(Request.Role, Lost);
    return E;
  }
  Reply->Discarded += Lost;
  if (Worst)
    State.Budget.settle(Request.Role, *Reply, *Worst);
  State.Observer.onReply(Attempt, Request.Id, *Reply, /*Recorded=*/false);
  return Reply;
}

llvm::Expected<ChatReply> stark::askModel(SearchState &State, unsigned Attempt,
                                          const ChatRequest &Request) {
  LiveClient Live(State, Attempt);
  auto Settle = [&](const ChatRequest &Request, const ChatReply &Reply) {
    if (std::optional<WorstCase> Worst = Live.worstCase(Request))
      State.Budget.settleRecorded(Request.Role, Reply, *Worst);
    State.Observer.onReply(Attempt, Request.Id, Reply, /*Recorded=*/true);
  };
  CallControl Control;
  Control.Cancelled = State.Setup.Cancelled;
  return journalReplies(Live, State.Steps, State.Lost, Attempt, Settle)
      ->complete(Request, Control);
}

/// For the judge.
static Candidate candidateFor(const SearchState &State, Purpose Why,
                              const std::string &Text) {
  Candidate C;
  C.Why = Why;
  C.Text = Text;
  C.Seed = seedFor(State.Options.Seed, Text,
                   Why == Purpose::Confirm ? "confirm" : "attempt");
  C.Profiled = State.Options.Profile && Why == Purpose::Attempt && !State.Tunes;
  // Only what is faster than all before may win.
  C.Fastest = 1;
  for (unsigned I = 0; I < State.Nodes.size(); ++I) {
    const Verdict &Before = State.Nodes.node(I).Found;
    if (I)
      C.Fastest = std::max(C.Fastest, Before.speedup());
    if (Before.Counted && Before.Counted->Unavailable)
      C.Profiled = false;
  }
  return C;
}

void stark::prepareJudge(SearchState &State, const std::string &Text) {
  State.Setup.Judge.prepare(candidateFor(State, Purpose::Attempt, Text));
}

void stark::announceToJudge(SearchState &State, const std::string &Text) {
  if (llvm::Error Stop = State.checkCancelled())
    return llvm::consumeError(std::move(Stop));
  TraceScope Traced("announce");
  Candidate C = candidateFor(State, Purpose::Attempt, Text);
  RunLockReleased Released(State.RunLock);
  State.Setup.Judge.begin(C);
}

llvm::Expected<Verdict> stark::askJudge(SearchState &State, unsigned Attempt,
                                        unsigned Number, Purpose Why,
                                        const std::string &Text) {
  LiveJudge Live(State, Attempt);
  Candidate C = candidateFor(State, Why, Text);
  C.Node = Number;
  return journalVerdicts(Live, State.Steps, Attempt)->evaluate(C);
}

llvm::Expected<Counters> stark::askProfiler(SearchState &State,
                                            unsigned Attempt, unsigned Base) {
  LiveProfiler Live(State, Attempt);
  Candidate C;
  C.Node = Base;
  C.Text = State.Nodes.node(Base).Text;
  C.Seed = seedFor(State.Options.Seed, C.Text, "counters");
  return journalCounters(Live, State.Steps, State.Shown, Attempt)->profile(C);
}
