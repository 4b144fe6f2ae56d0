//===- Digest.h - SHA-256 over framed fields ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Content addresses: of sources, requests, prompts, tasks and cache keys.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_DIGEST_H
#define STARK_SUPPORT_DIGEST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"
#include <string>

namespace stark {

/// 64 lower-case hexadecimal digits.
std::string sha256(llvm::StringRef Bytes);

/// A digest of named fields. Names and values are length-prefixed, so that no
/// two different lists of fields feed the same bytes.
class DigestBuilder {
public:
  DigestBuilder &add(llvm::StringRef Name, llvm::StringRef Value);
  std::string finish();

private:
  llvm::SHA256 Hash;
};

} // namespace stark

#endif
