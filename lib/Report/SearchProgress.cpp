//===- SearchProgress.cpp - What a search is at, in a few lines -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/SearchProgress.h"
#include "Figures.h"
#include "stark/Report/Progress.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace stark;

static constexpr size_t WidestBar = 30, NarrowestBar = 8;
/// Lines that are there besides those of attempts in flight.
static constexpr size_t OtherLines = 5;

std::string stark::durationText(uint64_t Seconds) {
  if (Seconds < 60)
    return std::to_string(Seconds) + " s";
  auto Two = [](uint64_t N) { return (N < 10 ? "0" : "") + std::to_string(N); };
  uint64_t Minutes = Seconds / 60;
  if (Minutes < 60)
    return std::to_string(Minutes) + " min " + Two(Seconds % 60) + " s";
  return std::to_string(Minutes / 60) + " h " + Two(Minutes % 60) + " min";
}

/// The microseconds that moving the data of \p T alone would take.
static std::optional<double> floorUs(const job::Timing &T,
                                     llvm::StringRef Run) {
  // Runs keep it in words alone: lib/Eval/JobFolder.cpp has them.
  while (!Run.empty()) {
    auto [Line, Rest] = Run.split('\n');
    Run = Rest;
    if (!Line.consume_front(T.Label) || !Line.starts_with(": median "))
      continue;
    llvm::StringRef Number = Line.split("; moving its ")
                                 .second.split(" takes ")
                                 .second.split(" us,")
                                 .first;
    double Us = 0;
    if (!Number.getAsDouble(Us) && Us > 0)
      return Us;
  }
  return std::nullopt;
}

std::optional<double> stark::floorShare(const Verdict &V) {
  double Logs = 0;
  for (const job::Timing &T : V.Timings) {
    std::optional<double> Floor = floorUs(T, V.Run);
    if (!Floor || !(T.MedianUs > 0))
      return std::nullopt;
    Logs += std::log(*Floor / T.MedianUs);
  }
  if (V.Timings.empty())
    return std::nullopt;
  return std::exp(Logs / double(V.Timings.size()));
}

/// The first of \p Parts, cut if need be, and of the others as many as fit.
static std::string join(llvm::ArrayRef<std::string> Parts, size_t Columns) {
  std::string Line = fitLine(Parts.front(), Columns);
  for (const std::string &Part : Parts.drop_front()) {
    if (Part.empty())
      continue;
    if (columnsOf(Line) + 2 + columnsOf(Part) > Columns)
      break;
    Line += ", " + Part;
  }
  return Line;
}

void SearchProgress::onBegin(const RunIdentity &Of) {
  Run = Of;
  Begun = true;
}

void SearchProgress::onSelect(unsigned Attempt, const Selection &, const Tree &,
                              const std::vector<ShownTo> &, bool) {
  Flights[Attempt] = {{}, Time.now(), true};
}

void SearchProgress::onStep(unsigned Attempt, const SearchStep &Step) {
  Flights[Attempt] = {Step, Time.now(), false};
}

void SearchProgress::Amounts::add(const ChatReply &R) {
  const Usage &U = R.Tokens;
  Tokens += U.Input.value_or(0) + U.CacheRead.value_or(0) +
            U.CacheWrite.value_or(0) + U.Output.value_or(0) +
            R.Discarded.Input + R.Discarded.Output;
  PriceKnown &= R.CostMicroUsd.has_value();
  MicroUsd += R.CostMicroUsd.value_or(0);
  if (R.Discarded.Answers) {
    PriceKnown &= R.Discarded.CostMicroUsd.has_value();
    MicroUsd += R.Discarded.CostMicroUsd.value_or(0);
  }
}

void SearchProgress::onReply(unsigned, llvm::StringRef Request,
                             const ChatReply &R, bool Recorded) {
  ++Replies;
  std::string Role = roleOf(Request).str();
  Spent[Role].add(R);
  if (!Recorded)
    SpentNow[Role].add(R);
}

SearchProgress::Amounts
SearchProgress::amountsOf(const std::map<std::string, Amounts> &Roles,
                          llvm::StringRef Role) {
  Amounts All;
  for (const auto &[Name, Of] : Roles)
    if (Role.empty() || Role == Name) {
      All.Tokens += Of.Tokens;
      All.MicroUsd += Of.MicroUsd;
      All.PriceKnown &= Of.PriceKnown;
    }
  return All;
}

void SearchProgress::onNode(unsigned Attempt, const Node &N, const Tree &,
                            bool Recorded) {
  Flights.erase(Attempt);
  if (N.Number == 0) {
    OfSource = N.Found;
    return;
  }
  if (N.Tuned) {
    ++Variants;
  } else {
    ++Done;
    DoneNow += !Recorded;
  }
  ++Counts[N.Found.Kind];
  if (!Recorded)
    Last = nodeLine(Attempt, N, Recorded);
  if (N.hasBug() || N.SameAs >= 0 ||
      (Best >= 0 && N.scoreUs() >= OfBest.scoreUs()))
    return;
  Best = int(N.Number);
  OfBest = N.Found;
}

std::optional<uint64_t> SearchProgress::secondsLeft() const {
  unsigned Wanted = Run.Options.Attempts;
  uint64_t Took = secondsSince(Began);
  if (Ended || DoneNow < 2 || Done >= Wanted)
    return std::nullopt;
  uint64_t Left = uint64_t(double(Took) / DoneNow * (Wanted - Done));
  for (const BudgetLimit &L : Run.Options.Limits) {
    // At the pace of this process; what was spent before it is spent.
    Amounts All = amountsOf(Spent, L.Role), Now = amountsOf(SpentNow, L.Role);
    bool Money = L.What == BudgetLimit::Of::MicroUsd;
    uint64_t Used = Money ? uint64_t(All.MicroUsd) : All.Tokens,
             UsedNow = Money ? uint64_t(Now.MicroUsd) : Now.Tokens;
    if (L.What == BudgetLimit::Of::Seconds)
      Used = UsedNow = Took;
    uint64_t Rest = L.Limit > Used ? L.Limit - Used : 0;
    if (UsedNow)
      Left = std::min(Left,
                      uint64_t(double(Took) / double(UsedNow) * double(Rest)));
  }
  return Left;
}

std::string SearchProgress::firstLine(size_t Columns) const {
  unsigned Wanted = Run.Options.Attempts;
  std::string Line =
      join({visibleLine(Run.TaskName) + ": " + std::to_string(Done) + " of " +
                std::to_string(Wanted) + " attempts",
            Variants ? std::to_string(Variants) + " with other numbers" : ""},
           Columns);
  std::string Times = durationText(secondsSince(Began));
  if (std::optional<uint64_t> Left = secondsLeft())
    Times += ", about " + durationText(*Left) + " left";
  if (columnsOf(Line) + 2 + Times.size() > Columns)
    return join({Line, durationText(secondsSince(Began))}, Columns);
  size_t Free = Columns - columnsOf(Line) - 2 - Times.size();
  // A bar in brackets, two columns before it.
  size_t Bar = std::min(WidestBar, Free < 4 ? 0 : Free - 4);
  if (Bar >= NarrowestBar && Wanted) {
    size_t Full = Bar * std::min(Done, Wanted) / Wanted;
    Line += "  [" + std::string(Full, '#') + std::string(Bar - Full, '-') + "]";
  }
  return Line + "  " + Times;
}

std::string SearchProgress::bestLine(size_t Columns) const {
  if (Best < 0) {
    std::string Source =
        OfSource.correct() && !OfSource.Timings.empty()
            ? "the source takes " + fixed(OfSource.scoreUs(), 2) + " us"
            : "";
    return join({"best: none that is correct yet", Source}, Columns);
  }
  std::string Node = "best: node " + std::to_string(Best);
  if (OfBest.Timings.empty())
    return join({Node}, Columns);
  std::optional<double> Share = floorShare(OfBest);
  return join({Node + ", " + fixed(OfBest.speedup(), 3) + " times as fast (" +
                   fixed(OfBest.speedupLow(), 3) + " to " +
                   fixed(OfBest.speedupHigh(), 3) + ")",
               fixed(OfBest.scoreUs(), 2) + " us" +
                   (OfBest.Modelled ? " modelled" : ""),
               Share ? fixed(*Share * 100, 0) + " % of the floor" : ""},
              Columns);
}

std::string SearchProgress::countLine(size_t Columns) const {
  std::vector<std::pair<VerdictKind, unsigned>> Sorted(Counts.begin(),
                                                       Counts.end());
  llvm::stable_sort(Sorted,
                    [](auto &A, auto &B) { return A.second > B.second; });
  std::vector<std::string> Parts;
  for (const auto &[Kind, Count] : Sorted)
    Parts.push_back(std::to_string(Count) + " " + verdictName(Kind).str());
  if (Parts.empty())
    return "";
  Parts.front() = "verdicts: " + Parts.front();
  return join(Parts, Columns);
}

static std::string dollars(int64_t MicroUsd) {
  return fixed(double(MicroUsd) * 1e-6, 2);
}

/// "81200 of 200000 tokens", "code: 0.42 of 1.00 USD"
std::string SearchProgress::limitText(const BudgetLimit &L) const {
  Amounts All = amountsOf(Spent, L.Role);
  std::string Of = L.Role.empty() ? "" : L.Role + ": ";
  switch (L.What) {
  case BudgetLimit::Of::Tokens:
    return Of + std::to_string(All.Tokens) + " of " + std::to_string(L.Limit) +
           " tokens";
  case BudgetLimit::Of::MicroUsd:
    return Of + dollars(All.MicroUsd) + " of " + dollars(int64_t(L.Limit)) +
           " USD";
  case BudgetLimit::Of::Seconds:
    break;
  }
  return Of + std::to_string(secondsSince(Began) / 60) + " of " +
         std::to_string(L.Limit / 60) + " min";
}

std::string SearchProgress::spentLine(size_t Columns) const {
  std::vector<std::string> Parts;
  bool Tokens = false, Money = false;
  for (const BudgetLimit &L : Run.Options.Limits) {
    Parts.push_back(limitText(L));
    Tokens |= L.What == BudgetLimit::Of::Tokens && L.Role.empty();
    Money |= L.What == BudgetLimit::Of::MicroUsd && L.Role.empty();
  }
  Amounts All = amountsOf(Spent, "");
  if (!Tokens && All.Tokens)
    Parts.push_back(std::to_string(All.Tokens) + " tokens");
  if (!Money && Replies && All.PriceKnown && All.MicroUsd)
    Parts.push_back(dollars(All.MicroUsd) + " USD");
  if (Parts.empty())
    return "";
  Parts.front() = "spent: " + Parts.front();
  return join(Parts, Columns);
}

std::string SearchProgress::flightLine(unsigned Attempt,
                                       const Flight &F) const {
  std::string Node = "node " + std::to_string(F.Step.Node);
  std::string Text = "attempt " + std::to_string(Attempt) + ": ";
  if (F.Waits)
    return Text + "begins";
  switch (F.Step.Does) {
  case SearchStep::Kind::Ask:
    Text += visibleLine(roleOf(F.Step.Request)) + " agent";
    break;
  case SearchStep::Kind::Judge:
    Text += "judge, " + Node;
    break;
  case SearchStep::Kind::Profile:
    Text += "profiler, " + Node;
    break;
  case SearchStep::Kind::Queue:
    Text += "waits for the judge";
    break;
  case SearchStep::Kind::Confirm:
    Text = "judge confirms " + Node;
    break;
  }
  return Text + ", " + durationText(secondsSince(F.Since));
}

std::vector<std::string> SearchProgress::flightLines(size_t Columns,
                                                     size_t Most) const {
  std::vector<std::string> Lines;
  unsigned Queue = 0;
  for (const auto &[Attempt, F] : Flights) {
    if (!F.Waits && F.Step.Does == SearchStep::Kind::Queue)
      ++Queue;
    else
      Lines.push_back(fitLine(flightLine(Attempt, F), Columns));
  }
  if (Queue)
    Lines.push_back(fitLine("judge's queue: " + std::to_string(Queue) +
                                (Queue == 1 ? " attempt" : " attempts"),
                            Columns));
  if (Lines.size() > Most) {
    size_t More = Lines.size() - Most + 1;
    Lines.resize(Most ? Most - 1 : 0);
    Lines.push_back(fitLine(std::to_string(More) + " more", Columns));
  }
  return Lines;
}

std::vector<std::string> SearchProgress::lines(size_t Columns,
                                               size_t Rows) const {
  if (!Begun)
    return {};
  std::vector<std::string> Lines = {firstLine(Columns), bestLine(Columns),
                                    countLine(Columns)};
  size_t Most = Rows > OtherLines ? Rows - OtherLines : 1;
  for (std::string &Line : flightLines(Columns, Most))
    Lines.push_back(std::move(Line));
  Lines.push_back(spentLine(Columns));
  if (!Last.empty())
    Lines.push_back(fitLine("last: " + Last, Columns));
  llvm::erase_if(Lines, [](const std::string &L) { return L.empty(); });
  return Lines;
}
