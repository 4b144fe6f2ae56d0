//===- DeviceCompareCheck.cpp - Device and host find the same ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   random buffers -> judge::compare() and compareOnDevice() -> the same?
/// Needs a GPU: utils/gpu-test runs it. Exit code 0: the same throughout.
///
//===----------------------------------------------------------------------===//

#include "DeviceCompare.h"
#include "stark/Judge/Compare.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

namespace {
using Random = std::mt19937_64;
using Bytes = std::vector<char>;

struct Trial {
  DType Type;
  std::vector<int64_t> Shape;
  double Tolerance, ShareOfWhole;
  bool Exact = false; ///< whole numbers alone, and nothing that is none
  double Scale = 0;
  uint64_t count() const {
    uint64_t Count = 1;
    for (int64_t Extent : Shape)
      Count *= uint64_t(Extent);
    return Count;
  }
};

/// An element, or a part of a complex one.
void store(DType Type, char *At, double Value) {
  auto Put = [&](auto V) { std::memcpy(At, &V, sizeof(V)); };
  switch (Type) {
  case DType::F32:
    return Put(float(Value));
  case DType::F64:
    return Put(Value);
  case DType::F16:
    return Put(_Float16(float(Value)));
  case DType::BF16: {
    float Wide = float(Value);
    uint32_t Bits;
    std::memcpy(&Bits, &Wide, sizeof(Bits));
    return Put(uint16_t(Bits >> 16));
  }
  case DType::I16:
    return Put(int16_t(Value));
  case DType::I32:
    return Put(int32_t(Value));
  case DType::I64:
    return Put(int64_t(Value));
  case DType::Bool:
    return Put(uint8_t(Value > 0));
  case DType::I8:
  case DType::U8:
    return Put(int8_t(Value));
  case DType::C64:
  case DType::C128:
    break;
  }
}

/// What is wanted, and something like it: mostly right, with every way of being
/// wrong among it.
void fill(const Trial &T, uint32_t Poison, Random &R, Bytes &Got,
          Bytes &Wanted) {
  DType Part = isComplex(T.Type) ? partOf(T.Type) : T.Type;
  uint64_t Size = dtypeBytes(Part),
           Count = T.count() * (isComplex(T.Type) ? 2 : 1);
  Wanted.resize(Count * Size);
  std::normal_distribution<double> Normal(0, 20);
  std::uniform_int_distribution<int> Percent(0, 9999);
  int Wrongs = Percent(R) % 3 ? 20 : 0; // in 10000
  for (uint64_t I = 0; I < Count; ++I)
    store(Part, &Wanted[I * Size], T.Exact ? std::rint(Normal(R)) : Normal(R));
  Got = Wanted;
  auto Poisoned = [&](Bytes &Data, uint64_t I) {
    for (uint64_t B = 0; B < Size; ++B)
      Data[I * Size + B] = char(Poison >> 8 * (B % 4));
  };
  for (uint64_t I = 0; I < Count; ++I) {
    int Draw = Percent(R);
    double Value = Normal(R);
    if (Draw >= Wrongs + 2000 || (T.Exact && Draw < Wrongs))
      continue;
    if (Draw >= Wrongs) // a little off, if it is a number with a fraction
      isWhole(Part) ? void() : store(Part, &Got[I * Size], Value * 1e-5);
    else if (Draw % 6 == 0)
      Poisoned(Got, I);
    else if (Draw % 6 == 1)
      Poisoned(Wanted, I), Poisoned(Got, I);
    else if (Draw % 6 == 2)
      store(Part, &Got[I * Size], NAN);
    else if (Draw % 6 == 3)
      store(Part, &Wanted[I * Size], INFINITY);
    else if (Draw % 6 == 4)
      store(Part, &Wanted[I * Size], NAN), store(Part, &Got[I * Size], NAN);
    else
      store(Part, &Got[I * Size], Value);
  }
}

/// Sums are taken in another order there: what is at the edge of the tolerance
/// may fall on either side.
bool alike(const judge::Comparison &Host, const judge::Extremes &Wanted,
           const DeviceComparison &Device) {
  uint64_t Most = std::max(Host.Mismatches, Device.Mismatches),
           Least = std::min(Host.Mismatches, Device.Mismatches);
  return Most - Least <= Most / 1000 &&
         !Host.Mismatches == !Device.Mismatches &&
         std::fabs(Host.WorstError - Device.WorstError) <=
             1e-6 * Host.WorstError &&
         Wanted.AllFinite == Device.Wanted.AllFinite &&
         Wanted.AllWhole == Device.Wanted.AllWhole &&
         Wanted.Least == Device.Wanted.Least &&
         Wanted.Greatest == Device.Wanted.Greatest;
}

/// compareOnDevice() of these, as \p Spec says but for where they lie.
cudaError_t compareThere(CompareSpec Spec, const Bytes &Got,
                         const Bytes &Wanted, CompareScratch &Scratch,
                         DeviceComparison &Out) {
  void *OnDevice[2] = {};
  cudaError_t E = cudaSuccess;
  for (unsigned I = 0; I < 2 && E == cudaSuccess; ++I) {
    const Bytes &Data = I ? Wanted : Got;
    E = cudaMalloc(&OnDevice[I], Data.size() + 1);
    if (E == cudaSuccess)
      E = cudaMemcpy(OnDevice[I], Data.data(), Data.size(),
                     cudaMemcpyHostToDevice);
  }
  Spec.Got = OnDevice[0];
  Spec.Wanted = OnDevice[1];
  if (E == cudaSuccess)
    E = compareOnDevice(Spec, Scratch, Out);
  for (void *Data : OnDevice)
    cudaFree(Data);
  return E;
}

bool check(const Trial &T, Random &R, CompareScratch &Scratch) {
  Bytes Got, Wanted;
  uint32_t Poison = judge::poisonPattern(T.Type, unsigned(R() % 2));
  fill(T, Poison, R, Got, Wanted);
  DeviceComparison Device;
  cudaError_t E = compareThere({T.Type, nullptr, nullptr, T.Shape, T.Tolerance,
                                T.ShareOfWhole, T.Scale, Poison, T.Exact},
                               Got, Wanted, Scratch, Device);
  if (E != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(E));
    return false;
  }
  double Least =
      T.ShareOfWhole * judge::rootMeanSquare(T.Type, Wanted.data(), T.count());
  judge::Extremes Extremes = judge::extremes(T.Type, Wanted.data(), T.count());
  bool Exact = T.Exact && judge::isExact(T.Type, Extremes);
  judge::Comparison Host =
      judge::compare(T.Type, Got.data(), Wanted.data(), T.Shape,
                     Exact ? 0 : T.Tolerance, Poison, {Least, T.Scale});
  if (alike(Host, Extremes, Device) &&
      Device.Unwritten ==
          judge::countPoison(T.Type, Wanted.data(), T.count(), Poison))
    return true;
  std::printf("type %d, %llu elements: the host finds %llu wrong, worst %.9g, "
              "the device "
              "%llu and %.9g\n",
              int(T.Type), (unsigned long long)T.count(),
              (unsigned long long)Host.Mismatches, Host.WorstError,
              (unsigned long long)Device.Mismatches, Device.WorstError);
  return false;
}
/// Right element by element, but for a column, a tile or neither, which is
/// small beside its rows and left out.
bool checkBlocks(const Trial &T, unsigned Hidden, CompareScratch &Scratch) {
  uint64_t Columns = uint64_t(T.Shape.back()), Size = dtypeBytes(T.Type);
  Bytes Wanted(T.count() * Size);
  Random R(Hidden);
  std::normal_distribution<double> Normal(0, 1);
  auto IsHidden = [&](uint64_t I) {
    uint64_t Row = I / Columns, Column = I % Columns;
    return Hidden == 1   ? Column == Columns / 2
           : Hidden == 2 ? Row / 32 == 1 && Column / 32 == 0
                         : false;
  };
  for (uint64_t I = 0; I < T.count(); ++I)
    store(T.Type, &Wanted[I * Size], Normal(R) * (IsHidden(I) ? 3e-4 : 1));
  Bytes Got = Wanted;
  for (uint64_t I = 0; I < T.count(); ++I)
    if (IsHidden(I))
      store(T.Type, &Got[I * Size], 0);
  DeviceComparison Device;
  cudaError_t E =
      compareThere({T.Type, nullptr, nullptr, T.Shape, T.Tolerance, 0, 0,
                    judge::poisonPattern(T.Type, 0), false, true},
                   Got, Wanted, Scratch, Device);
  bool Host = judge::compareBlocks(T.Type, Got.data(), Wanted.data(), T.Shape,
                                   T.Tolerance)
                  .has_value();
  if (E == cudaSuccess && !Device.Mismatches && Host == (Hidden != 0) &&
      Device.BadBlocks == (Hidden != 0))
    return true;
  std::printf(
      "type %d, %llu elements, hidden %u: the host finds %d, the device "
      "%llu columns and tiles (%s)\n",
      int(T.Type), (unsigned long long)T.count(), Hidden, Host,
      (unsigned long long)Device.BadBlocks, cudaGetErrorString(E));
  return false;
}
} // namespace

int main() {
  Random R(1);
  CompareScratch Scratch;
  unsigned Good = 0, Bad = 0;
  const std::vector<std::vector<int64_t>> Shapes = {
      {},        {1},         {7},        {33},           {31, 3},  {5, 0, 4},
      {1000, 8}, {4099, 257}, {3, 70001}, {2, 3, 200000}, {1 << 20}};
  for (unsigned Round = 0; Round < 4; ++Round)
    for (const std::vector<int64_t> &Shape : Shapes)
      for (DType Type : {DType::F32, DType::F64, DType::F16, DType::BF16,
                         DType::I8, DType::I16, DType::I32, DType::I64,
                         DType::U8, DType::Bool, DType::C64, DType::C128})
        for (bool Exact : {false, true})
          ++(check({Type, Shape, 1e-4, Round % 2 ? 0.1 : 0, Exact,
                    Round == 3 ? 1.0 : 0},
                   R, Scratch)
                 ? Good
                 : Bad);
  for (const std::vector<int64_t> &Shape :
       {std::vector<int64_t>{64, 64}, {100, 333}, {3, 40, 1027}, {5000, 129}})
    for (DType Type : {DType::F32, DType::F64, DType::F16, DType::BF16})
      for (unsigned Hidden : {0, 1, 2})
        ++(checkBlocks({Type, Shape, 2e-3, 0}, Hidden, Scratch) ? Good : Bad);
  std::printf("%u comparisons: %u alike, %u not\n", Good + Bad, Good, Bad);
  return Bad != 0;
}
