//===- Fault.h - Why a provider did not answer ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Any status and any body (JSON of several shapes, text, a proxy's HTML) ->
/// what kind of failure it is, whether to try again, and when.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_FAULT_H
#define STARK_LIB_LLM_FAULT_H

#include "stark/Net/HttpEngine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace stark {

enum class FaultKind {
  Authentication,
  SpendLimit,      ///< of the account: no waiting helps
  RateLimit,       ///< wait and try again
  Overloaded,      ///< likewise
  Server,          ///< 5xx: likewise
  BadRequest,      ///< Parameter names what was refused, when the server says
  ContextOverflow, ///< the conversation is too long for the model
  NotFound,        ///< no such model, or no such address
  Timeout,
  Network,
  Protocol, ///< an answer that is not what the protocol says
  TooLarge, ///< an answer without end
  Cancelled,
};

/// What a request may ask for and a server may refuse.
enum class Feature {
  Temperature,
  OutputLimit,
  StreamOptions,
  Schema,
  CacheMarks,
};

struct Fault {
  FaultKind Kind = FaultKind::Protocol;
  std::string Message;   ///< the server's own words, redacted, cut to 500 bytes
  std::string Code;      ///< the server's code or type
  std::string Parameter; ///< what was refused, as the server calls it
  std::optional<Feature> Refused;       ///< likewise, where we know it
  long Status = 0;                      ///< 0: no answer
  std::optional<uint64_t> RetryAfterMs; ///< at least that long
  std::string RequestId;

  bool mayRetry() const;
  /// "HTTP 429, rate_limit_error: Number of requests ... (request req_1)".
  std::string describe() const;
};

/// What the errors of a vendor are made of. Servers and proxies pass on each
/// other's errors, so that the words of all dialects are known, whichever of
/// them is spoken.
struct FaultWords {
  /// Codes and types of an error, or statuses that no standard has; a blank
  /// between two.
  struct Code {
    FaultKind Means;
    llvm::StringLiteral Words;
  };
  /// Part of a message, in lower case, where the status says no more than that
  /// the request is bad.
  struct Phrase {
    llvm::StringLiteral Text;
    FaultKind Means;
  };
  /// Fields of a request, a blank between two; what is in one is meant, too.
  struct Field {
    Feature Of;
    llvm::StringLiteral Names;
    bool InMessages = true; ///< whether a name in a message means the field
  };
  /// Part of a message, in any case, that names no field but means one.
  struct Hint {
    llvm::StringLiteral Text;
    Feature Of;
    llvm::StringLiteral Field;
  };
  llvm::ArrayRef<Code> Codes = {};
  llvm::ArrayRef<Phrase> Phrases = {};
  llvm::ArrayRef<Field> Fields = {};
  llvm::ArrayRef<Hint> Hints = {};
  /// The header that names a request, as the vendor's support asks for it.
  llvm::StringLiteral RequestId = "";
};

/// An error as a server words it.
struct ErrorObject {
  std::string Type, Code, Message, Parameter;
  std::optional<uint64_t> RetryAfterMs;
};

/// An answer with a status other than 200.
Fault faultOfAnswer(const HttpAnswer &Answer, llvm::StringRef Body,
                    const Secret &Key);
/// An error object that came inside of an answer with status 200.
Fault faultOfBody(const nlohmann::json &Body, const Secret &Key);
/// A transfer that did not end well.
Fault faultOfTransfer(const HttpResult &Result);

/// What a server calls the request, empty when it does not say.
std::string requestIdOf(const HttpAnswer &Answer, const Secret &Key);

/// "7", "1.5", an HTTP date (from \p Now, seconds since 1970) -> milliseconds;
/// nothing when it is none of these or not in the future.
std::optional<uint64_t> parseRetryAfter(llvm::StringRef Value, int64_t Now);

} // namespace stark

#endif
