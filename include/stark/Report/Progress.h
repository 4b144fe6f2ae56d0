//===- Progress.h - A search as it goes on, a line a step -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what a SearchObserver is told -> the line that a person reads
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_PROGRESS_H
#define STARK_REPORT_PROGRESS_H

#include "stark/Search/Search.h"

namespace stark {

/// "attempt 7: node 4 (random leaf); shown to plan: root, 2 siblings; to code:
/// root": which node, why, and how what is shown is related to it.
std::string selectionLine(unsigned Attempt, const Selection &S, const Tree &T,
                          const std::vector<ShownTo> &Shown);

/// "attempt 7: asking for 0007-plan-1", "confirming node 4"
std::string stepLine(unsigned Attempt, const SearchStep &Step);

/// Why a candidate is not correct, or why there is none: the first line of what
/// was said of it, cut to 100 columns. Empty of a correct one.
std::string whyNot(const Verdict &V);

/// "attempt 7: correct, 12.34 us, 1.500 times the source's speed [title]",
/// "attempt 8: no-candidate: plan: ..."
std::string nodeLine(unsigned Attempt, const Node &N, bool Recorded);

} // namespace stark

#endif
