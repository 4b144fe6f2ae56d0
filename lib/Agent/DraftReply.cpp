//===- DraftReply.cpp - A workload that a model wrote, checked
//-------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     answer = [("cuda" block)] + ("json" block) + changes ["Fault of the
///              program: ..."]
/// Of several blocks of a kind the last counts. A workload has no field by
/// which a judge is told what to let pass, and names no file.
///
//===----------------------------------------------------------------------===//

#include "Fences.h"
#include "LenientJson.h"
#include "ReplyText.h"
#include "TextForms.h"
#include "stark/AST/CodeText.h"
#include "stark/Agent/DraftAgent.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;

static constexpr size_t MostWorkload = 64 << 10, MostCall = 64 << 10,
                        MostChanges = 3000, MostFault = 300, MostSizes = 16,
                        MostArguments = 256;

static constexpr const char *Wanted =
    "wanted one ```json block with the whole workload";

/// What a draft may say; all else is the user's to decide, or the tool's.
static constexpr llvm::StringLiteral Allowed[] = {
    "entry",       "launch", "sizes",      "arguments",  "symbols",
    "multiple_of", "harden", "degenerate", "added_sizes"};

/// Fields that the tool fills in itself.
static constexpr llvm::StringLiteral Dropped[] = {"bytes", "flops", "notes"};

static bool isWorkload(const ordered_json &J) {
  return J.is_object() && (J.contains("arguments") || J.contains("sizes"));
}

/// The object at \p At of \p Text; null when it cannot be read.
static ordered_json objectAt(llvm::StringRef Text, size_t At, size_t &Used,
                             std::string &Problem) {
  llvm::Expected<std::string> Strict = strictJson(Text.substr(At), Used);
  if (!Strict) {
    Problem = llvm::toString(Strict.takeError());
    return nullptr;
  }
  ordered_json J = ordered_json::parse(*Strict, nullptr, false);
  if (J.is_discarded())
    Problem = "the JSON object cannot be read";
  return J.is_discarded() ? ordered_json(nullptr) : J;
}

namespace {
struct Place {
  size_t Begin = 0, End = 0;
};
struct Found {
  ordered_json Workload; ///< null: none
  Place At;
  std::string Problem; ///< of the last that could not be read
};
} // namespace

static Found findWorkload(llvm::StringRef Text,
                          llvm::ArrayRef<CodeBlock> Blocks) {
  Found F;
  auto Look = [&](llvm::StringRef Body, Place At) {
    size_t Begin = Body.find('{'), Used = 0;
    if (Begin == llvm::StringRef::npos)
      return;
    std::string Problem;
    ordered_json J = objectAt(Body, Begin, Used, Problem);
    if (isWorkload(J))
      F = {std::move(J), At, ""};
    else if (!Problem.empty() && F.Workload.is_null())
      F.Problem = Problem;
  };
  for (const CodeBlock &B : Blocks)
    if (B.isJson() ||
        (B.isCode() && llvm::StringRef(B.Body).ltrim().starts_with("{")))
      Look(B.Body, {B.Begin, B.End});
  // Without a fence.
  if (size_t At = Text.find('{');
      F.Workload.is_null() && Blocks.empty() && At != llvm::StringRef::npos) {
    size_t Used = 0;
    std::string Problem;
    ordered_json J = objectAt(Text, At, Used, Problem);
    if (isWorkload(J))
      F = {std::move(J), {At, At + Used}, ""};
    else
      F.Problem = Problem;
  }
  return F;
}

/// Numbers and lists where an expression or a triple of them was meant.
static void tidyLaunch(ordered_json &Launch) {
  if (!Launch.is_object())
    return;
  auto Text = [](const ordered_json &J) {
    return J.is_string() ? J.get<std::string>() : J.dump();
  };
  for (const char *Name : {"grid", "block", "shared_bytes"}) {
    if (!Launch.contains(Name))
      continue;
    ordered_json &J = Launch[Name];
    if (J.is_number_integer())
      J = J.dump();
    if (!J.is_array() || J.empty() || J.size() > 3)
      continue;
    std::string Joined;
    for (const ordered_json &Each : J)
      Joined += (Joined.empty() ? "" : ", ") + Text(Each);
    J = Joined;
  }
}

/// Whether values of an argument \p J, or of one of a list, are read from a
/// file.
static bool namesFile(const ordered_json &J) {
  if (J.is_array())
    return llvm::any_of(J, namesFile);
  return J.is_object() && J.contains("init") && J["init"].is_object() &&
         J["init"].contains("npy");
}

static bool writesAny(const ordered_json &Root) {
  for (const char *Part : {"arguments", "symbols"})
    if (Root.contains(Part) && Root[Part].is_object())
      for (const auto &Item : Root[Part].items())
        if (Item.value().is_object() && Item.value().contains("role") &&
            (Item.value()["role"] == "output" ||
             Item.value()["role"] == "inout"))
          return true;
  return false;
}

static llvm::Error checkFields(const ordered_json &Root) {
  for (const auto &Item : Root.items())
    if (!llvm::is_contained(Allowed, Item.key()))
      return failed("the workload has the field '" +
                    shortenUtf8(Item.key(), 40) + "', wanted only " +
                    llvm::join(std::begin(Allowed), std::end(Allowed), ", "));
  if (Root.contains("sizes") && Root["sizes"].size() > MostSizes)
    return failed("the workload has " + llvm::Twine(Root["sizes"].size()) +
                  " sizes, wanted at most " + llvm::Twine(MostSizes));
  for (const char *Part : {"arguments", "symbols"}) {
    if (!Root.contains(Part))
      continue;
    if (Root[Part].size() > MostArguments)
      return failed("the workload has " + llvm::Twine(Root[Part].size()) + " " +
                    Part + ", wanted at most " + llvm::Twine(MostArguments));
    for (const auto &Item : Root[Part].items())
      if (namesFile(Item.value()))
        return failed("'" + shortenUtf8(Item.key(), 40) +
                      "' names a file of values; wanted an init that draws "
                      "them");
  }
  if (Root.value("degenerate", ordered_json(false)) != false && writesAny(Root))
    return failed("the workload says \"degenerate\" and has outputs; wanted "
                  "one or the other");
  return llvm::Error::success();
}

/// Whether \p Line of a call includes the file \p Name alone, in quotes.
static bool includesSource(llvm::StringRef Text, llvm::StringRef Name) {
  for (llvm::StringRef Line : llvm::split(Text, '\n')) {
    Line = Line.trim();
    if (Line.consume_front("#") && (Line = Line.ltrim(), true) &&
        Line.consume_front("include") &&
        Line.ltrim().starts_with(("\"" + Name + "\"").str()))
      return true;
  }
  return false;
}

static llvm::Error checkCall(llvm::StringRef Call, llvm::StringRef Source) {
  if (Call.size() > MostCall)
    return failed("the call has " + llvm::Twine(Call.size()) +
                  " bytes, wanted at most " + llvm::Twine(MostCall));
  if (!includesSource(Call, Source))
    return failed("the ```cuda block does not include the source; wanted "
                  "'#include \"" +
                  Source + "\"' as a line of it");
  if (std::string Strange = strangeCharacter(Call, ""); !Strange.empty())
    return failed("the call is not as a compiler reads it: " + Strange);
  if (std::string Odd = oddBracket(Call, ""); !Odd.empty())
    return failed("the call is not whole: " + Odd);
  if (std::string Left = elidedCode(Call); !Left.empty())
    return failed("the call leaves code out ('" + shortenUtf8(Left, 80) +
                  "'); wanted its complete text");
  return llvm::Error::success();
}

/// What stands behind "Fault of the program:" in a line of \p Text, which loses
/// it.
static std::string takeFault(std::string &Text) {
  std::string Fault, Rest;
  for (llvm::StringRef Line : llvm::split(Text, '\n')) {
    llvm::StringRef Said = Line.trim(" \t*_`#>-");
    if (Said.consume_front_insensitive("fault of the program") &&
        (Said = Said.ltrim(" *_`"), Said.consume_front(":"))) {
      Said = Said.trim(" \t*_`");
      if (!Said.empty() && !Said.equals_insensitive("none") &&
          !Said.equals_insensitive("none."))
        Fault = shortenUtf8(Said, MostFault);
      continue;
    }
    Rest += (Line + "\n").str();
  }
  Text = llvm::StringRef(Rest).trim().str();
  return Fault;
}

llvm::Expected<DraftAnswer> stark::readDraft(llvm::StringRef Reply,
                                             llvm::StringRef Source) {
  std::string Text = normalizeReply(Reply);
  if (saysNothing(Text))
    return failed(llvm::Twine("the answer is empty; ") + Wanted);
  std::vector<CodeBlock> Blocks = findCodeBlocks(Text);
  Found F = findWorkload(Text, Blocks);
  if (F.Workload.is_null())
    return failed((F.Problem.empty() ? "the answer holds no workload" +
                                           (Blocks.empty() ? saying(Text) : "")
                                     : F.Problem) +
                  "; " + Wanted);
  for (llvm::StringLiteral Name : Dropped)
    F.Workload.erase(Name.str());
  if (F.Workload.contains("launch"))
    tidyLaunch(F.Workload["launch"]);
  if (llvm::Error E = checkFields(F.Workload))
    return E;
  DraftAnswer A;
  A.Workload =
      F.Workload.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
      "\n";
  if (A.Workload.size() > MostWorkload)
    return failed("the workload has " + llvm::Twine(A.Workload.size()) +
                  " bytes, wanted at most " + llvm::Twine(MostWorkload));
  const CodeBlock *Call = nullptr;
  for (const CodeBlock &B : Blocks)
    if (B.isCode() && !B.isJson() && B.Begin != F.At.Begin &&
        llvm::StringRef(B.Body).contains("#include"))
      Call = &B;
  std::string Said = Text;
  // What is said, without the blocks, from the end.
  for (const CodeBlock &B : llvm::reverse(Blocks))
    Said.erase(B.Begin, B.End - B.Begin);
  if (Blocks.empty())
    Said.erase(F.At.Begin, F.At.End - F.At.Begin);
  A.Fault = takeFault(Said);
  A.Changes = shortenUtf8(Said, MostChanges);
  if (!Call)
    return A;
  A.Call = withoutInvisible(codeAsMeant(Call->Body), "");
  if (llvm::Error E = checkCall(A.Call, Source))
    return E;
  return A;
}
