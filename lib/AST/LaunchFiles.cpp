//===- LaunchFiles.cpp - Headers whose launches Clang can read ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/ChangedFiles.h"
#include "stark/AST/LaunchText.h"

using namespace stark;
using llvm::StringRef;

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
stark::filesForClang(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Real) {
  FileChange Launches;
  Launches.Concerns = [](StringRef Path) { return !Path.starts_with("/usr/"); };
  Launches.Make = [](StringRef Text) -> std::optional<std::string> {
    // Most headers only print with these brackets.
    if (!Text.contains("<< <") && !Text.contains("<<<"))
      return std::nullopt;
    return launchesForClang(Text);
  };
  return withChange(std::move(Real), std::move(Launches));
}
