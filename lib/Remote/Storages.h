//===- Storages.h - Who keeps winners ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The kinds of a remote. Each method takes the milliseconds it may last.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REMOTE_STORAGES_H
#define STARK_LIB_REMOTE_STORAGES_H

#include "stark/Cache/RemoteSpec.h"
#include "stark/Net/Secret.h"
#include "stark/Net/Url.h"
#include <memory>
#include <optional>

namespace stark {

class TimedStorage {
public:
  virtual ~TimedStorage() = default;
  virtual llvm::Expected<std::optional<std::string>>
  get(llvm::StringRef Name, size_t Limit, uint64_t Ms) = 0;
  virtual llvm::Expected<bool> has(llvm::StringRef Name, uint64_t Ms) = 0;
  virtual llvm::Error put(llvm::StringRef Name, llvm::StringRef Bytes,
                          uint64_t Ms) = 0;
};

/// \p Credentials: the value of the header "authorization".
std::unique_ptr<TimedStorage> makeHttpStorage(std::string Url,
                                              Secret Credentials);

std::unique_ptr<TimedStorage> makeFileStorage(std::string Folder);

/// \p Credentials: a password, or a user and a password with ':' between them.
/// An error in a build without hiredis.
llvm::Expected<std::unique_ptr<TimedStorage>>
makeRedisStorage(const UrlParts &Url, Secret Credentials);

} // namespace stark

#endif
