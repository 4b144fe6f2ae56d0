//===- CodeTemplate.h - CUDA text with named holes ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   const $type @sum = $value;  + type: "float", value: "x[i]"
///                               -> const float sum = x[i];
/// $name is a hole, filled with what is given for it. @name is a name that the
/// text makes itself: the same word, or one with a number where the source has
/// that word already.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_CODETEMPLATE_H
#define STARK_LIB_REWRITE_CODETEMPLATE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

class CodeTemplate {
public:
  using Values = llvm::StringMap<std::string>;
  /// From the name that is wanted to one that is free.
  using FreshName = llvm::function_ref<std::string(llvm::StringRef)>;

  explicit constexpr CodeTemplate(llvm::StringLiteral Text) : Text(Text) {}

  /// The names that the text makes, as \p Fresh gives them: for values that
  /// use them, and for fill.
  Values names(FreshName Fresh) const;
  /// The text with each hole filled. It is an error when a hole has no value,
  /// or when there is no hole for one of \p Given: a text that is half filled
  /// is no program. \p Names as names() returns them.
  llvm::Expected<std::string> fill(const Values &Given,
                                   const Values &Names = {}) const;

private:
  llvm::StringLiteral Text;
};

/// \p Text of an expression as an operand: one word as it is.
std::string asOperand(llvm::StringRef Text);
/// A value of \p Type that is zero: "float{}", but no "unsigned long{}".
std::string zeroOf(llvm::StringRef Type);

} // namespace stark

#endif
