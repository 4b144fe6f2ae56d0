//===- Reason.cpp - Why a rewrite does not apply --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Rewrite/Reason.h"
#include "llvm/ADT/StringExtras.h"
#include <cassert>

using namespace stark;

static std::string print(const Reason::Argument &A) {
  if (const auto *Number = std::get_if<uint64_t>(&A))
    return std::to_string(*Number);
  return std::get<std::string>(A);
}

std::string Reason::str() const {
  std::string Sentence;
  llvm::StringRef Left = Kind->Text;
  while (true) {
    auto [Before, After] = Left.split('%');
    Sentence += Before;
    if (After.empty())
      return Sentence;
    size_t Which = size_t(After[0] - '0');
    assert(Which < Said.size() && "the reason does not say all of it");
    if (Which < Said.size())
      Sentence += print(Said[Which]);
    Left = After.drop_front();
  }
}
