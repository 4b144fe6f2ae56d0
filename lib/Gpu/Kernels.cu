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

#include "Kernels.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using namespace stark;
using namespace stark::job;

namespace {
using Half = __half;
using BFloat = __nv_bfloat16;

constexpr unsigned Threads = 256;

unsigned blocksFor(uint64_t Count) {
  uint64_t Blocks = (Count + Threads - 1) / Threads;
  return unsigned(Blocks < 8192 ? (Blocks ? Blocks : 1) : 8192);
}

__device__ uint64_t firstIndex() {
  return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ uint64_t stride() { return uint64_t(gridDim.x) * blockDim.x; }

__host__ __device__ uint64_t mix(uint64_t Z) {
  Z = (Z ^ (Z >> 30)) * 0xBF58476D1CE4E5B9ull;
  Z = (Z ^ (Z >> 27)) * 0x94D049BB133111EBull;
  return Z ^ (Z >> 31);
}

__device__ uint64_t draw(uint64_t Key, uint64_t Index) {
  return mix(Key + (Index + 1) * 0x9E3779B97F4A7C15ull);
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
template <class T> struct IsWhole {
  static constexpr bool Value = false;
};
template <> struct IsWhole<int32_t> {
  static constexpr bool Value = true;
};
template <> struct IsWhole<int64_t> {
  static constexpr bool Value = true;
};
template <> struct IsWhole<uint8_t> {
  static constexpr bool Value = true;
};

template <class T>
__global__ void fillKernel(T *Data, uint64_t Count, InitKind Kind, double Low,
                           double High, uint64_t Key, unsigned HalfBits) {
  for (uint64_t I = firstIndex(); I < Count; I += stride()) {
    double Value = 0;
    switch (Kind) {
    case InitKind::Normal: {
      float Drawn = float(Low) + float(High) * normalOf(draw(Key, I));
      Value = IsWhole<T>::Value ? rintf(Drawn) : Drawn;
      break;
    }
    case InitKind::Uniform:
      Value = Low + (High - Low) * uniformOf(draw(Key, I));
      if (IsWhole<T>::Value)
        Value = floor(Value);
      break;
    case InitKind::Arange:
      Value = Low + double(I);
      break;
    case InitKind::Ones:
      Value = 1;
      break;
    case InitKind::Permutation:
      Value = double(permute(I, Count, HalfBits, Key));
      break;
    case InitKind::Zeros:
    case InitKind::File:
      break;
    }
    store(Data[I], Value);
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

__global__ void countChangedKernel(const unsigned char *Data, uint64_t Bytes,
                                   uint32_t Pattern,
                                   unsigned long long *Changed) {
  unsigned long long Mine = 0;
  for (uint64_t I = firstIndex(); I < Bytes; I += stride())
    Mine += Data[I] != patternByte(Data + I, Pattern);
  if (Mine)
    atomicAdd(Changed, Mine);
}

__global__ void fingerprintKernel(const uint32_t *Words, uint64_t Count,
                                  const unsigned char *Tail, unsigned TailBytes,
                                  unsigned long long *Sum) {
  unsigned long long Mine = 0;
  for (uint64_t I = firstIndex(); I < Count; I += stride())
    Mine += mix(I << 32 ^ I ^ uint64_t(Words[I]) << 7 ^ 0x9E3779B97F4A7C15ull);
  if (firstIndex() == 0)
    for (unsigned I = 0; I < TailBytes; ++I)
      Mine += mix(~uint64_t(I) << 8 ^ Tail[I]);
  for (unsigned Offset = 16; Offset; Offset /= 2)
    Mine += __shfl_down_sync(~0u, Mine, Offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd(Sum, Mine);
}

__global__ void readWide(const uint4 *Data, uint64_t Count,
                         unsigned long long *Sink) {
  uint32_t Mine = 0;
  for (uint64_t I = firstIndex(); I < Count; I += stride())
    Mine ^= Data[I].x ^ Data[I].w;
  if (Mine == 0x12345678) // never true, but the compiler cannot know
    atomicAdd(Sink, 1ull);
}

template <class T>
cudaError_t fillAs(void *Data, uint64_t Count, const Init &Fill, uint64_t Key,
                   cudaStream_t Stream) {
  unsigned HalfBits = 1;
  while ((uint64_t(1) << 2 * HalfBits) < Count)
    ++HalfBits;
  fillKernel<<<blocksFor(Count), Threads, 0, Stream>>>(
      static_cast<T *>(Data), Count, Fill.Kind, Fill.Low, Fill.High, Key,
      HalfBits);
  return cudaGetLastError();
}
} // namespace

cudaError_t gpu::fill(void *Data, DType Type, uint64_t Count, const Init &Fill,
                      uint64_t Seed, uint32_t Leaf, cudaStream_t Stream) {
  uint64_t Key = mix(Seed ^ mix(uint64_t(Leaf) + 1));
  switch (Type) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Descriptor, Cpp)                  \
  case DType::Enumerator:                                                      \
    return fillAs<Cpp>(Data, Count, Fill, Key, Stream);
#include "stark/Job/DTypes.def"
  }
  return cudaErrorInvalidValue;
}

cudaError_t gpu::poison(void *Data, uint64_t Bytes, uint32_t Pattern,
                        cudaStream_t Stream) {
  unsigned char *At = static_cast<unsigned char *>(Data);
  uint64_t Wide = reinterpret_cast<uintptr_t>(At) % 16 ? 0 : Bytes / 16;
  if (Wide)
    poisonWide<<<blocksFor(Wide), Threads, 0, Stream>>>(
        reinterpret_cast<uint4 *>(At), Wide, Pattern);
  if (Bytes > Wide * 16)
    poisonBytes<<<blocksFor(Bytes - Wide * 16), Threads, 0, Stream>>>(
        At + Wide * 16, Bytes - Wide * 16, Pattern);
  return cudaGetLastError();
}

cudaError_t gpu::countChanged(const void *Data, uint64_t Bytes,
                              uint32_t Pattern, unsigned long long *Changed,
                              cudaStream_t Stream) {
  countChangedKernel<<<blocksFor(Bytes), Threads, 0, Stream>>>(
      static_cast<const unsigned char *>(Data), Bytes, Pattern, Changed);
  return cudaGetLastError();
}

cudaError_t gpu::fingerprint(const void *Data, uint64_t Bytes,
                             unsigned long long *Sum, cudaStream_t Stream) {
  const unsigned char *At = static_cast<const unsigned char *>(Data);
  fingerprintKernel<<<blocksFor(Bytes / 4), Threads, 0, Stream>>>(
      reinterpret_cast<const uint32_t *>(At), Bytes / 4, At + Bytes / 4 * 4,
      unsigned(Bytes % 4), Sum);
  return cudaGetLastError();
}

cudaError_t gpu::flush(void *Data, uint64_t Bytes, unsigned long long *Sink,
                       cudaStream_t Stream) {
  uint64_t Wide = Bytes / 16;
  poisonWide<<<blocksFor(Wide), Threads, 0, Stream>>>(
      static_cast<uint4 *>(Data), Wide, 0);
  readWide<<<blocksFor(Wide), Threads, 0, Stream>>>(
      static_cast<const uint4 *>(Data), Wide, Sink);
  return cudaGetLastError();
}
