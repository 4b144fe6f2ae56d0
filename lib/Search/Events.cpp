//===- Events.cpp - The events of a journal as text ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   event <--fields()--> body: what an event holds is listed once, for print
/// and parse; that of a reply, counters and a verdict where a replay looks for
/// it too, in LLM/Formats.h and Eval/Formats.h. The journal is data: a body
/// that does not hold together is an error.
///
//===----------------------------------------------------------------------===//

#include "stark/Eval/Formats.h"
#include "stark/LLM/Formats.h"
#include "stark/Search/Record.h"
#include "stark/Support/Error.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace stark {
namespace {
enum class Action { Plan, Debug, Single, Tune };
constexpr Named<Action> Actions[] = {{Action::Plan, "plan"},
                                     {Action::Debug, "debug"},
                                     {Action::Single, "single"},
                                     {Action::Tune, "tune"}};
constexpr std::span<const Named<Action>> namesOf(Action) { return Actions; }
} // namespace

template <class IO> static void fields(IO &F, PlanInFlight &P) {
  treeNumber(F, "attempt", P.Attempt);
  treeNumber(F, "node", P.Node);
  F.required("title", P.Title);
}

template <class IO> static void fields(IO &F, SelectEvent &E) {
  treeNumber(F, "attempt", E.Attempt);
  treeNumber(F, "node", E.Chosen.Node);
  F.required("reason", E.Chosen.Reason);
  Action Does = E.Tune     ? Action::Tune
                : E.Single ? Action::Single
                : E.Debug  ? Action::Debug
                           : Action::Plan;
  F.required("action", Does);
  E.Debug = Does == Action::Debug;
  E.Single = Does == Action::Single;
  E.Tune = Does == Action::Tune;
  F.object("shown", [&](auto &Shown) {
    for (const auto &[Role, Name] : WindowRoleNames) {
      std::optional<std::vector<unsigned>> Nodes;
      for (const ShownTo &S : E.Shown)
        if (S.Role == Role)
          Nodes = S.Nodes;
      Shown.optional(Name, Nodes);
      if (!IO::Writes && Nodes)
        E.Shown.push_back({Role, std::move(*Nodes)});
    }
  });
  F.optional("beside", E.Beside, !E.Beside.empty());
  F.optional("spent_s", E.SpentS);
}

template <class IO> static void fields(IO &F, Anchor &A) {
  F.required("begin", A.Bytes.Begin);
  F.required("end", A.Bytes.End);
  F.check(A.Bytes.End >= A.Bytes.Begin, "end", "no less than begin");
  F.required("line", A.Line);
  F.required("end_line", A.EndLine);
  F.required("sites", A.SiteIds);
  F.required("grew_before", A.GrewBefore);
  F.required("grew_after", A.GrewAfter);
}

template <class IO> static void fields(IO &F, NodeEvent &E) {
  treeNumber(F, "attempt", E.Attempt);
  treeNumber(F, "node", E.N.Number);
  treeNumber(F, "parent", E.N.Parent);
  treeNumber(F, "base", E.N.Base);
  treeNumber(F, "same_as", E.N.SameAs);
  F.check(std::max({E.N.Parent, E.N.Base, E.N.SameAs}) < int(E.N.Number),
          "parent", "an older node");
  F.required("from_debug", E.N.FromDebug);
  F.sparse("tuned", E.N.Tuned, false);
  F.required("title", E.N.Given.Title);
  F.required("advice", E.N.Given.Advice);
  F.optional("anchors", E.N.Given.Anchors);
  F.required("verdict", E.Kind);
  F.required("file", E.File);
  F.check(E.File.empty() || E.File == candidateFile(E.N.Number), "file",
          candidateFile(E.N.Number));
  F.required("candidate", E.Candidate);
}

template <class IO> static void fields(IO &F, TunedNumber &N) {
  F.required("name", N.Name);
  F.required("line", N.Line);
  F.required("value", N.Value);
}

template <class IO> static void fields(IO &F, TuneEvent &E) {
  treeNumber(F, "node", E.Node);
  treeNumber(F, "attempts", E.Attempts);
  F.required("numbers", E.Numbers);
  fields(F, E.Ended);
}

template <class IO> static void fields(IO &F, EndEvent &E) {
  treeNumber(F, "winner", E.Winner);
  treeNumber(F, "attempts", E.Attempts);
  fields(F, E.Ended);
}

template <class Event> std::string printEvent(const Event &E) {
  return dumpJson(writeFields<json>(E));
}

template <class Event> llvm::Expected<Event> parseEvent(llvm::StringRef Body) {
  json Object = json::parse(Body.begin(), Body.end(), nullptr, false);
  if (!Object.is_object())
    return failed("the event's body is no JSON object");
  Event E;
  if (std::string Problem = readFields(Object, Event::Type, "", E);
      !Problem.empty())
    return failed(Problem);
  return E;
}

#define STARK_EVENT(Event)                                                     \
  template std::string printEvent(const Event &);                              \
  template llvm::Expected<Event> parseEvent(llvm::StringRef);
STARK_EVENT(SelectEvent)
STARK_EVENT(ReplyEvent)
STARK_EVENT(CountersEvent)
STARK_EVENT(VerdictEvent)
STARK_EVENT(NodeEvent)
STARK_EVENT(TuneEvent)
STARK_EVENT(EndEvent)
#undef STARK_EVENT
} // namespace stark
