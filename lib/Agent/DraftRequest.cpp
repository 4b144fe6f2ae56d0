//===- DraftRequest.cpp - What a model is told of a draft
//------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftTexts.h"
#include "TextForms.h"
#include "stark/Agent/Agent.h"
#include "stark/Eval/Verdict.h"
#include "stark/Eval/WorkloadProof.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace stark;

static constexpr uint64_t AnswerTokens = 16000;
static constexpr double DraftTemperature = 0.1;
static constexpr size_t FoundLimit = 3000, NotesLimit = 6000;

llvm::Expected<Prompt> stark::loadDraftPrompt(llvm::StringRef Folder) {
  std::string Path = (Folder + "/draft.md").str();
  llvm::Expected<std::string> Text = readText(Path);
  if (!Text)
    return Text.takeError();
  llvm::Expected<Prompt> P = parsePrompt(*Text, Path);
  if (P && P->Role != "draft")
    return failed("prompt '" + Path + "': got the role '" + P->Role +
                  "', wanted 'draft'");
  return P;
}

/// Macros and what else says what is compiled: folders of headers say nothing.
static std::string describeFlags(const ParseOptions &Options) {
  std::string Text;
  for (size_t I = 0; I < Options.Flags.size(); ++I) {
    llvm::StringRef Flag = Options.Flags[I];
    if (Flag.starts_with("-D") || Flag.starts_with("-U"))
      Text += " " + Flag.str();
    if ((Flag == "-D" || Flag == "-U") && I + 1 < Options.Flags.size())
      Text += Options.Flags[++I];
  }
  return Text.empty() ? "" : ", compiled with `" + Text.substr(1) + "`";
}

/// The draft without what only the tool says of it.
static std::string shownDraft(const std::string &Text) {
  auto Root = nlohmann::ordered_json::parse(Text, nullptr, false);
  if (!Root.is_object())
    return Text;
  Root.erase("bytes");
  std::string Out = "{";
  // A line for each argument: indented to the last number it is three times as
  // long.
  auto Print = [](const nlohmann::ordered_json &J) {
    return J.dump(-1, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace);
  };
  bool First = true;
  for (const auto &Item : Root.items()) {
    Out += First ? "\n  " : ",\n  ";
    First = false;
    Out += Print(Item.key()) + ": ";
    bool Names = Item.key() == "arguments" || Item.key() == "symbols";
    if (!Names || !Item.value().is_object()) {
      Out += Print(Item.value());
      continue;
    }
    Out += "{";
    bool Begun = false;
    for (const auto &A : Item.value().items()) {
      Out += (Begun ? ",\n    " : "\n    ") + Print(A.key()) + ": " +
             Print(A.value());
      Begun = true;
    }
    Out += "}";
  }
  return Out + " }\n";
}

/// Without the names of folders, which tell nothing.
static std::string plain(const std::string &Text, const DraftQuestion &Q) {
  return withoutFolderOf(cleanText(Text), Q.Source.path());
}

/// Those of a draft that say something of the program; what it moves is the
/// tool's own matter.
static std::string describeNotes(const DraftQuestion &Q) {
  std::string Text;
  auto IsShown = [&](llvm::StringRef Note) {
    return !Q.Found.empty() &&
           Note.starts_with("not proved in the simulator: ");
  };
  for (const std::string &Note : Q.Notes)
    if (!llvm::StringRef(Note).starts_with("\"bytes\"") && !IsShown(Note))
      Text += "- " + plain(Note, Q) + "\n";
  return trimForWindow(Text, NotesLimit);
}

static std::string describeDraft(const DraftQuestion &Q) {
  if (Q.Draft.empty())
    return "There is none: " + plain(Q.WhyNone, Q) +
           ".\n\nSay with what the program calls the kernel that its time goes "
           "into" +
           std::string(Q.IsFixed ? " (the user asks for `" + Q.Entry + "`)"
                                 : "") +
           "; where no workload can give what it takes, with a call of your "
           "own.\n";
  std::string Text = fenced("json", shownDraft(Q.Draft));
  if (std::string Notes = describeNotes(Q); !Notes.empty())
    Text +=
        "\nIts notes say what was guessed, and what a run of it found:\n\n" +
        Notes;
  if (Q.IsFixed)
    Text += "\nThe user asks for this entry.\n";
  return Text;
}

llvm::Expected<ChatRequest> stark::makeDraftRequest(const Prompt &P,
                                                    const DraftQuestion &Q) {
  std::map<std::string, std::string> V;
  V["file"] = llvm::sys::path::filename(Q.Source.path()).str();
  V["flags"] = describeFlags(Q.Options);
  V["signature"] = Q.Of ? describeSignature(*Q.Of) : "";
  V["others"] = describeOthers(Q);
  V["draft"] = describeDraft(Q);
  V["found"] =
      Q.Found.empty()
          ? ""
          : "The run of it in the simulator, at its small size, ended so:\n\n" +
                fenced("", trimForWindow(cleanText(Q.Found), FoundLimit)) +
                "\n";
  V["source"] = describeProgram(Q);
  ChatRequest R;
  R.Id = requestId(0, P.Role, 1);
  R.Role = P.Role;
  R.Temperature = DraftTemperature;
  R.MaxOutputTokens = AnswerTokens;
  llvm::Expected<std::string> System = renderPrompt(P.System, P.Inputs, V);
  if (!System)
    return System.takeError();
  llvm::Expected<std::string> User = renderPrompt(P.User, P.Inputs, V);
  if (!User)
    return User.takeError();
  R.System = std::move(*System);
  R.StablePrefix = R.System.size();
  R.Messages.push_back({ChatMessage::Speaker::User, std::move(*User)});
  return R;
}
