//===- StopRule.h - When a search has found enough ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tree -> why no more attempts are begun
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_STOPRULE_H
#define STARK_LIB_SEARCH_STOPRULE_H

#include "stark/Search/Options.h"
#include "stark/Search/Tree.h"
#include "stark/Task/Workload.h"

namespace stark {

/// The least share of its floor, over the timed sizes, that \p V has: what the
/// workload's "bytes" take at the device's copy rate, over the median. Unset
/// where there are no such, or the times are modelled.
std::optional<double> leastFloorShare(const Workload &Load, const Verdict &V);

/// Unset: it goes on. It follows from the nodes alone, in their order.
std::optional<std::string> whyEnough(const Tree &Nodes, const Workload &Load,
                                     const SearchOptions &Options);

} // namespace stark

#endif
