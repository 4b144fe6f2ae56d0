//===- Digest.cpp - SHA-256 over framed fields ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

static std::string hex(llvm::SHA256 &Hash) {
  return llvm::toHex(Hash.final(), /*LowerCase=*/true);
}

std::string stark::sha256(llvm::StringRef Bytes) {
  llvm::SHA256 Hash;
  Hash.update(Bytes);
  return hex(Hash);
}

DigestBuilder &DigestBuilder::add(llvm::StringRef Name, llvm::StringRef Value) {
  Hash.update((std::to_string(Name.size()) + ":").c_str());
  Hash.update(Name);
  Hash.update((std::to_string(Value.size()) + ":").c_str());
  Hash.update(Value);
  return *this;
}

std::string DigestBuilder::finish() { return hex(Hash); }
