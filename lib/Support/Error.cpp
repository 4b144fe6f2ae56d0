//===- Error.cpp - Failures as values -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

char StatusError::ID = 0;

void StatusError::log(llvm::raw_ostream &OS) const { OS << Message; }

std::error_code StatusError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

static llvm::Error make(ErrorKind Kind, const llvm::Twine &Message) {
  return llvm::make_error<StatusError>(Kind, Message.str());
}

llvm::Error stark::failed(const llvm::Twine &Message) {
  return make(ErrorKind::Failed, Message);
}
llvm::Error stark::usageError(const llvm::Twine &Message) {
  return make(ErrorKind::Usage, Message);
}
llvm::Error stark::suspended(const llvm::Twine &Message) {
  return make(ErrorKind::Suspended, Message);
}
llvm::Error stark::interrupted(const llvm::Twine &Message) {
  return make(ErrorKind::Interrupted, Message);
}

ErrorKind stark::errorKind(const llvm::Error &E) {
  // llvm::Error can only be looked into by visiting it.
  ErrorKind Kind = ErrorKind::Failed;
  bool Found = false;
  llvm::visitErrors(E, [&](const llvm::ErrorInfoBase &Info) {
    if (!Found && Info.isA<StatusError>()) {
      Kind = static_cast<const StatusError &>(Info).kind();
      Found = true;
    }
  });
  return Kind;
}

int stark::exitCodeFor(llvm::Error &E) {
  if (!E)
    return 0;
  switch (errorKind(E)) {
  case ErrorKind::Failed:
    return 1;
  case ErrorKind::Usage:
    return 2;
  case ErrorKind::Suspended:
    return 75;
  case ErrorKind::Interrupted:
    return 130;
  }
  return 1;
}

llvm::Error stark::withContext(llvm::Error E, const llvm::Twine &Context) {
  if (!E)
    return E;
  ErrorKind Kind = errorKind(E);
  return make(Kind, Context + ": " + llvm::toString(std::move(E)));
}
