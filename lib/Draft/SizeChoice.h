//===- SizeChoice.h - The sizes of a draft -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   names that grid, block and arrays follow from -> production sizes, and
/// small ones that the simulator runs within seconds
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_SIZECHOICE_H
#define STARK_LIB_DRAFT_SIZECHOICE_H

#include "EntryUse.h"
#include "stark/Draft/Draft.h"
#include <nlohmann/json_fwd.hpp>

namespace stark::draft {

/// By the names that formulas of \p Use have.
std::map<std::string, int64_t> multiplesOf(const EntryUse &Use);

/// The threads of a \p Block; a side that is not known counts as one.
int64_t threadsOf(llvm::ArrayRef<Formula> Block, const Bindings &Names);

struct SizeChoice {
  /// What the host calls the size \p Name.
  std::string given(const std::string &Name) const;
  /// Whether the program has no number for the size \p Name.
  bool isMadeUp(const std::string &Name) const;
  /// The program's sizes, else ours. What was guessed goes to \p Notes.
  void chooseSizes(std::vector<std::string> &Notes);
  /// A block of more threads than there may be was computed of what is not
  /// known.
  void guessImpossibleBlock();
  /// Makes sizes that no GPU could hold smaller.
  void makeAffordable();
  Bindings smallSize(SmallSize Form) const;
  /// Whether \p Form gives a size that those before it do not.
  bool isAnother(SmallSize Form) const;
  /// The program's sizes times a power of two, so that arrays come to \p Bytes
  /// or more. A size that is less than an eighth of the largest stays, as it
  /// may be a number of channels. Unset where that is no size, or not known.
  std::optional<Bindings> grown(double Bytes) const;
  double bytesAt(const Bindings &Names) const;
  /// What sizes that fit the block are multiples of.
  int64_t alignment() const;
  /// Whether a grid of \p Sides has more blocks at \p To.
  bool grows(llvm::ArrayRef<Formula> Sides, const Bindings &To) const;

  // As a workload has them.
  nlohmann::ordered_json printLaunch() const;
  nlohmann::ordered_json
  printSizes(SmallSize Form, DraftSizes Which,
             const std::optional<Bindings> &Larger) const;
  nlohmann::ordered_json printMultiples(SmallSize Form) const;

  std::unique_ptr<EntryUse> Use;
  /// What a size has to be a multiple of, where it is, by its name.
  std::map<std::string, int64_t> Multiples;
  std::set<std::string> BlockSizes; ///< that are a block's threads as well
  std::map<std::string, std::string> Called; ///< names, as parameters have them
  std::vector<std::string> Dimensions;       ///< names that are left, in order
  Bindings Large;
  Formula Grid[3], Block[3], Shared;
  std::vector<Formula> Extents; ///< scalars of each leaf that is an array
  bool MadeUp = false;          ///< the sizes are ours, not the program's

private:
  std::vector<std::string> inOrder() const;
  Bindings anySmallSize(SmallSize Form) const;
  int64_t extentOfOurs() const;
  void fitShared();
  void keepToThreads(llvm::ArrayRef<std::string> Guessed);
  Bindings halved() const;
  bool launchable(const Bindings &Names) const;
};

} // namespace stark::draft

#endif
