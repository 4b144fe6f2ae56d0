//===- NearZero.cpp - What chance makes of an output of few elements ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/NearZero.h"
#include <cmath>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

bool judge::isOfFew(uint64_t Elements) {
  constexpr uint64_t Many = 32;
  return Elements < Many;
}

bool judge::isShaken(const Case &C) {
  return C.Brief && C.Filling != Regime::Given;
}

unsigned judge::waysToShake(const Job &J, unsigned Case) {
  constexpr unsigned WaysOfFew = 4;
  const job::Case &C = J.Cases[Case];
  if (!isShaken(C))
    return 0;
  for (size_t L = 0; L < J.Leaves.size(); ++L)
    if (isOutput(J.Leaves[L]) && isOfFew(C.Values[L].elements()))
      return WaysOfFew;
  return 1;
}

void UsualSizes::add(unsigned Leaf, double Rms) {
  Last[Leaf] = Rms;
  Squares[Leaf] += Rms * Rms;
}

std::map<unsigned, double> UsualSizes::scales() const {
  constexpr double NearZero = 0.25; // of what is usual
  std::map<unsigned, double> Scales;
  for (const auto &[Leaf, Sum] : Squares) {
    double Usual = std::sqrt(Sum / (Others + 1)), Own = Last.at(Leaf);
    if (std::isfinite(Usual) && Own > 0 && Own < NearZero * Usual)
      Scales[Leaf] = Usual / Own;
  }
  return Scales;
}
