//===- Fill.cpp - The initial values of a buffer, on the host -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Judge/Fill.h"
#include "stark/Job/Records.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// mix() can be undone: without the second key in between, whoever reads a few
/// values could tell the key, and make all others himself. Kernels.cu has the
/// same.
uint64_t draw(uint64_t Key, uint64_t Index) {
  return mix(mix(Key + (Index + 1) * 0x9E3779B97F4A7C15ull) ^ mix(~Key));
}

uint16_t bfloatOf(float V) {
  uint32_t X;
  std::memcpy(&X, &V, 4);
  return uint16_t((X + 0x7fff + (X >> 16 & 1)) >> 16);
}

template <class T> void putAs(T Value, char *Data, uint64_t I) {
  std::memcpy(Data + I * sizeof(T), &Value, sizeof(T));
}

void put(DType T, char *Data, uint64_t I, double Value) {
  switch (T) {
  case DType::F32:
    return putAs(float(Value), Data, I);
  case DType::F64:
    return putAs(Value, Data, I);
  case DType::F16:
    return putAs(_Float16(float(Value)), Data, I);
  case DType::BF16:
    return putAs(bfloatOf(float(Value)), Data, I);
  case DType::I8:
    return putAs(int8_t(int64_t(Value)), Data, I);
  case DType::I16:
    return putAs(int16_t(int64_t(Value)), Data, I);
  case DType::I32:
    return putAs(int32_t(int64_t(Value)), Data, I);
  case DType::I64:
    return putAs(int64_t(Value), Data, I);
  case DType::U8:
    return putAs(uint8_t(int64_t(Value)), Data, I);
  case DType::Bool: // another byte than these two is no truth value
    return putAs(uint8_t(Value != 0), Data, I);
  case DType::C64:
  case DType::C128:
    break; // filled as its parts
  }
}

double normalOf(uint64_t Bits) {
  double U = (double(Bits >> 40) + 1.0) * 0x1.0p-24,
         V = double(uint32_t(Bits) >> 8) * 0x1.0p-24;
  return std::sqrt(-2 * std::log(U)) * std::cos(6.283185307179586 * V);
}

double drawnValue(const Init &Fill, bool Whole, uint64_t Bits, uint64_t I) {
  switch (Fill.Kind) {
  case InitKind::Normal: {
    double Drawn = Fill.Low + Fill.High * normalOf(Bits);
    return Whole ? std::rint(Drawn) : Drawn;
  }
  case InitKind::Mixed:
    return std::ldexp(Fill.Low + Fill.High * normalOf(Bits),
                      int(mix(Bits) % 13) - 6);
  case InitKind::Uniform:
  case InitKind::Integers: {
    double Drawn =
        Fill.Low + (Fill.High - Fill.Low) * (double(Bits >> 11) * 0x1.0p-53);
    return Whole || Fill.Kind == InitKind::Integers ? std::floor(Drawn) : Drawn;
  }
  case InitKind::Arange:
    return Fill.Low + double(I);
  case InitKind::Ones:
    return 1;
  case InitKind::Constant:
    return Fill.Low;
  case InitKind::Zeros:
  case InitKind::Permutation:
  case InitKind::OneHot:
  case InitKind::File:
    break;
  }
  return 0;
}

double shaken(double Value, double Shake, uint64_t Key, uint64_t I) {
  if (Shake == 0)
    return Value;
  return Value * (1 + (draw(~Key, I) & 1 ? Shake : -Shake));
}

/// What was drawn, as it is stored.
double storedValue(const Init &Fill, double Drawn) {
  double Value = Drawn * Fill.Times + Fill.Plus;
  return Fill.Clamped ? std::clamp(Value, Fill.Least, Fill.Greatest) : Value;
}

void keepTriangle(Triangle Keep, char *Data, uint64_t Bytes,
                  const std::vector<int64_t> &Shape, uint64_t Count) {
  if (Keep == Triangle::Whole || Shape.size() < 2)
    return;
  uint64_t Columns = uint64_t(Shape.back()),
           Rows = uint64_t(Shape[Shape.size() - 2]);
  for (uint64_t I = 0; I < Count; ++I) {
    uint64_t Row = I / Columns % Rows, Column = I % Columns;
    if (Keep == Triangle::Lower ? Column > Row : Column < Row)
      std::memset(Data + I * Bytes, 0, Bytes);
  }
}
} // namespace

double judge::lastPlace(DType Type) {
  switch (partOf(Type)) {
  case DType::F64:
    return 0x1p-52;
  case DType::F32:
    return 0x1p-23;
  case DType::F16:
    return 0x1p-10;
  case DType::BF16:
    return 0x1p-7;
  default:
    return 0;
  }
}

void judge::fillOnHost(DType Type, void *To, const std::vector<int64_t> &Shape,
                       const Init &Fill, uint64_t Key, uint64_t MostDrawn,
                       double Shake) {
  char *Data = static_cast<char *>(To);
  DType Part = partOf(Type);
  uint64_t Elements = 1;
  for (int64_t Extent : Shape)
    Elements *= uint64_t(Extent);
  uint64_t Count = isComplex(Type) ? 2 * Elements : Elements;
  bool Whole = isWhole(Type);
  if (Fill.Kind == InitKind::Permutation) {
    std::vector<uint64_t> Order(Count);
    std::iota(Order.begin(), Order.end(), 0);
    for (uint64_t I = Count; I > 1; --I)
      std::swap(Order[I - 1], Order[draw(Key, I) % I]);
    for (uint64_t I = 0; I < Count; ++I)
      put(Part, Data, I, storedValue(Fill, double(Order[I])));
    return keepTriangle(Fill.Keep, Data, dtypeBytes(Type), Shape, Elements);
  }
  bool OneHot = Fill.Kind == InitKind::OneHot;
  uint64_t Row = Shape.empty() ? 1 : uint64_t(Shape.back());
  Row *= isComplex(Type) ? 2 : 1;
  uint64_t Drawn = Fill.Kind == InitKind::Arange || OneHot || Fill.EqualRows
                       ? Count
                       : std::min(Count, MostDrawn);
  for (uint64_t I = 0; I < Drawn; ++I) {
    uint64_t At = Fill.EqualRows && Row ? I % Row : I;
    double Value = OneHot ? draw(Key, I / Row) % Row == I % Row
                          : drawnValue(Fill, Whole, draw(Key, At), At);
    put(Part, Data, I, shaken(storedValue(Fill, Value), Shake, Key, I));
  }
  uint64_t Bytes = dtypeBytes(Part);
  for (uint64_t At = Drawn; At < Count; At += Drawn)
    std::memcpy(Data + At * Bytes, Data, std::min(Drawn, Count - At) * Bytes);
  keepTriangle(Fill.Keep, Data, dtypeBytes(Type), Shape, Elements);
}

void judge::fillLeafOnHost(const Leaf &L, const Case &C, size_t I, void *Data,
                           uint64_t Key, uint64_t Drawn, bool Shaken) {
  const LeafValue &V = C.Values[I];
  auto Share = [&](DType Type) { return Shaken ? lastPlace(Type) : 0; };
  if (L.Fields.empty())
    return fillOnHost(L.Type, Data, V.Shape, fillOf(L, C, I), Key, Drawn,
                      Share(L.Type));
  std::memset(Data, 0, V.elements());
  for (size_t F = 0; F < L.Fields.size(); ++F) {
    Leaf Of = columnOf(L, F);
    LeafValue Column = columnOf(L, V, F);
    std::vector<char> Values(Column.elements() * dtypeBytes(Of.Type));
    fillOnHost(Of.Type, Values.data(), Column.Shape,
               fillOf(Of, Column, C.Filling), mix(Key + F + 1), Drawn,
               Share(Of.Type));
    scatterColumn(L, V, F, Values, Data);
  }
}
