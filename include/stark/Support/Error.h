//===- Error.h - Failures as values ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The world fails through values: llvm::Error, llvm::Expected. A message
/// names the thing, what was got and what was wanted, lower case, no full
/// stop. Callers that branch ask for the kind, never for words in the message.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_ERROR_H
#define STARK_SUPPORT_ERROR_H

#include "llvm/Support/Error.h"
#include <string>

namespace stark {

/// What a caller may branch on. The programs' exit codes follow from it.
enum class ErrorKind {
  Failed,      ///< exit 1: it was tried and did not work
  Usage,       ///< exit 2: the command line or an input file is wrong
  Suspended,   ///< exit 75: waits for a person or a queue; run again later
  Interrupted, ///< exit 130: the user stopped it
};

class StatusError : public llvm::ErrorInfo<StatusError> {
public:
  static char ID;
  StatusError(ErrorKind Kind, std::string Message)
      : Kind(Kind), Message(std::move(Message)) {}
  ErrorKind kind() const { return Kind; }
  const std::string &text() const { return Message; }
  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;

private:
  ErrorKind Kind;
  std::string Message;
};

llvm::Error failed(const llvm::Twine &Message);
llvm::Error usageError(const llvm::Twine &Message);
llvm::Error suspended(const llvm::Twine &Message);
llvm::Error interrupted(const llvm::Twine &Message);

/// The kind of \p E (the first one, of a list); Failed for foreign errors.
ErrorKind errorKind(const llvm::Error &E);

/// 0 for success, otherwise as ErrorKind documents.
int exitCodeFor(llvm::Error &E);

/// Puts \p Context and ": " before the message and keeps the kind.
llvm::Error withContext(llvm::Error E, const llvm::Twine &Context);

} // namespace stark

#endif
