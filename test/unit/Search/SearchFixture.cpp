//===- SearchFixture.cpp --------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"

using namespace stark;

PromptSet stark::ownPrompts() {
  return llvm::cantFail(loadPrompts(STARK_PROMPTS));
}
