//===- TorchHeaders.h - libtorch's headers, precompiled -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   compiler + flags -> a header that the compiler has read before
/// 400 MB of g++, 75 MB of our own compiler, in the user's cache folder, made
/// once for each combination, in a quarter of a minute at most; a compilation
/// then takes a quarter of the time, or a tenth.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_TORCHHEADERS_H
#define STARK_LIB_EVAL_TORCHHEADERS_H

#include "HostCommand.h"
#include "stark/Posix/Libtorch.h"
#include "llvm/ADT/ArrayRef.h"

namespace stark {

/// The header to compile with `-include`, by \p Compiler with \p Flags.
/// Where it cannot be precompiled it is a plain one; empty when there is no
/// folder for it.
std::string torchHeader(const HostCommand &Compiler,
                        llvm::ArrayRef<std::string> Flags,
                        const posix::Libtorch &Torch);

/// What \p Compiler kept of \p Header is not what the headers are now: the
/// next call of torchHeader() makes it again.
void forgetHeader(const HostCommand &Compiler, const std::string &Header);

} // namespace stark

#endif
