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
///   All that is known of one vendor is in its dialect's file: addresses,
/// headers, names of fields, and what its errors say. Dialects.def lists them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_DIALECT_H
#define STARK_LIB_LLM_DIALECT_H

#include "EventStream.h"
#include "Fault.h"
#include "stark/LLM/ChatClient.h"
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace stark {

/// What of a request a server takes, for one model. Begins as the table of
/// models says; a parameter that the server refused is struck out.
struct CallShape {
  std::string Model;
  std::string ApiVersion; ///< empty: the dialect's own
  bool Temperature = true;
  /// Chat completions: "max_completion_tokens", "max_tokens".
  std::string MaxTokensField = "max_completion_tokens";
  bool StreamOptions = true;
  bool Schema = false; ///< structured answers by JSON schema
  bool CacheMarks = true;
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

using TextHandler = std::function<void(llvm::StringRef)>;

class AnswerDecoder {
public:
  AnswerDecoder(const Secret &Key, TextHandler OnText)
      : Key(Key), OnText(std::move(OnText)) {}
  virtual ~AnswerDecoder() = default;
  /// What is no JSON is a Problem; what is not known is ignored.
  void take(const StreamEvent &E);
  /// A whole body, of a server that does not stream.
  void takeWhole(llvm::StringRef Body);
  const Answer &answer() const { return Now; }

protected:
  using Json = nlohmann::json;

  /// An object; \p Type is that of the event.
  virtual void event(llvm::StringRef Type, const Json &Data) = 0;
  virtual void whole(const Json &Body) = 0;
  /// "[DONE]" and the like: true when \p Data is the stream's last word.
  virtual bool isEnd(llvm::StringRef Data) const { return false; }
  void addText(llvm::StringRef Delta);
  void fail(const Json &Body) { Now.Problem = faultOfBody(Body, Key); }

  Answer Now;

private:
  const Secret &Key;
  TextHandler OnText;
};

/// Where a vendor counts tokens: JSON pointers, empty where it never says.
struct UsageNames {
  std::string Input;
  std::string CacheRead, CacheWrite;
  std::string Output, Reasoning;
  bool InputHasCache;      ///< Input counts those of the cache, too
  bool OutputHasReasoning; ///< likewise Output
};

/// Counts replace earlier ones; what is absent or null says nothing.
void readUsage(const nlohmann::json &Of, const UsageNames &Names, Usage &Into);

/// What is said of a wire format rather than done.
struct DialectFacts {
  /// As tables of models write it: "openai-chat".
  llvm::StringLiteral Name = "";
  /// What paths begin with, so that a base URL goes without: "/v1".
  llvm::StringLiteral Version = "";
  /// Behind the base URL: where a server lists its models.
  llvm::StringLiteral ModelsPath = "";
  /// The header up to the key.
  llvm::StringLiteral KeyHeader = "authorization: Bearer ";
  /// The names that the field for the most tokens of an answer may have; none
  /// where it has one name at all servers.
  llvm::ArrayRef<llvm::StringLiteral> LimitFields = {};
  FaultWords Errors = {};
};

class Dialect {
public:
  virtual ~Dialect() = default;
  const DialectFacts &facts() const { return Said; }

  /// \p Given without the slash at its end, with or without the version, as
  /// paths want it.
  virtual std::string baseUrl(llvm::StringRef Given) const;

  WireRequest encode(const ChatRequest &Request, const CallShape &Shape) const;
  virtual std::unique_ptr<AnswerDecoder> decoder(const Secret &Key,
                                                 TextHandler OnText) const = 0;

  /// What an error object of this vendor says where others do not.
  virtual void readError(const nlohmann::json &Error, ErrorObject &Into) const {
  }

protected:
  using Json = nlohmann::json;

  explicit Dialect(const DialectFacts &Said) : Said(Said) {}

  /// What of a request's wishes goes into the body.
  struct Granted {
    uint64_t OutputTokens; ///< the request's, or the model's limit when less
    std::optional<double> Temperature;
    const Json *Schema; ///< an object; null when there is none to send
  };
  /// Fills in path and body; adds to the headers.
  virtual void write(const ChatRequest &Request, const CallShape &Shape,
                     const Granted &G, WireRequest &Wire, Json &Body) const = 0;

private:
  const DialectFacts &Said; ///< a constant of the dialect's file
};

/// A dialect whose answers \p Decoder reads.
template <class Decoder> class DialectWith : public Dialect {
public:
  using Dialect::Dialect;
  std::unique_ptr<AnswerDecoder> decoder(const Secret &Key,
                                         TextHandler OnText) const override {
    return std::make_unique<Decoder>(Key, std::move(OnText));
  }
};

#define STARK_DIALECT(Factory) const Dialect &Factory();
#include "Dialects.def"

llvm::ArrayRef<const Dialect *> dialects();
/// Null when there is none of that name.
const Dialect *findDialect(llvm::StringRef Name);

} // namespace stark

#endif
