//===- LaunchText.h - Launches as Clang can read them ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   k<<<blocks, {16, 16, 1}>>>(x) -> k<<<blocks, (16, 16, 1)>>>(x)
///   k<< <blocks, 16>> >(x)           -> k<<< blocks, 16>>> (x)
/// nvcc takes a list in braces for a dim3 there, and brackets with a space in
/// them; Clang's parser does not. What is not changed stays at its place.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_LAUNCHTEXT_H
#define STARK_AST_LAUNCHTEXT_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm::vfs {
class FileSystem;
} // namespace llvm::vfs

namespace stark {

std::string launchesForClang(llvm::StringRef Text);

/// \p Real, with that done to the project's headers as well.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
filesForClang(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Real);

} // namespace stark

#endif
