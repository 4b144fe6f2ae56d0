//===- Contents.cpp - What the host put into an array ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include <cmath>
#include <numeric>

using namespace stark;
using namespace stark::draft;

/// What the differences of values are multiples of, where \p Low joins those
/// from \p Least on.
static int64_t stepOf(int64_t Step, double Least, double Low) {
  double Apart = std::fabs(Low - Least);
  return Apart < 1e15 && Apart == std::floor(Apart)
             ? std::gcd(Step, int64_t(Apart))
             : 1;
}

void Contents::add(const Value &V, int64_t Index) {
  double Low = 0, High = 0;
  int64_t Apart = 0;
  if (V.Kind == Value::Integer) {
    Low = High = double(V.Number);
    if (V.Wraps > 0 && V.Number >= 0) {
      Low = 0;
      High = double(V.Wraps - 1);
      Apart = 1;
    }
  } else if (V.Kind == Value::Real) {
    Low = High = V.Floating;
  } else if (V.Low && (V.High || V.Limit)) {
    Low = double(*V.Low);
    High = V.High ? double(*V.High) : Low;
    Apart = V.Step;
    Limit = V.Limit ? V.Limit : Limit;
  } else {
    Any = Unknown = true;
    Counting = false;
    Only = nullptr;
    return;
  }
  Formula How = V.isInteger() && hasNames(V.How) ? V.How : nullptr;
  Only = !Any || (Only && How && print(Only) == print(How)) ? How : nullptr;
  Counting &= V.Kind == Value::Integer && V.Number == Index;
  Step = std::gcd(Any ? stepOf(Step, Least, Low) : 0, Apart);
  Least = Any ? std::min(Least, Low) : Low;
  Most = Any ? std::max(Most, High) : High;
  Any = true;
}

void Contents::add(const Contents &Other) {
  if (!Other.Any)
    return;
  if (!Any) {
    *this = Other;
    return;
  }
  Unknown |= Other.Unknown;
  Counting &= Other.Counting;
  Sparse |= Other.Sparse;
  Step = std::gcd(stepOf(Step, Least, Other.Least), Other.Step);
  if (!Only || !Other.Only || print(Only) != print(Other.Only))
    Only = nullptr;
  Least = std::min(Least, Other.Least);
  Most = std::max(Most, Other.Most);
}
