//===- Coordinates.cpp - Which numbers are tried next ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "stark/Search/TuneLimits.h"
#include "stark/Support/Error.h"
#include "stark/Support/Random.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace stark;

/// What a point has to be faster by to be gone on from: less is noise.
static constexpr double LeastGain = 1.01;

std::vector<uint32_t> stark::valuesAround(const Tunable &T, uint32_t Now) {
  std::vector<uint32_t> Values = T.Offered;
  if (!Values.empty()) {
    auto Away = [Now](uint32_t V) {
      return std::abs(std::log(double(V) / double(Now)));
    };
    llvm::stable_sort(
        Values, [&](uint32_t A, uint32_t B) { return Away(A) < Away(B); });
  } else if (llvm::isPowerOf2_32(Now)) {
    Values = {Now * 2, Now / 2, Now * 4, Now / 4};
    // Between two powers: 96 threads, 6 columns.
    if (Now % 4 == 0)
      Values.insert(Values.end(), {Now / 2 * 3, Now / 4 * 3});
  } else {
    Values = {uint32_t(llvm::PowerOf2Ceil(Now)),
              llvm::bit_floor(Now),
              Now * 2,
              Now % 2 ? Now : Now / 2,
              Now + 1,
              Now - 1};
  }
  llvm::erase_if(
      Values, [Now](uint32_t V) { return V == Now || V < 1 || V > MostTuned; });
  return Values;
}

std::string stark::describePoint(const std::vector<Tunable> &All,
                                 const Coordinates::Point &From,
                                 const Coordinates::Point &To) {
  std::string Text;
  for (size_t I = 0; I < All.size(); ++I)
    if (From[I] != To[I])
      Text += (Text.empty() ? "" : ", ") + All[I].Name + " = " +
              std::to_string(To[I]);
  return Text;
}

Coordinates::Coordinates(std::vector<Tunable> Tunables, double Score,
                         uint64_t Seed)
    : All(std::move(Tunables)), BestScore(Score) {
  Random Draw(Seed);
  for (const Tunable &T : All) {
    Order.insert(Order.begin() + long(Draw.below(Order.size() + 1)),
                 Order.size());
    Best.push_back(T.Value);
  }
  Tried.insert(Best);
}

std::optional<Coordinates::Point> Coordinates::next() {
  for (; Idle < Order.size(); ++Idle, At = (At + 1) % Order.size())
    for (uint32_t Value : valuesAround(All[Order[At]], Best[Order[At]])) {
      Latest = Best;
      Latest[Order[At]] = Value;
      if (Tried.insert(Latest).second)
        return Latest;
    }
  return std::nullopt;
}

void Coordinates::found(double Score) {
  if (!(Score * LeastGain < BestScore))
    return;
  BestScore = Score;
  Best = Latest;
  Idle = 0;
}

llvm::Expected<TuneLimits>
stark::parseTuneLimits(const std::vector<std::string> &Texts) {
  TuneLimits Limits;
  for (llvm::StringRef Text : Texts) {
    double Value = 0;
    auto [Name, Number] = Text.split('=');
    bool Good = !Number.getAsDouble(Value) && std::isfinite(Value) &&
                Value > 0 && Value <= 100000;
    if (Good && Name == "candidates" && Value == std::floor(Value) &&
        !Limits.Candidates)
      Limits.Candidates = unsigned(Value);
    else if (Good && Name == "minutes" && !Limits.Seconds)
      Limits.Seconds = unsigned(std::ceil(Value * 60));
    else
      return usageError("tune: got '" + Text +
                        "', wanted candidates=N or minutes=M, each once and at "
                        "most 100000");
  }
  return Limits;
}
