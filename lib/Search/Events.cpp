//===- Events.cpp - The events of a journal as text ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Json/Fields.h"
#include "stark/LLM/Transcript.h"
#include "stark/Search/Record.h"
#include "stark/Support/Error.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static std::string dump(const json &Value) {
  return Value.dump(-1, ' ', false, json::error_handler_t::replace);
}

static llvm::Expected<json> parseBody(llvm::StringRef Body) {
  json Object = json::parse(Body.begin(), Body.end(), nullptr, false);
  if (!Object.is_object())
    return failed("the event's body is no JSON object");
  return Object;
}

template <class T>
static void readNumber(FieldReader<json> &Fields, const std::string &Name,
                       T &Value) {
  int64_t Wide = 0;
  Fields.required(Name, Wide);
  if (Wide < (std::is_signed_v<T> ? -1 : 0) || Wide > 1000000)
    Fields.fail(Name, std::to_string(Wide), "a number of a node or attempt");
  Value = T(Wide);
}

static llvm::Error problemOf(FieldReader<json> &Fields) {
  std::string Problem = Fields.problem();
  return Problem.empty() ? llvm::Error::success() : failed(Problem);
}

static const std::pair<WindowRole, const char *> Roles[] = {
    {WindowRole::Plan, "plan"},
    {WindowRole::Code, "code"},
    {WindowRole::Debug, "debug"},
    {WindowRole::Single, "single"}};

static bool readNumbers(const json &Array, std::vector<unsigned> &Numbers) {
  if (!Array.is_array())
    return false;
  for (const json &Item : Array) {
    if (!Item.is_number_unsigned() || Item.get<uint64_t>() > 1000000)
      return false;
    Numbers.push_back(unsigned(Item.get<uint64_t>()));
  }
  return true;
}

std::string stark::printSelect(const SelectEvent &E) {
  json J;
  J["attempt"] = E.Attempt;
  J["node"] = E.Chosen.Node;
  J["reason"] = E.Chosen.Reason;
  J["action"] = E.Single ? "single" : E.Debug ? "debug" : "plan";
  J["shown"] = json::object();
  for (const ShownTo &S : E.Shown)
    for (const auto &[Role, Name] : Roles)
      if (S.Role == Role)
        J["shown"][Name] = S.Nodes;
  return dump(J);
}

llvm::Expected<SelectEvent> stark::parseSelect(llvm::StringRef Body) {
  llvm::Expected<json> J = parseBody(Body);
  if (!J)
    return J.takeError();
  FieldReader<json> Fields(*J, "select", "");
  SelectEvent E;
  std::string Action;
  readNumber(Fields, "attempt", E.Attempt);
  readNumber(Fields, "node", E.Chosen.Node);
  Fields.required("reason", E.Chosen.Reason);
  Fields.required("action", Action);
  if (Action != "plan" && Action != "debug" && Action != "single")
    Fields.fail("action", "'" + Action + "'", "plan, debug or single");
  E.Debug = Action == "debug";
  E.Single = Action == "single";
  const json *Shown = Fields.raw("shown");
  if (!Shown || !Shown->is_object())
    Fields.fail("shown", Shown ? describeJson(*Shown) : "nothing", "an object");
  else
    for (const auto &[Role, Name] : Roles)
      if (Shown->contains(Name)) {
        E.Shown.push_back({Role, {}});
        if (!readNumbers(Shown->at(Name), E.Shown.back().Nodes))
          Fields.fail("shown", describeJson(*Shown), "numbers of nodes");
      }
  if (llvm::Error Problem = problemOf(Fields))
    return Problem;
  return E;
}

std::string stark::printReplyEvent(const ReplyEvent &E) {
  json J;
  J["id"] = E.Id;
  J["digest"] = E.Digest;
  J["file"] = E.File;
  J["text_digest"] = E.TextDigest;
  J["reply"] = json::parse(printReply(E.Reply), nullptr, false);
  return dump(J);
}

llvm::Expected<ReplyEvent> stark::parseReplyEvent(llvm::StringRef Body) {
  llvm::Expected<json> J = parseBody(Body);
  if (!J)
    return J.takeError();
  FieldReader<json> Fields(*J, "reply", "");
  ReplyEvent E;
  Fields.required("id", E.Id);
  Fields.required("digest", E.Digest);
  Fields.required("file", E.File);
  Fields.required("text_digest", E.TextDigest);
  const json *Reply = Fields.raw("reply");
  if (!Reply)
    Fields.fail("reply", "nothing", "an object");
  // The journal is data: it may not name a file outside the run.
  llvm::StringRef File(E.File);
  if (!File.starts_with("replies/") || File.contains(".."))
    Fields.fail("file", "'" + E.File + "'", "replies/ID.md");
  if (llvm::Error Problem = problemOf(Fields))
    return Problem;
  llvm::Expected<ChatReply> Parsed = parseReply(dump(*Reply), "", "reply");
  if (!Parsed)
    return Parsed.takeError();
  E.Reply = std::move(*Parsed);
  return E;
}

std::string stark::printCountersEvent(const CountersEvent &E) {
  json J;
  J["attempt"] = E.Attempt;
  J["node"] = E.Node;
  J["candidate"] = E.Candidate;
  J["device"] = E.Found.Device;
  J["text"] = E.Found.Text;
  J["problem"] = E.Found.Problem;
  J["too_slow"] = E.Found.TooSlow;
  return dump(J);
}

llvm::Expected<CountersEvent> stark::parseCountersEvent(llvm::StringRef Body) {
  llvm::Expected<json> J = parseBody(Body);
  if (!J)
    return J.takeError();
  FieldReader<json> Fields(*J, "counters", "");
  CountersEvent E;
  readNumber(Fields, "attempt", E.Attempt);
  readNumber(Fields, "node", E.Node);
  Fields.required("candidate", E.Candidate);
  Fields.required("device", E.Found.Device);
  Fields.required("text", E.Found.Text);
  Fields.required("problem", E.Found.Problem);
  Fields.required("too_slow", E.Found.TooSlow);
  if (llvm::Error Problem = problemOf(Fields))
    return Problem;
  return E;
}

std::string stark::printVerdictEvent(const VerdictEvent &E) {
  json J;
  J["attempt"] = E.Attempt;
  J["node"] = E.Node;
  J["purpose"] = E.Purpose;
  J["candidate"] = E.Candidate;
  J["verdict"] = json::parse(printVerdict(E.Found), nullptr, false);
  return dump(J);
}

llvm::Expected<VerdictEvent> stark::parseVerdictEvent(llvm::StringRef Body) {
  llvm::Expected<json> J = parseBody(Body);
  if (!J)
    return J.takeError();
  FieldReader<json> Fields(*J, "verdict", "");
  VerdictEvent E;
  readNumber(Fields, "attempt", E.Attempt);
  readNumber(Fields, "node", E.Node);
  Fields.required("purpose", E.Purpose);
  Fields.required("candidate", E.Candidate);
  if (E.Purpose != "attempt" && E.Purpose != "confirm" && E.Purpose != "check")
    Fields.fail("purpose", "'" + E.Purpose + "'", "attempt, confirm or check");
  const json *Found = Fields.raw("verdict");
  if (!Found)
    Fields.fail("verdict", "nothing", "an object");
  if (llvm::Error Problem = problemOf(Fields))
    return Problem;
  llvm::Expected<Verdict> Parsed = parseVerdict(dump(*Found), "verdict");
  if (!Parsed)
    return Parsed.takeError();
  E.Found = std::move(*Parsed);
  return E;
}

static json printAnchor(const Anchor &A) {
  json J;
  J["begin"] = A.Bytes.Begin;
  J["end"] = A.Bytes.End;
  J["line"] = A.Line;
  J["end_line"] = A.EndLine;
  J["sites"] = A.SiteIds;
  J["grew_before"] = A.GrewBefore;
  J["grew_after"] = A.GrewAfter;
  return J;
}

static std::string parseAnchor(const json &Object, Anchor &A) {
  FieldReader<json> Fields(Object, "node", "anchors");
  uint64_t Begin = 0, End = 0, Line = 0, EndLine = 0, Before = 0, After = 0;
  Fields.required("begin", Begin);
  Fields.required("end", End);
  Fields.required("line", Line);
  Fields.required("end_line", EndLine);
  Fields.required("sites", A.SiteIds);
  Fields.required("grew_before", Before);
  Fields.required("grew_after", After);
  if (End < Begin)
    Fields.fail("end", std::to_string(End), "no less than begin");
  A.Bytes = {size_t(Begin), size_t(End)};
  A.Line = unsigned(Line);
  A.EndLine = unsigned(EndLine);
  A.GrewBefore = unsigned(Before);
  A.GrewAfter = unsigned(After);
  return Fields.problem();
}

std::string stark::printNodeEvent(const NodeEvent &E) {
  json J;
  J["attempt"] = E.Attempt;
  J["node"] = E.N.Number;
  J["parent"] = E.N.Parent;
  J["base"] = E.N.Base;
  J["from_debug"] = E.N.FromDebug;
  J["same_as"] = E.N.SameAs;
  J["title"] = E.N.Given.Title;
  J["advice"] = E.N.Given.Advice;
  J["anchors"] = json::array();
  for (const Anchor &A : E.N.Given.Anchors)
    J["anchors"].push_back(printAnchor(A));
  J["verdict"] = verdictName(E.Kind).str();
  J["file"] = E.File;
  J["candidate"] = E.Candidate;
  return dump(J);
}

llvm::Expected<NodeEvent> stark::parseNodeEvent(llvm::StringRef Body) {
  llvm::Expected<json> J = parseBody(Body);
  if (!J)
    return J.takeError();
  FieldReader<json> Fields(*J, "node", "");
  NodeEvent E;
  std::string Kind;
  readNumber(Fields, "attempt", E.Attempt);
  readNumber(Fields, "node", E.N.Number);
  readNumber(Fields, "parent", E.N.Parent);
  readNumber(Fields, "base", E.N.Base);
  Fields.required("from_debug", E.N.FromDebug);
  readNumber(Fields, "same_as", E.N.SameAs);
  Fields.required("title", E.N.Given.Title);
  Fields.required("advice", E.N.Given.Advice);
  Fields.required("verdict", Kind);
  Fields.required("file", E.File);
  Fields.required("candidate", E.Candidate);
  if (const json *Anchors = Fields.raw("anchors"); Anchors)
    for (const json &Item : *Anchors) {
      Anchor A;
      if (std::string Problem = parseAnchor(Item, A); !Problem.empty())
        return failed(Problem);
      E.N.Given.Anchors.push_back(std::move(A));
    }
  llvm::Expected<VerdictKind> Parsed = parseVerdictKind(Kind);
  if (Parsed)
    E.Kind = *Parsed;
  else
    Fields.fail("verdict", "'" + Kind + "'",
                llvm::toString(Parsed.takeError()));
  if (E.N.Parent >= int(E.N.Number) || E.N.Base >= int(E.N.Number) ||
      E.N.SameAs >= int(E.N.Number))
    Fields.fail("parent", std::to_string(E.N.Parent), "an older node");
  if (!E.File.empty() && E.File != candidateFile(E.N.Number))
    Fields.fail("file", "'" + E.File + "'", candidateFile(E.N.Number));
  if (llvm::Error Problem = problemOf(Fields))
    return Problem;
  return E;
}

std::string stark::printEnd(const EndEvent &E) {
  json J;
  J["winner"] = E.Winner;
  J["attempts"] = E.Attempts;
  J["why"] = E.Why;
  return dump(J);
}

llvm::Expected<EndEvent> stark::parseEnd(llvm::StringRef Body) {
  llvm::Expected<json> J = parseBody(Body);
  if (!J)
    return J.takeError();
  FieldReader<json> Fields(*J, "end", "");
  EndEvent E;
  readNumber(Fields, "winner", E.Winner);
  readNumber(Fields, "attempts", E.Attempts);
  Fields.required("why", E.Why);
  if (llvm::Error Problem = problemOf(Fields))
    return Problem;
  return E;
}
