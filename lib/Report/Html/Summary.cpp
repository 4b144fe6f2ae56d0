//===- Summary.cpp - What was won, how sure that is, where it ends --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The first screen, for a reader who knows nothing of searches: a headline,
/// then four answers. What is said follows from the record; what the record
/// does not hold is said to be unknown.
///
//===----------------------------------------------------------------------===//

#include "CodeDiff.h"
#include "Sections.h"
#include "stark/Job/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace stark;

namespace {
/// What the result has and the source has not, and what follows from it.
struct Sign {
  std::vector<llvm::StringRef> Parts; ///< of names or string literals
  llvm::StringRef What, So;
};
} // namespace

static const std::vector<Sign> &signs() {
  static const std::vector<Sign> All = {
#define STARK_SIGN(What, So, ...) {{__VA_ARGS__}, What, So},
#include "Signs.def"
  };
  return All;
}

static void bullet(HtmlWriter &W, llvm::StringRef Lead, llvm::StringRef Rest) {
  W.open("li").element("strong", {}, Lead).text(" ").text(Rest).close().line();
}

static std::string plural(uint64_t Count, llvm::StringRef What) {
  return grouped(Count) + " " + What.str() + (Count == 1 ? "" : "s");
}

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
    return Entry + " is " + times(R.found().speedup()) + " times as fast" +
           (R.Modelled ? ", by a model" : "");
  if (!R.Run.End)
    return R.Result ? Entry + ": " + times(R.found().speedup()) +
                          " times as fast so far"
                    : Entry + ": nothing faster yet";
  return Entry + " did not become faster";
}

static std::string subtitle(const RunFacts &R) {
  std::string Text = "Task " + R.Run.Identity.TaskName + ", ";
  size_t Attempts = R.Run.Nodes.size() ? R.Run.Nodes.size() - 1 : 0;
  Text += plural(Attempts, "attempt");
  if (!R.Count.Models.empty())
    Text += " by " + llvm::join(R.Count.Models, ", ");
  else
    Text += ", provider " + R.Run.Identity.Provider;
  if (R.Run.Nodes.size())
    Text += ", times " + howTaken(R.node(0).Found);
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

static bool hasSign(const RunFacts &R, const Sign &S, llvm::StringRef &Found) {
  auto FirstIn = [&](const Code &C) {
    llvm::StringRef Word;
    for (llvm::StringRef Part : S.Parts)
      if (Word.empty())
        Word = C.wordWith(Part);
    return Word;
  };
  Found = FirstIn(R.code(R.Result));
  return !Found.empty() && FirstIn(R.code(0)).empty();
}

static std::string toleranceOf(const Workload &Load, llvm::StringRef Of);

/// The four answers in as many sentences.
static void writeInShort(HtmlWriter &W, const RunFacts &R) {
  if (!R.Result || R.Sizes.empty())
    return;
  const SizeFacts &S = R.Sizes.front();
  size_t Steps = R.Path.size() - 1;
  std::string Text = Steps == 1
                         ? "A rewrite in one step"
                         : "A rewrite in " + std::to_string(Steps) + " steps";
  Text += R.Modelled ? " would take " : " takes ";
  Text += duration(S.Took.MedianUs) + " instead of " +
          duration(S.Took.SourceMedianUs) +
          (S.Took.Label.empty() ? "" : " for " + S.Took.Label) + ", " +
          howTaken(R.found()) + ". ";
  Text += R.Count.Confirmed
              ? "It was judged twice, the second time on inputs that no "
                "attempt had seen. "
              : "It was judged once. ";
  if (R.Load)
    Text += "Its outputs agree with the source's (" + toleranceOf(*R.Load, "") +
            "); no more than that was compared. ";
  llvm::StringRef Unused;
  std::vector<std::string> Limits;
  for (const Sign &Each : signs())
    if (hasSign(R, Each, Unused))
      Limits.push_back(llvm::StringRef(Each.What).rtrim('.').lower());
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
  W.text(": " + plural(Diff.Added, "line") + " added, " +
         grouped(Diff.Removed) + " removed. ");
  std::vector<std::string> New = newKernels(R);
  if (!New.empty()) {
    W.text(New.size() == 1 ? "New kernel: " : "New kernels: ");
    for (size_t I = 0; I < New.size(); ++I)
      W.text(I ? ", " : "").element("code", {}, New[I]);
    W.text(". ");
  }
  W.text("How it is called, and what it returns, stay the same.");
  W.close().line();
  W.element("p", {{"class", "lead-in"}},
            R.Path.size() == 2 ? "In one step:"
                               : "In " + std::to_string(R.Path.size() - 1) +
                                     " steps, each built on the one before "
                                     "(times as fast as the source):");
  W.open("ol", {{"class", "steps"}}).line();
  for (unsigned N : llvm::drop_begin(R.Path)) {
    W.open("li").open("a", {{"href", nodeAddress(N)}});
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
  W.text(" as fast as the source, 95 %: ");
  W.element("span", {{"class", "num"}},
            intervalOf(V.speedupLow(), V.speedupHigh()));
  W.close().line();
  bool Floors =
      llvm::any_of(R.Sizes, [](const SizeFacts &S) { return S.FloorUs; });
  W.open("div", {{"class", "scroll"}}).open("table", {{"class", "tight"}});
  W.open("thead").open("tr");
  for (const char *Head :
       {"size", "source", R.hasWinner() ? "winner" : "best", "times as fast"})
    W.element("th", {{"scope", "col"}}, Head);
  if (Floors)
    W.element("th", {{"scope", "col"}}, "of the floor");
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
      W.element("td", {},
                S.FloorUs && S.Took.MedianUs > 0
                    ? fixed(100 * *S.FloorUs / S.Took.MedianUs, 0) + " %"
                    : "-");
    W.close().line();
  }
  W.close().close().close().line();
  std::string Note = "Medians, " + std::string(R.how()) +
                     "; overall is the "
                     "geometric mean over the sizes. Small: the 95 % interval.";
  if (Floors)
    Note += " The floor is the time to move the bytes that a call must read "
            "and write, at this GPU's copy rate of " +
            fixed(R.Gpu->DramGBs, 0) +
            " GB/s: what is bounded by memory cannot get far above 100 %.";
  W.element("p", {{"class", "note"}}, Note);
  W.close().line();
}

/// "a: normal", what the inputs were filled with.
static std::string inputsOf(const Workload &Load) {
  std::vector<std::string> Parts;
  for (const Argument &A : Load.Arguments) {
    if (!A.IsBuffer || A.Absent ||
        (A.Use != job::Role::Input && A.Use != job::Role::InOut))
      continue;
    std::string Text = A.Name + " (" + nameOf(A.Type) + "): ";
    if (A.Fill.Kind == job::InitKind::File || A.FromWeights)
      Text += "from a file";
    else
      Text += nameOf(A.Fill.Kind);
    auto Short = [](double Value) {
      std::string Digits = fixed(Value, 3);
      return llvm::StringRef(Digits).rtrim('0').rtrim('.').str();
    };
    if (A.Fill.Kind == job::InitKind::Normal ||
        A.Fill.Kind == job::InitKind::Mixed)
      Text += " with mean " + Short(A.Fill.Low) + " and deviation " +
              Short(A.Fill.High);
    else if (A.Fill.Kind == job::InitKind::Uniform ||
             A.Fill.Kind == job::InitKind::Integers)
      Text += " from " + Short(A.Fill.Low) + " to " + Short(A.Fill.High);
    Parts.push_back(Text);
    if (Parts.size() == 6) {
      Parts.push_back("and others");
      break;
    }
  }
  return llvm::join(Parts, "; ");
}

/// "the sizes n=1; n=2", of which outputs were compared.
static std::string comparedSizes(const RunFacts &R) {
  std::vector<std::string> Labels;
  if (R.Load)
    for (const Size &S : R.Load->Sizes)
      Labels.push_back(S.label());
  else
    for (const SizeFacts &S : R.Sizes)
      Labels.push_back(S.Took.Label);
  if (Labels.size() > 6) {
    size_t More = Labels.size() - 6;
    Labels.resize(6);
    Labels.push_back(std::to_string(More) + " more");
  }
  if (Labels.size() == 1 && Labels.front().empty())
    return "its only size";
  return "the sizes " + llvm::join(Labels, "; ");
}

/// "f32 within 0.0001, i64 exactly"; \p Of says what of.
static std::string toleranceOf(const Workload &Load, llvm::StringRef Of) {
  std::vector<std::string> Parts;
  std::vector<job::DType> Types;
  for (const Argument &A : Load.Arguments)
    if (A.IsBuffer && A.Use != job::Role::Input && A.Use != job::Role::Scratch)
      Types.push_back(A.Type);
  for (const ReturnedTensor &T : Load.Returns)
    Types.push_back(T.Type);
  llvm::sort(Types);
  Types.erase(llvm::unique(Types), Types.end());
  for (job::DType T : Types) {
    auto Known = Load.Tolerance.find(T);
    if (job::isWhole(T) || Known == Load.Tolerance.end()) {
      Parts.push_back(std::string(nameOf(T)) + " exactly");
      continue;
    }
    std::string Text;
    llvm::raw_string_ostream(Text)
        << nameOf(T) << llvm::format(" within %g", Known->second) << Of;
    Parts.push_back(Text);
  }
  return llvm::join(Parts, ", ");
}

static void writeTimingTrust(HtmlWriter &W, const RunFacts &R) {
  if (R.Modelled) {
    bullet(W, "Modelled, not timed.",
           "No GPU ran this: the times come from a simulated " + R.Device +
               ". Judge it on a GPU before you rely on the gain.");
    return;
  }
  double Spread = 0;
  uint64_t Least = ~uint64_t(0), Most = 0;
  for (const SizeFacts &S : R.Sizes) {
    if (S.Took.MedianUs > 0)
      Spread = std::max(Spread, S.Took.IqrUs / S.Took.MedianUs);
    Least = std::min(Least, S.Took.Samples);
    Most = std::max(Most, S.Took.Samples);
  }
  bullet(W, "Timed in turns.",
         "Source and candidate alternated on the same GPU, " +
             (Least == Most
                  ? std::to_string(Least)
                  : std::to_string(Least) + " to " + std::to_string(Most)) +
             " samples a size; the quartiles of its times are at most " +
             fixed(100 * Spread, 1) + " % of the median apart.");
}

static void writeHowSure(HtmlWriter &W, const RunFacts &R) {
  W.open("section", {{"class", "card"}});
  W.element("h2", {}, "How sure that is").line();
  W.open("ul").line();
  if (R.Result) {
    if (R.Count.Confirmed)
      bullet(W, "Judged twice.",
             "The figures are those of the second time: a new process, random "
             "inputs that no attempt had seen.");
    else
      bullet(W, "Judged once.",
             R.Run.End ? "This run made no second check of its winner."
                       : "The winner is checked again when the search ends.");
    writeTimingTrust(W, R);
    std::string Compared = "Outputs agreed with the source's on random inputs";
    if (R.Load)
      Compared += " (" +
                  toleranceOf(*R.Load, " of the value and the root mean "
                                       "square of its row") +
                  ")";
    Compared += ", for " + comparedSizes(R) + ".";
    if (R.Load && R.Load->Harden)
      Compared += " The timed sizes were compared once more, with weights "
                  "drawn anew and inputs of mixed magnitude.";
    if (!R.Load)
      Compared += " How closely is not in the record: " + R.LoadProblem + ".";
    bullet(W, "Compared, not proved.", Compared);
  }
  size_t Tried = R.Run.Nodes.size() ? R.Run.Nodes.size() - 1 : 0, Right = 0;
  for (const auto &[Kind, Number] : R.Count.Counts)
    if (Kind == VerdictKind::Correct)
      Right = Number;
  bullet(W, "One search.",
         plural(Tried, "attempt") + ", " + std::to_string(Right) +
             " of them correct. Another search may end elsewhere.");
  if (!R.Run.Note.empty())
    bullet(W, "A damaged end.", R.Run.Note + ".");
  W.close().close().line();
}

static void writeSigns(HtmlWriter &W, const RunFacts &R) {
  for (const Sign &S : signs()) {
    llvm::StringRef Found;
    if (!hasSign(R, S, Found))
      continue;
    W.open("li").element("strong", {}, S.What).text(" It uses ");
    W.element("code", {}, Found).text(". ").text(S.So).close().line();
  }
}

static void writeWhereNot(HtmlWriter &W, const RunFacts &R) {
  W.open("section", {{"class", "card limits"}});
  W.element("h2", {}, "Where not to use it").line();
  if (!R.Result) {
    W.element("p", {}, "There is nothing to use.");
    W.close().line();
    return;
  }
  W.open("ul").line();
  writeSigns(W, R);
  if (R.Load) {
    std::string Inputs = inputsOf(*R.Load);
    bullet(W, "Other values.",
           (Inputs.empty()
                ? "No input was filled."
                : "It was compared on these inputs alone: " + Inputs + ".") +
               " What much larger, smaller or special values give is not "
               "known.");
  } else
    bullet(W, "Other values.",
           "The record does not hold which inputs it was compared on.");
  std::vector<std::string> Timed;
  for (const SizeFacts &S : R.Sizes)
    Timed.push_back(S.Took.Label);
  bullet(W, "Other sizes.",
         "Its speed is known for " + llvm::join(Timed, " and ") +
             ", its results for the sizes that were compared.");
  bullet(W, "Other GPUs.",
         "It was built for " + R.Run.Identity.Arch + " and " + R.how() +
             (R.Modelled ? " for " : " on ") + R.Device + " alone.");
  if (R.Load && !R.Load->Tolerance.empty())
    bullet(W, "Bit for bit.",
           "Results may differ from the source's, within the tolerance.");
  W.close().close().line();
}

void stark::writeSummary(HtmlWriter &W, const RunFacts &R) {
  W.open("header", {{"class", "top"}, {"id", "summary"}}).line();
  W.element("p", {{"class", "kicker"}},
            R.Modelled ? "Stark: report of a search, on a simulated GPU"
                       : "Stark: report of a search");
  W.element("h1", {}, headline(R)).line();
  W.element("p", {{"class", "sub"}}, subtitle(R)).line().close();
  if (const Verdict *V = refusedSource(R)) {
    size_t Cut = 0;
    W.element("p", {},
              ("Its verdict is " + verdictName(V->Kind) +
               ", so that nothing was searched. The judge says:")
                  .str());
    W.element("pre", {}, headOf(V->Run, 8000, Cut));
    W.element("pre", {}, headOf(V->Compiler, 8000, Cut)).line();
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
