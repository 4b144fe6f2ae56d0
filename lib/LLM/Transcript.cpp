//===- Transcript.cpp - Replies as they are kept in a run -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Formats.h"
#include "stark/Posix/File.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

std::string stark::printDiscarded(const DiscardedAnswers &D) {
  return dumpJson(writeFields<json>(D)) + "\n";
}

std::string stark::printReply(const ChatReply &R) {
  return dumpJson(writeFields<json>(R));
}

llvm::Expected<DiscardedAnswers> stark::parseDiscarded(llvm::StringRef Json,
                                                       llvm::StringRef File) {
  DiscardedAnswers D;
  json Object = json::parse(Json.begin(), Json.end(), nullptr, false);
  if (std::string Problem = readFields(Object, File.str(), "discarded", D);
      !Problem.empty())
    return failed(Problem);
  return D;
}

bool stark::isReplyFile(llvm::StringRef File) {
  return File.consume_front("replies/") && File.consume_back(".md") &&
         !File.empty() && llvm::all_of(File, [](char C) {
           return llvm::isAlnum(C) || C == '-' || C == '_';
         });
}

llvm::Expected<std::string> stark::readReplyText(llvm::StringRef RunFolder,
                                                 const ReplyEvent &R) {
  std::string Path = (RunFolder + "/" + R.File).str();
  // A run folder may come from anywhere: a link could lead anywhere else.
  constexpr size_t Most = size_t(1) << 28;
  std::string Problem;
  std::optional<std::string> Text = posix::readRegularFile(Path, Most, Problem);
  if (!Text)
    return failed(Problem);
  if (sha256(*Text) != R.TextDigest)
    return failed("'" + Path + "' was changed: its digest is " +
                  sha256(*Text).substr(0, 12) + ", the run recorded " +
                  R.TextDigest.substr(0, 12));
  return std::move(*Text);
}

std::string stark::requestFileStem(const ChatRequest &R) {
  return R.Id + "-" + R.digest().substr(0, 12);
}

/// A line that no Markdown in a message can be taken for.
static std::string ruler(llvm::StringRef What) {
  return ("\n=================== " + What + " ===================\n\n").str();
}

std::string stark::printRequestMarkdown(const ChatRequest &R) {
  std::string Stem = requestFileStem(R), Digest = R.digest();
  std::string Out = "# Request " + R.Id + "\n\n";
  Out += "Role: " + R.Role + ". Digest: " + Digest + ".\n";
  if (R.Temperature)
    Out += "Wanted temperature: " + printTemperature(*R.Temperature) + ". ";
  Out +=
      "At most " + std::to_string(R.MaxOutputTokens) + " tokens of output.\n\n";
  Out += "How to answer: read the conversation between the ruled lines and "
         "write the next\nassistant message, and only that, to\n\n"
         "    ../answers/" +
         Stem +
         ".md\n\n(beside this folder). Write it under another name first, "
         "`" +
         Stem +
         ".md.tmp`, and rename it\nwhen it is whole. It may open with front "
         "matter that says who answered and, where\nknown, how many tokens it "
         "took (input_tokens, output_tokens):\n\n"
         "    ---\n    model: name-of-the-model\n    digest: " +
         Digest.substr(0, 12) + "\n    ---\n";
  Out += ruler("system") + R.System;
  for (const ChatMessage &M : R.Messages)
    Out += ruler(nameOf(M.Who)) + M.Text;
  if (!R.InsteadOfTemperature.empty())
    Out +=
        ruler("where the temperature cannot be set") + R.InsteadOfTemperature;
  Out += ruler("end of the conversation");
  return Out;
}

std::string stark::printRequestJson(const ChatRequest &R) {
  json J;
  J["id"] = R.Id;
  J["role"] = R.Role;
  J["digest"] = R.digest();
  J["answer"] = "answers/" + requestFileStem(R) + ".md";
  J["system"] = R.System;
  J["messages"] = json::array();
  for (const ChatMessage &M : R.Messages)
    J["messages"].push_back({{"role", nameOf(M.Who)}, {"content", M.Text}});
  J["stable_prefix_bytes"] = R.StablePrefix;
  if (R.Temperature)
    J["temperature"] = *R.Temperature;
  J["max_output_tokens"] = R.MaxOutputTokens;
  if (!R.ResponseSchema.empty())
    J["response_schema"] = R.ResponseSchema;
  if (!R.InsteadOfTemperature.empty())
    J["instead_of_temperature"] = R.InsteadOfTemperature;
  J["version"] = 1;
  return dumpJson(J, 2) + "\n";
}
