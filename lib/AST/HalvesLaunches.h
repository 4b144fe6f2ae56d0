//===- HalvesLaunches.h - Launches that g++ compiles ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   `k<T><<<g, b, s, st>>>(x)`
///     -> `(__cudaPushCallConfiguration(g, b, s, st) ? (void)0 : k<T>(x))`
/// which is what nvcc makes of it for its own host compiler: the kernel's name
/// is that of a function that launches what was pushed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_HALVESLAUNCHES_H
#define STARK_LIB_AST_HALVESLAUNCHES_H

#include "Edits.h"
#include "HalvesItems.h"
#include "SourceTokens.h"
#include <optional>

namespace stark {

/// Of the launches outside \p Blanked, those in bodies of macros included.
/// Nothing, with the reason, where one is not understood.
std::optional<std::vector<Edit>> launchEdits(const ParsedSource &Source,
                                             const SourceTokens &Tokens,
                                             const std::vector<Range> &Blanked,
                                             std::string &WhyNot);

/// The instantiations of templates of kernels that the host asks for, to stand
/// at the end of the device's half, and small headers of torch's that they
/// need. Nothing, with the reason, where one cannot be named there.
std::optional<std::string> kernelInstances(const ParsedSource &Source,
                                           const std::vector<Item> &Items,
                                           const Headers &From,
                                           std::set<std::string> &Needed,
                                           std::string &WhyNot);

} // namespace stark

#endif
