//===- RemoteSpec.h - What STARK_REMOTE says -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   "https://cache.example/stark|read-only|bearer-file=token" -> RemoteSpec
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_REMOTESPEC_H
#define STARK_CACHE_REMOTESPEC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

struct RemoteSpec {
  /// http://, https://, redis:// or file://, without a user or a password.
  std::string Url;
  bool ReadOnly = false;
  uint64_t TimeoutMs = 5000; ///< that a build may lose to it
  /// Files with a token, or with USER:PASSWORD; only their owner may read them.
  std::string BearerFile, BasicFile;
};

/// Usage errors begin with "STARK_REMOTE: " and never show a password.
llvm::Expected<RemoteSpec> parseRemoteSpec(llvm::StringRef Text);

/// The value of STARK_REMOTE, empty when there is none.
std::string remoteOfUser();

} // namespace stark

#endif
