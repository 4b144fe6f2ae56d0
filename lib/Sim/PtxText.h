//===- PtxText.h - The text of inline PTX ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   asm text -> statements -> opcode words and operands
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_PTXTEXT_H
#define STARK_LIB_SIM_PTXTEXT_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace stark::sim {

/// "ld.global.v2.f32 {%0, %1}, [p+8];" as words ld, global, v2, f32 and the two
/// operands. A declaration has the word .reg first.
struct PtxStatement {
  std::string Guard; ///< of "@p" or "@!p": the register, empty without
  bool Negated = false;
  std::string Text; ///< as it stands, for messages
  std::vector<std::string> Words, Operands;
  bool has(llvm::StringRef Word) const;
};

/// Of a type word: "f32", "u16", "f16x2", "pred".
struct PtxType {
  char Kind = 'b'; ///< b, u, s, f (floating point), g (bfloat16), p (predicate)
  unsigned Bits = 32, Lanes = 1; ///< of one lane
  unsigned bits() const { return Bits * Lanes; }
  bool floats() const { return Kind == 'f' || Kind == 'g'; }
};
std::optional<PtxType> parsePtxType(llvm::StringRef Word);

/// A label is a statement with the word ":". False: it cannot be read.
bool readPtx(llvm::StringRef Text, std::vector<PtxStatement> &Out);

/// The text of a device source in which inline PTX has the constraints of this
/// CPU ("f" and "d" become "x", "h" and "l" become "r"): every byte stays where
/// it was, so that locations do, too. Without that Clang refuses it.
std::string respellConstraints(llvm::StringRef Source);

} // namespace stark::sim

#endif
