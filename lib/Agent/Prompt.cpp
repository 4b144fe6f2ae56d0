//===- Prompt.cpp - Prompts are data --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Agent/Prompt.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral
    NameCharacters("abcdefghijklmnopqrstuvwxyz_");

static bool isName(llvm::StringRef Name) {
  return !Name.empty() &&
         Name.find_first_not_of(NameCharacters) == llvm::StringRef::npos;
}

/// Calls \p OnText and \p OnInput for the parts of \p Template, in order.
static llvm::Error
walkTemplate(llvm::StringRef Template,
             const std::function<void(llvm::StringRef)> &OnText,
             const std::function<llvm::Error(llvm::StringRef)> &OnInput) {
  while (true) {
    size_t Open = Template.find("{{");
    OnText(Template.take_front(Open));
    if (Open == llvm::StringRef::npos)
      return llvm::Error::success();
    Template = Template.drop_front(Open + 2);
    size_t Close = Template.find("}}");
    llvm::StringRef Name = Template.take_front(Close);
    if (Close == llvm::StringRef::npos || !isName(Name))
      return failed("got '{{" + Name.take_front(20) +
                    "', wanted {{name}} with a name of a-z and _");
    if (llvm::Error E = OnInput(Name))
      return E;
    Template = Template.drop_front(Close + 2);
  }
}

static llvm::Error checkDeclared(llvm::StringRef Name,
                                 const std::vector<std::string> &Inputs) {
  if (llvm::is_contained(Inputs, Name))
    return llvm::Error::success();
  return failed("{{" + Name + "}} is used, but inputs declares only " +
                (Inputs.empty() ? "nothing" : llvm::join(Inputs, ", ")));
}

/// Reads "key: value" lines up to the closing rule off \p Text.
static llvm::Error parseFrontMatter(llvm::StringRef &Text, Prompt &P) {
  if (!Text.consume_front("---\n"))
    return failed("got no front matter, wanted '---' in the first line");
  std::set<std::string> Seen;
  while (true) {
    if (Text.empty())
      return failed("the front matter is not closed by '---'");
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (Line.rtrim() == "---")
      break;
    auto [Key, Value] = Line.split(':');
    Key = Key.trim();
    Value = Value.trim();
    if (!Seen.insert(Key.str()).second)
      return failed("front matter names '" + Key + "' twice");
    if (Key == "role") {
      P.Role = Value.str();
    } else if (Key == "version") {
      P.Version = Value.str();
    } else if (Key == "inputs") {
      while (!Value.empty()) {
        auto [Name, Others] = Value.split(',');
        if (!isName(Name.trim()))
          return failed("front matter 'inputs' names '" + Name.trim() +
                        "', wanted names of a-z and _");
        P.Inputs.push_back(Name.trim().str());
        Value = Others.trim();
      }
    } else {
      return failed("front matter has '" + Key +
                    "', wanted role, version and inputs");
    }
  }
  for (const char *Key : {"role", "version", "inputs"})
    if (!Seen.count(Key))
      return failed(llvm::Twine("front matter lacks '") + Key + "'");
  if (P.Role.empty() || P.Version.empty())
    return failed("front matter has an empty role or version");
  return llvm::Error::success();
}

static llvm::Expected<Prompt> parseBody(llvm::StringRef Text) {
  Prompt P;
  if (llvm::Error E = parseFrontMatter(Text, P))
    return E;
  constexpr llvm::StringLiteral Divider("\n# user\n");
  size_t Split = Text.find(Divider);
  P.System = Text.take_front(Split).trim('\n').str();
  if (Split != llvm::StringRef::npos)
    P.User = Text.drop_front(Split + Divider.size()).trim('\n').str();
  std::set<std::string> Used;
  for (const std::string &Part : {P.System, P.User})
    if (llvm::Error E = walkTemplate(
            Part, [](llvm::StringRef) {},
            [&](llvm::StringRef Name) {
              Used.insert(Name.str());
              return checkDeclared(Name, P.Inputs);
            }))
      return E;
  for (const std::string &Name : P.Inputs)
    if (!Used.count(Name))
      return failed("input '" + Name + "' is declared, but {{" + Name +
                    "}} is not used");
  return P;
}

llvm::Expected<Prompt> stark::parsePrompt(llvm::StringRef Text,
                                          llvm::StringRef File) {
  llvm::Expected<Prompt> P = parseBody(Text);
  if (!P)
    return withContext(P.takeError(), "prompt '" + File + "'");
  return P;
}

llvm::Expected<std::string>
stark::renderPrompt(llvm::StringRef Template,
                    const std::vector<std::string> &Inputs,
                    const std::map<std::string, std::string> &Values) {
  for (const std::string &Name : Inputs)
    if (!Values.count(Name))
      return failed("prompt: input '" + Name + "' has no value");
  std::string Out;
  llvm::Error E = walkTemplate(
      Template, [&](llvm::StringRef Text) { Out += Text; },
      [&](llvm::StringRef Name) -> llvm::Error {
        if (llvm::Error Undeclared = checkDeclared(Name, Inputs))
          return Undeclared;
        Out += Values.at(Name.str());
        return llvm::Error::success();
      });
  if (E)
    return withContext(std::move(E), "prompt");
  return Out;
}

/// Reads NAME.md, which must have the role NAME.
static llvm::Expected<Prompt> loadPrompt(llvm::StringRef Folder,
                                         llvm::StringRef Name, PromptSet &Set) {
  std::string File = (Name + ".md").str(), Path = (Folder + "/" + File).str();
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  llvm::Expected<Prompt> P = parsePrompt(*Text, Path);
  if (P && P->Role != Name)
    return failed("prompt '" + Path + "': got the role '" + P->Role +
                  "', wanted '" + Name + "'");
  Set.Files[File] = std::move(*Text);
  return P;
}

/// Reads plan.schema.json, if there is one. Folders of runs that were made
/// before schemas have none: their requests stay as they were.
static llvm::Error loadSchema(llvm::StringRef Folder, PromptSet &Set) {
  std::string File = "plan.schema.json", Path = (Folder + "/" + File).str();
  if (!fs::exists(Path))
    return llvm::Error::success();
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  auto Schema = nlohmann::json::parse(*Text, nullptr, false);
  if (!Schema.is_object() || !Schema.contains("properties"))
    return failed("prompt '" + Path +
                  "': wanted a JSON schema: an object with 'properties'");
  Set.PlanSchema =
      Schema.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Set.Files[File] = std::move(*Text);
  return llvm::Error::success();
}

llvm::Expected<PromptSet> stark::loadPrompts(llvm::StringRef Folder) {
  PromptSet Set;
  for (auto [Name, Target] :
       {std::pair("system", &Set.System), std::pair("example", &Set.Example),
        std::pair("task", &Set.Task), std::pair("plan", &Set.Plan),
        std::pair("code", &Set.Code), std::pair("debug", &Set.Debug),
        std::pair("single", &Set.Single)}) {
    llvm::Expected<Prompt> P = loadPrompt(Folder, Name, Set);
    if (!P)
      return P.takeError();
    *Target = std::move(*P);
  }
  if (llvm::Error E = loadSchema(Folder, Set))
    return E;
  if (fs::exists(Folder + "/diversity.md")) {
    llvm::Expected<Prompt> P = loadPrompt(Folder, "diversity", Set);
    if (!P)
      return P.takeError();
    Set.Diversity = std::move(P->System);
  }
  if (fs::exists(Folder + "/tensors.md")) {
    llvm::Expected<Prompt> P = loadPrompt(Folder, "tensors", Set);
    if (!P)
      return P.takeError();
    Set.Tensors = std::move(*P);
  }
  std::error_code Code;
  for (fs::directory_iterator I(Folder, Code), End; I != End && !Code;
       I.increment(Code)) {
    llvm::StringRef Name = path::filename(I->path());
    if (!Name.starts_with("device-") || !Name.consume_back(".md"))
      continue;
    llvm::Expected<Prompt> P = loadPrompt(Folder, Name, Set);
    if (!P)
      return P.takeError();
    Set.Devices[Name.drop_front(strlen("device-")).str()] = std::move(*P);
  }
  DigestBuilder D;
  for (const auto &[Name, Bytes] : Set.Files)
    D.add(Name, Bytes);
  Set.Digest = D.finish();
  return Set;
}
