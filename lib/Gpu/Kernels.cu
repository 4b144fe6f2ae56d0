//===- Kernels.cu - What the harness runs on the device ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   (seed, leaf, index) -> 64 random bits -> a value of the leaf's
///   distribution
/// Grid-stride loops throughout, so that sizes beyond 32 bits need no care.
///
//===----------------------------------------------------------------------===//

#include "DeviceValues.cuh"
#include "Kernels.h"
#include <algorithm>

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;

namespace {
__device__ uint64_t firstIndex() {
  return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ uint64_t stride() { return uint64_t(gridDim.x) * blockDim.x; }

__host__ __device__ uint64_t mix(uint64_t Z) {
  Z = (Z ^ (Z >> 30)) * 0xBF58476D1CE4E5B9ull;
  Z = (Z ^ (Z >> 27)) * 0x94D049BB133111EBull;
  return Z ^ (Z >> 31);
}

/// As in lib/Judge/Fill.cpp, which says why.
__device__ uint64_t draw(uint64_t Key, uint64_t Index) {
  return mix(mix(Key + (Index + 1) * 0x9E3779B97F4A7C15ull) ^ mix(~Key));
}

/// In [0, 1), 53 bits.
__device__ double uniformOf(uint64_t Bits) {
  return double(Bits >> 11) * 0x1.0p-53;
}

__device__ float normalOf(uint64_t Bits) {
  // In (0, 1], so that the logarithm is finite.
  float U = (float(uint32_t(Bits >> 40)) + 1.0f) * 0x1.0p-24f;
  float V = float(uint32_t(Bits) >> 8) * 0x1.0p-24f;
  return sqrtf(-2.0f * logf(U)) * cospif(2.0f * V);
}

/// A bijection of [0, Count): a Feistel network over the next even number of
/// bits, walked until it lands inside.
__device__ uint64_t permute(uint64_t Index, uint64_t Count, unsigned HalfBits,
                            uint64_t Key) {
  uint64_t Mask = (uint64_t(1) << HalfBits) - 1;
  do {
    uint64_t Left = Index >> HalfBits, Right = Index & Mask;
    for (unsigned Round = 0; Round < 4; ++Round) {
      uint64_t Next =
          Left ^ (mix(Key + Round * 0x9E3779B97F4A7C15ull + Right) & Mask);
      Left = Right;
      Right = Next;
    }
    Index = Left << HalfBits | Right;
  } while (Index >= Count);
  return Index;
}

template <class T> __device__ void store(T &Out, double Value) {
  Out = T(Value);
}
__device__ void store(__half &Out, double Value) {
  Out = __float2half(float(Value));
}
__device__ void store(__nv_bfloat16 &Out, double Value) {
  Out = __float2bfloat16(float(Value));
}
/// Init without its file, and what follows from the buffer.
struct Rule {
  InitKind Kind;
  double Low, High, Times, Plus;
  bool Clamped;
  double Least, Greatest;
  Triangle Keep;
  uint64_t Rows, Columns; ///< the last two dimensions
  unsigned Parts;         ///< of an element: 2 of a complex one
  bool Whole, Truth;
  uint64_t Key;
  bool EqualRows;
  double Shake;
  unsigned HalfBits; ///< of a permutation
  gpu::Spacing Lie;
};

template <class T>
__device__ T &elementAt(T *Data, uint64_t I, const gpu::Spacing &Lie) {
  if (!Lie.Run)
    return Data[I];
  char *Run = reinterpret_cast<char *>(Data) + I / Lie.Run * Lie.StrideBytes;
  return reinterpret_cast<T *>(Run)[I % Lie.Run];
}

__device__ double valueOf(const Rule &R, uint64_t I, uint64_t Count) {
  uint64_t Row = R.Columns * R.Parts;
  if (R.Kind == InitKind::OneHot)
    return draw(R.Key, I / Row) % Row == I % Row;
  if (R.EqualRows)
    I %= Row;
  uint64_t Bits = draw(R.Key, I);
  switch (R.Kind) {
  case InitKind::Normal: {
    float Drawn = float(R.Low) + float(R.High) * normalOf(Bits);
    return R.Whole ? rintf(Drawn) : Drawn;
  }
  case InitKind::Mixed:
    return ldexp(R.Low + R.High * double(normalOf(Bits)),
                 int(mix(Bits) % 13) - 6);
  case InitKind::Uniform:
  case InitKind::Integers: {
    double Drawn = R.Low + (R.High - R.Low) * uniformOf(Bits);
    return R.Whole || R.Kind == InitKind::Integers ? floor(Drawn) : Drawn;
  }
  case InitKind::Arange:
    return R.Low + double(I);
  case InitKind::Ones:
    return 1;
  case InitKind::Constant:
    return R.Low;
  case InitKind::Permutation:
    return double(permute(I, Count, R.HalfBits, R.Key));
  case InitKind::Zeros:
  case InitKind::OneHot:
  case InitKind::File:
    break;
  }
  return 0;
}

template <class T> __global__ void fillKernel(T *Data, uint64_t Count, Rule R) {
  for (uint64_t I = firstIndex(); I < Count; I += stride()) {
    double Value = valueOf(R, I, Count) * R.Times + R.Plus;
    if (R.Clamped)
      Value = fmin(fmax(Value, R.Least), R.Greatest);
    if (R.Keep != Triangle::Whole) {
      uint64_t Element = I / R.Parts;
      uint64_t Row = Element / R.Columns % R.Rows, Column = Element % R.Columns;
      if (R.Keep == Triangle::Lower ? Column > Row : Column < Row)
        Value = 0;
    }
    if (R.Shake != 0)
      Value *= 1 + (draw(~R.Key, I) & 1 ? R.Shake : -R.Shake);
    if (R.Truth)
      Value = Value != 0;
    store(elementAt(Data, I, R.Lie), Value);
  }
}

/// The byte that \p Pattern puts at this address.
__device__ unsigned char patternByte(const void *At, uint32_t Pattern) {
  return (unsigned char)(Pattern >> 8 * (reinterpret_cast<uintptr_t>(At) & 3));
}

__global__ void poisonBytes(unsigned char *Data, uint64_t Bytes,
                            uint32_t Pattern) {
  for (uint64_t I = firstIndex(); I < Bytes; I += stride())
    Data[I] = patternByte(Data + I, Pattern);
}

__global__ void poisonWide(uint4 *Data, uint64_t Count, uint32_t Pattern) {
  for (uint64_t I = firstIndex(); I < Count; I += stride())
    Data[I] = make_uint4(Pattern, Pattern, Pattern, Pattern);
}

/// Of its four bytes, how many are not \p Pattern's.
__device__ unsigned changedBytes(uint32_t Word, uint32_t Pattern) {
  return unsigned(__popc(__vcmpne4(Word, Pattern))) / 8;
}

__global__ void countChangedWide(const uint4 *Data, uint64_t Count,
                                 uint32_t Pattern,
                                 unsigned long long *Changed) {
  unsigned long long Mine = 0;
  for (uint64_t I = firstIndex(); I < Count; I += stride()) {
    uint4 Is = Data[I];
    Mine += changedBytes(Is.x, Pattern) + changedBytes(Is.y, Pattern) +
            changedBytes(Is.z, Pattern) + changedBytes(Is.w, Pattern);
  }
  addOfBlock(*Changed, Mine);
}

__global__ void countChangedBytes(const unsigned char *Data, uint64_t Bytes,
                                  uint32_t Pattern,
                                  unsigned long long *Changed) {
  unsigned long long Mine = 0;
  for (uint64_t I = firstIndex(); I < Bytes; I += stride())
    Mine += Data[I] != patternByte(Data + I, Pattern);
  addOfBlock(*Changed, Mine);
}

/// What thread \p First of \p Of threads adds to a fingerprint.
__device__ unsigned long long partOf(const void *Data, uint64_t Bytes,
                                     uint64_t First, uint64_t Of) {
  auto *Words = static_cast<const uint32_t *>(Data);
  uint64_t Count = Bytes / 4;
  unsigned long long Mine = 0;
  for (uint64_t I = First; I < Count; I += Of)
    Mine += mix(I << 32 ^ I ^ uint64_t(Words[I]) << 7 ^ 0x9E3779B97F4A7C15ull);
  auto *Tail = reinterpret_cast<const unsigned char *>(Words + Count);
  if (First == 0)
    for (unsigned I = 0; I < Bytes % 4; ++I)
      Mine += mix(~uint64_t(I) << 8 ^ Tail[I]);
  return Mine;
}

__global__ void fingerprintAll(const void *Data, uint64_t Bytes,
                               unsigned long long *Sum) {
  addOfBlock(*Sum, partOf(Data, Bytes, firstIndex(), stride()));
}

__global__ void fingerprintPlaces(Places Of, unsigned long long *Sum) {
  const auto &Mine = Of.Each[blockIdx.x];
  addOfBlock(*Sum, partOf(Mine.Data, Mine.Bytes, threadIdx.x, blockDim.x));
}

__global__ void readWide(const uint4 *Data, uint64_t Count,
                         unsigned long long *Sink) {
  uint32_t Mine = 0;
  for (uint64_t I = firstIndex(); I < Count; I += stride())
    Mine ^= Data[I].x ^ Data[I].w;
  if (Mine == 0x12345678) // never true, but the compiler cannot know
    atomicAdd(Sink, 1ull);
}

__device__ uint64_t nowNs() {
  uint64_t Ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(Ns));
  return Ns;
}

__global__ void holdKernel(const volatile uint32_t *Gate, uint32_t Ticket,
                           uint64_t LimitNs) {
  uint64_t Begin = nowNs();
  while (*Gate != Ticket && nowNs() - Begin < LimitNs)
    ;
}

template <class T>
cudaError_t fillAs(void *Data, uint64_t Count, const Rule &R,
                   cudaStream_t Stream) {
  fillKernel<<<blocksOver(Count), Threads, 0, Stream>>>(static_cast<T *>(Data),
                                                        Count, R);
  return cudaGetLastError();
}
} // namespace

bool gpu::onGpu() { return true; }

cudaError_t gpu::fill(void *Data, DType Type, const std::vector<int64_t> &Shape,
                      const Init &Fill, uint64_t Seed, uint32_t Leaf,
                      double Shake, cudaStream_t Stream, Spacing Lie) {
  uint64_t Count = isComplex(Type) ? 2 : 1;
  for (int64_t Extent : Shape)
    Count *= uint64_t(Extent);
  size_t Rank = Shape.size();
  Rule R = {Fill.Kind,
            Fill.Low,
            Fill.High,
            Fill.Times,
            Fill.Plus,
            Fill.Clamped,
            Fill.Least,
            Fill.Greatest,
            Rank < 2 ? Triangle::Whole : Fill.Keep,
            Rank < 2 ? 1 : uint64_t(Shape[Rank - 2]),
            Rank < 1 ? 1 : uint64_t(Shape[Rank - 1]),
            isComplex(Type) ? 2u : 1u,
            isWhole(Type),
            Type == DType::Bool,
            mix(Seed ^ mix(uint64_t(Leaf) + 1)),
            Fill.EqualRows,
            Shake,
            1,
            Lie};
  while ((uint64_t(1) << 2 * R.HalfBits) < Count)
    ++R.HalfBits;
  switch (Type) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    return fillAs<Cpp>(Data, Count, R, Stream);
#include "stark/Job/DTypes.def"
  }
  return cudaErrorInvalidValue;
}

/// Has words of 16 bytes done at once, what is before and behind by bytes.
template <class Byte, class WideFn, class BytesFn>
static cudaError_t inWords(Byte *At, uint64_t Bytes, const WideFn &OfWords,
                           const BytesFn &OfBytes) {
  uint64_t Before =
      std::min<uint64_t>(Bytes, -reinterpret_cast<uintptr_t>(At) % 16);
  uint64_t Words = (Bytes - Before) / 16, Behind = (Bytes - Before) % 16;
  if (Before)
    OfBytes(At, Before);
  if (Words)
    OfWords(At + Before, Words);
  if (Behind)
    OfBytes(At + Bytes - Behind, Behind);
  return cudaGetLastError();
}

cudaError_t gpu::poison(void *Data, uint64_t Bytes, uint32_t Pattern,
                        cudaStream_t Stream) {
  return inWords(
      static_cast<unsigned char *>(Data), Bytes,
      [&](unsigned char *At, uint64_t Words) {
        poisonWide<<<blocksOver(Words), Threads, 0, Stream>>>(
            reinterpret_cast<uint4 *>(At), Words, Pattern);
      },
      [&](unsigned char *At, uint64_t Count) {
        poisonBytes<<<1, 16, 0, Stream>>>(At, Count, Pattern);
      });
}

cudaError_t gpu::countChanged(const void *Data, uint64_t Bytes,
                              uint32_t Pattern, unsigned long long *Changed,
                              cudaStream_t Stream) {
  return inWords(
      static_cast<const unsigned char *>(Data), Bytes,
      [&](const unsigned char *At, uint64_t Words) {
        countChangedWide<<<blocksOver(Words), Threads, 0, Stream>>>(
            reinterpret_cast<const uint4 *>(At), Words, Pattern, Changed);
      },
      [&](const unsigned char *At, uint64_t Count) {
        countChangedBytes<<<1, Threads, 0, Stream>>>(At, Count, Pattern,
                                                     Changed);
      });
}

cudaError_t gpu::fingerprint(const void *Data, uint64_t Bytes,
                             unsigned long long *Sum, cudaStream_t Stream) {
  fingerprintAll<<<blocksOver(Bytes / 4), Threads, 0, Stream>>>(Data, Bytes,
                                                                Sum);
  return cudaGetLastError();
}

cudaError_t gpu::fingerprint(const Places &Of, unsigned long long *Sum,
                             cudaStream_t Stream) {
  if (Of.Count)
    fingerprintPlaces<<<Of.Count, Threads, 0, Stream>>>(Of, Sum);
  return cudaGetLastError();
}

cudaError_t gpu::hold(const volatile uint32_t *Gate, uint32_t Ticket,
                      uint64_t LimitNs, cudaStream_t Stream) {
  holdKernel<<<1, 1, 0, Stream>>>(Gate, Ticket, LimitNs);
  return cudaGetLastError();
}

cudaError_t gpu::flush(void *Data, uint64_t Bytes, unsigned long long *Sink,
                       cudaStream_t Stream) {
  uint64_t Wide = Bytes / 16;
  poisonWide<<<blocksOver(Wide), Threads, 0, Stream>>>(
      static_cast<uint4 *>(Data), Wide, 0);
  readWide<<<blocksOver(Wide), Threads, 0, Stream>>>(
      static_cast<const uint4 *>(Data), Wide, Sink);
  return cudaGetLastError();
}

__global__ static void faultyRead(const int *From, uint64_t At, int *To) {
  To[threadIdx.x] = From[At + threadIdx.x] + 1;
}

__global__ static void faultyRace(int *To) {
  __shared__ int Word[64];
  Word[threadIdx.x] = int(threadIdx.x);
  // The other warp's, without a barrier.
  To[threadIdx.x] = Word[63 - threadIdx.x];
}

__global__ static void faultyBarrier(int *To) {
  if (threadIdx.x % 32 < 16)
    __syncthreads();
  To[threadIdx.x] = int(threadIdx.x);
}

cudaError_t gpu::runFault(Fault What) {
  int *From = nullptr, *To = nullptr;
  cudaError_t E = cudaMalloc(&From, 64 * sizeof(int));
  if (E == cudaSuccess)
    E = cudaMalloc(&To, 64 * sizeof(int));
  if (E != cudaSuccess)
    return E;
  switch (What) {
  case Fault::OutOfBounds:
    E = cudaMemset(From, 0, 64 * sizeof(int));
    if (E == cudaSuccess)
      faultyRead<<<1, 64>>>(From, 1, To);
    break;
  case Fault::Race:
    faultyRace<<<1, 64>>>(To);
    break;
  case Fault::Uninitialized:
    faultyRead<<<1, 64>>>(From, 0, To);
    break;
  case Fault::Barrier:
    faultyBarrier<<<1, 64>>>(To);
    break;
  }
  cudaGetLastError();
  // That a sanitizer ends the kernel is what it is for.
  cudaDeviceSynchronize();
  return E;
}
