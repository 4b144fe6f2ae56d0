//===- Landscape.cpp - Search without a model -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Landscape.h"
#include "stark/Bench/Suite.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cmath>

using namespace stark;

namespace {
/// Draws that are a function of a key: splitmix64.
class KeyedDraw {
public:
  explicit KeyedDraw(uint64_t Key) : State(Key) {}
  uint64_t next() {
    State += 0x9e3779b97f4a7c15;
    uint64_t Z = State;
    Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
    Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
    return Z ^ (Z >> 31);
  }
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// As a sum of uniform draws, which no mathematics library changes.
  double normal() {
    double Sum = -6;
    for (int I = 0; I < 12; ++I)
      Sum += uniform();
    return Sum;
  }
  double exponential(double Mean) { return -Mean * std::log(1 - uniform()); }

private:
  uint64_t State;
};

/// The moves that are nearest by the speed they began at: what comes of a
/// change depends on how much was gained already.
constexpr size_t NearestMoves = 8;

/// What is not seen of a node.
struct Hidden {
  uint64_t Key = 0;
  double Speed = 0;   ///< that it has, or would have if it were repaired
  double Ceiling = 0; ///< that its approach can reach
  unsigned Depth = 0, FailedRepairs = 0;
};

struct Step {
  Hidden H;
  VerdictKind Kind;
  bool Compiles;
};
} // namespace

static const RecordedMove *drawMove(const std::vector<RecordedMove> &Moves,
                                    double From, KeyedDraw &Draw) {
  if (Moves.empty())
    return nullptr;
  std::vector<const RecordedMove *> Near;
  for (const RecordedMove &M : Moves)
    Near.push_back(&M);
  std::stable_sort(Near.begin(), Near.end(),
                   [&](const RecordedMove *A, const RecordedMove *B) {
                     return std::abs(A->From - From) < std::abs(B->From - From);
                   });
  return Near[size_t(Draw.uniform() *
                     double(std::min(Near.size(), NearestMoves)))];
}

/// What a recorded attempt in the same place came to. Nothing is faster than
/// the fastest that was recorded: chained gains would have no end otherwise.
static Step recordedStep(const RecordedMoves &Moves, const Hidden &Above,
                         bool Repair, KeyedDraw &Luck) {
  const std::vector<RecordedMove> &From = Repair ? Moves.Repairs
                                          : Above.Depth == 0
                                              ? Moves.First
                                              : Moves.Refinements;
  Step S{Above, VerdictKind::Wrong, true};
  if (!Repair)
    ++S.H.Depth;
  // A failing node keeps the speed that it was to better.
  const RecordedMove *M = drawMove(From, Above.Speed, Luck);
  if (!M)
    return S;
  S.Kind = M->Kind;
  S.Compiles = compiledVerdict(M->Kind);
  if (M->Kind == VerdictKind::Correct)
    S.H.Speed = std::min(Above.Speed + M->Gain, Moves.Best);
  return S;
}

static Hidden draw(const LandscapeOptions &O, const Hidden &Parent,
                   double FirstMean, KeyedDraw &Draw) {
  Hidden H;
  H.Depth = Parent.Depth + 1;
  if (Parent.Depth == 0) {
    H.Speed = FirstMean + O.FirstDeviation * Draw.normal();
    H.Ceiling = H.Speed + O.HeadroomMedian *
                              std::exp(O.HeadroomDeviation * Draw.normal());
    return H;
  }
  H.Ceiling = Parent.Ceiling;
  bool Slower = Draw.uniform() < O.Regress;
  double Loss = Draw.exponential(O.RegressMean), Share = Draw.uniform();
  bool Opens = Draw.uniform() < O.Breakthrough;
  double Opened = Draw.exponential(O.BreakthroughMean);
  if (Opens)
    H.Ceiling += Opened;
  H.Speed = Slower ? Parent.Speed - Loss
                   : Parent.Speed + Share * Share * (H.Ceiling - Parent.Speed);
  return H;
}

namespace {
/// What sets a task apart.
struct TaskDraw {
  double Correct = 0, FirstMean = 0;
};
} // namespace

static Step simulatedStep(const LandscapeOptions &O, const TaskDraw &Task,
                          const Hidden &Above, bool Repair, KeyedDraw &Luck) {
  double CompilesIfWrong = (O.Compiles - O.Correct) / (1 - O.Correct);
  Step S;
  double Chance;
  if (Repair) {
    S.H = Above;
    Chance = O.Repairs * std::pow(O.RepairAgain, Above.FailedRepairs);
  } else {
    S.H = draw(O, Above, Task.FirstMean, Luck);
    Chance = Task.Correct * std::pow(O.Deeper, S.H.Depth - 1);
  }
  bool Right = Luck.uniform() < Chance;
  S.Compiles = Right || Luck.uniform() < CompilesIfWrong;
  S.H.FailedRepairs = Repair && !Right ? Above.FailedRepairs + 1 : 0;
  S.Kind = Right        ? VerdictKind::Correct
           : S.Compiles ? VerdictKind::Wrong
                        : VerdictKind::NotCompiled;
  return S;
}

static Verdict verdictOf(VerdictKind Kind, double Speed) {
  Verdict V;
  V.Kind = Kind;
  if (Kind != VerdictKind::Correct)
    return V;
  job::Timing T;
  T.SourceMedianUs = 100;
  T.MedianUs = 100 / std::exp(Speed);
  T.Speedup = T.SpeedupLow = T.SpeedupHigh = std::exp(Speed);
  V.Timings.push_back(T);
  return V;
}

LandscapeRun stark::runLandscape(const LandscapeOptions &O, uint64_t TaskSeed,
                                 Policy &P, unsigned Attempts) {
  KeyedDraw OfTask(TaskSeed);
  TaskDraw OfThis;
  double Odds =
      std::log(O.Correct / (1 - O.Correct)) + O.TaskDeviation * OfTask.normal();
  OfThis.Correct = 1 / (1 + std::exp(-Odds));
  OfThis.FirstMean = O.FirstMean + O.FirstTaskDeviation * OfTask.normal();

  LandscapeRun Run;
  std::vector<Hidden> Unseen(1);
  Unseen[0].Key = OfTask.next();
  Node Source;
  Source.Found = verdictOf(VerdictKind::Correct, 0);
  Run.Nodes.add(std::move(Source));
  Random Draw(TaskSeed);
  double Best = 0;
  while (Run.BestSoFar.size() < Attempts) {
    std::optional<Selection> S = P.select(Run.Nodes, {}, Draw);
    if (!S)
      break;
    const Node &Parent = Run.Nodes.node(S->Node);
    const Hidden Above = Unseen[S->Node];
    KeyedDraw Luck(Above.Key + 0x632be59bd9b4e019 * Parent.Children.size());
    Step Next = O.Recorded.empty()
                    ? simulatedStep(O, OfThis, Above, Parent.hasBug(), Luck)
                    : recordedStep(O.Recorded[TaskSeed % O.Recorded.size()],
                                   Above, Parent.hasBug(), Luck);
    bool Right = Next.Kind == VerdictKind::Correct;
    Next.H.Key = Luck.next();
    Node N;
    N.Parent = int(S->Node);
    N.FromDebug = Parent.hasBug();
    N.Found = verdictOf(Next.Kind, Next.H.Speed);
    Run.Compiled += Next.Compiles;
    Run.Correct += Right;
    if (Right)
      Best = std::max(Best, N.Found.speedup());
    Run.Nodes.add(std::move(N));
    Unseen.push_back(Next.H);
    Run.BestSoFar.push_back(Best);
  }
  return Run;
}

/// An error when the run has nothing to draw a first change or a refinement of
/// a correct candidate from.
static llvm::Expected<RecordedMoves> movesOf(const RecordedRun &Run) {
  RecordedMoves Moves;
  for (unsigned I = 1; I < Run.Nodes.size(); ++I) {
    const Node &N = Run.Nodes.node(I);
    // An agent that works alone repairs a failing node without the debug
    // agent, and its base is that node.
    const Node *Base = &Run.Nodes.node(unsigned(N.Base));
    while (!Base->Found.correct() && Base->Number)
      Base = &Run.Nodes.node(unsigned(Base->Base));
    if (!Base->Found.correct())
      continue;
    RecordedMove M;
    M.Kind = N.Found.Kind;
    // A plan that could be used gives the debug agent something to repair.
    if (M.Kind == VerdictKind::NoCandidate && !N.Given.Anchors.empty())
      M.Kind = VerdictKind::NotCompiled;
    M.From = std::log(Base->Found.speedup());
    if (N.Found.correct()) {
      double Speed = std::log(N.Found.speedup());
      M.Gain = Speed - M.From;
      Moves.Best = std::max(Moves.Best, Speed);
    }
    bool Repair = Run.Nodes.node(unsigned(N.Parent)).hasBug();
    (Repair          ? Moves.Repairs
     : !Base->Number ? Moves.First
                     : Moves.Refinements)
        .push_back(M);
  }
  if (Moves.First.empty() || Moves.Refinements.empty())
    return failed("the run has " + llvm::Twine(Moves.First.size()) +
                  " changes of the source and " +
                  llvm::Twine(Moves.Refinements.size()) +
                  " of correct candidates, wanted one of each or more");
  return Moves;
}

llvm::Expected<std::vector<LandscapeOptions>>
stark::recordedLandscapes(const std::vector<std::string> &Folders) {
  std::vector<LandscapeOptions> Landscapes;
  LandscapeOptions Together;
  Together.Name = "all " + std::to_string(Folders.size()) + " runs";
  for (const std::string &Folder : Folders) {
    llvm::Expected<RecordedRun> Run = readRun(Folder);
    if (!Run)
      return Run.takeError();
    llvm::Expected<RecordedMoves> Moves = movesOf(*Run);
    if (!Moves)
      return withContext(Moves.takeError(), "--landscape-from: " + Folder);
    LandscapeOptions One;
    One.Name = Run->Identity.TaskName + " (" +
               std::to_string(Run->Nodes.size() - 1) + " attempts)";
    One.Recorded = {*Moves};
    Together.Recorded.push_back(std::move(*Moves));
    Landscapes.push_back(std::move(One));
  }
  if (Landscapes.size() > 1)
    Landscapes.push_back(std::move(Together));
  return Landscapes;
}

std::vector<LandscapeOptions> stark::standardLandscapes() {
  // Rates and speeds are fitted so that the default policy compiles and is
  // correct as often as the paper's table 2 says of STARK, that sampling is as
  // often as fast as the source as table 1 says, and that both end near its
  // speeds; docs/bench.md compares them.
  return {{.Name = "level-1",
           .Compiles = 0.865,
           .Correct = 0.57,
           .FirstMean = -0.92,
           .HeadroomMedian = 1.2},
          {.Name = "level-2"},
          {.Name = "level-3",
           .Compiles = 0.85,
           .Correct = 0.365,
           .FirstMean = -0.55,
           .HeadroomMedian = 0.55},
          {.Name = "little-root-dominance", .FirstMean = -0.1},
          {.Name = "little-headroom", .HeadroomMedian = 0.2},
          {.Name = "poor-repairs", .Repairs = 0.05}};
}
