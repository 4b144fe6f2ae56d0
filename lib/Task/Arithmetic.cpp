//===- Arithmetic.cpp - What an operator makes of two values -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace stark;

static constexpr const char *DoesNotFit = "the value does not fit 64 bits";

/// The operators that whole and real numbers share.
template <class T> static bool compare(llvm::StringRef Op, T L, T R, T &Out) {
  if (Op == "<")
    Out = L < R;
  else if (Op == ">")
    Out = L > R;
  else if (Op == "<=")
    Out = L <= R;
  else if (Op == ">=")
    Out = L >= R;
  else if (Op == "==")
    Out = L == R;
  else if (Op == "!=")
    Out = L != R;
  else if (Op == "min")
    Out = std::min(L, R);
  else if (Op == "max")
    Out = std::max(L, R);
  else
    return false;
  return true;
}

static const char *divide(llvm::StringRef Op, int64_t L, int64_t R,
                          int64_t &Out) {
  if (R == 0)
    return "division by zero";
  if (L == std::numeric_limits<int64_t>::min() && R == -1)
    return DoesNotFit;
  if (Op == "%")
    Out = L % R;
  else
    Out = L / R + (Op == "ceildiv" && L % R != 0 && (L < 0) == (R < 0));
  return nullptr;
}
const char *Arithmetic<int64_t>::apply(llvm::StringRef Op, int64_t L, int64_t R,
                                       int64_t &Out) {
  if (compare(Op, L, R, Out))
    return nullptr;
  if (Op == "/" || Op == "%" || Op == "ceildiv")
    return divide(Op, L, R, Out);
  bool Overflow = false;
  if (Op == "+")
    Overflow = __builtin_add_overflow(L, R, &Out);
  else if (Op == "-")
    Overflow = __builtin_sub_overflow(L, R, &Out);
  else if (Op == "*")
    Overflow = __builtin_mul_overflow(L, R, &Out);
  else if (Op == "&")
    Out = L & R;
  else if (Op == "|")
    Out = L | R;
  else if (Op == "^")
    Out = L ^ R;
  else {
    // Shifts: what C leaves undefined is an error.
    if (R < 0 || R > 62 || L < 0)
      return "a shift needs a left side of 0 or more and a right side of 0 "
             "to 62";
    if (Op == ">>")
      Out = L >> R;
    else
      Overflow = __builtin_mul_overflow(L, int64_t(1) << R, &Out);
  }
  return Overflow ? DoesNotFit : nullptr;
}
bool Arithmetic<int64_t>::literal(llvm::StringRef Text, int64_t &Out) {
  return !Text.getAsInteger(0, Out);
}

const char *Arithmetic<double>::apply(llvm::StringRef Op, double L, double R,
                                      double &Out) {
  if (compare(Op, L, R, Out))
    return nullptr;
  if (Op == "+")
    Out = L + R;
  else if (Op == "-")
    Out = L - R;
  else if (Op == "*")
    Out = L * R;
  else if (Op == "/" || Op == "ceildiv") {
    if (R == 0)
      return "division by zero";
    Out = Op == "/" ? L / R : std::ceil(L / R);
  } else
    return "this operator needs integers";
  return std::isfinite(Out) ? nullptr : "the value is not finite";
}
bool Arithmetic<double>::literal(llvm::StringRef Text, double &Out) {
  int64_t Whole = 0;
  if (!Text.getAsInteger(0, Whole)) {
    Out = double(Whole);
    return true;
  }
  return !Text.getAsDouble(Out) && std::isfinite(Out);
}
