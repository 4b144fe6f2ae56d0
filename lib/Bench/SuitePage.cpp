//===- SuitePage.cpp - A suite as a page ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/SuitePage.h"
#include "stark/Report/Html.h"
#include "stark/Report/Plot.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace stark;

static std::string number(double Value, const char *Form = "%.3f") {
  if (!std::isfinite(Value))
    return "-";
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(Form, Value);
  return Text;
}

/// The first \p Words columns hold words, the others numbers.
static void openTable(HtmlWriter &W, const std::string &Label,
                      const std::vector<std::string> &Heads, size_t Words = 1) {
  W.open("div", {{"class", "scroll"},
                 {"role", "region"},
                 {"aria-label", Label},
                 {"tabindex", "0"}});
  W.open("table", {{"class", "sortable plain"}}).open("thead").open("tr");
  for (size_t I = 0; I < Heads.size(); ++I)
    W.element("th",
              {{"scope", "col"}, {"class", I < Words ? "left" : "number"}},
              Heads[I]);
  W.close().close().open("tbody").line();
}

static void closeTable(HtmlWriter &W) { W.close().close().close().line(); }

static std::string shareOf(uint64_t Of, uint64_t All) {
  return All ? number(100.0 * double(Of) / double(All), "%.1f %%") : "-";
}

static void writePresets(HtmlWriter &W, const SuiteResult &R,
                         const std::vector<CellFigures> &Cells,
                         const std::string &Label) {
  openTable(W, Label,
            {"preset", "runs", "success", "at least as fast", "mean", "median",
             "geometric mean", "95 %", "delivered", "compiled", "correct"});
  for (const std::string &Preset : R.Presets) {
    PresetFigures F = summarize(Preset, Cells);
    W.open("tr").element("th", {{"scope", "row"}}, Preset);
    for (const std::string &Cell :
         {std::to_string(F.Cells), shareOf(F.Successes, F.Cells),
          shareOf(F.Fast1, F.Cells), number(F.Mean), number(F.Median),
          number(F.GeometricMean),
          std::isfinite(F.Spread.Low)
              ? number(F.Spread.Low) + " to " + number(F.Spread.High)
              : std::string("-"),
          number(F.Delivered), shareOf(F.Compiled, F.Attempts),
          shareOf(F.Correct, F.Attempts)})
      W.element("td", {}, Cell);
    W.close().line();
  }
  closeTable(W);
}

/// A column of marks a preset, and its median.
static void writeDistribution(HtmlWriter &W, const SuiteResult &R) {
  double Least = 1, Most = 1.1;
  for (const CellFigures &C : R.Cells)
    if (C.Success && C.Speedup > 0) {
      Least = std::min(Least, C.Speedup);
      Most = std::max(Most, C.Speedup);
    }
  Axis X{.Least = 0,
         .Most = double(R.Presets.size()),
         .Logarithmic = false,
         .Label = "preset"};
  for (size_t I = 0; I < R.Presets.size(); ++I)
    X.Ticks.emplace_back(double(I) + 0.5, R.Presets[I]);
  bool Log = Most / Least > 6;
  W.open("figure", {{"class", "wide"}}).line();
  {
    Plot P(W, X,
           makeAxis(Log ? Least / 1.2 : std::max(0.0, Least - 0.1),
                    Log ? Most * 1.2 : Most * 1.06, "times as fast", "×", Log),
           "Speed-ups of the runs of each preset");
    P.line({{0, 1}, {X.Most, 1}}, "roof");
    for (size_t I = 0; I < R.Presets.size(); ++I) {
      std::vector<double> Speeds;
      for (const CellFigures &C : R.Cells)
        if (C.Preset == R.Presets[I] && C.Success && C.Speedup > 0)
          Speeds.push_back(C.Speedup);
      if (double Middle = median(Speeds); std::isfinite(Middle))
        P.line({{double(I) + 0.2, Middle}, {double(I) + 0.8, Middle}}, "best");
      for (size_t J = 0; J < Speeds.size(); ++J) {
        // Beside one another, so that equal ones are seen.
        double Last = double(std::min<size_t>(Speeds.size(), 7)) - 1;
        double Aside = 0.5 + 0.06 * (double(J % 7) - Last / 2);
        W.empty("circle", {{"class", "m correct"},
                           {"cx", pixels(P.x(double(I) + Aside))},
                           {"cy", pixels(P.y(Speeds[J]))},
                           {"r", "4.5"}});
      }
    }
  }
  W.open("figcaption").element("strong", {}, "Speed-ups.");
  W.text(" A mark a run that has a correct candidate; the line is the median, "
         "the dashed one the source. Across a column places mean nothing.");
  W.close().close().line();
}

static void writeRuns(HtmlWriter &W, const SuiteResult &R,
                      const std::map<std::string, std::string> &Links) {
  std::vector<std::string> Heads = {
      "task",    "group",   "preset",        "seed",      "attempts",
      "correct", "success", "times as fast", "delivered", "µs"};
  bool Floors = llvm::any_of(
      R.Cells, [](const CellFigures &C) { return C.FloorShare > 0; });
  if (Floors)
    Heads.push_back("of floor");
  openTable(W, "All runs", Heads, /*Words=*/3);
  for (const CellFigures &C : R.Cells) {
    // The link comes first: a narrow window shows no more of a line.
    W.open("tr").open("th", {{"scope", "row"}});
    auto Known = Links.find(runPathOf(C));
    if (Known != Links.end())
      W.element("a", {{"href", Known->second}}, C.Task);
    else
      W.text(C.Task + " (not readable)");
    W.close();
    W.element("td", {{"class", "left"}}, C.Group);
    W.element("td", {{"class", "left"}}, C.Preset);
    for (const std::string &Cell :
         {std::to_string(C.Seed), std::to_string(C.Attempts),
          std::to_string(C.Correct), std::string(C.Success ? "yes" : "no"),
          C.Success ? number(C.Speedup) : std::string(), number(C.Delivered),
          C.MedianUs > 0 ? number(C.MedianUs, "%.2f") : std::string()})
      W.element("td", {}, Cell);
    if (Floors)
      W.element("td", {},
                C.FloorShare > 0 ? number(100 * C.FloorShare, "%.1f %%") : "");
    W.close().line();
  }
  closeTable(W);
}

static std::string devicesOf(const SuiteResult &R) {
  std::vector<std::string> Devices;
  for (const CellFigures &C : R.Cells) {
    std::string How =
        (C.Modelled ? "modelled for " : "measured on ") +
        (C.Device.empty() ? std::string("a device that was not named")
                          : C.Device);
    if (!llvm::is_contained(Devices, How))
      Devices.push_back(How);
  }
  return llvm::join(Devices, " and ");
}

void stark::printSuitePage(const SuiteResult &R,
                           const std::map<std::string, std::string> &Links,
                           llvm::raw_ostream &OS) {
  HtmlWriter W(OS);
  beginPage(W, OS, R.Suite + ": a suite of searches");
  W.element("p", {{"class", "kicker"}}, "Stark: report of a suite");
  // A list of tasks is one word, which no narrow window holds.
  W.element("h1", {}, llvm::join(llvm::split(R.Suite, ","), ", ")).line();
  W.element("p", {{"class", "sub"}},
            std::to_string(R.Cells.size()) +
                (R.Cells.size() == 1 ? " run of " : " runs of ") +
                std::to_string(R.Attempts) +
                (R.Attempts == 1 ? " attempt, " : " attempts, ") +
                std::to_string(R.Seeds) + (R.Seeds == 1 ? " seed" : " seeds") +
                " a task and preset. Speed-ups are over the source, " +
                devicesOf(R) + ".")
      .line();
  for (const MissingRun &M : R.Missing)
    W.element("p", {{"class", "problem"}}, "Missing: " + M.Why).line();
  W.element("h2", {}, "Presets").line();
  writePresets(W, R, R.Cells, "Presets over all tasks");
  W.element("p", {{"class", "note"}},
            "Success: a correct candidate. Mean, median and geometric mean are "
            "of the runs with one; 95 %: bootstrap over tasks, of the "
            "geometric mean. Delivered: geometric mean over all runs of what "
            "is kept, the confirmed winner or the source. Compiled and "
            "correct: of all attempts. Choose a heading to sort by it.");
  std::vector<std::string> Groups = groupsOf(R);
  if (Groups.size() > 1)
    for (const std::string &Group : Groups) {
      W.element("h3", {}, Group).line();
      writePresets(W, R, cellsOf(R, Group), "Presets over " + Group);
    }
  W.element("h2", {}, "How speed-ups are distributed").line();
  writeDistribution(W, R);
  W.element("h2", {}, "All runs").line();
  writeRuns(W, R, Links);
  endPage(W, OS);
}
