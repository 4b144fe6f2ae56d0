//===- WindowText.h - Nodes as an agent reads them -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_SEARCH_WINDOWTEXT_H
#define STARK_LIB_SEARCH_WINDOWTEXT_H

#include "stark/Search/Tree.h"

namespace stark {

WindowEntry windowEntry(const Tree &T, unsigned Number);

/// "NVIDIA H200, sm_90"
std::string deviceLine(const Verdict &Source, const Task &T);

/// "1.234 times the source's speed, at least 1.201"
std::string describeSpeedup(const Verdict &V);

} // namespace stark

#endif
