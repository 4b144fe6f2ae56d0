//===- SimulatedNames.cpp - Tensors that pass for a GPU's -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedNames.h"
#include "llvm/ADT/Twine.h"

static constexpr const char *Names =
    "#define is_cuda is_cpu\n#define kCUDA kCPU\n";

/// At the begin of \p Words.
static size_t number(llvm::StringRef Words) {
  size_t Value = 0;
  Words.ltrim().consumeInteger(10, Value);
  return Value;
}

std::string stark::withSimulatedNames(llvm::StringRef Text) {
  size_t Line = 0, LastLine = 0, End = 0;
  for (size_t At = 0; At < Text.size();) {
    size_t Next = std::min(Text.find('\n', At), Text.size() - 1) + 1;
    llvm::StringRef Words = Text.slice(At, Next).ltrim();
    ++Line;
    if (Words.consume_front("#line"))
      Line = number(Words) - 1;
    if (Words.consume_front("#") && Words.ltrim().starts_with("include")) {
      End = Next;
      LastLine = Line;
    }
    At = Next;
  }
  return (Text.take_front(End) + Names + "#line " + llvm::Twine(LastLine + 1) +
          "\n" + Text.drop_front(End))
      .str();
}
