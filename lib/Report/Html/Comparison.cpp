//===- Comparison.cpp - Runs side by side ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Comparison.h"
#include "../ReportParts.h"
#include "Sections.h"
#include "stark/Report/Plot.h"
#include "stark/Report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace stark;

namespace {
/// What a column says, one cell a run.
struct Fact {
  std::string Name;
  std::vector<std::string> Cells;
  bool differs() const {
    return llvm::any_of(Cells, [&](auto &C) { return C != Cells.front(); });
  }
};
class Comparison {
public:
  explicit Comparison(const std::vector<ComparedRun> &Runs) {
    for (const ComparedRun &R : Runs)
      All.push_back(std::make_unique<RunFacts>(R.Run, R.Folder));
    nameColumns(Runs);
    compareSearches();
    compareResults();
    compareSizes();
    warn();
  }
  std::vector<std::unique_ptr<RunFacts>> All;
  std::vector<std::string> Names;   ///< of the columns
  std::vector<Fact> Search, Result; ///< what was done, what came of it
  std::vector<std::string> Warnings;

private:
  void nameColumns(const std::vector<ComparedRun> &Runs);
  void compareSearches();
  void compareResults();
  void compareSizes();
  void warn();
  template <class Of>
  void add(std::vector<Fact> &To, llvm::StringRef Name, Of Cell) {
    Fact F{.Name = Name.str(), .Cells = {}};
    for (const auto &R : All)
      F.Cells.push_back(Cell(*R));
    To.push_back(std::move(F));
  }
};
} // namespace

/// The folders without what all of them begin with.
void Comparison::nameColumns(const std::vector<ComparedRun> &Runs) {
  for (const ComparedRun &R : Runs)
    Names.push_back(llvm::StringRef(R.Folder).rtrim('/').str());
  for (;;) {
    size_t Slash = Names.front().find('/');
    if (Slash == std::string::npos)
      return;
    std::string Part = Names.front().substr(0, Slash + 1);
    if (!llvm::all_of(Names, [&](const std::string &N) {
          return N.size() > Part.size() && llvm::StringRef(N).starts_with(Part);
        }))
      return;
    for (std::string &N : Names)
      N.erase(0, Part.size());
  }
}

void Comparison::compareSearches() {
  add(Search, "task", [](const RunFacts &R) {
    return R.Run.Identity.TaskName + ", " + R.Run.Identity.Entry;
  });
  add(Search, "provider",
      [](const RunFacts &R) { return R.Run.Identity.Provider; });
  add(Search, "models", [](const RunFacts &R) {
    return R.Count.Models.empty() ? "none" : llvm::join(R.Count.Models, ", ");
  });
  add(Search, "evaluator",
      [](const RunFacts &R) { return R.Run.Identity.Evaluator; });
  add(Search, "times", [](const RunFacts &R) {
    return R.Run.Nodes.size() ? howTaken(R.Run) : "none yet";
  });
  add(Search, "policy", [](const RunFacts &R) {
    return policyName(R.Run.Identity.Options.Policy.Kind).str();
  });
  add(Search, "agents", [](const RunFacts &R) {
    return agentsName(R.Run.Identity.Options.Agents).str();
  });
  add(Search, "grounding", [](const RunFacts &R) {
    return groundingName(R.Run.Identity.Options.Strictness).str();
  });
  add(Search, "seed", [](const RunFacts &R) {
    return std::to_string(R.Run.Identity.Options.Seed);
  });
  add(Search, "tool", [](const RunFacts &R) {
    auto Known = R.Run.Identity.Versions.find("stark");
    return Known == R.Run.Identity.Versions.end() ? "not known" : Known->second;
  });
}

static size_t countOf(const RunFacts &R, bool (*Counts)(VerdictKind)) {
  size_t Number = 0;
  for (const auto &[Kind, Times] : R.Count.Counts)
    Number += Counts(Kind) ? Times : 0;
  return Number;
}

void Comparison::compareResults() {
  add(Result, "times as fast", [](const RunFacts &R) {
    return R.Result ? times(R.found().speedup()) + "×" : std::string("none");
  });
  add(Result, "95 %", [](const RunFacts &R) {
    return R.Result ? fixed(R.found().speedupLow(), 3) + " to " +
                          fixed(R.found().speedupHigh(), 3)
                    : std::string("-");
  });
  add(Result, "which", [](const RunFacts &R) {
    if (!R.Result)
      return std::string(R.Run.End ? "no winner" : "goes on");
    return (R.hasWinner() ? "winner, node " : "best so far, node ") +
           std::to_string(R.Result) + (R.Count.Confirmed ? ", confirmed" : "");
  });
  add(Result, "instruction",
      [](const RunFacts &R) { return R.Result ? titleOf(R, R.Result) : "-"; });
  add(Result, "attempts", [](const RunFacts &R) {
    return std::to_string(R.Run.Nodes.size() ? R.Run.Nodes.size() - 1 : 0);
  });
  add(Result, "correct", [](const RunFacts &R) {
    return std::to_string(
        countOf(R, [](VerdictKind K) { return K == VerdictKind::Correct; }));
  });
  add(Result, "steps to the result", [](const RunFacts &R) {
    return std::to_string(R.Path.empty() ? 0 : R.Path.size() - 1);
  });
  add(Result, "model calls",
      [](const RunFacts &R) { return grouped(R.Count.Calls.Calls); });
  add(Result, "tokens in, out", [](const RunFacts &R) {
    const CallFigures &C = R.Count.Calls;
    return C.WithoutUsage || !C.Calls
               ? std::string("not known")
               : grouped(C.Input) + ", " + grouped(C.Output);
  });
  add(Result, "cost", [](const RunFacts &R) {
    const CallFigures &C = R.Count.Calls;
    return C.CostKnown && C.Calls
               ? fixed(double(C.CostMicroUsd) * 1e-6, 4) + " USD"
               : std::string("not known");
  });
}

/// Those of the first run, and what others add.
void Comparison::compareSizes() {
  std::vector<std::string> Labels;
  for (const auto &R : All)
    for (const SizeFacts &S : R->Sizes)
      if (!llvm::is_contained(Labels, S.Took.Label))
        Labels.push_back(S.Took.Label);
  for (const std::string &Label : Labels)
    add(Result, Label.empty() ? "time" : Label, [&](const RunFacts &R) {
      auto Known = llvm::find_if(
          R.Sizes, [&](const SizeFacts &S) { return S.Took.Label == Label; });
      if (Known == R.Sizes.end())
        return std::string("-");
      return duration(Known->Took.MedianUs) + " of " +
             duration(Known->Took.SourceMedianUs) + ", " +
             times(Known->Took.Speedup) + "×";
    });
}

void Comparison::warn() {
  auto Differ = [&](auto Of) {
    return llvm::any_of(
        All, [&](const auto &R) { return Of(*R) != Of(*All.front()); });
  };
  if (Differ([](const RunFacts &R) { return R.Run.Identity.TaskDigest; }))
    Warnings.push_back("The runs are not all of the same task (source, "
                       "headers, flags, workload): speeds over different "
                       "sources say little of one another.");
  if (Differ([](const RunFacts &R) { return R.Modelled; }))
    Warnings.push_back("Some times are modelled, others measured.");
  else if (Differ([](const RunFacts &R) { return R.Device; }))
    Warnings.push_back("The runs were judged on different devices.");
  if (llvm::any_of(All, [](const auto &R) { return !R->Run.End; }))
    Warnings.push_back("Not all of the runs have ended.");
}

void stark::printComparison(const std::vector<ComparedRun> &Runs, bool Markdown,
                            llvm::raw_ostream &OS) {
  Comparison C(Runs);
  for (const std::string &Warning : C.Warnings)
    OS << (Markdown ? "**Note:** " : "Note: ") << Warning << "\n\n";
  auto Shown = [&](const std::string &Text) {
    return Markdown ? quoteMarkdown(Text) : Text;
  };
  std::vector<std::string> Heads = {""};
  for (const std::string &Name : C.Names)
    Heads.push_back(Shown(Name));
  Table Rows(Heads, {});
  for (const std::vector<Fact> *Facts : {&C.Result, &C.Search})
    for (const Fact &F : *Facts) {
      std::vector<std::string> Row = {Shown(F.Name)};
      for (const std::string &Cell : F.Cells)
        Row.push_back(Shown(Cell));
      Rows.add(std::move(Row));
    }
  Rows.print(Markdown, OS);
}

static void writeFacts(HtmlWriter &W, const Comparison &C,
                       const std::vector<Fact> &Facts,
                       const std::string &Label) {
  W.open("div", {{"class", "scroll"},
                 {"role", "region"},
                 {"aria-label", Label},
                 {"tabindex", "0"}});
  W.open("table", {{"class", "compare"}}).open("thead").open("tr");
  W.element("td", {}, "");
  for (const std::string &Name : C.Names)
    W.element("th", {{"scope", "col"}}, Name);
  W.close().close().open("tbody").line();
  for (const Fact &F : Facts) {
    W.open("tr", {{"class", F.differs() ? "differs" : "agrees"}});
    W.element("th", {{"scope", "row"}}, F.Name);
    for (const std::string &Cell : F.Cells)
      W.element("td", {{"class", "left"}}, Cell);
    W.close().line();
  }
  W.close().close().close().line();
}

/// Six colours, each with dashes of its own, in three widths.
static std::string lineClass(size_t Run) {
  std::string Class = "c" + std::to_string(Run % 6);
  size_t Round = Run / 6 % 3;
  return Round ? Class + " again" + std::to_string(Round) : Class;
}

/// "scale", "matmul and softmax", "5 tasks"
static std::string tasksOf(const std::vector<ComparedRun> &Runs) {
  std::vector<std::string> Names;
  for (const ComparedRun &R : Runs)
    if (!llvm::is_contained(Names, R.Run.Identity.TaskName))
      Names.push_back(R.Run.Identity.TaskName);
  return Names.size() > 3 ? std::to_string(Names.size()) + " tasks"
                          : llvm::join(Names, " and ");
}

static void writeBestOfAll(HtmlWriter &W, const Comparison &C) {
  double Least = 1, Most = 1.1, Longest = 1;
  std::vector<std::vector<std::pair<double, double>>> Lines;
  for (const auto &R : C.All) {
    std::vector<std::pair<double, double>> Best = {{0, 1}};
    double Attempt = 0;
    for (const RecordedAttempt &A : R->Run.Attempts) {
      if (!A.Node || *A.Node == 0)
        continue;
      const Verdict &V = R->node(*A.Node).Found;
      double Now = Best.back().second;
      Best.emplace_back(++Attempt, Now);
      if (V.correct() && V.speedup() > Now)
        Best.emplace_back(Attempt, V.speedup());
    }
    Longest = std::max(Longest, Attempt);
    Most = std::max(Most, Best.back().second);
    Lines.push_back(std::move(Best));
  }
  bool Log = Most / Least > 6;
  W.open("figure", {{"class", "wide"}}).line();
  {
    Plot P(W, makeAxis(0, Longest, "attempt"),
           makeAxis(Log ? 0.87 : 0.85, Log ? Most * 1.25 : Most * 1.06,
                    "times as fast", "×", Log),
           "Best so far of each run over its attempts");
    for (size_t I = 0; I < Lines.size(); ++I)
      P.line(Lines[I], lineClass(I));
  }
  W.open("ul", {{"class", "legend"}}).line();
  for (size_t I = 0; I < Lines.size(); ++I) {
    W.open("li").open("svg", {{"class", "key"},
                              {"viewBox", "0 0 34 10"},
                              {"width", "34"},
                              {"height", "10"},
                              {"aria-hidden", "true"}});
    W.empty("path", {{"class", lineClass(I)}, {"d", "M0,5H34"}}).close();
    W.text(C.Names[I]).close().line();
  }
  W.close();
  W.open("figcaption").element("strong", {}, "Best so far.");
  W.text(" Of each run's attempts, against its own source.").close();
  W.close().line();
}

void stark::printComparisonPage(const std::vector<ComparedRun> &Runs,
                                llvm::raw_ostream &OS) {
  Comparison C(Runs);
  HtmlWriter W(OS);
  std::string Title =
      tasksOf(Runs) + ": " + std::to_string(Runs.size()) + " runs side by side";
  beginPage(W, OS, Title);
  W.element("p", {{"class", "kicker"}}, "Stark: comparison of searches");
  W.element("h1", {}, Title).line();
  for (const std::string &Warning : C.Warnings)
    W.element("p", {{"class", "problem"}}, Warning).line();
  W.element("p", {{"class", "note"}},
            "Lines in which the runs differ are set "
            "in bold.");
  W.element("h2", {}, "What came of it").line();
  writeFacts(W, C, C.Result, "What came of it");
  W.element("h2", {}, "Over the attempts").line();
  writeBestOfAll(W, C);
  W.element("h2", {}, "What was run").line();
  writeFacts(W, C, C.Search, "What was run");
  endPage(W, OS);
}
