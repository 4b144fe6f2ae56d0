//===- PlanReply.cpp - A plan, checked ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     plan = advice (prose, with snippets) + {"title", "sites"}
///          | {"title", "advice", "sites"}
///          | title and advice (prose or JSON) + the source with marks
///
//===----------------------------------------------------------------------===//

#include "Fences.h"
#include "LenientJson.h"
#include "ReplyText.h"
#include "TextForms.h"
#include "stark/AST/CodeText.h"
#include "stark/Agent/Reply.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <nlohmann/json.hpp>
#include <optional>

using namespace stark;
using nlohmann::json;

static constexpr size_t MaxTitle = 120, MaxAdvice = 32000, MaxSites = 64;

static constexpr const char *WantedForm =
    "wanted the advice as text and then one ```json block "
    "{\"title\": \"...\", \"sites\": [\"...\"]} with ids from the list of "
    "sites, or the whole text with <<<IMPROVE BEGIN>>> and <<<IMPROVE END>>> "
    "marks in one ```cuda block";

namespace {
/// The fields of a plan's object, and where it stood in the reply.
struct PlanObject {
  std::string Title, Advice;
  std::vector<std::string> Sites;
  bool HasSites = false;
  size_t Begin = 0, End = 0;
};
} // namespace

static llvm::Error readSites(const json &Value, PlanObject &P) {
  P.HasSites = true;
  json Array = Value.is_array() ? Value : json::array({Value});
  for (const json &Item : Array) {
    // {"id": "k:loop1", ...} names a site as well.
    const json *Id = &Item;
    if (Item.is_object() && Item.contains("id"))
      Id = &Item.at("id");
    if (!Id->is_string())
      return failed("'sites' holds something that is no string, wanted ids "
                    "from the list of sites");
    std::string Clean = withoutInvisible(Id->get<std::string>(), "");
    // A line of the list, or several ids in one string.
    for (llvm::StringRef Each :
         llvm::split(llvm::StringRef(Clean).split(" | ").first, ", ")) {
      std::string Text = Each.trim(" `'\"").str();
      if (!Text.empty() && !llvm::is_contained(P.Sites, Text))
        P.Sites.push_back(Text);
    }
  }
  if (P.Sites.size() > MaxSites)
    return failed("'sites' names " + llvm::Twine(P.Sites.size()) +
                  " sites, wanted at most " + llvm::Twine(MaxSites) +
                  ": name the sites that hold them");
  return llvm::Error::success();
}

/// Unset when the object at \p At is no plan's; an error when it is meant to be
/// one and is broken.
static llvm::Expected<std::optional<PlanObject>>
readObject(llvm::StringRef Text, size_t At) {
  size_t Used = 0;
  llvm::Expected<std::string> Strict = strictJson(Text.substr(At), Used);
  if (!Strict)
    return Strict.takeError();
  json Object = json::parse(*Strict, nullptr, false);
  if (Object.is_discarded())
    return failed("the JSON object cannot be read");
  PlanObject P;
  P.Begin = At;
  P.End = At + Used;
  bool Known = false;
  for (const auto &[Name, Target] :
       {std::pair("title", &P.Title), std::pair("advice", &P.Advice)})
    if (Object.contains(Name)) {
      Known = true;
      std::optional<std::string> Value = asText(Object.at(Name));
      if (!Value)
        return failed(llvm::Twine("'") + Name + "' is no string");
      *Target = *Value;
    }
  if (Object.contains("sites")) {
    Known = true;
    if (!Object.at("sites").is_null())
      if (llvm::Error E = readSites(Object.at("sites"), P))
        return E;
  }
  if (!Known)
    return std::nullopt;
  return P;
}

/// The plan's object: in a json block, else in a block without language, else
/// bare in the text; of several the last that can be read.
static llvm::Expected<std::optional<PlanObject>>
findObject(llvm::StringRef Text, const std::vector<CodeBlock> &Blocks) {
  std::optional<PlanObject> Found;
  std::string Problem;
  // Held to a schema: the reply is the object, and braces and fences in it are
  // those of the advice.
  llvm::StringRef Trimmed = Text.trim();
  if (Trimmed.starts_with("{")) {
    size_t Begin = size_t(Trimmed.data() - Text.data());
    llvm::Expected<std::optional<PlanObject>> P = readObject(Text, Begin);
    if (!P)
      llvm::consumeError(P.takeError());
    else if (*P && (*P)->End == Begin + Trimmed.size())
      return P;
  }
  auto Try = [&](llvm::StringRef In, size_t At, size_t Begin, size_t End,
                 bool Meant) {
    llvm::Expected<std::optional<PlanObject>> P = readObject(In, At);
    if (!P) {
      std::string Why = llvm::toString(P.takeError());
      if (Meant)
        Problem = Why;
    } else if (*P) {
      Found = std::move(**P);
      Found->Begin = Begin;
      Found->End = End;
    }
  };
  for (const CodeBlock &B : Blocks) {
    llvm::StringRef Body = B.Body;
    size_t Brace = Body.find('{');
    bool Bare = B.Language.empty() && Body.ltrim().starts_with("{");
    if (B.isJson() && Body.ltrim().starts_with("[") &&
        Body.count("\"sites\"") > 1) {
      Problem = "the answer has " + std::to_string(Body.count("\"sites\"")) +
                " plans, wanted the best of them";
      continue;
    }
    if (Brace != llvm::StringRef::npos && (B.isJson() || Bare))
      Try(Body, Brace, B.Begin, B.End, B.isJson());
  }
  if (Found || !Problem.empty()) {
    if (!Found)
      return failed(Problem);
    return Found;
  }
  // Bare: an object that opens with one of the plan's own names.
  for (llvm::StringRef Name : {"\"sites\"", "\"title\""}) {
    size_t Key = Text.rfind(Name);
    size_t Brace = Key == llvm::StringRef::npos ? Key : Text.rfind('{', Key);
    if (Brace == llvm::StringRef::npos)
      continue;
    size_t Used = 0;
    if (llvm::Expected<std::string> Strict =
            strictJson(Text.substr(Brace), Used))
      Try(Text, Brace, Brace, Brace + Used, true);
    else
      Problem = llvm::toString(Strict.takeError());
    if (Found)
      return Found;
  }
  if (!Problem.empty())
    return failed(Problem);
  return std::nullopt;
}

static bool hasMarks(llvm::StringRef Text) {
  // What exactly a mark is, grounding says.
  return Text.contains("<<<") && Text.contains_insensitive("improve");
}

/// Markdown's signs around a heading or a bold line.
static llvm::StringRef plainLine(llvm::StringRef Line) {
  Line = Line.trim().ltrim("#").trim().trim("*_").trim();
  for (llvm::StringRef Name : {"Title:", "title:", "TITLE:"})
    if (Line.consume_front(Name))
      Line = Line.trim().trim("*_\"").trim();
  return Line;
}

/// The text after the last heading "Advice", or all of \p Text.
static llvm::StringRef afterAdviceHeading(llvm::StringRef Text) {
  llvm::StringRef Found = Text;
  for (llvm::StringRef Rest = Text; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    bool Heading = Line.starts_with("#") || Line.starts_with("**");
    if (Heading && plainLine(Line).rtrim(":* ").equals_insensitive("advice"))
      Found = After;
    Rest = After;
  }
  return Found.trim().empty() ? Text : Found;
}

static std::string oneLine(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text)
    Out += (unsigned char)C < 0x20 ? ' ' : C;
  return llvm::StringRef(Out).trim().str();
}

static llvm::StringRef firstLine(llvm::StringRef Text) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    llvm::StringRef Plain = plainLine(Line);
    if (!Plain.empty() && !Plain.equals_insensitive("advice"))
      return Plain;
    Text = Rest;
  }
  return "";
}

/// Whether \p B is what a code agent would send, and no snippet.
static bool isWholeCode(const CodeBlock &B) {
  llvm::StringRef Label = B.Label;
  return B.isCode() &&
         (Label.starts_with("file") || Label.starts_with("anchor"));
}

llvm::Expected<PlanReply> stark::parsePlanReply(llvm::StringRef Reply) {
  std::string Text = normalizeReply(Reply);
  if (saysNothing(Text))
    return failed(llvm::Twine("the answer is empty; ") + WantedForm);
  std::vector<CodeBlock> Blocks = findCodeBlocks(Text);
  const CodeBlock *Marked = nullptr;
  for (const CodeBlock &B : Blocks)
    if (B.isCode() && hasMarks(B.Body))
      Marked = &B;
  llvm::Expected<std::optional<PlanObject>> Object = findObject(Text, Blocks);
  if (!Object && !Marked)
    return failed(llvm::toString(Object.takeError()) + "; " + WantedForm);
  if (!Object)
    llvm::consumeError(Object.takeError());
  PlanObject P;
  bool HasObject = Object && *Object;
  if (HasObject)
    P = std::move(**Object);

  PlanReply Plan;
  Plan.SiteIds = P.Sites;
  if (Plan.SiteIds.empty() && Marked)
    Plan.Marked = Marked->Body;
  // Whoever answers with one object has said all the rest.
  if (Plan.SiteIds.empty() && Plan.Marked.empty() && P.HasSites &&
      !P.Advice.empty())
    return failed("'sites' is empty; wanted one id at least from the list of "
                  "sites");
  if (Plan.SiteIds.empty() && Plan.Marked.empty())
    return failed(
        !HasObject && llvm::any_of(Blocks, isWholeCode)
            ? std::string("the answer is code and names no sites; ") +
                  WantedForm
        : !HasObject
            ? "the answer names no sites" + saying(Text) + "; " + WantedForm
        : P.HasSites
            ? llvm::Twine("'sites' is empty; ") + WantedForm
            : llvm::Twine("the JSON object has no 'sites'; ") + WantedForm);

  Plan.Advice = P.Advice;
  if (llvm::StringRef(Plan.Advice).trim().empty()) {
    // What is said outside the object and the marked text.
    llvm::StringRef All = Text, Before = All, After;
    if (HasObject) {
      Before = All.take_front(P.Begin);
      After = All.drop_front(P.End);
    }
    if (!Plan.Marked.empty()) {
      // The marked block may stand before or after the object.
      if (Marked->Begin < Before.size()) {
        After = HasObject && P.Begin > Marked->End
                    ? All.slice(Marked->End, P.Begin)
                    : After;
        Before = All.take_front(Marked->Begin);
      } else {
        After = All.drop_front(Marked->End);
      }
    }
    llvm::StringRef Said = afterAdviceHeading(Before).trim();
    Plan.Advice = (Said.empty() ? After.trim() : Said).str();
  }
  Plan.Title = oneLine(plainLine(P.Title.empty() ? firstLine(Plan.Advice)
                                                 : llvm::StringRef(P.Title)));
  if (!Plan.Marked.empty() && P.Title.empty() && P.Advice.empty())
    if (llvm::StringRef Before =
            firstLine(llvm::StringRef(Text).take_front(Marked->Begin));
        !Before.empty())
      Plan.Title = oneLine(Before);
  Plan.Title = shortenUtf8(Plan.Title, MaxTitle);
  Plan.Advice = shortenUtf8(llvm::StringRef(Plan.Advice).trim(), MaxAdvice);
  // Some write it into the marked code, which is read with the base at hand.
  if (Plan.Marked.empty() && (Plan.Advice.empty() || Plan.Title.empty()))
    return failed(llvm::Twine("the answer gives no advice; ") + WantedForm);
  return Plan;
}
