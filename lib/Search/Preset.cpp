//===- Preset.cpp - The searches that the paper compares -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Preset.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"

using namespace stark;

llvm::StringRef stark::agentsName(AgentsKind K) {
  return K == AgentsKind::Single ? "single" : "team";
}

llvm::Expected<AgentsKind> stark::parseAgentsKind(llvm::StringRef Name) {
  for (AgentsKind K : {AgentsKind::Team, AgentsKind::Single})
    if (Name == agentsName(K))
      return K;
  return failed("got '" + Name + "', wanted team or single");
}

const std::vector<std::string> &stark::paperPresets() {
  static const std::vector<std::string> Names = {
      "sampling", "reflexion", "search-agent", "ma-only", "stark"};
  return Names;
}

const std::vector<std::string> &stark::presetNames() {
  static const std::vector<std::string> Names = [] {
    std::vector<std::string> All = paperPresets();
    All.push_back("stark+");
    return All;
  }();
  return Names;
}

llvm::Error stark::applyPreset(llvm::StringRef Name, SearchOptions &O) {
  auto Alone = [&](PolicyKind Kind) {
    O.Agents = AgentsKind::Single;
    O.Policy.Kind = Kind;
    // A window is of a role, and a single agent has no anchors.
    O.Windows = false;
    O.Strictness = Grounding::Off;
  };
  const SearchOptions Default;
  if (!llvm::is_contained(presetNames(), Name)) {
    std::string All;
    for (const std::string &Known : presetNames())
      All += (All.empty() ? "" : ", ") + Known;
    return failed("got '" + Name + "', wanted one of " + All);
  }
  O.Policy = Default.Policy;
  O.Leaders = Default.Leaders;
  O.WindowLimit = Default.WindowLimit;
  O.Windows = Default.Windows;
  O.Agents = Default.Agents;
  O.Strictness = Default.Strictness;
  O.Temperature = Default.Temperature;
  if (Name == "sampling")
    Alone(PolicyKind::BestOfK);
  if (Name == "reflexion")
    Alone(PolicyKind::Iterative);
  if (Name == "search-agent")
    Alone(PolicyKind::EpsilonGreedy);
  if (Name == "ma-only") {
    O.Policy.Kind = PolicyKind::BestOfK;
    // The paper counts debug among its agents, and the source never needs it.
    O.Policy.Repairs = 1;
    O.Windows = false;
  }
  if (Name == "stark+") {
    O.Policy.RootThrottle = 8;
    O.Policy.DeadBranch = 6;
  }
  return llvm::Error::success();
}

llvm::Error stark::checkOptions(const SearchOptions &O) {
  if (O.Agents == AgentsKind::Single && O.Strictness != Grounding::Off)
    return usageError("--grounding: got " + groundingName(O.Strictness) +
                      ", wanted off: a single agent has no anchors");
  return llvm::Error::success();
}
