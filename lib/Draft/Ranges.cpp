//===- Ranges.cpp - Numbers, and ranges, of operators ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ranges.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

std::optional<int64_t> draft::computed(BinaryOperatorKind Op, int64_t L,
                                       int64_t R) {
  int64_t Out = 0;
  switch (Op) {
  case BO_Add:
    return __builtin_add_overflow(L, R, &Out) ? std::nullopt
                                              : std::optional(Out);
  case BO_Sub:
    return __builtin_sub_overflow(L, R, &Out) ? std::nullopt
                                              : std::optional(Out);
  case BO_Mul:
    return __builtin_mul_overflow(L, R, &Out) ? std::nullopt
                                              : std::optional(Out);
  case BO_Div:
    return R == 0 || L == INT64_MIN ? std::nullopt : std::optional(L / R);
  case BO_Rem:
    return R == 0 || L == INT64_MIN ? std::nullopt : std::optional(L % R);
  case BO_Shl:
    return R < 0 || R > 62 || L < 0 || L > (INT64_MAX >> R)
               ? std::nullopt
               : std::optional(L << R);
  case BO_Shr:
    return R < 0 || R > 63 ? std::nullopt : std::optional(L >> R);
  case BO_And:
    return L & R;
  case BO_Or:
    return L | R;
  case BO_Xor:
    return L ^ R;
  default:
    return std::nullopt;
  }
}

void draft::narrow(BinaryOperatorKind Op, const Value &L, const Value &R,
                   Value &Out) {
  if (Op == BO_Rem && R.isInteger() && R.Number > 0) {
    Out.Low = 0;
    Out.High = R.Number - 1;
    Out.Limit = R.How;
  } else if (Op == BO_And && (R.isInteger() || L.isInteger())) {
    Out.Low = 0;
    Out.High = R.isInteger() ? R.Number : L.Number;
  } else if ((Op == BO_Add || Op == BO_Mul) && L.isInteger() && R.Low) {
    narrow(Op, R, L, Out);
  } else if (Op == BO_Sub && L.isInteger() && R.Low && R.High) {
    Out.Low = computed(Op, L.Number, *R.High);
    Out.High = computed(Op, L.Number, *R.Low);
    Out.Step = R.Step;
  } else if (L.Low && L.High && R.isInteger() &&
             (R.Number >= 0 || Op != BO_Div)) {
    std::optional<int64_t> Low = computed(Op, *L.Low, R.Number),
                           High = computed(Op, *L.High, R.Number);
    if (Low && High && R.Number < 0 && Op == BO_Mul)
      std::swap(Low, High);
    if (Low && High && *Low <= *High) {
      Out.Low = Low;
      Out.High = High;
      if (Op == BO_Add || Op == BO_Sub)
        Out.Step = L.Step;
      else if (Op == BO_Mul && R.Number)
        Out.Step = computed(Op, L.Step, std::abs(R.Number)).value_or(1);
      if (L.Limit)
        Out.Limit = Op == BO_Add ? combine(Op::Add, L.Limit, R.How) : nullptr;
    }
  }
}
