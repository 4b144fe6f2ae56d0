//===- CompileCommand.h - What clang++ would tell its compile step --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   "clang++ -c x.cpp ..." -> the arguments of -cc1
/// The driver knows the system: the C++ library's folders, the ABI.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_HOSTCODE_COMPILECOMMAND_H
#define STARK_HOSTCODE_COMPILECOMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include <string>
#include <vector>

namespace clang {
class DiagnosticsEngine;
} // namespace clang
namespace llvm::vfs {
class FileSystem;
} // namespace llvm::vfs

namespace stark {

/// Those of the first compile step, without "-cc1"; none where there is no
/// such step, of which \p Diags was told. \p Words begin with the program's
/// name. The input need not exist.
std::vector<std::string>
compileArguments(llvm::ArrayRef<std::string> Words,
                 clang::DiagnosticsEngine &Diags,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files);

} // namespace stark

#endif
