//===- Charts.cpp - Speed over the search, times, roofline, calls ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Each chart is a figure with a caption that says what its values are; one
/// that nothing is known for is left out.
///
//===----------------------------------------------------------------------===//

#include "Sections.h"
#include "stark/Report/Plot.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace stark;

static bool isTimed(const Node &N) {
  return !N.hasBug() && !N.Found.Timings.empty() && N.Found.speedup() > 0;
}

static void caption(HtmlWriter &W, llvm::StringRef Lead, llvm::StringRef Text) {
  W.open("figcaption").element("strong", {}, Lead).text(" ").text(Text);
  W.close().line();
}

/// The nodes in the order of their attempts, the source first.
static std::vector<unsigned> inOrder(const RunFacts &R) {
  std::vector<unsigned> Nodes;
  for (const RecordedAttempt &A : R.Run.Attempts)
    if (A.Node)
      Nodes.push_back(*A.Node);
  return Nodes;
}

static void drawPoint(HtmlWriter &W, const Plot &P, const RunFacts &R,
                      unsigned N, double X, double Y) {
  W.open("a", {{"href", nodeAddress(N)},
               {"aria-label", "node " + std::to_string(N)}});
  W.element("title", {},
            "node " + std::to_string(N) + ", " + outcomeOf(R.node(N)) + ": " +
                titleOf(R, N));
  W.empty(
      "circle",
      {{"class", "hit"}, {"cx", pixels(X)}, {"cy", pixels(Y)}, {"r", "11"}});
  writeMark(W, R.node(N), X, Y, 4.5, R.Result && N == R.Result);
  W.close().line();
}

static void writeBestSoFar(HtmlWriter &W, const RunFacts &R) {
  std::vector<unsigned> Nodes = inOrder(R);
  double Least = 1, Most = 1;
  for (unsigned N : Nodes)
    if (isTimed(R.node(N))) {
      Least = std::min(Least, R.node(N).Found.speedup());
      Most = std::max(Most, R.node(N).Found.speedupHigh());
    }
  bool Log = Most / Least > 6;
  Axis X = makeAxis(0, std::max(1.0, double(Nodes.size()) - 1), "attempt");
  Axis Y = makeAxis(Log ? Least / 1.15 : std::max(0.0, Least - 0.15),
                    Log ? Most * 1.25 : Most * 1.06, "times as fast", "×", Log);
  bool All =
      llvm::all_of(Nodes, [&](unsigned N) { return isTimed(R.node(N)); });
  W.open("figure").line();
  {
    Plot P(W, X, Y,
           "Speed of each attempt and the best so far, over " +
               std::to_string(Nodes.size() ? Nodes.size() - 1 : 0) +
               " attempts. The best is " + times(R.found().speedup()) +
               " times as fast as the source.");
    std::vector<std::pair<double, double>> Best = {{0, 1}};
    for (size_t I = 1; I < Nodes.size(); ++I) {
      const Node &N = R.node(Nodes[I]);
      double Now = Best.back().second;
      Best.emplace_back(double(I), Now);
      if (isTimed(N) && N.Found.speedup() > Now)
        Best.emplace_back(double(I), N.Found.speedup());
    }
    P.line(Best, "best");
    for (size_t I = 0; I < Nodes.size(); ++I) {
      const Node &N = R.node(Nodes[I]);
      if (!isTimed(N)) {
        drawPoint(W, P, R, Nodes[I], P.x(double(I)), Plot::Height - 54);
        continue;
      }
      P.line({{double(I), N.Found.speedupLow()},
              {double(I), N.Found.speedupHigh()}},
             "error");
      drawPoint(W, P, R, Nodes[I], P.x(double(I)), P.y(N.Found.speedup()));
    }
  }
  caption(W, "Speed over the search.",
          std::string(
              "Each attempt against the source, with its 95 % interval (often "
              "smaller than the mark); the line is the best so far.") +
              (All ? "" : " At the bottom: attempts without a time."));
  W.close().line();
}

static void drawBar(HtmlWriter &W, double Y, double Share, double SpreadShare,
                    llvm::StringLiteral Class, const std::string &Text) {
  constexpr double Left = 76, Length = 330;
  W.empty("rect", {{"class", Class.str()},
                   {"x", pixels(Left)},
                   {"y", pixels(Y)},
                   {"width", pixels(std::max(1.0, Share * Length))},
                   {"height", "15"}});
  SpreadShare = std::clamp(SpreadShare, 0.0, 1.0);
  double End = Left + Share * Length, Half = SpreadShare * Length / 2;
  W.empty("path",
          {{"class", "error"},
           {"d", "M" + pixels(End - Half) + "," + pixels(Y + 7.5) + "H" +
                     pixels(End + Half) + "M" + pixels(End - Half) + "," +
                     pixels(Y + 3.5) + "v8M" + pixels(End + Half) + "," +
                     pixels(Y + 3.5) + "v8"}});
  W.element(
      "text",
      {{"class", "t"}, {"x", pixels(End + Half + 8)}, {"y", pixels(Y + 12.5)}},
      Text);
}

static void writeSizes(HtmlWriter &W, const RunFacts &R) {
  constexpr double Row = 66;
  size_t Count = std::min<size_t>(R.Sizes.size(), 12);
  W.open("figure").line();
  W.open("svg", {{"class", "plot"},
                 {"viewBox", "0 0 560 " + pixels(double(Count) * Row + 10)},
                 {"role", "img"},
                 {"aria-label", "Time of source and result for each size"}})
      .line();
  for (size_t I = 0; I < Count; ++I) {
    const SizeFacts &S = R.Sizes[I];
    double Y = 6 + double(I) * Row,
           Longest = std::max({S.Took.SourceMedianUs, S.Took.MedianUs, 1e-9});
    W.element("text",
              {{"class", "t strong"}, {"x", "0"}, {"y", pixels(Y + 12)}},
              S.Took.Label);
    W.element("text", {{"class", "t"}, {"x", "0"}, {"y", pixels(Y + 32)}},
              "source");
    drawBar(W, Y + 19, S.Took.SourceMedianUs / Longest,
            S.Took.SourceIqrUs / Longest, "bar source",
            duration(S.Took.SourceMedianUs));
    W.element("text", {{"class", "t"}, {"x", "0"}, {"y", pixels(Y + 51)}},
              R.hasWinner() ? "winner" : "best");
    drawBar(W, Y + 38, S.Took.MedianUs / Longest, S.Took.IqrUs / Longest,
            "bar result",
            duration(S.Took.MedianUs) + ", " + times(S.Took.Speedup) + "×");
    if (S.Bound && S.Bound->Us < Longest) {
      double X = 76 + S.Bound->Us / Longest * 330;
      W.empty("path", {{"class", "roof"},
                       {"d", "M" + pixels(X) + "," + pixels(Y + 16) + "v40"}});
    }
    W.line();
  }
  W.close();
  std::string Text =
      "Medians, " + std::string(R.how()) +
      "; the bracket at a bar's end is the distance of the "
      "quartiles. Bars of a size share a scale that begins at 0.";
  if (llvm::any_of(R.Sizes, [](const SizeFacts &S) { return S.Bound; }))
    Text += " The dashed line is the floor.";
  if (Count < R.Sizes.size())
    Text += " " + std::to_string(R.Sizes.size() - Count) +
            " more sizes are in "
            "the table above.";
  caption(W, "Time by size.", Text);
  W.close().line();
}

/// One of what is drawn in a roofline.
static void drawRates(HtmlWriter &W, const Plot &P, const RunFacts &R,
                      const SizeFacts &Size, size_t Index, double X,
                      double Work) {
  for (unsigned N = 0; N < R.Run.Nodes.size(); ++N) {
    const Node &Each = R.node(N);
    if (!isTimed(Each) || Index >= Each.Found.Timings.size() ||
        Each.Found.Timings[Index].Label != Size.Took.Label)
      continue;
    drawPoint(W, P, R, N, P.x(X),
              P.y(Work / (Each.Found.Timings[Index].MedianUs * 1e-6)));
  }
}

/// Of the CUDA cores: a fused multiply-add is two.
static double singlePeak(const sim::GpuDescription &G) {
  return 2 * G.FloatRate * G.Sms * G.ClockGHz * 1e9;
}

static void writeRoofline(HtmlWriter &W, const RunFacts &R) {
  std::vector<std::pair<size_t, double>> Intensities;
  for (size_t I = 0; I < R.Sizes.size(); ++I)
    if (R.Sizes[I].Bytes && R.Sizes[I].Flops && R.Sizes[I].FloorUs)
      Intensities.emplace_back(I, *R.Sizes[I].Flops / *R.Sizes[I].Bytes);
  if (Intensities.empty())
    return;
  double Rate = R.Gpu->DramGBs * 1e9, Peak = singlePeak(*R.Gpu);
  double Slowest = Peak, Fastest = Peak;
  for (auto &[I, Intensity] : Intensities)
    for (unsigned N = 0; N < R.Run.Nodes.size(); ++N)
      if (const Verdict &V = R.node(N).Found;
          isTimed(R.node(N)) && I < V.Timings.size()) {
        double Flops = *R.Sizes[I].Flops / (V.Timings[I].MedianUs * 1e-6);
        Slowest = std::min(Slowest, Flops);
        Fastest = std::max(Fastest, Flops);
      }
  double Low = Peak / Rate, High = Peak / Rate;
  for (auto &[I, Intensity] : Intensities) {
    Low = std::min(Low, Intensity);
    High = std::max(High, Intensity);
  }
  Low /= 4, High *= 4;
  double Bottom = std::min(Slowest / 2, Low * Rate) * 1e-12;
  double Top = std::max(Fastest, Rate * High) * 1.3e-12;
  Top = std::min(Top, std::max(Fastest, Peak) * 8e-12);
  Axis X = makeAxis(Low, High, "operations for each byte that has to be moved",
                    "", true);
  Axis Y = makeAxis(Bottom, Top, "TFLOP/s", "", true);
  for (double *Scaled : {&Rate, &Peak})
    *Scaled *= 1e-12;
  W.open("figure").line();
  {
    Plot P(W, X, Y,
           "Roofline of " + R.Gpu->Name + " with source, attempts and result");
    double Corner = std::min(High, Top / Rate);
    P.line({{std::max(Low, Bottom / Rate), std::max(Low, Bottom / Rate) * Rate},
            {Corner, Corner * Rate}},
           "roof whole");
    P.line({{std::min(High, Peak / Rate), Peak}, {High, Peak}}, "roof");
    P.label(Plot::Width - 18, P.y(Peak) + 17, "fp32 without tensor cores",
            "end");
    // Right of the slope and below it, where no mark is and no line.
    double Beside = std::max(Low, Bottom / Rate) * 1.5;
    P.label(P.x(Beside) + 10, P.y(Beside * Rate) + 12, "memory", "start");
    for (auto &[I, Intensity] : Intensities)
      drawRates(W, P, R, R.Sizes[I], I, Intensity, *R.Sizes[I].Flops * 1e-12);
  }
  caption(W, "Roofline.",
          "A column of marks a size: source, attempts and result. The slope is "
          "what the memory of " +
              R.Gpu->Name + " allows (copy rate " + fixed(R.Gpu->DramGBs, 0) +
              " GB/s), the dashed line what its CUDA cores do in fp32 (" +
              fixed(Peak, 0) +
              " TFLOP/s by its clock); above it are tensor cores. Operations "
              "and bytes are the workload's own formulas.");
  W.close().line();
}

/// Where no operations are counted: how much of the copy rate is reached.
static void writeBandwidth(HtmlWriter &W, const RunFacts &R) {
  auto Known = llvm::find_if(
      R.Sizes, [](const SizeFacts &S) { return S.FloorUs && !S.Flops; });
  if (Known == R.Sizes.end())
    return;
  size_t Index = size_t(Known - R.Sizes.begin());
  std::vector<unsigned> Nodes = inOrder(R);
  Axis X = makeAxis(0, std::max(1.0, double(Nodes.size()) - 1), "attempt");
  double Rate = R.Gpu->DramGBs, Most = Rate;
  auto RateOf = [&](unsigned N) {
    const Verdict &V = R.node(N).Found;
    if (!isTimed(R.node(N)) || Index >= V.Timings.size() ||
        V.Timings[Index].Label != Known->Took.Label)
      return 0.0;
    return *Known->Bytes / (V.Timings[Index].MedianUs * 1e3);
  };
  for (unsigned N : Nodes)
    Most = std::max(Most, RateOf(N));
  Axis Y = makeAxis(0, Most * 1.1, "GB/s");
  W.open("figure").line();
  {
    Plot P(W, X, Y, "Bytes a second of each attempt, and what the GPU copies");
    P.line({{0, Rate}, {X.Most, Rate}}, "roof");
    P.label(Plot::Width - 18, P.y(Rate) - 7, "copy rate", "end");
    for (size_t I = 0; I < Nodes.size(); ++I)
      if (double Reached = RateOf(Nodes[I]); Reached > 0)
        drawPoint(W, P, R, Nodes[I], P.x(double(I)), P.y(Reached));
  }
  caption(W, "Memory roof.",
          "What each attempt moves, of the bytes that a call has to, for " +
              Known->Took.Label + ". The dashed line is the copy rate of " +
              R.Gpu->Name + ", " + fixed(Rate, 0) +
              " GB/s, which bounds a kernel that is limited by memory.");
  W.close().line();
}

static void writeRoles(HtmlWriter &W, const RunFacts &R) {
  std::map<std::string, uint64_t> WallMs;
  uint64_t All = 0;
  for (const RecordedAttempt &A : R.Run.Attempts)
    for (const ReplyEvent &E : A.Replies) {
      WallMs[roleOf(E.Id).str()] += E.Reply.WallMs;
      All += E.Reply.WallMs;
    }
  if (R.Count.Roles.empty())
    return;
  W.open("figure");
  W.openScroll("Calls of models, by role").open("table", {{"class", "tight"}});
  W.open("thead").open("tr");
  for (const char *Head : {"role", "calls", "tokens in", "of them cached",
                           "tokens out", "cost", "time"})
    W.element("th", {{"scope", "col"}}, Head);
  if (All)
    W.element("th", {{"scope", "col"}}, "share of the time");
  W.close().close().open("tbody").line();
  for (const auto &[Role, C] : R.Count.Roles) {
    bool Told = C.WithoutUsage < C.Calls;
    W.open("tr").element("th", {{"scope", "row"}}, Role);
    W.element("td", {}, grouped(C.Calls));
    W.element("td", {}, Told ? grouped(C.Input) : "not known");
    W.element("td", {}, Told ? grouped(C.Cached) : "not known");
    W.element("td", {}, Told ? grouped(C.Output) : "not known");
    W.element("td", {},
              C.CostKnown && C.Calls
                  ? fixed(double(C.CostMicroUsd) * 1e-6, 4) + " USD"
                  : "not known");
    W.element("td", {},
              All ? fixed(double(WallMs[Role]) * 1e-3, 1) + " s"
                  : "not recorded");
    if (All) {
      W.open("td");
      double Share = double(WallMs[Role]) / double(All);
      W.open("svg", {{"viewBox", "0 0 120 12"},
                     {"width", "120"},
                     {"height", "12"},
                     {"role", "img"},
                     {"aria-label", fixed(100 * Share, 0) + " %"}});
      W.empty("rect", {{"class", "bar result"},
                       {"x", "0"},
                       {"y", "0"},
                       {"height", "12"},
                       {"width", pixels(std::max(1.0, 120 * Share))}});
      W.close().close();
    }
    W.close().line();
  }
  W.close().close().close().line();
  caption(W, "Calls of models, by role.",
          "A run records how long its model calls took and what they cost, "
          "not how long builds and the judge took.");
  W.close().line();
}

void stark::writeCharts(HtmlWriter &W, const RunFacts &R) {
  W.open("section", {{"id", "figures"}});
  W.element("h2", {}, "In pictures").line();
  W.open("div", {{"class", "figures"}}).line();
  writeBestSoFar(W, R);
  writeRoofline(W, R);
  writeBandwidth(W, R);
  if (R.Result)
    writeSizes(W, R);
  writeRoles(W, R);
  W.close().close().line();
}
