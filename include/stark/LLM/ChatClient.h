//===- ChatClient.h - A conversation in, a reply out ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The seam behind which every provider lies. A client is called from several
/// threads at once; a call blocks until the reply is whole, the provider gives
/// up or the call is cancelled. Streaming is seen through CallControl.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LLM_CHATCLIENT_H
#define STARK_LLM_CHATCLIENT_H

#include "stark/Json/Names.h"
#include "stark/Posix/Clock.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stark {

enum class Speaker { User, Assistant };
inline constexpr Named<Speaker> SpeakerNames[] = {
    {Speaker::User, "user"}, {Speaker::Assistant, "assistant"}};
constexpr std::span<const Named<Speaker>> namesOf(Speaker) {
  return SpeakerNames;
}

struct ChatMessage {
  using Speaker = stark::Speaker;
  Speaker Who = Speaker::User;
  std::string Text;
};

struct ChatRequest {
  std::string Id;   ///< "0007-code-1": attempt, role, try
  std::string Role; ///< "plan", "code", "debug": maps to a model
  std::string System;
  std::vector<ChatMessage> Messages;
  size_t StablePrefix =
      0; ///< bytes of System + Messages[0] that repeat over calls
  std::optional<double>
      Temperature; ///< wanted; what was applied is in the reply
  uint64_t MaxOutputTokens = 16000;
  std::string ResponseSchema; ///< JSON schema of a structured answer, or empty
  /// Put at the end of the first message where the temperature is not applied:
  /// asks in words for what it would have brought. May be empty.
  std::string InsteadOfTemperature;
  /// The answer, where the asker makes it itself: only the client "rules"
  /// looks at it.
  std::string Prepared;
  /// Over everything that is sent; Id and StablePrefix, which change no
  /// answer, and Prepared, which is one, are left out.
  std::string digest() const;
};

/// "plan" of the request "0007-plan-1": attempt, role, try.
llvm::StringRef roleOf(llvm::StringRef Id);

/// Token counts; unset where the provider does not say.
struct Usage {
  std::optional<uint64_t> Input, CacheRead, CacheWrite, Output, Reasoning;
};

enum class StopReason { End, Length, Refusal, ContextOverflow, Other };
inline constexpr Named<StopReason> StopReasonNames[] = {
    {StopReason::End, "end"},
    {StopReason::Length, "length"},
    {StopReason::Refusal, "refusal"},
    {StopReason::ContextOverflow, "context-overflow"},
    {StopReason::Other, "other"}};
constexpr std::span<const Named<StopReason>> namesOf(StopReason) {
  return StopReasonNames;
}

/// "0.8": the shortest text that reads back as the same number.
std::string printTemperature(double Value);

/// Answers that were begun and thrown away before the one that counts: cut,
/// stopped, ended by an error. Providers charge for them.
struct DiscardedAnswers {
  unsigned Answers = 0;
  uint64_t Input = 0, Output = 0; ///< tokens; Input with those of the cache
  bool Estimated = false;         ///< some of them, from the length of texts
  std::optional<int64_t> CostMicroUsd; ///< unset: unknown

  DiscardedAnswers &operator+=(const DiscardedAnswers &Other);
};

struct ChatReply {
  std::string Text;
  StopReason Stop = StopReason::End;
  std::string StopDetail;      ///< the provider's own word
  std::string Provider, Model; ///< what answered
  Usage Tokens;
  /// What was applied: "temperature=0.8", "temperature=not applied".
  std::vector<std::string> Applied;
  std::optional<int64_t> CostMicroUsd; ///< unset: unknown, never 0 by default
  DiscardedAnswers Discarded;          ///< in none of the above
  uint64_t WallMs = 0;
  /// Digest of the request that was answered, when a replayed request is now
  /// rendered otherwise than it was then; else empty. Not kept with the reply.
  std::string AnsweredDigest;
};

struct CallControl {
  std::function<void(llvm::StringRef Delta)> OnText; ///< may be empty
  const std::atomic<bool> *Cancelled = nullptr;
};

/// The most that a call can take.
struct WorstCase {
  uint64_t InputTokens = 0, OutputTokens = 0;
  std::optional<int64_t> MicroUsd; ///< unset: the price is not known
  uint64_t tokens() const { return InputTokens + OutputTokens; }
};

/// A call failed or was interrupted, after answers that are charged for.
class CallLost : public llvm::ErrorInfo<CallLost, StatusError> {
public:
  static char ID;
  CallLost(ErrorKind Kind, std::string Message, DiscardedAnswers Lost)
      : ErrorInfo(Kind, std::move(Message)), Lost(Lost) {}
  const DiscardedAnswers &lost() const { return Lost; }

private:
  DiscardedAnswers Lost;
};

/// A replayed run ended here because its budget was spent.
class BudgetSpent : public llvm::ErrorInfo<BudgetSpent> {
public:
  static char ID;
  explicit BudgetSpent(std::string Why) : Why(std::move(Why)) {}
  const std::string &why() const { return Why; }
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string Why;
};

class ChatClient {
public:
  virtual ~ChatClient() = default;
  /// Errors: the provider could not answer (after its own retries), Suspended
  /// when a person has to, Interrupted when cancelled; CallLost when that took
  /// tokens. A refusal and an empty answer are replies.
  virtual llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                             const CallControl &Control) = 0;
  /// "exchange", "anthropic:claude-...": part of the run's identity.
  virtual std::string identity() const = 0;
  /// For budgets; nothing when a call takes nothing, as a replayed one does.
  virtual std::optional<WorstCase> worstCase(const ChatRequest &Request) const;
};

struct ExchangeOptions {
  uint64_t WaitMs = 0; ///< how long to wait for an answer before suspending
};

/// Each request is DIR/pending/ID-DIGEST.md (readable) and .json; the answer is
/// DIR/answers/ID-DIGEST.md. See docs/exchange.md. It waits by \p Time.
llvm::Expected<std::unique_ptr<ChatClient>>
makeExchangeClient(llvm::StringRef Folder, const ExchangeOptions &Options,
                   Clock &Time);

/// Replies from the journal of a run, by request id and digest. \p Provider is
/// that of the run, as run.json has it.
llvm::Expected<std::unique_ptr<ChatClient>>
makeReplayClient(llvm::StringRef RunFolder, llvm::StringRef Provider);

/// Gives back what each request has prepared: the answers of agents that need
/// no model go the same way as a model's. Its identity is "rules".
std::unique_ptr<ChatClient> makeRulesClient();

} // namespace stark

#endif
