//===- SummaryTrust.cpp - How sure a result is, and where it ends ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   judge's record, workload, words of the winner -> what may be relied on
/// What is said follows from the record; what the record does not hold is said
/// to be unknown.
///
//===----------------------------------------------------------------------===//

#include "SummaryTrust.h"
#include "Sections.h"
#include "stark/Job/Names.h"
#include "stark/Judge/Judge.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

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

std::vector<std::string> stark::signsOf(const RunFacts &R) {
  llvm::StringRef Unused;
  std::vector<std::string> Found;
  for (const Sign &Each : signs())
    if (hasSign(R, Each, Unused))
      Found.push_back(llvm::StringRef(Each.What).rtrim('.').lower());
  return Found;
}

std::string stark::counted(uint64_t Count, llvm::StringRef What) {
  return grouped(Count) + " " + What.str() + (Count == 1 ? "" : "s");
}

static void bullet(HtmlWriter &W, llvm::StringRef Lead, llvm::StringRef Rest) {
  W.open("li").element("strong", {}, Lead).text(" ").text(Rest).close().line();
}

/// "normal: a, b (f32)", what the inputs were filled with, most varied first.
static std::string inputsOf(const Workload &Load) {
  std::vector<std::pair<std::string, std::vector<std::string>>> Fills;
  for (const Argument &A : Load.Arguments) {
    if (!A.IsBuffer || A.Absent ||
        (A.Use != job::Role::Input && A.Use != job::Role::InOut))
      continue;
    std::string Text;
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
    auto Known = llvm::find_if(
        Fills, [&](const auto &Fill) { return Fill.first == Text; });
    if (Known == Fills.end())
      Known = Fills.insert(Fills.end(), {Text, {}});
    Known->second.push_back(A.Name + " (" + nameOf(A.Type) + ")");
  }
  // What is the same everywhere finds the fewest faults.
  llvm::stable_sort(Fills, [](const auto &A, const auto &B) {
    auto Flat = [](llvm::StringRef Fill) {
      return Fill == nameOf(job::InitKind::Zeros) ||
             Fill == nameOf(job::InitKind::Ones) ||
             Fill == nameOf(job::InitKind::Constant);
    };
    return Flat(A.first) < Flat(B.first);
  });
  constexpr size_t MostFills = 5, MostNames = 4;
  std::string All;
  for (size_t I = 0; I < Fills.size() && I < MostFills; ++I) {
    auto &[Fill, Names] = Fills[I];
    if (size_t More = Names.size(); More > MostNames) {
      Names.resize(MostNames);
      Names.push_back(std::to_string(More - MostNames) + " more");
    }
    All += (I ? "; " : "") + llvm::join(Names, ", ") + ": " + Fill;
  }
  return All + (Fills.size() > MostFills ? "; and others" : "");
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
  if (Labels.size() == 1)
    return "one size";
  return "the sizes " + llvm::join(Labels, "; ");
}

std::string stark::toleranceOf(const Workload &Load, llvm::StringRef Of) {
  std::vector<std::string> Parts;
  std::vector<job::DType> Types;
  for (const Argument &A : Load.Arguments)
    if (A.IsBuffer && A.Use != job::Role::Input &&
        A.Use != job::Role::Scratch) {
      if (A.Fields.empty())
        Types.push_back(A.Type);
      for (const Argument &Of : A.Fields)
        Types.push_back(Of.Type);
    }
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

/// What it was compared with beside the workload's own values. Runs of before
/// the judge named them were hardened where the workload says so.
static std::string otherValuesOf(const RunFacts &R) {
  Verdict V = R.found();
  if (V.Proved.empty() && R.Load &&
      R.Load->Harden.value_or(R.Load->Imported.has_value()))
    V.Proved = {std::string(judge::OtherValues) +
                nameOf(job::Regime::Hardened)};
  return otherValues(V);
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

void stark::writeHowSure(HtmlWriter &W, const RunFacts &R) {
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
                  toleranceOf(*R.Load, " of |value| + root mean square of its "
                                       "row") +
                  ")";
    Compared += ", for " + comparedSizes(R) + ".";
    std::string Others = otherValuesOf(R);
    if (!Others.empty())
      Compared += " And with other values: " + Others + ".";
    for (llvm::StringRef Line : R.found().Proved)
      if (!Line.starts_with(judge::OtherValues))
        Compared += " Compared with: " + Line.str() + ".";
    if (!R.found().Precision.empty())
      Compared += " It rounds where the source does not: " +
                  llvm::join(R.found().Precision, ", ") + ".";
    if (!R.Load)
      Compared += " How closely is not in the record: " + R.LoadProblem + ".";
    bullet(W, "Compared, not proved.", Compared);
  }
  size_t Tried = R.Run.Nodes.size() ? R.Run.Nodes.size() - 1 : 0, Right = 0;
  for (const auto &[Kind, Number] : R.Count.Counts)
    if (Kind == VerdictKind::Correct)
      Right = Number;
  bullet(W, "One search.",
         counted(Tried, "attempt") + ", " + std::to_string(Right) +
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

void stark::writeWhereNot(HtmlWriter &W, const RunFacts &R) {
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
    std::string Inputs = inputsOf(*R.Load), Others = otherValuesOf(R);
    std::string Text =
        Inputs.empty() ? "No input was filled."
        : Others.empty()
            ? "It was compared on these inputs alone: " + Inputs + "."
            : "It was compared on these inputs: " + Inputs + ".";
    Text += Others.empty() ? " Much larger or smaller values, infinities and "
                             "NaN were not tried."
                           : " And on " + Others +
                                 ". No others were tried, nor infinities and "
                                 "NaN.";
    bullet(W, "Other values.", Text);
  } else
    bullet(W, "Other values.",
           "The record does not hold which inputs it was compared on.");
  std::vector<std::string> Timed;
  for (const SizeFacts &S : R.Sizes)
    Timed.push_back(S.Took.Label);
  bullet(W, "Other sizes.",
         R.Load && R.Load->Sizes.size() == 1
             ? "It was timed and compared for one size alone."
             : "It was timed for " + llvm::join(Timed, " and ") +
                   " alone, and compared for the sizes that are named below.");
  bullet(W, "Other GPUs.",
         "It was built for " + R.Run.Identity.Arch + " and " + R.how() +
             (R.Modelled ? " for " : " on ") + R.found().Device + " alone.");
  if (R.Load && !R.Load->Tolerance.empty())
    bullet(W, "Bit for bit.",
           "The values that it returns may differ from the source's, within "
           "the tolerance.");
  W.close().close().line();
}
