//===- Transcript.cpp - Replies as they are kept in a run -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Transcript.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static std::string dump(const json &Value, int Indent = -1) {
  return Value.dump(Indent, ' ', false, json::error_handler_t::replace);
}

namespace {
struct UsageField {
  const char *Name;
  std::optional<uint64_t> Usage::*Field;
};
} // namespace

static constexpr UsageField UsageFields[] = {
    {"input", &Usage::Input},
    {"cache_read", &Usage::CacheRead},
    {"cache_write", &Usage::CacheWrite},
    {"output", &Usage::Output},
    {"reasoning", &Usage::Reasoning},
};

static json discardedJson(const DiscardedAnswers &D) {
  json J = {{"answers", D.Answers},
            {"input", D.Input},
            {"output", D.Output},
            {"estimated", D.Estimated}};
  if (D.CostMicroUsd)
    J["cost_micro_usd"] = *D.CostMicroUsd;
  return J;
}

std::string stark::printDiscarded(const DiscardedAnswers &D) {
  return dump(discardedJson(D)) + "\n";
}

std::string stark::printReply(const ChatReply &R) {
  json J;
  J["applied"] = R.Applied;
  J["model"] = R.Model;
  J["provider"] = R.Provider;
  J["stop"] = stopReasonName(R.Stop).str();
  J["stop_detail"] = R.StopDetail;
  J["wall_ms"] = R.WallMs;
  // What the provider did not say is left out, never written as 0.
  if (R.CostMicroUsd)
    J["cost_micro_usd"] = *R.CostMicroUsd;
  if (R.Discarded.Answers)
    J["discarded"] = discardedJson(R.Discarded);
  J["usage"] = json::object();
  for (const UsageField &F : UsageFields)
    if (const std::optional<uint64_t> &Count = R.Tokens.*F.Field)
      J["usage"][F.Name] = *Count;
  return dump(J);
}

static std::string readDiscarded(const json &Object, const std::string &File,
                                 DiscardedAnswers &D) {
  FieldReader<json> Fields(Object, File, "discarded");
  uint64_t Answers = 0;
  Fields.required("answers", Answers);
  if (Fields.good() && (Answers < 1 || Answers > 1000))
    Fields.fail("answers", std::to_string(Answers), "1 to 1000");
  D.Answers = unsigned(Answers);
  Fields.required("input", D.Input);
  Fields.required("output", D.Output);
  Fields.required("estimated", D.Estimated);
  if (Fields.has("cost_micro_usd")) {
    int64_t Cost = 0;
    Fields.optional("cost_micro_usd", Cost);
    D.CostMicroUsd = Cost;
  }
  return Fields.problem();
}

llvm::Expected<DiscardedAnswers> stark::parseDiscarded(llvm::StringRef Json,
                                                       llvm::StringRef File) {
  DiscardedAnswers D;
  json Object = json::parse(Json.begin(), Json.end(), nullptr, false);
  if (std::string Problem = readDiscarded(Object, File.str(), D);
      !Problem.empty())
    return failed(Problem);
  return D;
}

llvm::Expected<ChatReply> stark::parseReply(llvm::StringRef Json,
                                            llvm::StringRef Text,
                                            llvm::StringRef File) {
  json Object = json::parse(Json.begin(), Json.end(), nullptr, false);
  if (Object.is_discarded())
    return failed(File + ": is not JSON; wanted a reply");
  ChatReply R;
  R.Text = Text.str();
  std::string Stop;
  FieldReader<json> Fields(Object, File.str(), "");
  Fields.required("applied", R.Applied);
  Fields.required("model", R.Model);
  Fields.required("provider", R.Provider);
  Fields.required("stop", Stop);
  Fields.required("stop_detail", R.StopDetail);
  Fields.required("wall_ms", R.WallMs);
  if (Fields.has("cost_micro_usd")) {
    int64_t Cost = 0;
    Fields.optional("cost_micro_usd", Cost);
    R.CostMicroUsd = Cost;
  }
  const json *Lost = Fields.raw("discarded");
  const json *Counts = Fields.raw("usage");
  if (!Counts)
    Fields.fail("usage", "nothing", "an object");
  if (std::optional<StopReason> Known = parseStopReason(Stop))
    R.Stop = *Known;
  else
    Fields.fail("stop", "'" + Stop + "'",
                "end, length, refusal, context-overflow or other");
  if (std::string Problem = Fields.problem(); !Problem.empty())
    return failed(Problem);
  if (Lost)
    if (std::string Problem = readDiscarded(*Lost, File.str(), R.Discarded);
        !Problem.empty())
      return failed(Problem);
  FieldReader<json> UsageReader(*Counts, File.str(), "usage");
  for (const UsageField &F : UsageFields)
    if (UsageReader.has(F.Name)) {
      uint64_t Count = 0;
      UsageReader.optional(F.Name, Count);
      R.Tokens.*F.Field = Count;
    }
  if (std::string Problem = UsageReader.problem(); !Problem.empty())
    return failed(Problem);
  return R;
}

std::string stark::requestFileStem(const ChatRequest &R) {
  return R.Id + "-" + R.digest().substr(0, 12);
}

static const char *speakerName(ChatMessage::Speaker Who) {
  return Who == ChatMessage::Speaker::User ? "user" : "assistant";
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
    Out += ruler(speakerName(M.Who)) + M.Text;
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
    J["messages"].push_back(
        {{"role", speakerName(M.Who)}, {"content", M.Text}});
  J["stable_prefix_bytes"] = R.StablePrefix;
  if (R.Temperature)
    J["temperature"] = *R.Temperature;
  J["max_output_tokens"] = R.MaxOutputTokens;
  if (!R.ResponseSchema.empty())
    J["response_schema"] = R.ResponseSchema;
  if (!R.InsteadOfTemperature.empty())
    J["instead_of_temperature"] = R.InsteadOfTemperature;
  J["version"] = 1;
  return dump(J, 2) + "\n";
}
