//===- Arithmetic.h - What an operator makes of two values ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Whole numbers are 64-bit and signed; overflow, division by zero and what C
/// leaves undefined have no value. Real numbers must stay finite.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TASK_ARITHMETIC_H
#define STARK_LIB_TASK_ARITHMETIC_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace stark {

/// The arithmetic of one value type. apply() says why \p Op has no value, or
/// nullptr; literal() whether \p Text is a number of the type.
template <class T> struct Arithmetic;

template <> struct Arithmetic<int64_t> {
  static const char *apply(llvm::StringRef Op, int64_t L, int64_t R,
                           int64_t &Out);
  static bool literal(llvm::StringRef Text, int64_t &Out);
};

template <> struct Arithmetic<double> {
  static const char *apply(llvm::StringRef Op, double L, double R, double &Out);
  static bool literal(llvm::StringRef Text, double &Out);
};

} // namespace stark

#endif
