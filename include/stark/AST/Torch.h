//===- Torch.h - Sources that use ATen ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source -> does it include libtorch's headers? -> where they are
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_TORCH_H
#define STARK_AST_TORCH_H

#include "stark/AST/Parse.h"
#include "stark/Posix/Libtorch.h"

namespace stark {

/// Whether \p Text itself includes a header of ATen/, c10/ or torch/.
bool includesTorch(llvm::StringRef Text);

/// The includes that a source with libtorch's headers is given, whether it has
/// them or not: what nearly all have, so that it is read and compiled once.
std::string torchHeaders(const posix::Libtorch &Torch);

/// The libtorch that \p Options mean; looked for once.
llvm::Expected<posix::Libtorch> torchFor(const ParseOptions &Options);

} // namespace stark

#endif
