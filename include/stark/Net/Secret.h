//===- Secret.h - A key that is never printed ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Where keys come from, and what keeps them out of everything that is
/// written: a Secret has no stream operator and is wiped when it goes, and what
/// a server or a library said passes through Redactor first.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_NET_SECRET_H
#define STARK_NET_SECRET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace stark {

class Secret {
public:
  Secret() = default;
  explicit Secret(std::string Value) : Value(std::move(Value)) {}
  Secret(Secret &&Other) noexcept { *this = std::move(Other); }
  Secret &operator=(Secret &&Other) noexcept;
  Secret(const Secret &) = delete;
  Secret &operator=(const Secret &) = delete;
  ~Secret() { wipe(); }

  bool empty() const { return Value.empty(); }
  /// The key itself, for the one place that sends it.
  const std::string &reveal() const { return Value; }

private:
  void wipe();
  std::string Value;
};

/// The key that \p Variable names: the content of the file that
/// ${Variable}_FILE holds (which only its owner may read), else the value of
/// the variable, which is taken out of the environment so that no child has it;
/// empty when neither is set. Once a key was found, the process writes no core
/// and no other may look into it. Errors: a file that others may read, a key
/// with control characters or blanks in it.
llvm::Expected<Secret> findSecret(llvm::StringRef Variable);

/// The content of the file \p Path, as it is but for white space round it,
/// which only its owner may read. Errors begin with \p Of.
llvm::Expected<Secret> readSecretFile(llvm::StringRef Path, llvm::StringRef Of);

/// \p Text with \p Key, and whatever has the shape of a vendor's key or of a
/// password in a URL, replaced by "[redacted]".
std::string redact(llvm::StringRef Text, const Secret &Key);

} // namespace stark

#endif
