//===- PolicyParts.h - What policies are made of --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_SEARCH_POLICYPARTS_H
#define STARK_LIB_SEARCH_POLICYPARTS_H

#include "stark/Search/Policy.h"

namespace stark {

/// Whether there is something to refine or to repair: a candidate or a plan.
bool usable(const Tree &T, unsigned Number);

unsigned inFlight(const PendingChildren &Pending, unsigned Number);
unsigned inFlight(const PendingChildren &Pending);

/// The one of \p Numbers, which are not empty and ascend, to go on from: the
/// lowest score; among failing nodes, which all score +infinity, the one that
/// was tried least, so that repairs spread; then the older one. Before that,
/// the one with the fewest attempts in flight, so that jobs spread.
unsigned bestOf(const Tree &T, const PendingChildren &Pending,
                const std::vector<unsigned> &Numbers);

/// All usable nodes, ascending.
std::vector<unsigned> usableNodes(const Tree &T);

} // namespace stark

#endif
