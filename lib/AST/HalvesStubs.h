//===- HalvesStubs.h - Kernels as host code launches them -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_HALVESSTUBS_H
#define STARK_LIB_AST_HALVESSTUBS_H

#include "HalvesItems.h"

namespace stark {

/// What the bodies that stubBody() writes need before them.
std::string stubPrefix();

/// A body, in one line, that hands the arguments of \p Kernel to
/// stark_launch(), which the simulator has (lib/SimHost) and what registers
/// kernels (lib/Eval/KernelRegistration.h). Nothing, with the reason, where it
/// has no names for what it takes.
std::optional<std::string> stubBody(const Item &Kernel, std::string &WhyNot);

} // namespace stark

#endif
