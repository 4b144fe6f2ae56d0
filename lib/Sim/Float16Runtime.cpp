//===- Float16Runtime.cpp - Conversions of the half types -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A half or a bfloat16 is passed in the lowest bits of a register for
/// floating-point numbers: as a float whose lower half it is.
///
//===----------------------------------------------------------------------===//

#include "Symbols.h"
#include <cmath>
#include <cstdint>
#include <cstring>

using namespace stark::sim;

namespace {
float truncToHalf(float V) {
  uint32_t X;
  std::memcpy(&X, &V, 4);
  uint32_t Sign = X >> 16 & 0x8000, Magnitude = X & 0x7fffffff, Out;
  if (Magnitude > 0x7f800000)
    Out = 0x7e00;
  else if (Magnitude >= 0x477ff000)
    Out = 0x7c00;
  else if (Magnitude < 0x33000001)
    Out = 0;
  else if (Magnitude < 0x38800000) {
    // Below the smallest normal half: round the value itself.
    float Scaled;
    std::memcpy(&Scaled, &Magnitude, 4);
    Out = uint32_t(std::nearbyint(Scaled * 16777216.0f));
  } else {
    uint32_t Rounded = Magnitude + 0xfff + (Magnitude >> 13 & 1);
    Out = (Rounded - 0x38000000) >> 13;
  }
  Out |= Sign;
  float Carrier;
  std::memcpy(&Carrier, &Out, 4);
  return Carrier;
}
float truncToBf16(float V) {
  uint32_t X;
  std::memcpy(&X, &V, 4);
  uint32_t Out = (X & 0x7fffffff) > 0x7f800000
                     ? (X >> 16) | 0x40
                     : (X + 0x7fff + (X >> 16 & 1)) >> 16;
  float Carrier;
  std::memcpy(&Carrier, &Out, 4);
  return Carrier;
}
/// Rounded to odd, so that a second rounding to fewer bits is right.
float truncToOdd(double V) {
  float F = float(V);
  if (double(F) != V && V == V && !std::isinf(F)) {
    uint32_t X;
    std::memcpy(&X, &F, 4);
    if (std::fabs(double(F)) > std::fabs(V))
      --X;
    X |= 1;
    std::memcpy(&F, &X, 4);
  }
  return F;
}
float truncDoubleToBf16(double V) { return truncToBf16(truncToOdd(V)); }
float truncDoubleToHalf(double V) { return truncToHalf(truncToOdd(V)); }
float extendHalf(float Carrier) {
  uint32_t Bits;
  std::memcpy(&Bits, &Carrier, 4);
  uint32_t H = Bits & 0xffff, Sign = (H & 0x8000) << 16, Magnitude = H & 0x7fff,
           Out;
  if (Magnitude >= 0x7c00)
    Out = 0x7f800000 | (Magnitude & 0x3ff) << 13;
  else if (Magnitude >= 0x400)
    Out = (Magnitude << 13) + 0x38000000;
  else {
    float Small = float(Magnitude) * 0x1.0p-24f;
    std::memcpy(&Out, &Small, 4);
  }
  Out |= Sign;
  float V;
  std::memcpy(&V, &Out, 4);
  return V;
}
} // namespace

SymbolList stark::sim::withFloat16Symbols(SymbolList Own) {
  Own.insert(Own.end(), {STARK_SYMBOL("__truncsfhf2", truncToHalf),
                         STARK_SYMBOL("__truncdfhf2", truncDoubleToHalf),
                         STARK_SYMBOL("__extendhfsf2", extendHalf),
                         STARK_SYMBOL("__truncsfbf2", truncToBf16),
                         STARK_SYMBOL("__truncdfbf2", truncDoubleToBf16)});
  return Own;
}
