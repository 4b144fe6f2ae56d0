//===- Summary.cpp - What was won, how sure that is, where it ends --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The first screen, for a reader who knows nothing of searches: a headline,
/// then four answers, of which SummaryTrust.cpp has two.
///
//===----------------------------------------------------------------------===//

#include "CodeDiff.h"
#include "Sections.h"
#include "SummaryTrust.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// The verdict with which a search ends before it begins.
static const Verdict *refusedSource(const RunFacts &R) {
  bool Alone = !R.Run.Nodes.size() && R.Run.Unrecorded &&
               !R.Run.Unrecorded->Found.correct();
  return Alone ? &R.Run.Unrecorded->Found : nullptr;
}

static std::string headline(const RunFacts &R) {
  size_t Cut = 0;
  std::string Entry = headOf(R.Run.Identity.Entry, 60, Cut).str();
  if (Cut)
    Entry += "...";
  if (refusedSource(R))
    return Entry + ": the source is not correct by its own standard";
  if (!R.Run.Nodes.size())
    return Entry + ": nothing was judged yet";
  if (!R.hasSource())
    return Entry + ": the source is not correct by its own standard";
  if (R.hasWinner())
    return Entry + " is " + times(R.found().speedup()) +
           " times as fast as before" + (R.Modelled ? ", by a model" : "");
  if (!R.Run.End)
    return R.Result ? Entry + ": " + times(R.found().speedup()) +
                          " times as fast so far"
                    : Entry + ": nothing faster yet";
  return Entry + " did not become faster";
}

static std::string subtitle(const RunFacts &R) {
  std::string Text = "Task " + R.Run.Identity.TaskName + ", ";
  size_t Attempts = R.Run.Nodes.size() ? R.Run.Nodes.size() - 1 : 0;
  Text += counted(Attempts, "attempt");
  if (!R.Count.Models.empty())
    Text += " by " + llvm::join(R.Count.Models, ", ");
  else
    Text += ", provider " + R.Run.Identity.Provider;
  if (R.Run.Nodes.size())
    Text += ", times " + howTaken(R.Run);
  if (!R.Run.End)
    Text += ". The search has not ended: " +
            std::to_string(R.Run.Identity.Options.Attempts) +
            " attempts are planned";
  else
    Text += ". Ended: " + R.Run.End->Ended.Why;
  return Text + ".";
}

/// The kernels of the result that the source has not.
static std::vector<std::string> newKernels(const RunFacts &R) {
  std::vector<std::string> New;
  for (const std::string &K : R.code(R.Result).kernels())
    if (!llvm::is_contained(R.code(0).kernels(), K))
      New.push_back(K);
  return New;
}

/// The four answers in as many sentences.
static void writeInShort(HtmlWriter &W, const RunFacts &R) {
  if (!R.Result || R.Sizes.empty())
    return;
  const SizeFacts &S = R.Sizes.front();
  size_t Steps = R.Path.size() - 1;
  std::string Text = Steps == 1
                         ? "A rewrite in one step"
                         : "A rewrite in " + std::to_string(Steps) + " steps";
  std::string OverAll;
  if (R.Sizes.size() > 1)
    OverAll = "; " + times(R.found().speedup()) + " over its " +
              std::to_string(R.Sizes.size()) + " timed sizes";
  Text += R.Modelled ? " would take " : " takes ";
  Text += duration(S.Took.MedianUs) + " instead of " +
          duration(S.Took.SourceMedianUs) +
          (S.Took.Label.empty() ? "" : " for " + S.Took.Label) + " (" +
          times(S.Took.Speedup) + " times as fast" + OverAll + "), " +
          howTaken(R.found()) +
          ", side by side with the code as it was (the source), not with a "
          "library's kernel. ";
  Text += R.Count.Confirmed
              ? "It was judged twice, the second time on inputs that no "
                "attempt had seen. "
              : "It was judged once. ";
  if (R.Load)
    Text += "Its outputs agree with the source's (" + toleranceOf(*R.Load, "") +
            ") on the inputs that were compared, which proves no more. ";
  std::vector<std::string> Limits = signsOf(R);
  if (!Limits.empty())
    Text += "Beware of: " + llvm::join(Limits, ", ") + ".";
  W.element("p", {{"class", "short"}}, Text).line();
}

static void writeWhat(HtmlWriter &W, const RunFacts &R) {
  W.open("section", {{"class", "card"}});
  W.element("h2", {}, "What was changed").line();
  if (!R.Result) {
    W.element("p", {}, "Nothing: no candidate is faster than the source.");
    W.close().line();
    return;
  }
  CodeDiff Diff = diffCode(R.code(0), R.code(R.Result));
  W.open("p").text("The code of ");
  W.element("code", {}, R.Run.Identity.Entry);
  W.text(": " + counted(Diff.Added, "line") + " added, " +
         grouped(Diff.Removed) + " removed. ");
  std::vector<std::string> New = newKernels(R);
  if (!New.empty()) {
    W.text(New.size() == 1 ? "New kernel: " : "New kernels: ");
    for (size_t I = 0; I < New.size(); ++I)
      W.text(I ? ", " : "").element("code", {}, New[I]);
    W.text(". ");
  }
  W.text("Its signature stays the same.");
  W.close().line();
  W.element(
      "p", {{"class", "lead-in"}},
      R.Path.size() == 2
          ? "In one step, by its attempt's number:"
          : "In " + std::to_string(R.Path.size() - 1) +
                " steps by their attempts' numbers, each built on the one "
                "before, which may have been faster (times as fast as "
                "the source" +
                (R.Count.Confirmed ? ", as first judged):" : "):"));
  W.open("ol", {{"class", "steps"}}).line();
  for (unsigned N : llvm::drop_begin(R.Path)) {
    W.open("li", {{"value", std::to_string(N)}});
    W.open("a", {{"href", nodeAddress(N)}});
    W.text(titleOf(R, N)).close().text(" ");
    W.element("span", {{"class", "num"}}, outcomeOf(R.node(N))).close().line();
  }
  W.close();
  W.open("p").element("a", {{"href", "#change"}}, "The whole change").close();
  W.close().line();
}

static std::string intervalOf(double Low, double High) {
  int Digits = Low >= 10 ? 1 : Low >= 2 ? 2 : 3;
  return fixed(Low, Digits) + " to " + fixed(High, Digits);
}

/// What the last column of the times is.
static std::string floorNote(const RunFacts &R) {
  FloorRates Rates = floorRates(R.found());
  std::string Note = " Of floor: the share of the time that no implementation "
                     "can do without, the largest of ";
  std::vector<std::string> Parts;
  if (Rates.LaunchUs > 0)
    Parts.push_back("a launch (" + duration(Rates.LaunchUs) + ")");
  if (Rates.CopyGBs > 0)
    Parts.push_back("the bytes which a call must read and write at the copy "
                    "rate of " +
                    fixed(Rates.CopyGBs, 0) + " GB/s");
  if (Rates.PeakGflops > 0)
    Parts.push_back("operations at " + fixed(Rates.PeakGflops * 1e-3, 0) +
                    " TFLOP/s, where the source's precision has to be kept");
  return Note + llvm::join(Parts, "; ") +
         ". Near 100 % there is nothing left to win.";
}

static void writeHowMuch(HtmlWriter &W, const RunFacts &R) {
  W.open("section", {{"class", "card"}});
  W.element("h2", {}, "How much it won").line();
  const Verdict &V = R.found();
  if (!R.Result) {
    W.element("p", {}, "Nothing: the source is kept as it is.");
    if (R.hasSource())
      W.element("p", {},
                "The source takes " + duration(V.scoreUs()) +
                    " (geometric mean of its sizes).");
    W.close().line();
    return;
  }
  W.open("p", {{"class", "big"}});
  W.element("span", {{"class", "figure"}}, times(V.speedup()) + "×");
  W.open("span").text(" as fast as the source").empty("br");
  W.text(R.Modelled ? "interval: " : "95 % confidence interval: ");
  W.element("span", {{"class", "num"}},
            intervalOf(V.speedupLow(), V.speedupHigh()));
  W.close().close().line();
  bool Floors =
      llvm::any_of(R.Sizes, [](const SizeFacts &S) { return S.Bound; });
  W.openScroll("Times by size").open("table", {{"class", "tight"}});
  W.open("thead").open("tr");
  for (const char *Head :
       {"size", "source", R.hasWinner() ? "winner" : "best", "times as fast"})
    W.element("th", {{"scope", "col"}}, Head);
  if (Floors)
    W.element("th", {{"scope", "col"}}, "of floor");
  W.close().close().open("tbody").line();
  for (const SizeFacts &S : R.Sizes) {
    W.open("tr").element("th", {{"scope", "row"}},
                         S.Took.Label.empty() ? "the only one" : S.Took.Label);
    W.element("td", {}, duration(S.Took.SourceMedianUs));
    W.element("td", {}, duration(S.Took.MedianUs));
    W.open("td").element("b", {}, times(S.Took.Speedup)).empty("br");
    W.element("small", {}, intervalOf(S.Took.SpeedupLow, S.Took.SpeedupHigh));
    W.close();
    if (Floors)
      W.element("td", {}, floorText(S.Bound, S.Took.MedianUs));
    W.close().line();
  }
  W.close().close().close().line();
  std::string Note = "Medians, " + std::string(R.how()) +
                     "; overall is the "
                     "geometric mean over the sizes. Below each: its 95 % "
                     "confidence interval.";
  if (Floors)
    Note += floorNote(R);
  W.element("p", {{"class", "note"}}, Note);
  W.close().line();
}

/// Names are long words: a narrow window may break them where a reader would.
static void writeBreakable(HtmlWriter &W, llvm::StringRef Text) {
  size_t From = 0;
  for (size_t I = 1; I < Text.size(); ++I)
    if (Text[I - 1] == '_' ||
        (llvm::isLower(Text[I - 1]) && llvm::isUpper(Text[I]) &&
         I + 1 < Text.size() && llvm::isLower(Text[I + 1]))) {
      W.text(Text.slice(From, I)).empty("wbr");
      From = I;
    }
  W.text(Text.drop_front(From));
}

void stark::writeSummary(HtmlWriter &W, const RunFacts &R) {
  W.open("header", {{"class", "top"}, {"id", "summary"}}).line();
  W.element("p", {{"class", "kicker"}},
            R.Modelled ? "Stark: report of a search, on a simulated GPU"
                       : "Stark: report of a search");
  W.open("h1");
  writeBreakable(W, headline(R));
  W.close().line();
  W.element("p", {{"class", "sub"}}, subtitle(R)).line().close();
  if (const Verdict *V = refusedSource(R)) {
    size_t Cut = 0;
    W.element("p", {},
              ("Its verdict is " + verdictName(V->Kind) +
               ", so that nothing was searched. The judge says:")
                  .str());
    for (llvm::StringRef Said :
         {llvm::StringRef(V->Run), llvm::StringRef(V->Compiler)})
      if (!Said.trim().empty())
        W.preformatted(headOf(Said, 8000, Cut)).line();
  }
  if (!R.hasSource())
    return;
  writeInShort(W, R);
  W.open("div", {{"class", "cards"}}).open("div").line();
  writeHowMuch(W, R);
  writeWhat(W, R);
  W.close().open("div").line();
  writeWhereNot(W, R);
  writeHowSure(W, R);
  W.close().close().line();
}
