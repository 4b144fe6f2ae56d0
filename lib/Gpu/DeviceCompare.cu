//===- DeviceCompare.cu - Outputs compared where they lie ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   wanted -> extremes, power of the whole and of each row -> |got - wanted|
///   within scale; squares of columns and tiles -> those that are wrong
/// A task is a row, or a part of one that is long. A block takes a task at a
/// time: sums of squares first, to be added up by row, then the elements.
///
//===----------------------------------------------------------------------===//

#include "DeviceBlocks.cuh"
#include "DeviceCompare.h"
#include <cstring>

using namespace stark;
using namespace stark::job;
using namespace stark::gpu;

namespace {
/// Elements of a row that one block takes at a time.
constexpr uint64_t PartSize = uint64_t(1) << 16;

struct Power {
  double Squares;
  unsigned long long Count;
};

struct Totals {
  Power Whole;
  unsigned long long Mismatches, NotFinite, NotWhole, Unwritten, BadBlocks;
  double Tolerance;             ///< that elements are held to
  unsigned long long WorstBits; ///< of a double that is not negative
  /// Of the finite elements, in the order of orderOf(), the least one's turned
  /// round; 0 when there are none.
  unsigned long long Greatest, Least;
};

struct Rule {
  uint64_t Rows, Row, PartsInRow;
  double Tolerance, ShareOfWhole, Scale;
  uint32_t Poison;
  double ExactBelow; ///< whole numbers below are exact; 0: nothing has to be
};

template <class T> struct IsInteger {
  static constexpr bool Value = std::is_integral_v<T>;
};

/// As unsigned integers, of which a comparison is one of bits.
template <class T> __device__ uint64_t bitsOf(const T &V) {
  if constexpr (sizeof(T) == 8)
    return *reinterpret_cast<const uint64_t *>(&V);
  else if constexpr (sizeof(T) == 4)
    return *reinterpret_cast<const uint32_t *>(&V);
  else if constexpr (sizeof(T) == 2)
    return *reinterpret_cast<const uint16_t *>(&V);
  else
    return *reinterpret_cast<const uint8_t *>(&V);
}

/// The 32-bit pattern, repeated or cut to an element.
template <class T> __device__ uint64_t poisonOf(uint32_t Pattern) {
  if constexpr (sizeof(T) == 8)
    return uint64_t(Pattern) << 32 | Pattern;
  else if constexpr (sizeof(T) == 4)
    return Pattern;
  else if constexpr (sizeof(T) == 2)
    return Pattern & 0xFFFF;
  else
    return Pattern & 0xFF;
}

/// Integers that are ordered as doubles are, and never 0.
__host__ __device__ unsigned long long orderOf(double V) {
  unsigned long long Bits = 0;
  memcpy(&Bits, &V, sizeof(V));
  return Bits >> 63 ? ~Bits : Bits | 1ull << 63;
}
__host__ __device__ double ofOrder(unsigned long long Order) {
  unsigned long long Bits = Order >> 63 ? Order & ~(1ull << 63) : ~Order;
  double V = 0;
  memcpy(&V, &Bits, sizeof(V));
  return V;
}

__device__ double rmsOf(const Power &P) {
  return P.Count ? sqrt(P.Squares / double(P.Count)) : 0;
}

/// The elements of one task.
struct Span {
  uint64_t Row, Begin, End;
};
__device__ Span spanOf(const Rule &R, uint64_t Task) {
  uint64_t Row = Task / R.PartsInRow, At = Task % R.PartsInRow * PartSize;
  uint64_t Begin = Row * R.Row + At;
  return {Row, Begin,
          Row * R.Row + (At + PartSize < R.Row ? At + PartSize : R.Row)};
}

/// What one thread sees of the elements that are wanted.
struct Sight {
  unsigned long long NotFinite = 0, NotWhole = 0, Unwritten = 0;
  double Least = INFINITY, Greatest = -INFINITY;

  __device__ void add(double Value) {
    if (!isfinite(Value)) {
      ++NotFinite;
      return;
    }
    NotWhole += Value != rint(Value);
    Least = fmin(Least, Value);
    Greatest = fmax(Greatest, Value);
  }
  /// All of a block's threads call it.
  __device__ void addTo(Totals &All) const {
    addOfBlock(All.NotFinite, NotFinite);
    addOfBlock(All.NotWhole, NotWhole);
    addOfBlock(All.Unwritten, Unwritten);
    double Largest = greatestOfBlock(Greatest),
           Smallest = -greatestOfBlock(-Least);
    if (threadIdx.x || Smallest > Largest)
      return;
    atomicMax(&All.Greatest, orderOf(Largest));
    atomicMax(&All.Least, ~orderOf(Smallest));
  }
};

template <class T>
__device__ Power powerOf(const T *Wanted, const Span &S, uint32_t Pattern,
                         Sight *Seen) {
  Power Mine = {0, 0};
  for (uint64_t I = S.Begin + threadIdx.x; I < S.End; I += Threads) {
    double W = valueOf(Wanted[I]);
    bool Left = bitsOf(Wanted[I]) == poisonOf<T>(Pattern);
    if (Seen) {
      Seen->add(W);
      Seen->Unwritten += Left;
    }
    if (isfinite(W) && !Left) {
      Mine.Squares += W * W;
      ++Mine.Count;
    }
  }
  Mine.Squares = sumOfBlock(Mine.Squares);
  Mine.Count = sumOfBlock(Mine.Count);
  return Mine;
}

/// Of the whole, and of each row where \p OfRows is given.
template <class T>
__global__ void powers(const T *Wanted, Rule R, Totals *All, Power *OfRows) {
  Power Sum = {0, 0};
  Sight Seen;
  for (uint64_t Task = blockIdx.x; Task < R.Rows * R.PartsInRow;
       Task += gridDim.x) {
    Span S = spanOf(R, Task);
    Power P = powerOf(Wanted, S, R.Poison, &Seen);
    Sum.Squares += P.Squares;
    Sum.Count += P.Count;
    if (threadIdx.x || !OfRows)
      continue;
    atomicAdd(&OfRows[S.Row].Squares, P.Squares);
    atomicAdd(&OfRows[S.Row].Count, P.Count);
  }
  Seen.addTo(*All);
  if (threadIdx.x)
    return;
  atomicAdd(&All->Whole.Squares, Sum.Squares);
  atomicAdd(&All->Whole.Count, Sum.Count);
}

/// Is an element wrong? \p Error: in units of what is allowed.
template <class T>
__device__ bool isBad(T GotValue, T WantedValue, double Tolerance, double Rms,
                      uint64_t Poison, double &Error) {
  uint64_t Got = bitsOf(GotValue), Wanted = bitsOf(WantedValue);
  Error = 0;
  if (Got == Wanted)
    return false;
  if (IsInteger<T>::Value || Got == Poison || Wanted == Poison)
    return true;
  double G = valueOf(GotValue), W = valueOf(WantedValue);
  if (!isfinite(G) || !isfinite(W))
    return isnan(W) ? !isnan(G) : !(G == W);
  double Allowed = Tolerance * (Rms + fabs(W)), Distance = fabs(G - W);
  Error = Allowed > 0 ? Distance / Allowed : Distance > 0 ? INFINITY : 0;
  return Distance > Allowed;
}

/// judge::isExact() of all that was seen, which is in \p All by now.
__device__ bool isExact(const Rule &R, const Totals &All) {
  double Bound = fmax(fabs(ofOrder(All.Greatest)), fabs(ofOrder(~All.Least)));
  return R.ExactBelow > 0 && All.Greatest && !All.NotFinite && !All.NotWhole &&
         Bound < R.ExactBelow;
}

template <class T>
__global__ void compareKernel(const T *Got, const T *Wanted, Rule R,
                              Totals *All, const Power *OfRows) {
  double Least = R.ShareOfWhole * rmsOf(All->Whole);
  double Tolerance = isExact(R, *All) ? 0 : R.Tolerance;
  if (blockIdx.x == 0 && threadIdx.x == 0)
    All->Tolerance = Tolerance;
  double Worst = 0;
  unsigned long long Bad = 0;
  __shared__ double Scale;
  for (uint64_t Task = blockIdx.x; Task < R.Rows * R.PartsInRow;
       Task += gridDim.x) {
    Span S = spanOf(R, Task);
    if (!IsInteger<T>::Value) {
      Power Own =
          OfRows ? OfRows[S.Row] : powerOf(Wanted, S, R.Poison, nullptr);
      __syncthreads(); // Scale may still be read
      if (threadIdx.x == 0)
        Scale = R.Scale > 0 ? R.Scale : fmax(Least, rmsOf(Own));
      __syncthreads();
    }
    for (uint64_t I = S.Begin + threadIdx.x; I < S.End; I += Threads) {
      double Error;
      Bad += isBad(Got[I], Wanted[I], Tolerance, Scale, poisonOf<T>(R.Poison),
                   Error);
      if (isfinite(Error))
        Worst = fmax(Worst, Error);
    }
  }
  addOfBlock(All->Mismatches, Bad);
  Worst = greatestOfBlock(Worst);
  // Doubles that are not negative are in the order of their bits.
  if (threadIdx.x == 0 && Worst > 0)
    atomicMax(&All->WorstBits, (unsigned long long)__double_as_longlong(Worst));
}

template <class T>
cudaError_t compareAs(const CompareSpec &Spec, Rule R, Totals *All,
                      Power *OfRows, const Grid &G) {
  auto *Got = static_cast<const T *>(Spec.Got);
  auto *Wanted = static_cast<const T *>(Spec.Wanted);
  uint64_t Tasks = R.Rows * R.PartsInRow;
  powers<<<blocksFor(Tasks), Threads>>>(Wanted, R, All, OfRows);
  compareKernel<<<blocksFor(Tasks), Threads>>>(Got, Wanted, R, All, OfRows);
  if (G.Rows)
    compareBlocks(Got, Wanted, G, &All->Tolerance, &All->BadBlocks);
  return cudaGetLastError();
}

} // namespace

/// 2 to the bits of a significand; 0 of whole numbers, which are equal anyway.
static double exactBelow(DType Type) {
  switch (partOf(Type)) {
  case DType::F64:
    return 0x1p53;
  case DType::F32:
    return 0x1p24;
  case DType::F16:
    return 0x1p11;
  case DType::BF16:
    return 0x1p8;
  default:
    return 0;
  }
}

CompareScratch::~CompareScratch() { cudaFree(Data); }

cudaError_t CompareScratch::zeroed(uint64_t Bytes, void *&Found) {
  cudaError_t E = cudaSuccess;
  if (Bytes > Size) {
    cudaFree(Data);
    Data = nullptr;
    Size = 0;
    E = cudaMalloc(&Data, Bytes);
    if (E != cudaSuccess)
      return E;
    Size = Bytes;
  }
  Found = Data;
  return cudaMemsetAsync(Data, 0, Bytes, nullptr);
}

cudaError_t gpu::compareOnDevice(const CompareSpec &Spec,
                                 CompareScratch &Scratch,
                                 DeviceComparison &Out) {
  std::vector<int64_t> Shape = Spec.Shape;
  if (isComplex(Spec.Type))
    Shape.push_back(2);
  uint64_t Count = 1;
  for (int64_t Extent : Shape)
    Count *= uint64_t(Extent);
  Out = {};
  if (Count == 0)
    return cudaSuccess;
  uint64_t Row = judge::rowLength(Shape);
  Rule R = {Count / Row,
            Row,
            (Row + PartSize - 1) / PartSize,
            isWhole(Spec.Type) ? 0 : Spec.Tolerance,
            Spec.ShareOfWhole,
            Spec.Scale,
            Spec.Poison,
            Spec.Exact ? exactBelow(Spec.Type) : 0};
  bool Long = R.PartsInRow > 1;
  void *Data = nullptr;
  Grid G = gridOf(Spec);
  uint64_t OwnRows = Long ? R.Rows : 0, Sums = G.Rows ? 1 + G.blocks() : 0;
  cudaError_t E = Scratch.zeroed(
      sizeof(Totals) + OwnRows * sizeof(Power) + Sums * sizeof(Squares), Data);
  if (E != cudaSuccess)
    return E;
  auto *All = static_cast<Totals *>(Data);
  auto *Rows = reinterpret_cast<Power *>(All + 1),
       *OfRows = Long ? Rows : nullptr;
  G.Whole = reinterpret_cast<Squares *>(Rows + OwnRows);
  G.Blocks = G.Whole + 1;
  switch (Spec.Type) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    E = compareAs<Cpp>(Spec, R, All, OfRows, G);                               \
    break;
#include "stark/Job/DTypes.def"
  }
  Totals Found = {};
  if (E == cudaSuccess)
    E = cudaMemcpy(&Found, All, sizeof(Found), cudaMemcpyDeviceToHost);
  Out.Mismatches = Found.Mismatches;
  Out.BadBlocks = Found.BadBlocks;
  Out.Unwritten = Found.Unwritten;
  Out.Wanted.AllFinite = Found.NotFinite == 0;
  Out.Wanted.AllWhole = Found.NotWhole == 0 && Found.Greatest != 0;
  if (Found.Greatest) {
    Out.Wanted.Least = ofOrder(~Found.Least);
    Out.Wanted.Greatest = ofOrder(Found.Greatest);
  }
  static_assert(sizeof(Out.WorstError) == sizeof(Found.WorstBits));
  std::memcpy(&Out.WorstError, &Found.WorstBits, sizeof(Out.WorstError));
  return E;
}
