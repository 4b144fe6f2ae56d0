//===- Plot.h - Axes that a chart is drawn on ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_REPORT_PLOT_H
#define STARK_REPORT_PLOT_H

#include "stark/Report/Html.h"

namespace stark {

struct Axis {
  double Least = 0, Most = 1;
  bool Logarithmic = false;
  std::string Label;
  /// Values that are marked, each with its text.
  std::vector<std::pair<double, std::string>> Ticks = {};
};

/// From \p Least to \p Most, with ticks at round values; logarithmic where the
/// values lie far apart, or where \p Log asks for it.
Axis makeAxis(double Least, double Most, llvm::StringRef Label,
              llvm::StringRef Unit = "", bool Log = false);

/// An SVG of fixed proportions, in which values become places.
class Plot {
public:
  static constexpr double Width = 560, Height = 330;
  /// Opens the svg; \p Says is what the picture shows, in a sentence.
  Plot(HtmlWriter &W, Axis X, Axis Y, llvm::StringRef Says);
  ~Plot();
  double x(double Value) const;
  double y(double Value) const;
  /// A polyline through \p Points, given as values.
  void line(const std::vector<std::pair<double, double>> &Points,
            llvm::StringRef Class);
  /// \p Anchor is "start", "middle" or "end"; the place is in pixels.
  void label(double AtX, double AtY, llvm::StringRef Text,
             llvm::StringRef Anchor, llvm::StringRef Class = "t");

private:
  HtmlWriter &W;
  Axis Across, Up;
};

/// "12.3"
std::string pixels(double Value);

} // namespace stark

#endif
