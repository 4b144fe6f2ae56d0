//===- ChangedFiles.h - Files with another text than the disk's -*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a file system -> the same, where Clang reads some files otherwise
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_CHANGEDFILES_H
#define STARK_AST_CHANGEDFILES_H

#include "llvm/Support/VirtualFileSystem.h"
#include <functional>
#include <optional>
#include <string>

namespace stark {

struct FileChange {
  std::function<bool(llvm::StringRef Path)> Concerns;
  /// The text in place of a file's; unset: that stays.
  std::function<std::optional<std::string>(llvm::StringRef Text)> Make;
};

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
withChange(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Real,
           FileChange Change);

} // namespace stark

#endif
