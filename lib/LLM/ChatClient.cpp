//===- ChatClient.cpp - Requests, replies and what they take --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/ChatClient.h"
#include "stark/Support/Digest.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace stark;

std::string stark::printTemperature(double Value) {
  // The shortest text that reads back as the same number, in any locale.
  char Buffer[32];
  auto [End, Code] = std::to_chars(Buffer, Buffer + sizeof(Buffer), Value);
  return Code == std::errc() ? std::string(Buffer, End) : "nan";
}

std::string ChatRequest::digest() const {
  DigestBuilder D;
  D.add("role", Role).add("system", System);
  for (const ChatMessage &M : Messages)
    D.add(M.Who == ChatMessage::Speaker::User ? "user" : "assistant", M.Text);
  if (Temperature)
    D.add("temperature", printTemperature(*Temperature));
  D.add("max_output_tokens", std::to_string(MaxOutputTokens));
  D.add("response_schema", ResponseSchema);
  if (!InsteadOfTemperature.empty())
    D.add("instead_of_temperature", InsteadOfTemperature);
  return D.finish();
}

llvm::StringRef stark::roleOf(llvm::StringRef Id) {
  return Id.split('-').second.rsplit('-').first;
}

DiscardedAnswers &DiscardedAnswers::operator+=(const DiscardedAnswers &Other) {
  if (Answers == 0)
    CostMicroUsd = Other.CostMicroUsd;
  else if (Other.Answers && CostMicroUsd && Other.CostMicroUsd)
    *CostMicroUsd += *Other.CostMicroUsd;
  else if (Other.Answers)
    CostMicroUsd.reset();
  Answers += Other.Answers;
  Input += Other.Input;
  Output += Other.Output;
  Estimated |= Other.Estimated;
  return *this;
}

char CallLost::ID = 0;
char BudgetSpent::ID = 0;

void BudgetSpent::log(llvm::raw_ostream &OS) const { OS << Why; }

std::error_code BudgetSpent::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

std::optional<WorstCase>
ChatClient::worstCase(const ChatRequest &Request) const {
  uint64_t Bytes = Request.System.size() + Request.ResponseSchema.size() +
                   Request.InsteadOfTemperature.size();
  for (const ChatMessage &M : Request.Messages)
    Bytes += M.Text.size() + 16;
  // Source code has about 3.5 bytes a token; no text of ours has fewer than 2.
  return WorstCase{Bytes / 2, Request.MaxOutputTokens, std::nullopt};
}
