//===- Url.h - Addresses that a key may be sent to ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_NET_URL_H
#define STARK_NET_URL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace stark {

struct UrlParts {
  std::string Scheme, Host, Path; ///< Host and Port as they were given
  unsigned Port = 0;              ///< 0: the scheme's own
};
/// Any scheme; unset when \p Url is no address.
std::optional<UrlParts> parseUrl(llvm::StringRef Url);

/// Whether \p Host is this machine, by its name or number.
bool isLoopback(llvm::StringRef Host);

/// Success when \p Url may be sent a key: https anywhere, http to this machine
/// only. Errors show it without passwords.
llvm::Error checkUrl(llvm::StringRef Url);

} // namespace stark

#endif
