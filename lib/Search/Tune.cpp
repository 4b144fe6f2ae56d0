//===- Tune.cpp - The best instance of what was found ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tune.h"
#include "Coordinates.h"
#include "LiveCalls.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace stark;

namespace {
class Tuner {
public:
  Tuner(SearchState &State, unsigned Fastest, std::vector<Tunable> All,
        unsigned Begun)
      : State(State), Base(State.Nodes.node(Fastest)),
        Points(std::move(All), Base.scoreUs(), State.Options.Seed),
        Attempt(Begun), Started(State.Setup.Time->now()) {
    for (const Tunable &T : Points.tunables())
      Present.push_back(T.Value);
  }

  llvm::Error begin(const RunEnd &Ended);
  llvm::Error tryPoints();

private:
  bool mayGoOn();
  unsigned spentSeconds() const {
    return SpentBefore +
           unsigned(State.Setup.Time->millisecondsSince(Started) / 1000);
  }
  llvm::Expected<std::string> limitOf(const std::string &Text) const;
  std::string slowInModel(const std::string &Text);
  std::optional<double> modelledUs(const std::string &Text);
  bool leftOutBefore(const std::string &What) const;
  llvm::Error select(const std::string &What);
  llvm::Error judge(std::string Text, const std::string &What);
  llvm::Expected<Verdict> verdictOn(Node &N);

  SearchState &State;
  const Node &Base; ///< a node stays where it is
  Coordinates Points;
  Coordinates::Point Present;
  unsigned Attempt;
  unsigned Made = 0; ///< variants
  unsigned SpentBefore = 0;
  Clock::Time Started;
  TimeModel Model = State.Setup.Modelled; ///< empty once it has failed
  std::optional<double> BaseModelledUs;
};

/// A variant that is modelled to take so much longer than what it varies is
/// not judged. Of the kernels of test/calibration in docs/sim.md, no pair of a
/// family that the model has so far apart (83) is measured the other way round.
constexpr double SlowByFar = 1.5;
} // namespace

static std::string reasonOf(const std::string &What) { return "tune " + What; }

llvm::Error Tuner::begin(const RunEnd &Ended) {
  TuneEvent E;
  E.Node = Base.Number;
  E.Attempts = Attempt;
  E.Ended = Ended;
  for (const Tunable &T : Points.tunables())
    E.Numbers.push_back({T.Name, T.Line, T.Value});
  llvm::Expected<TuneEvent> Taken = State.Steps.step(RunSteps::Tail, E);
  return Taken ? llvm::Error::success() : Taken.takeError();
}

/// Whether the next variant may be begun, in a run that ended as in one that
/// goes on.
bool Tuner::mayGoOn() {
  const TuneLimits &Limits = State.Options.Tune;
  if (Limits.Candidates && Made >= Limits.Candidates)
    return false;
  if (State.Steps.recorded<SelectEvent>(Attempt + 1))
    return true;
  const RecordedRun &Before = State.Steps.run().recorded();
  if (Before.End || !Before.Confirmations.empty())
    return false;
  if (State.Setup.Tuned)
    return Made < State.Setup.Tuned->size();
  return !Limits.Seconds || spentSeconds() < Limits.Seconds;
}

/// Why no GPU can run \p Text; empty: one may.
llvm::Expected<std::string> Tuner::limitOf(const std::string &Text) const {
  const Task &Of = State.Setup.Of;
  posix::ChildAnswer Said = posix::askChild(
      [&]() -> std::string {
        auto Parsed =
            parseSource(Of.SourcePath, Text, Of.Parse, State.Parses.headers());
        if (Parsed)
          return beyondEveryGpu(**Parsed, registersOf(Base.Found));
        llvm::consumeError(Parsed.takeError());
        return "";
      },
      State.Setup.Check);
  if (Said.End == posix::ChildEnd::Interrupted)
    return interrupted("interrupted while a variant was read");
  // What cannot be read gets its verdict as any candidate does.
  return Said.End == posix::ChildEnd::Answered ? Said.Text : std::string();
}

/// A run that is made again leaves out what it did, whatever a model says now.
bool Tuner::leftOutBefore(const std::string &What) const {
  std::optional<SelectEvent> Then = State.Steps.recordedSelect(Attempt + 1);
  return Then && Then->Tune && Then->Chosen.Reason != reasonOf(What);
}

std::optional<double> Tuner::modelledUs(const std::string &Text) {
  llvm::Expected<std::optional<double>> Us = Model(Text);
  if (Us)
    return *Us;
  State.Observer.onNote("other numbers are tried without a model: " +
                        llvm::toString(Us.takeError()));
  Model = nullptr;
  return std::nullopt;
}

/// Why the judge need not be asked; empty: it has to be.
std::string Tuner::slowInModel(const std::string &Text) {
  if (!Model || State.Steps.recorded<SelectEvent>(Attempt + 1))
    return "";
  if (!BaseModelledUs && !(BaseModelledUs = modelledUs(Base.Text)))
    Model = nullptr;
  std::optional<double> Us = Model ? modelledUs(Text) : std::nullopt;
  if (!Us || *Us < SlowByFar * *BaseModelledUs)
    return "";
  return llvm::formatv("modelled to take {0:F1} times as long",
                       *Us / *BaseModelledUs);
}

llvm::Error Tuner::tryPoints() {
  while (true) {
    if (llvm::Error E = State.checkCancelled())
      return E;
    // Asked for first, as what cannot run costs no attempt.
    if (!mayGoOn())
      break;
    std::optional<Coordinates::Point> Next = Points.next();
    if (!Next)
      break;
    std::string Text = withValues(Base.Text, Points.tunables(), *Next);
    std::string What = describePoint(Points.tunables(), Present, *Next);
    if (leftOutBefore(What)) {
      Points.found(INFINITY);
      continue;
    }
    llvm::Expected<std::string> Beyond = limitOf(Text);
    if (!Beyond)
      return Beyond.takeError();
    if (Beyond->empty())
      *Beyond = slowInModel(Text);
    if (!Beyond->empty()) {
      State.Observer.onNote("not tried, " + What + ": " + *Beyond);
      Points.found(INFINITY);
      continue;
    }
    ++Attempt;
    if (llvm::Error E = select(What))
      return E;
    ++Made;
    if (!takeRecorded(State, Attempt))
      if (llvm::Error E = judge(std::move(Text), What))
        return E;
    Points.found(State.Nodes.node(unsigned(State.Nodes.size() - 1)).scoreUs());
  }
  std::string Gained = describePoint(Points.tunables(), Present, Points.best());
  State.Observer.onNote("tuned node " + std::to_string(Base.Number) + ": " +
                        (Gained.empty() ? "its numbers stay" : Gained) +
                        ", of " + std::to_string(Made) + " variants");
  return llvm::Error::success();
}

/// The seconds that were spent before it are the journal's, so that a run that
/// goes on spends what is left.
llvm::Error Tuner::select(const std::string &What) {
  SelectEvent S;
  S.Attempt = Attempt;
  S.Chosen = {Base.Number, reasonOf(What)};
  S.Tune = true;
  if (State.Options.Tune.Seconds)
    S.SpentS = State.Setup.Tuned && Made < State.Setup.Tuned->size()
                   ? (*State.Setup.Tuned)[Made]
                   : spentSeconds();
  bool Had = State.Steps.recorded<SelectEvent>(Attempt);
  auto IsSame = [&](const SelectEvent &Then) {
    return Then.Tune && Then.Attempt == S.Attempt &&
           Then.Chosen.Node == S.Chosen.Node &&
           Then.Chosen.Reason == S.Chosen.Reason;
  };
  llvm::Expected<SelectEvent> Taken = State.Steps.step<SelectEvent>(
      Attempt, {"try", S.Chosen.Reason, IsSame},
      [&] { return llvm::Expected<SelectEvent>(S); });
  if (!Taken)
    return Taken.takeError();
  if (Had) {
    SpentBefore = Taken->SpentS.value_or(0);
    Started = State.Setup.Time->now();
  }
  State.Observer.onSelect(Attempt, S.Chosen, State.Nodes, S.Shown, Had);
  return llvm::Error::success();
}

llvm::Error Tuner::judge(std::string Text, const std::string &What) {
  TraceSubject Of("attempt " + std::to_string(Attempt));
  TraceScope Traced("attempt");
  Node N;
  N.Number = unsigned(State.Nodes.size());
  N.Parent = N.Base = int(Base.Number);
  N.Tuned = true;
  N.Given.Title = What;
  N.Given.Advice = "Set " + What + "; the rest stays.";
  N.Text = std::move(Text);
  llvm::Expected<Verdict> V = verdictOn(N);
  if (!V)
    return V.takeError();
  if (llvm::Error E = State.record(Attempt, std::move(N), std::move(*V)))
    return E;
  return State.Steps.flush();
}

/// As on an attempt that has no anchors to keep to.
llvm::Expected<Verdict> Tuner::verdictOn(Node &N) {
  N.SameAs = State.Known.find(N.Text);
  if (N.SameAs < 0 && !State.Steps.recordedStep(Attempt))
    prepareJudge(State, N.Text);
  llvm::Expected<std::optional<Verdict>> Found = checkCandidate(
      {State.Setup.Of, std::nullopt, N.Text, /*Known=*/N.SameAs >= 0,
       State.Parses.headers(), State.Setup.Check});
  if (!Found)
    return Found.takeError();
  if (!*Found && N.SameAs >= 0)
    *Found = knownVerdict(State.Nodes.node(unsigned(N.SameAs)));
  if (*Found)
    return journalCheck(State.Steps, Attempt, N.Number, N.Text, **Found);
  return askJudge(State, Attempt, N.Number, Purpose::Attempt, N.Text);
}

llvm::Error stark::tuneFastest(SearchState &State, unsigned Begun,
                               const RunEnd &Ended) {
  unsigned Fastest = 0;
  for (unsigned I = 1; I < State.Nodes.size(); ++I)
    if (State.Nodes.node(I).SameAs < 0 &&
        State.Nodes.node(I).scoreUs() < State.Nodes.node(Fastest).scoreUs())
      Fastest = I;
  llvm::Expected<std::shared_ptr<const ParsedNode>> Parsed =
      State.Parses.get(Fastest, State.Nodes.node(Fastest).Text);
  if (!Parsed)
    return Parsed.takeError();
  std::vector<Tunable> All =
      findTunables(*(*Parsed)->Source, State.Setup.Of.Load.Entry);
  if (All.empty()) {
    State.Observer.onNote("node " + std::to_string(Fastest) +
                          " has no number to tune");
    return llvm::Error::success();
  }
  State.Tunes = true;
  Tuner T(State, Fastest, std::move(All), Begun);
  if (llvm::Error E = T.begin(Ended))
    return E;
  return T.tryPoints();
}
