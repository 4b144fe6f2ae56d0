//===- HalvesHeaders.h - Whose header something comes from ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_HALVESHEADERS_H
#define STARK_LIB_AST_HALVESHEADERS_H

#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"
#include "clang/Basic/SourceManager.h"
#include <map>
#include <set>

namespace stark {

/// An #include of the main file.
struct IncludeLine {
  Range Bytes;
  std::string Name, Path; ///< as written, without brackets; of the file
  bool Found = false;
};

class Headers {
public:
  Headers(const ParsedSource &Source, llvm::ArrayRef<std::string> TorchFolders);

  /// Where \p L is expanded.
  bool isTorch(clang::SourceLocation L) const;
  bool isTorch(llvm::StringRef Path) const;
  /// The small header of torch's own that has it, "<c10/util/Half.h>", if it is
  /// one that nvcc may read for the device; else empty.
  std::string smallTorchHeader(clang::SourceLocation L) const;
  /// Of the CUDA toolkit's C++ libraries (CUB, Thrust, libcu++), whose host
  /// code wants nvcc.
  bool isCccl(clang::SourceLocation L) const;
  bool isToolkit(clang::SourceLocation L) const;
  bool isToolkit(llvm::StringRef Path) const;

  /// What to include for something that a header of torch's brings along from
  /// elsewhere: "<cfloat>". Empty when the main file includes it itself.
  std::string broughtByTorch(clang::SourceLocation L) const;
  /// The file of \p L and those that include it, the main file apart.
  std::vector<std::string> includers(clang::SourceLocation L) const;

  std::vector<IncludeLine> Lines;

private:
  void readIncludes(const ParsedSource &Source);
  llvm::StringRef pathOf(clang::FileID Id) const;

  const clang::SourceManager &SM;
  std::vector<std::string> TorchFolders;
  std::set<std::string> ToolkitFolders;      ///< where cuda.h is
  std::map<std::string, std::string> Angled; ///< path -> name in <>
};

} // namespace stark

#endif
