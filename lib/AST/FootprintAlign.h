//===- FootprintAlign.h - Which tokens outside the anchors differ ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Aligns two sequences so that as little as possible outside the anchors
/// differs. What an anchor holds is left out of the base's sequence, and its
/// place becomes a free slot: anything may stand there at no cost. A brace that
/// was added inside an anchor is thus never blamed on the same brace after it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_FOOTPRINTALIGN_H
#define STARK_LIB_AST_FOOTPRINTALIGN_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace stark {

/// For each symbol of \p Candidate the index of its partner in \p Outside, or
/// -1; partners ascend. \p FreeSlots[i] says that an anchor stands before
/// Outside[i] (the last one: after all of them). What is blamed is the least:
/// runs of symbols of Outside that are lost, and of symbols added outside the
/// free slots, as long as the parts that differ are of usual size; coarser
/// beyond. \p Depth (empty, or one longer than Candidate) is the bracket depth
/// before each symbol: of several places to find all of Outside, those are
/// taken that leave the anchors' texts balanced.
std::vector<int> alignAround(llvm::ArrayRef<uint32_t> Outside,
                             const std::vector<bool> &FreeSlots,
                             llvm::ArrayRef<uint32_t> Candidate,
                             llvm::ArrayRef<int> Depth = {});

/// The case of a candidate that kept to its anchors: all of \p Outside is found
/// around the free slots and nothing was added elsewhere. Nothing otherwise;
/// takes linear time but for repetitive text.
std::optional<std::vector<int>> alignExactlyAround(
    llvm::ArrayRef<uint32_t> Outside, const std::vector<bool> &FreeSlots,
    llvm::ArrayRef<uint32_t> Candidate, llvm::ArrayRef<int> Depth = {});

} // namespace stark

#endif
