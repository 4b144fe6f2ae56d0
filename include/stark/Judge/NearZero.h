//===- NearZero.h - What chance makes of an output of few elements --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The farthest of many elements is about as far off as any may be, and as
/// large as any. A sum of all moves by chance, and is near zero by chance.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_NEARZERO_H
#define STARK_JUDGE_NEARZERO_H

#include "stark/Judge/Judge.h"
#include <map>

namespace stark::judge {

/// Has an output of \p Elements only few?
bool isOfFew(uint64_t Elements);

/// Is it asked how far the source moves when its inputs do, in their last
/// place? Of values that the tool has chosen.
bool isShaken(const job::Case &C);

/// In how many ways the inputs of \p Case are moved: several where an output is
/// of few elements; 0: they are not.
unsigned waysToShake(const job::Job &J, unsigned Case);

/// What is near zero is small beside what it is made of, and so is what its
/// tolerance allows: how many times as large it is for other inputs.
class UsualSizes {
public:
  /// Other draws of inputs that are looked at.
  static constexpr unsigned Others = 4;
  /// The root mean square of output \p Leaf, of few elements, for one draw.
  void add(unsigned Leaf, double Rms);
  /// By output, for the draw that came last: more than 1 where it is less than
  /// a quarter of what is usual.
  std::map<unsigned, double> scales() const;

private:
  std::map<unsigned, double> Last, Squares; ///< by leaf
};

} // namespace stark::judge

#endif
