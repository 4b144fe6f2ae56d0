//===- TorchHeaders.h - libtorch's headers, precompiled -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   compiler + flags -> a header that the compiler has read before
/// 400 MB in the user's cache folder, made once for each combination, in a
/// quarter of a minute; each compilation then takes a quarter of the time.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_TORCHHEADERS_H
#define STARK_LIB_EVAL_TORCHHEADERS_H

#include "stark/Posix/Libtorch.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace stark {

/// The header to compile with `-include`, by \p Compiler (g++) with \p Flags.
/// Where it cannot be precompiled it is a plain one; empty when there is no
/// folder for it.
std::string torchHeader(llvm::StringRef Compiler,
                        llvm::ArrayRef<std::string> Flags,
                        const posix::Libtorch &Torch);

} // namespace stark

#endif
