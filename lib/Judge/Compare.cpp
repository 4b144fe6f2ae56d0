//===- Compare.cpp - Is an output the wanted one? ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bits -> poison? -> NaN and infinities agree? -> |got - wanted| within the
///   row's
/// scale. Parts of a fixed size are handed to threads and combined in order, so
/// the answer does not depend on how many threads there are.
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Compare.h"
#include "Values.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Elements that one thread takes at a time.
constexpr uint64_t PartSize = uint64_t(1) << 18;
/// A row shorter than this says too little about the output's scale.
constexpr uint64_t MinRow = 32;

template <class T> constexpr bool IsInteger = std::is_integral_v<T>;

/// The poison as an element of type T: the 32-bit pattern, repeated or cut.
template <class T> T poisonOf(uint32_t Pattern) {
  unsigned char Bytes[8];
  for (unsigned I = 0; I < 8; I += 4)
    std::memcpy(Bytes + I, &Pattern, 4);
  T Out;
  std::memcpy(&Out, Bytes, sizeof(T));
  return Out;
}

template <class T> bool sameBits(const T &A, const T &B) {
  return std::memcmp(&A, &B, sizeof(T)) == 0;
}

template <class T>
uint64_t countPoisonAs(const void *Data, uint64_t Count, uint32_t Pattern) {
  const T *At = static_cast<const T *>(Data);
  const T Poison = poisonOf<T>(Pattern);
  std::vector<uint64_t> Found((Count + PartSize - 1) / PartSize);
  forParts(Found.size(), [&](uint64_t P) {
    uint64_t End = std::min(Count, (P + 1) * PartSize), Mine = 0;
    for (uint64_t I = P * PartSize; I < End; ++I)
      Mine += sameBits(At[I], Poison);
    Found[P] = Mine;
  });
  uint64_t Sum = 0;
  for (uint64_t F : Found)
    Sum += F;
  return Sum;
}

/// Over finite elements. Parts are neighbours in memory: what a thread adds up,
/// it keeps to itself until it is done.
struct Power {
  double Squares = 0;
  uint64_t Count = 0;
  double rms() const { return Count ? std::sqrt(Squares / double(Count)) : 0; }
  void add(const Power &Other) {
    Squares += Other.Squares;
    Count += Other.Count;
  }
};

template <class T> Power powerOf(const T *Wanted, uint64_t Count, T Poison) {
  Power Sum;
  for (uint64_t I = 0; I < Count; ++I) {
    double W = valueOf(Wanted[I]);
    bool Counts = std::isfinite(W) && !sameBits(Wanted[I], Poison);
    Sum.Squares += Counts ? W * W : 0;
    Sum.Count += Counts;
  }
  return Sum;
}

/// Of each part of each row, in order.
template <class T>
std::vector<Power> powersOf(const T *Wanted, uint64_t Rows, uint64_t Row,
                            uint64_t PartsInRow, T Poison) {
  std::vector<Power> Parts(Rows * PartsInRow);
  forParts(Parts.size(), [&](uint64_t P) {
    uint64_t At = P % PartsInRow * PartSize;
    Parts[P] = powerOf(Wanted + P / PartsInRow * Row + At,
                       std::min(PartSize, Row - At), Poison);
  });
  return Parts;
}

template <class T>
std::vector<double> rmsOfRows(const T *Wanted, uint64_t Rows, uint64_t Row,
                              uint64_t PartsInRow, T Poison) {
  std::vector<Power> Parts = powersOf(Wanted, Rows, Row, PartsInRow, Poison);
  std::vector<double> Rms;
  for (uint64_t R = 0; R < Rows; ++R) {
    Power Sum;
    for (uint64_t P = 0; P < PartsInRow; ++P)
      Sum.add(Parts[R * PartsInRow + P]);
    Rms.push_back(Sum.rms());
  }
  return Rms;
}

template <class T>
Comparison compareRun(const T *Got, const T *Wanted, uint64_t Begin,
                      uint64_t Count, double Tolerance, double Rms, T Poison) {
  Comparison C;
  C.Count = Count;
  double Scale = IsInteger<T> ? 0 : Tolerance;
  for (uint64_t I = Begin; I < Begin + Count; ++I) {
    double Error = 0;
    bool Bad = false;
    bool Left = sameBits(Got[I], Poison);
    if (sameBits(Got[I], Wanted[I])) {
      continue;
    } else if (Left || sameBits(Wanted[I], Poison)) {
      // One of the two left this element alone. For integers the pattern is a
      // value like any other, but they differ here, which is enough.
      Bad = true;
      C.Unwritten += Left;
    } else if constexpr (IsInteger<T>) {
      Bad = true;
    } else {
      double G = valueOf(Got[I]), W = valueOf(Wanted[I]);
      if (std::isfinite(G) && std::isfinite(W)) {
        double Allowed = Scale * (Rms + std::fabs(W));
        double Distance = std::fabs(G - W);
        Error = Allowed > 0 ? Distance / Allowed : Distance > 0 ? HUGE_VAL : 0;
        Bad = Distance > Allowed;
      } else {
        Bad = std::isnan(W) ? !std::isnan(G) : !(G == W);
      }
    }
    if (!Bad) {
      C.WorstError = std::max(C.WorstError, Error);
      continue;
    }
    if (std::isfinite(Error))
      C.WorstError = std::max(C.WorstError, Error);
    if (C.Mismatches++ == 0) {
      C.FirstBad = I;
      C.Got = valueOf(Got[I]);
      C.Wanted = valueOf(Wanted[I]);
    }
  }
  return C;
}

void add(Comparison &Sum, const Comparison &C) {
  if (C.Mismatches && !Sum.Mismatches) {
    Sum.FirstBad = C.FirstBad;
    Sum.Got = C.Got;
    Sum.Wanted = C.Wanted;
  }
  Sum.Count += C.Count;
  Sum.Mismatches += C.Mismatches;
  Sum.Unwritten += C.Unwritten;
  Sum.WorstError = std::max(Sum.WorstError, C.WorstError);
}

template <class T>
Comparison compareAs(const void *GotBytes, const void *WantedBytes,
                     uint64_t Count, uint64_t Row, double Tolerance,
                     uint32_t Pattern, RowScale Scale) {
  const T *Got = static_cast<const T *>(GotBytes);
  const T *Wanted = static_cast<const T *>(WantedBytes);
  const T Poison = poisonOf<T>(Pattern);
  // Whole rows to a part, or parts of the same row: all at once, so that
  // threads are started once.
  uint64_t Rows = Count / Row;
  uint64_t RowsInPart = Row <= PartSize ? PartSize / Row : 1;
  uint64_t PartsInRow = Row <= PartSize ? 1 : (Row + PartSize - 1) / PartSize;
  std::vector<double> Rms;
  if constexpr (!IsInteger<T>)
    if (PartsInRow > 1)
      Rms = rmsOfRows(Wanted, Rows, Row, PartsInRow, Poison);
  std::vector<Comparison> Parts((Rows + RowsInPart - 1) / RowsInPart *
                                PartsInRow);
  forParts(Parts.size(), [&](uint64_t P) {
    uint64_t First = P / PartsInRow * RowsInPart, Part = P % PartsInRow;
    Comparison Mine;
    for (uint64_t R = First; R < std::min(Rows, First + RowsInPart); ++R) {
      uint64_t Begin = R * Row + Part * PartSize,
               Length = PartsInRow == 1
                            ? Row
                            : std::min(PartSize, Row - Part * PartSize);
      double Own = Rms.empty() ? 0 : Rms[R];
      if constexpr (!IsInteger<T>)
        if (Rms.empty())
          Own = powerOf(Wanted + Begin, Length, Poison).rms();
      add(Mine, compareRun(Got, Wanted, Begin, Length, Tolerance, Scale.of(Own),
                           Poison));
    }
    Parts[P] = Mine;
  });
  Comparison Sum;
  for (const Comparison &C : Parts)
    add(Sum, C);
  return Sum;
}
} // namespace

template <class T>
static Extremes extremesAs(const void *Data, uint64_t Count) {
  const T *At = static_cast<const T *>(Data);
  std::vector<Extremes> Parts((Count + PartSize - 1) / PartSize);
  forParts(Parts.size(), [&](uint64_t P) {
    Extremes Found = {HUGE_VAL, -HUGE_VAL, true, true};
    uint64_t End = std::min(Count, (P + 1) * PartSize);
    for (uint64_t I = P * PartSize; I < End; ++I) {
      double V = valueOf(At[I]);
      if (!std::isfinite(V)) {
        Found.AllFinite = false;
        continue;
      }
      Found.AllWhole &= V == std::rint(V);
      Found.Least = std::min(Found.Least, V);
      Found.Greatest = std::max(Found.Greatest, V);
    }
    Parts[P] = Found;
  });
  Extremes All = {HUGE_VAL, -HUGE_VAL, true, true};
  for (const Extremes &P : Parts) {
    All.Least = std::min(All.Least, P.Least);
    All.Greatest = std::max(All.Greatest, P.Greatest);
    All.AllFinite &= P.AllFinite;
    All.AllWhole &= P.AllWhole;
  }
  return All.Least <= All.Greatest ? All : Extremes{0, 0, All.AllFinite, false};
}

bool judge::isExact(DType Type, const Extremes &E) {
  int Bits = 0;
  switch (partOf(Type)) {
  case DType::F64:
    Bits = 53;
    break;
  case DType::F32:
    Bits = 24;
    break;
  case DType::F16:
    Bits = 11;
    break;
  case DType::BF16:
    Bits = 8;
    break;
  default:
    return true;
  }
  return E.AllFinite && E.AllWhole &&
         std::max(-E.Least, E.Greatest) < std::ldexp(1.0, Bits);
}

Extremes judge::extremes(DType Type, const void *Data, uint64_t Count) {
  if (isComplex(Type))
    return extremes(partOf(Type), Data, 2 * Count);
  switch (Type) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    return extremesAs<Cpp>(Data, Count);
#include "stark/Job/DTypes.def"
  }
  return {};
}

double judge::rootMeanSquare(DType Type, const void *Data, uint64_t Count) {
  if (isWhole(Type) || Count == 0)
    return 0;
  if (isComplex(Type))
    return rootMeanSquare(partOf(Type), Data, 2 * Count);
  switch (Type) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    return rmsOfRows(static_cast<const Cpp *>(Data), 1, Count,                 \
                     (Count + PartSize - 1) / PartSize,                        \
                     poisonOf<Cpp>(poisonPattern(Type, 0)))[0];
#include "stark/Job/DTypes.def"
  }
  return 0;
}

uint32_t judge::poisonPattern(DType Type, unsigned Round) {
  // NaNs in every floating type, with a payload no arithmetic makes. The second
  // pattern tells an integer that happens to be the first from one left alone,
  // and is a number that a result may be: who looks whether there is one
  // already finds one.
  bool First = Round % 2 == 0;
  switch (Type) {
  case DType::F64:
    return First ? 0x7FF5A5A5 : 0x3FE53FE5;
  case DType::F16:
    return First ? 0x7FA57FA5 : 0x38A538A5;
  case DType::BF16:
    return First ? 0x7FA57FA5 : 0x3F253F25;
  case DType::C64:
  case DType::C128:
    return poisonPattern(partOf(Type), Round);
  case DType::U8:
  case DType::I8:
  case DType::Bool:
    return First ? 0xA5A5A5A5 : 0x3C3C3C3C;
  case DType::F32:
    return First ? 0x7FA5A5A5 : 0x3F3F3F3F;
  case DType::I16:
  case DType::I32:
  case DType::I64:
    break;
  }
  return First ? 0x7FA5A5A5 : 0x7FC3C3C3;
}

uint32_t judge::unwrittenPattern(DType Type, unsigned Round) {
  return poisonPattern(Type, isWhole(Type) ? Round : 0);
}

uint64_t judge::countPoison(DType Type, const void *Data, uint64_t Count,
                            uint32_t Poison) {
  if (isComplex(Type))
    return countPoison(partOf(Type), Data, 2 * Count, Poison);
  switch (dtypeBytes(Type)) {
  case 8:
    return countPoisonAs<uint64_t>(Data, Count, Poison);
  case 4:
    return countPoisonAs<uint32_t>(Data, Count, Poison);
  case 2:
    return countPoisonAs<uint16_t>(Data, Count, Poison);
  default:
    return countPoisonAs<uint8_t>(Data, Count, Poison);
  }
}

uint64_t judge::rowLength(const std::vector<int64_t> &Shape) {
  uint64_t Row = 1;
  for (size_t I = Shape.size(); I-- > 0 && Row < MinRow;)
    Row *= uint64_t(Shape[I]);
  return Row;
}

Comparison judge::compare(DType Type, const void *Got, const void *Wanted,
                          const std::vector<int64_t> &Shape, double Tolerance,
                          uint32_t Poison, RowScale Scale) {
  if (isComplex(Type)) {
    std::vector<int64_t> Parts = Shape;
    Parts.push_back(2);
    Comparison C =
        compare(partOf(Type), Got, Wanted, Parts, Tolerance, Poison, Scale);
    C.FirstBad /= 2;
    return C;
  }
  uint64_t Count = 1, Row = rowLength(Shape);
  for (int64_t Extent : Shape)
    Count *= uint64_t(Extent);
  if (Count == 0)
    return {};
  switch (Type) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    return compareAs<Cpp>(Got, Wanted, Count, Row, Tolerance, Poison, Scale);
#include "stark/Job/DTypes.def"
  }
  return {};
}
