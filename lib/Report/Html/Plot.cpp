//===- Plot.cpp - Axes that a chart is drawn on ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Plot.h"
#include "../Figures.h"
#include <algorithm>
#include <cmath>

using namespace stark;

static constexpr double Left = 76, Right = 16, Top = 16, Bottom = 46;

std::string stark::pixels(double Value) { return fixed(Value, 1); }

static std::string shortNumber(double Value) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "%.4g", Value);
  return Text;
}

Axis stark::makeAxis(double Least, double Most, llvm::StringRef Label,
                     llvm::StringRef Unit, bool Log) {
  // What a record says is a number, but of any size.
  constexpr double Tiny = 1e-12, Huge = 1e15;
  auto Tame = [=](double Value, double Otherwise) {
    return std::isfinite(Value) ? std::clamp(Value, -Huge, Huge) : Otherwise;
  };
  Least = Tame(Least, 0), Most = Tame(Most, Huge);
  if (Log)
    Least = std::max(Least, Tiny), Most = std::max(Most, Least * 1.01);
  Axis A{
      .Least = Least, .Most = Most, .Logarithmic = Log, .Label = Label.str()};
  auto Tick = [&](double Value) {
    A.Ticks.emplace_back(Value, shortNumber(Value) + Unit.str());
  };
  if (Log) {
    double From = std::floor(std::log10(Least)), To = std::log10(Most);
    // 1, 2, 5 where there is room for them.
    bool Few = std::log10(Most / Least) < 2.3;
    for (double Decade = From; Decade <= To + 1e-9; ++Decade)
      for (double Step : {1.0, 2.0, 5.0}) {
        double Value = Step * std::pow(10, Decade);
        if ((Few || Step == 1.0) && Value >= Least * 0.999 &&
            Value <= Most * 1.001)
          Tick(Value);
      }
    return A;
  }
  double Rough = (Most - Least) / 5;
  double Unit10 = std::pow(10, std::floor(std::log10(std::max(Rough, 1e-12))));
  double Step = Unit10;
  for (double Factor : {1.0, 2.0, 5.0, 10.0})
    if (Factor * Unit10 >= Rough) {
      Step = Factor * Unit10;
      break;
    }
  for (double Value = std::ceil(Least / Step) * Step;
       Value <= Most + Step * 1e-6; Value += Step)
    Tick(std::abs(Value) < Step * 1e-6 ? 0 : Value);
  return A;
}

/// From 0 to 1 along \p A.
static double shareOf(const Axis &A, double Value) {
  double Low = A.Least, High = A.Most;
  if (A.Logarithmic) {
    Low = std::log(Low);
    High = std::log(High);
    Value = std::log(std::max(Value, 1e-300));
  }
  if (!std::isfinite(Value))
    return 0;
  return High > Low ? std::clamp((Value - Low) / (High - Low), 0.0, 1.0) : 0.5;
}

double Plot::x(double Value) const {
  return Left + shareOf(Across, Value) * (Width - Left - Right);
}

double Plot::y(double Value) const {
  return Height - Bottom - shareOf(Up, Value) * (Height - Top - Bottom);
}

Plot::Plot(HtmlWriter &W, Axis X, Axis Y, llvm::StringRef Says)
    : W(W), Across(std::move(X)), Up(std::move(Y)) {
  W.open("svg", {{"class", "plot"},
                 {"viewBox", "0 0 560 330"},
                 {"role", "group"},
                 {"aria-label", Says.str()}})
      .line();
  for (const auto &[Value, Text] : Up.Ticks) {
    W.empty("path", {{"class", "grid"},
                     {"d", "M" + pixels(Left) + "," + pixels(y(Value)) + "H" +
                               pixels(Width - Right)}});
    label(Left - 8, y(Value) + 4.5, Text, "end");
  }
  for (const auto &[Value, Text] : Across.Ticks) {
    W.empty("path", {{"class", "axis"},
                     {"d", "M" + pixels(x(Value)) + "," +
                               pixels(Height - Bottom) + "v5"}});
    label(x(Value), Height - Bottom + 20, Text, "middle");
  }
  W.empty("path", {{"class", "axis"},
                   {"d", "M" + pixels(Left) + "," + pixels(Height - Bottom) +
                             "H" + pixels(Width - Right)}});
  label((Left + Width - Right) / 2, Height - 6, Across.Label, "middle");
  W.element(
       "text",
       {{"class", "t"},
        {"text-anchor", "middle"},
        {"transform", "translate(15 " + pixels((Top + Height - Bottom) / 2) +
                          ") rotate(-90)"}},
       Up.Label)
      .line();
}

Plot::~Plot() { W.close().line(); }

void Plot::line(const std::vector<std::pair<double, double>> &Points,
                llvm::StringRef Class) {
  std::string Path;
  for (const auto &[X, Y] : Points)
    Path += (Path.empty() ? "M" : "L") + pixels(x(X)) + "," + pixels(y(Y));
  W.empty("path", {{"class", Class.str()}, {"d", Path}}).line();
}

void Plot::label(double AtX, double AtY, llvm::StringRef Text,
                 llvm::StringRef Anchor, llvm::StringRef Class) {
  W.element("text",
            {{"class", Class.str()},
             {"x", pixels(AtX)},
             {"y", pixels(AtY)},
             {"text-anchor", Anchor.str()}},
            Text);
}
