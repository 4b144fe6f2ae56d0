//===- Compare.h - Is an output the wanted one? ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   two arrays -> how many elements differ by more than is allowed -> text
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_COMPARE_H
#define STARK_JUDGE_COMPARE_H

#include "stark/Job/Job.h"

namespace stark::judge {

/// Of \p Count elements of an output, or of the parts of complex ones.
struct Comparison {
  uint64_t Count = 0, Mismatches = 0;
  uint64_t FirstBad = 0;      ///< flat index of an element
  double Got = 0, Wanted = 0; ///< at FirstBad
  double WorstError = 0;      ///< of all, in units of the allowed error
  uint64_t Unwritten = 0;     ///< elements that still hold the poison
  bool ok() const { return Mismatches == 0; }
};

/// What outputs and scratch hold before a call: 32 bits, repeated. Two
/// rounds have two patterns: of a floating type a NaN with a payload of its
/// own, and a number below 1.
uint32_t poisonPattern(job::DType Type, unsigned Round);

/// The pattern by which an element that nobody wrote is known: that of the
/// round, or where a result may be that number, one that is nowhere.
uint32_t unwrittenPattern(job::DType Type, unsigned Round);

/// How many of \p Count elements still hold \p Poison.
uint64_t countPoison(job::DType Type, const void *Data, uint64_t Count,
                     uint32_t Poison);

/// What stands for the root mean square of a row.
struct RowScale {
  double Least = 0; ///< it counts as at least this
  double Fixed = 0; ///< where above 0, it is this; 1 is torch.allclose()
  double of(double Rms) const {
    return Fixed > 0 ? Fixed : Rms < Least ? Least : Rms;
  }
};

/// An element is right when |got - wanted| <= Tolerance * (rms + |wanted|), rms
/// over its row in \p Wanted: the last dimension, or as many trailing ones as
/// make 32 elements. NaN and infinities must agree; integers must be equal; an
/// element that one of the two left alone must be left alone by both. \p Poison
/// is the 32-bit pattern that both outputs held before.
Comparison compare(job::DType Type, const void *Got, const void *Wanted,
                   const std::vector<int64_t> &Shape, double Tolerance,
                   uint32_t Poison, RowScale Scale = {});

/// Elements of what compare() takes for a row: the last dimension, or as many
/// trailing ones as make 32.
uint64_t rowLength(const std::vector<int64_t> &Shape);

/// The root mean square of all finite elements; 0 for whole numbers.
double rootMeanSquare(job::DType Type, const void *Data, uint64_t Count);

/// Least and greatest of the finite elements, and whether all are. Of a complex
/// type its parts count.
struct Extremes {
  double Least = 0, Greatest = 0;
  bool AllFinite = true;
  bool AllWhole = false; ///< of the finite ones
};
Extremes extremes(job::DType Type, const void *Data, uint64_t Count);

/// Are values like \p E whole numbers that \p Type and every partial sum of
/// them hold exactly? Whoever computes them has to come to the same.
bool isExact(job::DType Type, const Extremes &E);

/// Of compareBlocks(): the sides of a tile, and with fewer elements a block may
/// be small by chance.
constexpr uint64_t TileEdge = 32, FewestInBlock = 32;
/// Of the tolerance: times a block's own size, and of the whole's.
constexpr double BlockOwnShare = 8, BlockWholeShare = 1.0 / 16;

/// A column, or a tile, of an output that is wrong as a whole.
struct BadBlock {
  /// "column 7", "rows 32 to 63, columns 0 to 31", "elements 0 to 1023"
  std::string Where;
  double Error = 0, Allowed = 0; ///< root mean squares
};

/// An output as compareBlocks() sees it: by its last dimension. What has one
/// dimension is cut into rows of as many elements as a tile's; what is left
/// over is in none.
struct BlockShape {
  uint64_t Rows = 1, Columns = 1;
  bool IsCut = false;
};
inline BlockShape blockShape(const std::vector<int64_t> &Shape) {
  BlockShape S;
  for (size_t I = 0; I < Shape.size(); ++I)
    (I + 1 < Shape.size() ? S.Rows : S.Columns) *= uint64_t(Shape[I]);
  if (S.Rows == 1 && S.Columns >= TileEdge)
    S = {S.Columns / TileEdge, TileEdge, true};
  return S;
}

/// Of an output whose elements are right one by one: columns of the last
/// dimension, and tiles of 32 by 32. None may be off by more than eight times
/// \p Tolerance times its own size and a sixteenth of \p Tolerance times that
/// of the whole. Nothing for whole numbers, and where there is one row.
std::optional<BadBlock> compareBlocks(job::DType Type, const void *Got,
                                      const void *Wanted,
                                      const std::vector<int64_t> &Shape,
                                      double Tolerance);

/// What \p C found in one output: how many elements, the first with its index
/// along each dimension, what is allowed. \p Where: "call with size ..., seed".
/// \p Scale: as RowScale::Fixed.
std::string describeMismatch(const job::Leaf &L, const job::LeafValue &V,
                             const Comparison &C, const std::string &Where,
                             double Scale = 0);

} // namespace stark::judge

#endif
