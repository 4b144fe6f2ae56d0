//===- NoRedis.cpp - A build without hiredis -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Storages.h"
#include "stark/Support/Error.h"

using namespace stark;

llvm::Expected<std::unique_ptr<TimedStorage>>
stark::makeRedisStorage(const UrlParts &, Secret) {
  return usageError("STARK_REMOTE: got redis://, but Stark was built without "
                    "hiredis");
}
