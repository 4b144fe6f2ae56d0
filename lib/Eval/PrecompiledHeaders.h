//===- PrecompiledHeaders.h - Headers that host code needs, read before ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   headers + compiler + flags -> a header that the compiler has read before
/// Of libtorch's 400 MB of g++, 75 MB of our own compiler, in the user's cache
/// folder, made once for each combination, in a quarter of a minute at most; a
/// compilation then takes a quarter of the time, or a tenth.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_PRECOMPILEDHEADERS_H
#define STARK_LIB_EVAL_PRECOMPILEDHEADERS_H

#include "HostCommand.h"
#include "llvm/ADT/ArrayRef.h"

namespace stark {

/// What host code is compiled behind.
struct HeaderSet {
  std::string Name;    ///< "torch": of a folder below the user's cache
  std::string Version; ///< of what is included, and where it is
  std::string Text;    ///< #include lines
};

/// The header to compile with `-include`, by \p Compiler with \p Flags.
/// Where it cannot be precompiled it is a plain one; empty when there is no
/// folder for it.
std::string precompiledHeader(const HostCommand &Compiler,
                              llvm::ArrayRef<std::string> Flags,
                              const HeaderSet &Headers);

/// What \p Compiler kept of \p Header is not what the headers are now: the
/// next call of precompiledHeader() makes it again.
void forgetHeader(const HostCommand &Compiler, const std::string &Header);

} // namespace stark

#endif
