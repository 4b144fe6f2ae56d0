//===- FootprintLaunch.h - Statements that only launch -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A kernel that was told to change may need another launch. In the function
/// that launches it, these statements belong to the launch:
///
///   - one that launches a kernel of the set, with <<<>>> or cudaLaunch*, or
///     names one (cudaFuncSetAttribute, an occupancy query, a pointer to it);
///   - a declaration or assignment of variables that such statements use and
///     nothing else in the function does (grid, block, shared bytes);
///   - an if, else, for, while or switch that governs nothing but such
///     statements, with its break, continue and return.
///
/// From tokens alone, so that it holds for text that Clang cannot parse.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_FOOTPRINTLAUNCH_H
#define STARK_LIB_AST_FOOTPRINTLAUNCH_H

#include "SourceTokens.h"
#include <set>

namespace stark {

/// For each token of the function \p Body whether its statement belongs to a
/// launch of one of \p Kernels; empty when nothing there launches one.
std::vector<bool> launchTokens(const SourceTokens &Tokens, Range Body,
                               const std::set<std::string> &Kernels);

} // namespace stark

#endif
