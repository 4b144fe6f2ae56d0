//===- Identity.cpp - run.json -------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   identity <--fields()--> run.json. What must agree for a run to go on is a
/// list of its own: its digest names a run, and its first difference is why
/// another run may not go on.
///
//===----------------------------------------------------------------------===//

#include "stark/Json/Fields.h"
#include "stark/Search/Record.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

/// Raised when a run of before can no longer be gone on with.
static constexpr int64_t FormatVersion = 1;

namespace stark {
/// Empty when \p Parsed is a value, which goes to \p Out; else \p Wanted, or
/// what the error says.
template <class T>
static std::string wordProblem(llvm::Expected<T> Parsed, T &Out,
                               const std::string &Wanted = "") {
  if (Parsed) {
    Out = std::move(*Parsed);
    return "";
  }
  std::string Why = llvm::toString(Parsed.takeError());
  return Wanted.empty() ? Why : Wanted;
}

static std::string printWord(Grounding G) { return groundingName(G).str(); }
static std::string parseWord(const std::string &Text, Grounding &G) {
  return wordProblem(parseGrounding(Text), G);
}
static std::string printWord(AgentsKind K) { return agentsName(K).str(); }
static std::string parseWord(const std::string &Text, AgentsKind &K) {
  return wordProblem(parseAgentsKind(Text), K, "team or single");
}
static std::string printWord(PolicyKind K) { return policyName(K).str(); }
static std::string parseWord(const std::string &Text, PolicyKind &K) {
  std::string All;
  for (PolicyKind Known : allPolicyKinds())
    All += (All.empty() ? "one of " : ", ") + policyName(Known).str();
  return wordProblem(parsePolicyKind(Text), K, All);
}
static std::string printWord(const BudgetLimit &L) {
  return printBudgetLimit(L);
}
static std::string parseWord(const std::string &Text, BudgetLimit &L) {
  return wordProblem(parseBudgetLimit(Text), L);
}

template <class IO> static void fields(IO &F, SearchOptions &O) {
  auto Count = [&F](const char *Name, unsigned &Value) {
    F.required(Name, Value);
    F.check(Value <= 1000000, Name, "at most 1000000");
  };
  Count("attempts", O.Attempts);
  F.required("seed", O.Seed);
  F.required("epsilon", O.Policy.Epsilon);
  Count("root_throttle", O.Policy.RootThrottle);
  Count("dead_branch", O.Policy.DeadBranch);
  Count("leaderboard", O.Leaders);
  Count("window", O.WindowLimit);
  F.required("grounding", O.Strictness);
  F.required("temperature_plan", O.Temperature.Plan);
  F.required("temperature_code", O.Temperature.Code);
  F.required("temperature_debug", O.Temperature.Debug);
  F.required("margin", O.Margin);
  F.required("confirm", O.Confirm);
  // What is written only when it is not the default was added later: a run of
  // before reads as one with the default.
  const PolicyOptions Default;
  F.sparse("policy", O.Policy.Kind, Default.Kind);
  F.sparse("repairs", O.Policy.Repairs, Default.Repairs);
  F.check(O.Policy.Repairs <= 1000000, "repairs", "at most 1000000");
  F.sparse("agents", O.Agents, AgentsKind::Team);
  F.optional("temperature_single", O.Temperature.Single,
             /*Written=*/O.Agents == AgentsKind::Single);
  F.sparse("patience", O.Patience, 0u);
  F.check(O.Patience <= 1000000, "patience", "at most 1000000");
  F.sparse("stop_at", O.StopAt, 0.0);
  F.check(O.StopAt >= 0 && O.StopAt <= 1, "stop_at", "from 0 to 1");
  F.sparse("tune_candidates", O.Tune.Candidates, 0u);
  F.sparse("tune_seconds", O.Tune.Seconds, 0u);
  F.check(std::max(O.Tune.Candidates, O.Tune.Seconds) <= 10000000,
          "tune_seconds", "at most 10000000");
  F.sparse("jobs", O.Jobs, 1u);
  F.check(O.Jobs <= 1000000, "jobs", "at most 1000000");
  F.check(O.Jobs >= 1, "jobs", "1 or more");
  F.sparse("windows", O.Windows, true);
  F.sparse("counters", O.CountersOf, "");
  F.sparse("profile", O.Profile, false);
  F.optional("budget", O.Limits, /*Written=*/!O.Limits.empty());
}

/// What must agree for a run to go on.
template <class IO> static void agreed(IO &F, RunIdentity &I) {
  F.format("format", FormatVersion);
  F.object("task", [&](auto &Task) {
    Task.required("name", I.TaskName);
    Task.required("entry", I.Entry);
    Task.required("digest", I.TaskDigest);
    Task.required("arch", I.Arch);
  });
  F.required("prompts", I.PromptsDigest);
  F.required("provider", I.Provider);
  F.required("evaluator", I.Evaluator);
  F.required("options", I.Options);
}

template <class IO> static void fields(IO &F, RunIdentity &I) {
  agreed(F, I);
  F.required("versions", I.Versions);
  F.sparse("device", I.Device, "");
}
} // namespace stark

using namespace stark;

static json agreedJson(RunIdentity I) {
  FieldWriter<json> Writer;
  agreed(Writer, I);
  return Writer.take();
}

std::string stark::printIdentity(const RunIdentity &I) {
  return dumpJson(writeFields<json>(I), 2) + "\n";
}

std::string stark::digestOf(const RunIdentity &I) {
  return sha256(dumpJson(agreedJson(I)));
}

llvm::Expected<RunIdentity> stark::readIdentity(llvm::StringRef RunFolder) {
  std::string File = (RunFolder + "/run.json").str();
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  return parseIdentity(*Text, File);
}

llvm::Expected<RunIdentity> stark::parseIdentity(llvm::StringRef Text,
                                                 llvm::StringRef File) {
  json Object = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Object.is_discarded())
    return failed("'" + File + "' is not JSON; wanted the identity of a run");
  RunIdentity I;
  if (std::string Problem = readFields(Object, File.str(), "", I);
      !Problem.empty())
    return failed(Problem);
  return I;
}

std::string stark::differenceOf(const RunIdentity &Then,
                                const RunIdentity &Now) {
  json A = agreedJson(Then).flatten(), B = agreedJson(Now).flatten();
  // An option that is written only when it is not the default is missing on
  // one side.
  json Both = A;
  Both.update(B);
  auto Say = [](const json &Side, const std::string &Key) {
    return Side.contains(Key) ? describeJson(Side[Key]) : "the default";
  };
  for (const auto &Item : Both.items()) {
    bool InBoth = A.contains(Item.key()) && B.contains(Item.key());
    if (InBoth && A[Item.key()] == B[Item.key()])
      continue;
    std::string Then = Say(A, Item.key()), Now = Say(B, Item.key());
    // "/options/root_throttle" reads as "root_throttle", "/task/name" as
    // "task name".
    std::string Name = Item.key().substr(1);
    if (llvm::StringRef(Name).starts_with("options/"))
      Name = Name.substr(8);
    for (char &C : Name)
      if (C == '/')
        C = ' ';
    return "has " + Name + " " + Then + ", now it is " + Now;
  }
  return "";
}
