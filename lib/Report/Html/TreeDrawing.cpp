//===- TreeDrawing.cpp - The search tree as a picture ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   nodes -> rows of leaves -> marks and lines
/// A node's depth is its column; leaves have a row each, a parent stands at its
/// first child's, which is the one that leads to the result. The verdict is
/// told by shape and colour, speed by size, the way to the result by a thick
/// line. A list says the same in words.
///
//===----------------------------------------------------------------------===//

#include "Sections.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace stark;

static constexpr double RowHeight = 34, Margin = 24;

std::string stark::nodeAddress(unsigned Node) {
  return "#node-" + std::to_string(Node);
}

void stark::writeNodeLink(HtmlWriter &W, unsigned Node) {
  W.element("a", {{"href", nodeAddress(Node)}}, std::to_string(Node));
}

std::string stark::outcomeOf(const Node &N) {
  if (!N.hasBug() && !N.Found.Timings.empty())
    return times(N.Found.speedup()) + "×";
  return verdictName(N.Found.Kind).str();
}

static std::string point(double Value) { return fixed(Value, 1); }

/// A shape of four corners or three, by its points.
static std::string corners(double X, double Y, double R, const char *Shape) {
  auto At = [&](double DX, double DY) {
    return point(X + DX * R) + "," + point(Y + DY * R);
  };
  if (Shape[0] == 't') // triangle
    return At(0, -1) + " " + At(1, 0.8) + " " + At(-1, 0.8);
  if (Shape[0] == 'd') // diamond
    return At(0, -1.1) + " " + At(1.1, 0) + " " + At(0, 1.1) + " " +
           At(-1.1, 0);
  return At(-0.85, -0.85) + " " + At(0.85, -0.85) + " " + At(0.85, 0.85) + " " +
         At(-0.85, 0.85);
}

void stark::writeMark(HtmlWriter &W, const Node &N, double X, double Y,
                      double R, bool Winner) {
  VerdictMark Mark = markOf(N.Found.Kind);
  std::string Class = ("m " + llvm::Twine(Mark.Class)).str();
  if (Mark.Class == "correct" || Mark.Class == "none")
    W.empty("circle", {{"class", Class},
                       {"cx", point(X)},
                       {"cy", point(Y)},
                       {"r", point(R)}});
  else if (Mark.Class == "crashed")
    W.empty("path", {{"class", Class},
                     {"d", "M" + point(X - R) + "," + point(Y - R) + "L" +
                               point(X + R) + "," + point(Y + R) + "M" +
                               point(X - R) + "," + point(Y + R) + "L" +
                               point(X + R) + "," + point(Y - R)}});
  else
    W.empty("polygon",
            {{"class", Class},
             {"points", corners(X, Y, R,
                                Mark.Class == "wrong"     ? "triangle"
                                : Mark.Class == "refused" ? "diamond"
                                                          : "square")}});
  if (Winner)
    W.empty("circle", {{"class", "ring"},
                       {"cx", point(X)},
                       {"cy", point(Y)},
                       {"r", point(R + 4)}});
}

void stark::writeInlineMark(HtmlWriter &W, const Node &N, bool Winner) {
  W.open("svg", {{"class", "im"},
                 {"viewBox", "0 0 20 20"},
                 {"width", "18"},
                 {"height", "18"},
                 {"aria-hidden", "true"}});
  writeMark(W, N, 10, 10, Winner ? 5 : 6, Winner);
  W.close();
}

namespace {
struct Place {
  double X = 0, Y = 0, R = 5;
};
class Layout {
public:
  explicit Layout(const RunFacts &R) : R(R), At(R.Run.Nodes.size()) {
    double Rows = 0;
    // Children after their parents: no recursion, for a chain may be long.
    std::vector<unsigned> Depth(At.size()), Stack = {0};
    while (!Stack.empty()) {
      unsigned N = Stack.back();
      Stack.pop_back();
      const Node &Each = R.node(N);
      if (Each.Parent >= 0)
        Depth[N] = Depth[unsigned(Each.Parent)] + 1;
      Deepest = std::max(Deepest, Depth[N]);
      At[N].Y = Margin + Rows * RowHeight;
      At[N].R = radiusOf(Each);
      if (Each.Children.empty())
        ++Rows;
      // The way to the result is the top line; the others are by age.
      for (unsigned Child : llvm::reverse(Each.Children))
        if (!R.OnPath[Child])
          Stack.push_back(Child);
      for (unsigned Child : Each.Children)
        if (R.OnPath[Child])
          Stack.push_back(Child);
    }
    Step = std::clamp(900.0 / std::max(1u, Deepest), 48.0, 86.0);
    for (size_t N = 0; N < At.size(); ++N)
      At[N].X = Margin + Step * Depth[N];
    Width = 2 * Margin + Step * Deepest + 46;
    Height = 2 * Margin + std::max(0.0, Rows - 1) * RowHeight + 14;
  }
  const RunFacts &R;
  std::vector<Place> At;
  unsigned Deepest = 0;
  double Width = 0, Height = 0, Step = 0;

private:
  double radiusOf(const Node &N) const {
    if (N.hasBug() || R.Count.Best < 0)
      return 6;
    double Most = std::log(R.node(unsigned(R.Count.Best)).Found.speedup());
    double Own = std::log(std::max(1e-3, N.Found.speedup()));
    if (!(Most > 0.01))
      return 7;
    return 5 + 6 * std::clamp(Own / Most, 0.0, 1.0);
  }
};
} // namespace

/// Straight to the first child; to the others down and then across, for there
/// are no labels in a column below a node down to the last of its children.
static void writeLine(HtmlWriter &W, const Place &From, const Place &To,
                      bool OnPath) {
  constexpr double Bend = 10;
  std::string Path = "M" + point(From.X) + "," + point(From.Y);
  if (To.Y > From.Y)
    Path += "V" + point(To.Y - Bend) + "Q" + point(From.X) + "," + point(To.Y) +
            " " + point(From.X + Bend) + "," + point(To.Y);
  Path += "H" + point(To.X);
  W.empty("path", {{"class", OnPath ? "edge way" : "edge"}, {"d", Path}});
}

static void writeLegend(HtmlWriter &W, const RunFacts &R) {
  W.open("ul", {{"class", "legend"}}).line();
  std::vector<llvm::StringRef> Seen;
  for (unsigned N = 0; N < R.Run.Nodes.size(); ++N) {
    VerdictMark Mark = markOf(R.node(N).Found.Kind);
    if (llvm::is_contained(Seen, llvm::StringRef(Mark.Class)))
      continue;
    Seen.push_back(Mark.Class);
    W.open("li");
    writeInlineMark(W, R.node(N), false);
    W.text(Mark.Label).close().line();
  }
  if (R.Result) {
    W.open("li");
    writeInlineMark(W, R.result(), true);
    W.text(R.hasWinner() ? "winner" : "best so far").close().line();
  }
  W.element("li", {}, "larger is faster; the thick line leads to the result");
  W.close().line();
}

void stark::writeTree(HtmlWriter &W, const RunFacts &R) {
  W.open("section", {{"id", "tree"}}).element("h2", {}, "The search").line();
  W.element("p", {{"class", "note"}},
            "Each mark is an attempt: a change of the one to its left, with "
            "which a line joins it. 0 is the source. Choose one to read it.");
  writeLegend(W, R);
  Layout L(R);
  W.open("div", {{"class", "scroll tree"},
                 {"role", "region"},
                 {"aria-label", "The search tree"},
                 {"tabindex", "0"}})
      .line();
  W.open("svg",
         {{"viewBox", "0 0 " + point(L.Width) + " " + point(L.Height)},
          {"width", point(L.Width)},
          {"height", point(L.Height)},
          {"role", "group"},
          {"aria-label", "Tree of " + std::to_string(L.At.size()) + " nodes"}})
      .line();
  for (bool Thick : {false, true})
    for (unsigned N = 1; N < L.At.size(); ++N)
      if (R.OnPath[N] == Thick)
        writeLine(W, L.At[unsigned(R.node(N).Parent)], L.At[N], Thick);
  W.line();
  for (unsigned N = 0; N < L.At.size(); ++N) {
    const Place &P = L.At[N];
    std::string Says = "node " + std::to_string(N) + ", " +
                       outcomeOf(R.node(N)) + ": " + titleOf(R, N);
    W.open("a", {{"href", nodeAddress(N)}, {"aria-label", Says}});
    W.element("title", {}, Says);
    W.empty("circle", {{"class", "hit"},
                       {"cx", point(P.X)},
                       {"cy", point(P.Y)},
                       {"r", "14"}});
    writeMark(W, R.node(N), P.X, P.Y, P.R, R.Result && N == R.Result);
    W.element(
        "text",
        {{"x", point(P.X + P.R + 4)}, {"y", point(P.Y - 6)}, {"class", "no"}},
        std::to_string(N));
    if (L.Step >= 62 && R.node(N).Found.correct())
      W.element("text",
                {{"x", point(P.X + P.R + 5)},
                 {"y", point(P.Y + 15)},
                 {"class", "speed"}},
                outcomeOf(R.node(N)));
    W.close().line();
  }
  W.close().close().close().line();
}

static void writeRow(HtmlWriter &W, const RunFacts &R, unsigned N) {
  const Node &Each = R.node(N);
  const Verdict &V = Each.Found;
  bool Timed = V.correct() && !V.Timings.empty();
  W.open("tr", {{"class", R.Result && N == R.Result ? "won"
                          : R.OnPath[N]             ? "way"
                                                    : "other"}});
  W.open("th", {{"scope", "row"}});
  writeNodeLink(W, N);
  W.close().open("td");
  if (Each.Parent >= 0)
    writeNodeLink(W, unsigned(Each.Parent));
  W.close();
  W.element("td", {}, madeBy(R, N));
  W.open("td", {{"class", "left"}});
  writeInlineMark(W, Each, false);
  W.text(verdictName(V.Kind)).close();
  W.element("td", {}, Timed ? fixed(Each.scoreUs(), 2) : "");
  W.element("td", {}, Timed ? fixed(V.speedup(), 3) : "");
  W.element("td", {},
            Timed
                ? fixed(V.speedupLow(), 3) + " to " + fixed(V.speedupHigh(), 3)
                : "");
  W.open("td", {{"class", "left title"}}).text(titleOf(R, N));
  if (Each.SameAs >= 0) {
    W.text(" (same tokens as ");
    writeNodeLink(W, unsigned(Each.SameAs));
    W.text(")");
  }
  W.close().close().line();
}

void stark::writeAttempts(HtmlWriter &W, const RunFacts &R) {
  W.open("section", {{"id", "attempts"}});
  W.element("h2", {}, "All attempts").line();
  W.open("div", {{"class", "scroll"},
                 {"role", "region"},
                 {"aria-label", "All attempts"},
                 {"tabindex", "0"}});
  W.open("table", {{"class", "sortable"}}).open("thead").open("tr");
  for (const char *Head : {"node", "from", "by", "verdict", "µs",
                           "times as fast", "95 %", "instruction"}) {
    bool Words = Head == llvm::StringRef("verdict");
    W.element("th", {{"scope", "col"}, {"class", Words ? "left" : "number"}},
              Head);
  }
  W.close().close().open("tbody").line();
  for (unsigned N = 0; N < R.Run.Nodes.size(); ++N)
    writeRow(W, R, N);
  W.close().close().close().line();
  W.element("p", {{"class", "note"}},
            "Times are geometric means over the timed sizes of medians, " +
                std::string(R.how()) +
                ". The result's figures above are those of "
                "its confirmation where there was one; these are the attempt's "
                "own.");
  W.close().line();
}
