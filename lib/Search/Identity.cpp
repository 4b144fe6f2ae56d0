//===- Identity.cpp - run.json -------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Json/Fields.h"
#include "stark/Search/Record.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

/// Raised when a run of before can no longer be gone on with.
static constexpr uint64_t FormatVersion = 1;

static json printOptions(const SearchOptions &O) {
  json J;
  J["attempts"] = O.Attempts;
  J["seed"] = O.Seed;
  J["epsilon"] = O.Policy.Epsilon;
  J["root_throttle"] = O.Policy.RootThrottle;
  J["dead_branch"] = O.Policy.DeadBranch;
  J["leaderboard"] = O.Leaders;
  J["window"] = O.WindowLimit;
  J["grounding"] = groundingName(O.Strictness).str();
  J["temperature_plan"] = O.Heat.Plan;
  J["temperature_code"] = O.Heat.Code;
  J["temperature_debug"] = O.Heat.Debug;
  J["margin"] = O.Margin;
  J["confirm"] = O.Confirm;
  // What is written only when it is not the default was added later: a run of
  // before reads as one with the default.
  const PolicyOptions Default;
  if (O.Policy.Kind != Default.Kind)
    J["policy"] = policyName(O.Policy.Kind).str();
  if (O.Policy.Repairs != Default.Repairs)
    J["repairs"] = O.Policy.Repairs;
  if (O.Agents == AgentsKind::Single) {
    J["agents"] = agentsName(O.Agents).str();
    J["temperature_single"] = O.Heat.Single;
  }
  if (O.Jobs != 1)
    J["jobs"] = O.Jobs;
  if (!O.Windows)
    J["windows"] = false;
  if (!O.CountersOf.empty())
    J["counters"] = O.CountersOf;
  for (const BudgetLimit &L : O.Limits)
    J["budget"].push_back(printBudgetLimit(L));
  return J;
}

/// What must agree for a run to go on.
static json printAgreed(const RunIdentity &I) {
  json J;
  J["format"] = FormatVersion;
  J["task"] = {{"name", I.TaskName},
               {"entry", I.Entry},
               {"digest", I.TaskDigest},
               {"arch", I.Arch}};
  J["prompts"] = I.PromptsDigest;
  J["provider"] = I.Provider;
  J["evaluator"] = I.Evaluator;
  J["options"] = printOptions(I.Options);
  return J;
}

std::string stark::printIdentity(const RunIdentity &I) {
  json J = printAgreed(I);
  J["versions"] = json::object();
  for (const auto &[Name, Version] : I.Options.Versions)
    J["versions"][Name] = Version;
  if (!I.Device.empty())
    J["device"] = I.Device;
  return J.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

RunIdentity stark::identityOf(const Task &T, const PromptSet &Prompts,
                              const ChatClient &Chat, const Evaluator &Judge,
                              const SearchOptions &Options) {
  RunIdentity I;
  I.TaskName = T.Name;
  I.Entry = T.Load.Entry;
  I.TaskDigest = T.Digest;
  I.Arch = T.Parse.Arch;
  I.PromptsDigest = Prompts.Digest;
  I.Provider = Chat.identity();
  I.Evaluator = Judge.identity();
  I.Options = Options;
  return I;
}

std::string stark::digestOf(const RunIdentity &I) {
  return sha256(
      printAgreed(I).dump(-1, ' ', false, json::error_handler_t::replace));
}

llvm::Expected<RunIdentity> stark::readIdentity(llvm::StringRef RunFolder) {
  std::string File = (RunFolder + "/run.json").str();
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  return parseIdentity(*Text, File);
}

static void readUnsigned(FieldReader<json> &Fields, const std::string &Name,
                         unsigned &Value) {
  uint64_t Wide = Value;
  Fields.required(Name, Wide);
  if (Wide > 1000000)
    Fields.fail(Name, std::to_string(Wide), "at most 1000000");
  Value = unsigned(Wide);
}

static std::string parseOptions(const json &Object, const std::string &File,
                                SearchOptions &O) {
  FieldReader<json> Fields(Object, File, "options");
  std::string Grounding;
  readUnsigned(Fields, "attempts", O.Attempts);
  Fields.required("seed", O.Seed);
  Fields.required("epsilon", O.Policy.Epsilon);
  readUnsigned(Fields, "root_throttle", O.Policy.RootThrottle);
  readUnsigned(Fields, "dead_branch", O.Policy.DeadBranch);
  readUnsigned(Fields, "leaderboard", O.Leaders);
  readUnsigned(Fields, "window", O.WindowLimit);
  Fields.required("grounding", Grounding);
  Fields.required("temperature_plan", O.Heat.Plan);
  Fields.required("temperature_code", O.Heat.Code);
  Fields.required("temperature_debug", O.Heat.Debug);
  Fields.required("margin", O.Margin);
  Fields.required("confirm", O.Confirm);
  std::string Policy = policyName(O.Policy.Kind).str();
  Fields.optional("policy", Policy);
  if (llvm::Expected<PolicyKind> K = parsePolicyKind(Policy))
    O.Policy.Kind = *K;
  else {
    llvm::consumeError(K.takeError());
    std::string All;
    for (PolicyKind Known : allPolicyKinds())
      All += (All.empty() ? "one of " : ", ") + policyName(Known).str();
    Fields.fail("policy", "'" + Policy + "'", All);
  }
  std::string Agents = agentsName(O.Agents).str();
  Fields.optional("agents", Agents);
  if (llvm::Expected<AgentsKind> K = parseAgentsKind(Agents)) {
    O.Agents = *K;
  } else {
    llvm::consumeError(K.takeError());
    Fields.fail("agents", "'" + Agents + "'", "team or single");
  }
  Fields.optional("temperature_single", O.Heat.Single);
  Fields.optional("windows", O.Windows);
  Fields.optional("counters", O.CountersOf);
  if (Fields.raw("jobs"))
    readUnsigned(Fields, "jobs", O.Jobs);
  if (O.Jobs == 0)
    Fields.fail("jobs", "0", "1 or more");
  if (Fields.raw("repairs"))
    readUnsigned(Fields, "repairs", O.Policy.Repairs);
  if (const json *List = Fields.raw("budget")) {
    if (!List->is_array())
      Fields.fail("budget", describeJson(*List), "an array of limits");
    for (const json &Item : List->is_array() ? *List : json::array()) {
      llvm::Expected<BudgetLimit> L =
          parseBudgetLimit(Item.is_string() ? Item.get<std::string>() : "?");
      if (L)
        O.Limits.push_back(std::move(*L));
      else
        Fields.fail("budget", describeJson(Item),
                    llvm::toString(L.takeError()));
    }
  }
  if (Fields.good()) {
    if (llvm::Expected<stark::Grounding> G = parseGrounding(Grounding))
      O.Strictness = *G;
    else
      Fields.fail("grounding", "'" + Grounding + "'",
                  llvm::toString(G.takeError()));
  }
  return Fields.problem();
}

llvm::Expected<RunIdentity> stark::parseIdentity(llvm::StringRef Text,
                                                 llvm::StringRef File) {
  json Object = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Object.is_discarded())
    return failed("'" + File + "' is not JSON; wanted the identity of a run");
  RunIdentity I;
  FieldReader<json> Fields(Object, File.str(), "");
  uint64_t Format = 0;
  Fields.required("format", Format);
  if (Fields.good() && Format != FormatVersion)
    return failed("'" + File + "' has format " + llvm::Twine(Format) +
                  ", wanted " + llvm::Twine(FormatVersion));
  Fields.required("prompts", I.PromptsDigest);
  Fields.required("provider", I.Provider);
  Fields.required("evaluator", I.Evaluator);
  Fields.optional("device", I.Device);
  static const json Empty = json::object();
  auto Nested = [&](const std::string &Name) -> const json & {
    const json *Found = Fields.raw(Name);
    if (!Found || !Found->is_object())
      Fields.fail(Name, Found ? describeJson(*Found) : "nothing", "an object");
    return Found && Found->is_object() ? *Found : Empty;
  };
  const json &Task = Nested("task"), &Options = Nested("options"),
             &Versions = Nested("versions");
  if (std::string Problem = Fields.problem(); !Problem.empty())
    return failed(Problem);
  FieldReader<json> TaskFields(Task, File.str(), "task");
  TaskFields.required("name", I.TaskName);
  TaskFields.required("entry", I.Entry);
  TaskFields.required("digest", I.TaskDigest);
  TaskFields.required("arch", I.Arch);
  if (std::string Problem = TaskFields.problem(); !Problem.empty())
    return failed(Problem);
  if (std::string Problem = parseOptions(Options, File.str(), I.Options);
      !Problem.empty())
    return failed(Problem);
  FieldReader<json> VersionFields(Versions, File.str(), "versions");
  for (const auto &Item : Versions.items())
    VersionFields.required(Item.key(), I.Options.Versions[Item.key()]);
  if (std::string Problem = VersionFields.problem(); !Problem.empty())
    return failed(Problem);
  return I;
}

std::string stark::differenceOf(const RunIdentity &Then,
                                const RunIdentity &Now) {
  json A = printAgreed(Then).flatten(), B = printAgreed(Now).flatten();
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
