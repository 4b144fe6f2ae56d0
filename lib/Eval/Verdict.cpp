//===- Verdict.cpp - What the evaluator found ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Scores of a verdict, its JSON, and text cut to a model's window.
///
//===----------------------------------------------------------------------===//

#include "stark/Eval/Formats.h"
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace stark;

/// Geometric mean of one figure over the timings; NaN-free by construction.
template <class Figure>
static double geometricMean(const std::vector<job::Timing> &Timings,
                            Figure Of) {
  double Logs = 0;
  for (const job::Timing &T : Timings)
    Logs += std::log(Of(T));
  return std::exp(Logs / double(Timings.size()));
}

double Verdict::scoreUs() const {
  if (!correct() || Timings.empty())
    return std::numeric_limits<double>::infinity();
  return geometricMean(Timings,
                       [](const job::Timing &T) { return T.MedianUs; });
}

double Verdict::speedup() const {
  if (!correct() || Timings.empty())
    return 0;
  return geometricMean(Timings, [](const job::Timing &T) { return T.Speedup; });
}

double Verdict::speedupLow() const {
  if (!correct() || Timings.empty())
    return 0;
  return geometricMean(Timings,
                       [](const job::Timing &T) { return T.SpeedupLow; });
}

double Verdict::speedupHigh() const {
  if (!correct() || Timings.empty())
    return 0;
  return geometricMean(Timings,
                       [](const job::Timing &T) { return T.SpeedupHigh; });
}

std::string stark::printVerdict(const Verdict &V) {
  return dumpJson(writeFields<nlohmann::json>(V));
}

std::string stark::trimForWindow(llvm::StringRef Text, size_t Limit) {
  if (Text.size() <= Limit)
    return Text.str();
  // The first error says most; the tail often sums up. Room for the note.
  auto noteFor = [](size_t Lines) {
    return "[... " + std::to_string(Lines) + " lines left out ...]\n";
  };
  size_t Room = Limit > 40 ? Limit - 40 : 0;
  size_t HeadRoom = Room - Room / 4, TailRoom = Room / 4;
  llvm::StringRef Head = Text.take_front(HeadRoom);
  Head = Head.take_front(
      Head.rfind('\n') == llvm::StringRef::npos ? 0 : Head.rfind('\n') + 1);
  llvm::StringRef Tail = Text.take_back(TailRoom);
  size_t Break = Tail.find('\n');
  Tail = Break == llvm::StringRef::npos ? "" : Tail.drop_front(Break + 1);
  if (Head.empty() &&
      Tail.empty()) // one endless line: cut it, better than none
    return (Text.take_front(Room) + "\n[... cut ...]\n").str().substr(0, Limit);
  llvm::StringRef Middle =
      Text.substr(Head.size(), Text.size() - Head.size() - Tail.size());
  size_t Lines = Middle.count('\n') + (Middle.ends_with("\n") ? 0 : 1);
  return (Head + noteFor(Lines) + Tail).str();
}
