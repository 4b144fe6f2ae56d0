//===- TensorOps.cpp - What a warp multiplies -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   registers -> matrices of doubles -> products -> registers
/// Which element a lane has where is said in the PTX ISA, "Warp-level matrix
/// instructions". Sums are made in double precision and rounded once; a GPU's
/// tensor core keeps fewer bits, in an order that nobody has written down.
///
//===----------------------------------------------------------------------===//

#include "TensorOps.h"
#include "Machine.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace stark::sim;

unsigned stark::sim::bitsOf(MatrixType T) {
  switch (T) {
  case MatrixType::F16:
  case MatrixType::BF16:
    return 16;
  case MatrixType::TF32:
  case MatrixType::F32:
  case MatrixType::S32:
    return 32;
  case MatrixType::F64:
    return 64;
  case MatrixType::S8:
  case MatrixType::U8:
  case MatrixType::E4M3:
  case MatrixType::E5M2:
    return 8;
  }
  return 32;
}

uint32_t MatrixOp::code() const {
  return M | N << 8 | (K / 4) << 14 | uint32_t(A) << 19 | uint32_t(B) << 23 |
         uint32_t(C) << 27 | uint32_t(Saturates) << 31;
}

MatrixOp MatrixOp::decode(uint32_t Code) {
  MatrixOp Op;
  Op.M = Code & 0xff;
  Op.N = Code >> 8 & 0x3f;
  Op.K = (Code >> 14 & 0x1f) * 4;
  Op.A = MatrixType(Code >> 19 & 0xf);
  Op.B = MatrixType(Code >> 23 & 0xf);
  Op.C = MatrixType(Code >> 27 & 0xf);
  Op.Saturates = Code >> 31;
  return Op;
}

static double fromBits(const llvm::fltSemantics &Of, uint64_t Bits,
                       unsigned Width) {
  llvm::APFloat F(Of, llvm::APInt(Width, Bits));
  bool Lost = false;
  F.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
            &Lost);
  return F.convertToDouble();
}

static float floatOf(uint32_t Bits) {
  float F;
  std::memcpy(&F, &Bits, sizeof(F));
  return F;
}

static double halfOf(uint16_t Bits) {
  int Exponent = Bits >> 10 & 31, Mantissa = Bits & 1023;
  double V = Exponent == 31 ? (Mantissa ? NAN : HUGE_VAL)
             : Exponent     ? std::ldexp(1024 + Mantissa, Exponent - 25)
                            : std::ldexp(Mantissa, -24);
  return Bits & 0x8000 ? -V : V;
}

/// Element \p I of a row of registers.
static double read(MatrixType T, const uint32_t *From, unsigned I) {
  unsigned Bits = bitsOf(T);
  if (T == MatrixType::F64) {
    double D;
    std::memcpy(&D, From + 2 * I, sizeof(D));
    return D;
  }
  uint32_t Word = From[I * Bits / 32] >> (I * Bits % 32);
  switch (T) {
  case MatrixType::F16:
    return halfOf(uint16_t(Word));
  case MatrixType::BF16:
    return floatOf(Word << 16);
  case MatrixType::TF32:
    return floatOf(Word & 0xffffe000u);
  case MatrixType::F32:
    return floatOf(Word);
  case MatrixType::S32:
    return int32_t(Word);
  case MatrixType::S8:
    return int8_t(Word);
  case MatrixType::U8:
    return uint8_t(Word);
  case MatrixType::E4M3:
    return fromBits(llvm::APFloat::Float8E4M3FN(), Word & 0xff, 8);
  case MatrixType::E5M2:
    return fromBits(llvm::APFloat::Float8E5M2(), Word & 0xff, 8);
  case MatrixType::F64:
    break;
  }
  return 0;
}

static void write(const MatrixOp &Op, uint32_t *To, unsigned I, double V) {
  switch (Op.C) {
  case MatrixType::F64:
    std::memcpy(To + 2 * I, &V, sizeof(V));
    return;
  case MatrixType::F16: {
    llvm::APFloat F(V);
    bool Lost = false;
    F.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
              &Lost);
    auto Bits = uint32_t(F.bitcastToAPInt().getZExtValue());
    uint32_t Shift = I % 2 * 16;
    To[I / 2] = (To[I / 2] & ~(0xffffu << Shift)) | Bits << Shift;
    return;
  }
  case MatrixType::S32: {
    if (Op.Saturates)
      V = std::clamp(V, double(INT32_MIN), double(INT32_MAX));
    To[I] = uint32_t(int64_t(V));
    return;
  }
  default: {
    auto F = float(V);
    std::memcpy(To + I, &F, sizeof(F));
  }
  }
}

namespace {
struct Place {
  unsigned Row, Column;
};
} // namespace

/// Where a lane's element \p I lies in A, of which a register has Per.
static Place placeInA(const MatrixOp &Op, unsigned Lane, unsigned I) {
  unsigned Per = std::max(1u, 32 / bitsOf(Op.A)), Register = I / Per;
  unsigned Column = Lane % 4 * Per + I % Per;
  if (Op.M == 8)
    return {Lane / 4, Column + 4 * Per * Register};
  return {Lane / 4 + 8 * (Register & 1), Column + 4 * Per * (Register >> 1)};
}
static Place placeInB(const MatrixOp &Op, unsigned Lane, unsigned I) {
  unsigned Per = std::max(1u, 32 / bitsOf(Op.B));
  return {Lane % 4 * Per + I % Per + 4 * Per * (I / Per), Lane / 4};
}
static Place placeInC(unsigned Lane, unsigned I) {
  return {Lane / 4 + 8 * (I / 2), Lane % 4 * 2 + I % 2};
}

void stark::sim::multiply(const MatrixOp &Op, const MatrixLane (&Lanes)[32]) {
  double A[16][32], B[32][8];
  unsigned OfA = Op.M * Op.K / 32, OfB = Op.K * Op.N / 32,
           OfC = Op.M * Op.N / 32;
  for (unsigned L = 0; L < 32; ++L) {
    const uint32_t *In = Lanes[L].In;
    for (unsigned I = 0; I < OfA; ++I) {
      Place P = placeInA(Op, L, I);
      A[P.Row][P.Column] = read(Op.A, In, I);
    }
    for (unsigned I = 0; I < OfB; ++I) {
      Place P = placeInB(Op, L, I);
      B[P.Row][P.Column] = read(Op.B, In + Op.registersOfA(), I);
    }
  }
  for (unsigned L = 0; L < 32; ++L) {
    const uint32_t *C = Lanes[L].In + Op.registersOfA() + Op.registersOfB();
    for (unsigned I = 0; I < OfC; ++I) {
      Place P = placeInC(L, I);
      double Sum = 0;
      for (unsigned K = 0; K < Op.K; ++K)
        Sum += A[P.Row][K] * B[K][P.Column];
      write(Op, Lanes[L].Out, I, Sum + read(Op.C, C, I));
    }
  }
}

FragmentPlace::FragmentPlace(unsigned Row, unsigned Column, unsigned Rows,
                             unsigned Columns) {
  constexpr unsigned Tile = 8, Neighbours = 2;
  if (Rows % Tile || Columns % Tile) {
    unsigned Each = Rows * Columns / 32, At = Row * Columns + Column;
    Lane = At / Each;
    Element = At % Each;
    return;
  }
  unsigned Tiles = Column / Tile * (Rows / Tile) + Row / Tile;
  Lane = Row % Tile * (Tile / Neighbours) + Column % Tile / Neighbours;
  Element = Tiles * Neighbours + Column % Neighbours;
}

static void multiplyFragments(uint32_t Shape, const FragmentLane (&Lanes)[32]) {
  unsigned M = Shape & 0xff, N = Shape >> 8 & 0xff, K = Shape >> 16 & 0xff;
  bool TurnedA = Shape >> 24 & 1, TurnedB = Shape >> 25 & 1;
  auto PlaceOf = [](bool Turned, unsigned Row, unsigned Column, unsigned Rows,
                    unsigned Columns) {
    return Turned ? FragmentPlace(Column, Row, Columns, Rows)
                  : FragmentPlace(Row, Column, Rows, Columns);
  };
  std::vector<double> A(M * K), B(K * N);
  for (unsigned Row = 0; Row < M; ++Row)
    for (unsigned J = 0; J < K; ++J) {
      FragmentPlace P = PlaceOf(TurnedA, Row, J, M, K);
      A[Row * K + J] = Lanes[P.Lane].A[P.Element];
    }
  for (unsigned J = 0; J < K; ++J)
    for (unsigned Column = 0; Column < N; ++Column) {
      FragmentPlace P = PlaceOf(TurnedB, J, Column, K, N);
      B[J * N + Column] = Lanes[P.Lane].B[P.Element];
    }
  for (unsigned Row = 0; Row < M; ++Row)
    for (unsigned Column = 0; Column < N; ++Column) {
      FragmentPlace P(Row, Column, M, N);
      double Sum = 0;
      for (unsigned J = 0; J < K; ++J)
        Sum += A[Row * K + J] * B[J * N + Column];
      Lanes[P.Lane].D[P.Element] = Sum + Lanes[P.Lane].C[P.Element];
    }
}

/// A lane's Value is where its matrices are.
void Machine::multiply(Lane *Warp) {
  if (Warp[0].Mode == 0) {
    FragmentLane Lanes[32];
    for (unsigned I = 0; I < 32; ++I)
      Lanes[I] = *reinterpret_cast<const FragmentLane *>(Warp[I].Value);
    return multiplyFragments(uint32_t(Warp[0].Argument), Lanes);
  }
  MatrixLane Lanes[32];
  for (unsigned I = 0; I < 32; ++I)
    Lanes[I] = *reinterpret_cast<const MatrixLane *>(Warp[I].Value);
  sim::multiply(MatrixOp::decode(uint32_t(Warp[0].Argument)), Lanes);
}
