//===- Dialect.h - A vendor's wire format --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   ChatRequest -> path, headers and body; events or a whole body -> answer.
/// No I/O. Every request asks for a stream, and an answer is complete only when
/// the protocol says so: a transfer that ends well is no proof.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_DIALECT_H
#define STARK_LIB_LLM_DIALECT_H

#include "EventStream.h"
#include "Fault.h"
#include "stark/LLM/ChatClient.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stark {

/// What of a request a server takes, for one model. Begins as the table of
/// models says; a parameter that the server refused is struck out.
struct CallShape {
  std::string Model;
  std::string ApiVersion; ///< Anthropic's
  bool Temperature = true;
  /// Chat completions: "max_completion_tokens", "max_tokens".
  std::string MaxTokensField = "max_completion_tokens";
  bool StreamOptions = true;
  bool Schema = false; ///< structured answers by JSON schema
  bool CacheMarks = true;
  std::string SystemRole = "system";
  uint64_t MaxOutputTokens = 0; ///< the model's own limit, 0 when unknown
};

struct WireRequest {
  std::string Path; ///< behind the base URL: "/v1/messages"
  std::vector<std::string> Headers;
  std::string Body;
  /// "temperature=0.8", "temperature=not applied", "schema=not applied".
  std::vector<std::string> Applied;
};

/// What has arrived so far.
struct Answer {
  std::string Text;
  StopReason Stop = StopReason::Other;
  std::string StopDetail, Model;
  Usage Tokens;
  size_t ThoughtBytes = 0; ///< of thinking, whose text is not kept
  bool Complete = false;
  std::optional<Fault> Problem; ///< an error inside of the stream
};

class AnswerDecoder {
public:
  AnswerDecoder(const Secret &Key, std::function<void(llvm::StringRef)> OnText)
      : Key(Key), OnText(std::move(OnText)) {}
  virtual ~AnswerDecoder() = default;
  /// What is no JSON is a Problem; what is not known is ignored.
  void take(const StreamEvent &E);
  /// A whole body, of a server that does not stream.
  void takeWhole(llvm::StringRef Body);
  const Answer &answer() const { return Now; }

protected:
  virtual void event(const StreamEvent &E, JsonView Data) = 0;
  virtual void whole(JsonView Body) = 0;
  /// "[DONE]" and the like: true when \p Data is the stream's last word.
  virtual bool isEnd(llvm::StringRef Data) const { return false; }
  void addText(llvm::StringRef Delta);

  const Secret &Key;
  Answer Now;

private:
  std::function<void(llvm::StringRef)> OnText;
};

class Dialect {
public:
  virtual ~Dialect() = default;
  virtual WireRequest encode(const ChatRequest &Request,
                             const CallShape &Shape) const = 0;
  virtual std::unique_ptr<AnswerDecoder>
  decoder(const Secret &Key, std::function<void(llvm::StringRef)> OnText) = 0;
  /// The header up to the key.
  virtual std::string keyHeader() const { return "authorization: Bearer "; }

protected:
  /// The request's limit, or the model's when that is less.
  static uint64_t outputLimit(const ChatRequest &Request,
                              const CallShape &Shape);
  /// The temperature to send, if any; says in \p Wire what became of a wanted
  /// one.
  static std::optional<double> temperature(const ChatRequest &Request,
                                           const CallShape &Shape,
                                           WireRequest &Wire);
  /// Likewise the schema, a JSON object; empty when there is none to send.
  static std::string schema(const ChatRequest &Request, const CallShape &Shape,
                            WireRequest &Wire);
};

std::unique_ptr<Dialect> makeAnthropicDialect();
std::unique_ptr<Dialect> makeOpenAIChatDialect();
std::unique_ptr<Dialect> makeOpenAIResponsesDialect();
std::unique_ptr<Dialect> makeGeminiDialect();

} // namespace stark

#endif
