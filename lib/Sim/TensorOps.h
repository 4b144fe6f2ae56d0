//===- TensorOps.h - What a warp multiplies -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   mma.sync of the PTX ISA, as a number that translated code passes: the
/// shape, the types, and from it how many registers a lane has of each matrix.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_TENSOROPS_H
#define STARK_LIB_SIM_TENSOROPS_H

#include <cstdint>

namespace stark::sim {

enum class MatrixType : uint8_t {
  F16,
  BF16,
  TF32,
  F32,
  F64,
  S8,
  U8,
  S32,
  E4M3,
  E5M2
};

/// Bits of one element.
unsigned bitsOf(MatrixType T);

/// D = A B + C. Of one type as C and D.
struct MatrixOp {
  unsigned M = 16, N = 8, K = 8;
  MatrixType A = MatrixType::F16, B = MatrixType::F16, C = MatrixType::F32;
  bool Saturates = false;

  // 32-bit registers of a lane.
  unsigned registersOfA() const { return M * K * bitsOf(A) / 1024; }
  unsigned registersOfB() const { return K * N * bitsOf(B) / 1024; }
  unsigned registersOfC() const { return M * N * bitsOf(C) / 1024; }
  uint32_t code() const;
  static MatrixOp decode(uint32_t Code);
};

/// A lane's registers, in this order: of A, B, C in In, of D in Out.
struct MatrixLane {
  const uint32_t *In = nullptr;
  uint32_t *Out = nullptr;
};
void multiply(const MatrixOp &Op, const MatrixLane (&Lanes)[32]);

/// Where an element of a fragment lies (lib/Sim/headers/cuda/mma.h): of each
/// 8 x 8 elements, which follow each other downwards, lane I has two neighbours
/// of row I / 4; of smaller matrices elements lie row by row over the lanes.
/// One by columns lies as its transpose.
struct FragmentPlace {
  unsigned Lane = 0, Element = 0;
  FragmentPlace(unsigned Row, unsigned Column, unsigned Rows, unsigned Columns);
};

/// Matrices of double precision, each lane's elements in their order.
struct FragmentLane {
  const double *A = nullptr, *B = nullptr, *C = nullptr;
  double *D = nullptr;
};

} // namespace stark::sim

#endif
