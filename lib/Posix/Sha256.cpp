//===- Sha256.cpp - SHA-256 without LLVM ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Sha256.h"
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

using namespace stark;

namespace {
constexpr size_t BlockBytes = 64;
using State = std::array<uint32_t, 8>;

constexpr uint32_t Rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void take(State &Into, const unsigned char *Block) {
  uint32_t W[64];
  for (unsigned I = 0; I < 16; ++I)
    W[I] = uint32_t(Block[4 * I]) << 24 | uint32_t(Block[4 * I + 1]) << 16 |
           uint32_t(Block[4 * I + 2]) << 8 | Block[4 * I + 3];
  for (unsigned I = 16; I < 64; ++I) {
    uint32_t A = W[I - 15], B = W[I - 2];
    W[I] = W[I - 16] + W[I - 7] +
           (std::rotr(A, 7) ^ std::rotr(A, 18) ^ A >> 3) +
           (std::rotr(B, 17) ^ std::rotr(B, 19) ^ B >> 10);
  }
  auto [A, B, C, D, E, F, G, H] = Into;
  for (unsigned I = 0; I < 64; ++I) {
    uint32_t First = H +
                     (std::rotr(E, 6) ^ std::rotr(E, 11) ^ std::rotr(E, 25)) +
                     ((E & F) ^ (~E & G)) + Rounds[I] + W[I];
    uint32_t Second = (std::rotr(A, 2) ^ std::rotr(A, 13) ^ std::rotr(A, 22)) +
                      ((A & B) ^ (A & C) ^ (B & C));
    H = G, G = F, F = E, E = D + First;
    D = C, C = B, B = A, A = First + Second;
  }
  const uint32_t Sum[] = {A, B, C, D, E, F, G, H};
  for (unsigned I = 0; I < 8; ++I)
    Into[I] += Sum[I];
}
} // namespace

std::string posix::sha256(std::string_view Bytes) {
  State S = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto *At = reinterpret_cast<const unsigned char *>(Bytes.data());
  size_t Left = Bytes.size();
  for (; Left >= BlockBytes; At += BlockBytes, Left -= BlockBytes)
    take(S, At);
  // A one bit, zeros, and the length in bits.
  unsigned char Tail[2 * BlockBytes] = {};
  if (Left)
    std::memcpy(Tail, At, Left);
  Tail[Left] = 0x80;
  size_t Padded = Left < BlockBytes - 8 ? BlockBytes : 2 * BlockBytes;
  for (unsigned I = 0; I < 8; ++I)
    Tail[Padded - 1 - I] = uint64_t(Bytes.size()) * 8 >> 8 * I;
  for (size_t I = 0; I < Padded; I += BlockBytes)
    take(S, Tail + I);
  std::string Out;
  for (uint32_t Word : S)
    for (int Shift = 28; Shift >= 0; Shift -= 4)
      Out += "0123456789abcdef"[Word >> Shift & 15];
  return Out;
}
