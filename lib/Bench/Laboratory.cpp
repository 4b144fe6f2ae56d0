//===- Laboratory.cpp - Policies over landscapes --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Laboratory.h"
#include "stark/Report/Table.h"
#include "stark/Search/StopRule.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

llvm::Expected<PolicyOptions> stark::parsePolicySpec(llvm::StringRef Spec) {
  llvm::SmallVector<llvm::StringRef> Parts;
  Spec.split(Parts, ':');
  llvm::Expected<PolicyKind> Kind = parsePolicyKind(Parts[0]);
  if (!Kind)
    return Kind.takeError();
  PolicyOptions O;
  O.Kind = *Kind;
  bool Good = Parts.size() <= 4;
  if (Good && Parts.size() > 1)
    Good = !Parts[1].getAsDouble(O.Epsilon) && O.Epsilon >= 0 && O.Epsilon <= 1;
  if (Good && Parts.size() > 2)
    Good = !Parts[2].getAsInteger(10, O.RootThrottle) && O.RootThrottle > 0;
  if (Good && Parts.size() > 3)
    Good = !Parts[3].getAsInteger(10, O.DeadBranch);
  if (!Good)
    return failed("got '" + Spec +
                  "', wanted NAME[:EPSILON[:ROOT-THROTTLE[:DEAD-BRANCH]]]");
  return O;
}

const std::vector<std::string> &stark::standardPolicySpecs() {
  static const std::vector<std::string> Specs = [] {
    std::vector<std::string> All;
    for (PolicyKind K : allPolicyKinds())
      All.push_back(policyName(K).str());
    for (const char *More :
         {"epsilon-greedy:0", "epsilon-greedy:0.1", "epsilon-greedy:0.2",
          "epsilon-greedy:0.4", "epsilon-greedy:0.5", "epsilon-greedy:0.7",
          "epsilon-greedy:1", "epsilon-greedy:0.3:3", "epsilon-greedy:0.3:10",
          "epsilon-greedy:0.3:30"})
      All.push_back(More);
    return All;
  }();
  return Specs;
}

namespace {
/// One task's share of PatienceFigures.
class Follower {
public:
  explicit Follower(PatienceFigures &F) : F(F) {}
  void add(const std::vector<double> &BestSoFar) {
    Gains Found;
    size_t Steps = 0;
    while (Steps < BestSoFar.size() && !Found.enough(F.Patience))
      Found.add(BestSoFar[Steps++]);
    Made += double(Steps);
    All += double(BestSoFar.size());
    Kept += gain(BestSoFar, Steps);
    Whole += gain(BestSoFar, BestSoFar.size());
    F.Made = Made / std::max(1.0, All);
    F.Kept = Whole > 0 ? Kept / Whole : 1;
  }

private:
  static double gain(const std::vector<double> &BestSoFar, size_t Steps) {
    return Steps ? std::log(std::max(1.0, BestSoFar[Steps - 1])) : 0;
  }
  PatienceFigures &F;
  double Made = 0, All = 0, Kept = 0, Whole = 0;
};
} // namespace

/// What the user has, at the end, of each task.
static std::vector<double> figure(const LandscapeOptions &Landscape,
                                  const PolicyOptions &Options, unsigned Seeds,
                                  unsigned Attempts, PolicyFigures &F) {
  std::vector<double> Ends, Sums(Attempts);
  double Made = 0;
  std::vector<Follower> Followers(F.Patience.begin(), F.Patience.end());
  for (unsigned Seed = 1; Seed <= Seeds; ++Seed) {
    LandscapeRun Run =
        runLandscape(Landscape, Seed, *makePolicy(Options), Attempts);
    double Best = Run.BestSoFar.empty() ? 0 : Run.BestSoFar.back();
    F.Success += Best > 0;
    F.Fast1 += Best >= 1;
    F.Compiled += Run.Compiled;
    F.Correct += Run.Correct;
    Made += double(Run.BestSoFar.size());
    for (Follower &Each : Followers)
      Each.add(Run.BestSoFar);
    // A search that ended early keeps what it has.
    Run.BestSoFar.resize(Attempts, Best);
    for (unsigned I = 0; I < Attempts; ++I)
      Sums[I] += std::log(std::max(1.0, Run.BestSoFar[I]));
    Ends.push_back(std::max(1.0, Best));
  }
  F.Success /= Seeds;
  F.Fast1 /= Seeds;
  F.Compiled /= std::max(1.0, Made);
  F.Correct /= std::max(1.0, Made);
  for (double Sum : Sums)
    F.Curve.push_back(std::exp(Sum / Seeds));
  return Ends;
}

llvm::Expected<std::vector<LandscapeFigures>>
stark::runLaboratory(const std::vector<LandscapeOptions> &Landscapes,
                     const std::vector<std::string> &Specs, unsigned Seeds,
                     unsigned Attempts, llvm::ArrayRef<unsigned> Patience) {
  std::vector<PolicyOptions> Policies;
  for (const std::string &Spec : Specs) {
    llvm::Expected<PolicyOptions> O = parsePolicySpec(Spec);
    if (!O)
      return O.takeError();
    Policies.push_back(*O);
  }
  std::vector<LandscapeFigures> All;
  for (const LandscapeOptions &Landscape : Landscapes) {
    All.push_back({Landscape, {}});
    std::vector<double> First;
    for (size_t I = 0; I < Specs.size(); ++I) {
      PolicyFigures F;
      F.Spec = Specs[I];
      for (unsigned P : Patience)
        F.Patience.push_back({P});
      std::vector<double> Ends =
          figure(Landscape, Policies[I], Seeds, Attempts, F);
      if (I == 0)
        First = Ends;
      std::vector<std::vector<double>> Ratios;
      std::vector<double> Flat;
      for (size_t J = 0; J < Ends.size(); ++J) {
        Flat.push_back(Ends[J] / First[J]);
        Ratios.push_back({Flat.back()});
      }
      F.Against = geometricMean(Flat);
      F.AgainstInterval = bootstrapGeometricMean(Ratios);
      All.back().Policies.push_back(std::move(F));
    }
  }
  return All;
}

static std::string number(double Value, const char *Form = "%.3f") {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(Form, Value);
  return Text;
}

static std::string percent(double Share) {
  return number(100 * Share, "%.1f %%");
}

/// Attempts at which a curve is shown: every fifth, and the last.
static std::vector<size_t> shownAttempts(size_t Count) {
  std::vector<size_t> Shown;
  size_t Step = std::max<size_t>(1, (Count + 5) / 6);
  for (size_t I = Step; I < Count; I += Step)
    Shown.push_back(I);
  if (Count)
    Shown.push_back(Count);
  return Shown;
}

static void printPatience(const LandscapeFigures &L, llvm::raw_ostream &OS) {
  if (L.Policies.empty() || L.Policies.front().Patience.empty())
    return;
  OS << "\nAttempts made, and gain kept (logarithms), with patience:\n\n";
  std::vector<std::string> Headings = {"policy"};
  std::set<size_t> Numbers;
  for (const PatienceFigures &P : L.Policies.front().Patience) {
    Numbers.insert(Headings.size());
    Headings.push_back(std::to_string(P.Patience));
  }
  Table Rows(Headings, Numbers);
  for (const PolicyFigures &F : L.Policies) {
    std::vector<std::string> Row = {F.Spec};
    for (const PatienceFigures &P : F.Patience)
      Row.push_back(percent(P.Made) + ", " + percent(P.Kept));
    Rows.add(Row);
  }
  Rows.print(/*Markdown=*/true, OS);
}

void stark::printLaboratory(const std::vector<LandscapeFigures> &All,
                            unsigned Seeds, llvm::raw_ostream &OS) {
  bool Recorded = llvm::any_of(All, [](const LandscapeFigures &L) {
    return !L.Landscape.Recorded.empty();
  });
  OS << "# Policies on " << (Recorded ? "recorded" : "simulated")
     << " landscapes\n\n"
     << Seeds
     << " tasks a landscape, the same for each policy. A column \"n\" is the "
        "geometric mean of the best speed-up\nso far after n attempts, 1 while "
        "nothing is faster than the source. The last column is the ratio at "
        "the end to\nthe first policy, with its 95 % bootstrap interval over "
        "tasks. "
     << (Recorded
             ? "Attempts come to what recorded ones came to; no search was "
               "made (docs/bench.md).\n"
             : "Simulated, not measured (docs/bench.md).\n");
  for (const LandscapeFigures &L : All) {
    std::vector<size_t> Shown =
        shownAttempts(L.Policies.empty() ? 0 : L.Policies.front().Curve.size());
    OS << "\n## " << L.Landscape.Name << "\n\n";
    std::vector<std::string> Headings = {"policy", "compiled", "correct",
                                         "success", "Fast1"};
    for (size_t N : Shown)
      Headings.push_back(std::to_string(N));
    Headings.push_back("against " +
                       (L.Policies.empty() ? "" : L.Policies.front().Spec));
    std::set<size_t> Numbers;
    for (size_t I = 1; I + 1 < Headings.size(); ++I)
      Numbers.insert(I);
    Table Rows(Headings, Numbers);
    for (const PolicyFigures &F : L.Policies) {
      std::vector<std::string> Row = {F.Spec, percent(F.Compiled),
                                      percent(F.Correct), percent(F.Success),
                                      percent(F.Fast1)};
      for (size_t N : Shown)
        Row.push_back(number(F.Curve[N - 1]));
      Row.push_back(number(F.Against) + " (" + number(F.AgainstInterval.Low) +
                    " to " + number(F.AgainstInterval.High) + ")");
      Rows.add(Row);
    }
    Rows.print(/*Markdown=*/true, OS);
    printPatience(L, OS);
  }
}

std::string stark::laboratoryJson(const std::vector<LandscapeFigures> &All,
                                  unsigned Seeds) {
  auto Rounded = [](double Value) { return std::round(Value * 1e6) / 1e6; };
  json J;
  J["version"] = 1;
  J["seeds"] = Seeds;
  J["simulated"] = true;
  J["recorded"] = llvm::any_of(All, [](const LandscapeFigures &L) {
    return !L.Landscape.Recorded.empty();
  });
  J["landscapes"] = json::array();
  for (const LandscapeFigures &L : All) {
    json Of;
    Of["name"] = L.Landscape.Name;
    Of["policies"] = json::array();
    for (const PolicyFigures &F : L.Policies) {
      json P;
      P["policy"] = F.Spec;
      P["compiled"] = Rounded(F.Compiled);
      P["correct"] = Rounded(F.Correct);
      P["success"] = Rounded(F.Success);
      P["fast1"] = Rounded(F.Fast1);
      P["best_so_far"] = json::array();
      for (double V : F.Curve)
        P["best_so_far"].push_back(Rounded(V));
      P["against_first"] = {{"ratio", Rounded(F.Against)},
                            {"low", Rounded(F.AgainstInterval.Low)},
                            {"high", Rounded(F.AgainstInterval.High)}};
      for (const PatienceFigures &Each : F.Patience)
        P["patience"].push_back({{"attempts", Each.Patience},
                                 {"made", Rounded(Each.Made)},
                                 {"kept", Rounded(Each.Kept)}});
      Of["policies"].push_back(std::move(P));
    }
    J["landscapes"].push_back(std::move(Of));
  }
  return J.dump(2) + "\n";
}
