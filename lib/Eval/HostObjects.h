//===- HostObjects.h - Host code that was compiled before ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text + all it is compiled with -> the object of an earlier compilation
/// Most candidates change kernels and leave host code as it was, and a source
/// is built again by each process that judges its candidates.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_HOSTOBJECTS_H
#define STARK_LIB_EVAL_HOSTOBJECTS_H

#include "stark/Support/Digest.h"

namespace stark {

class HostObjects {
public:
  /// In \p Folder, which only holds what one compiler makes with the same
  /// flags. Empty: nothing is kept.
  explicit HostObjects(std::string Folder) : Folder(std::move(Folder)) {}

  /// Of \p Text, wherever its lines say that they stand: a kernel that has
  /// another line more leaves the host code below it what it is, unless the
  /// code can tell. \p Around is what else the object depends on.
  std::string key(llvm::StringRef Text, DigestBuilder Around) const;
  /// Copies an object to \p Object; false when there is none.
  bool fetch(llvm::StringRef Key, llvm::StringRef Object) const;
  /// Those that are needed least make room for it.
  void keep(llvm::StringRef Key, llvm::StringRef Object) const;

private:
  std::string fileOf(llvm::StringRef Key) const;
  std::string Folder;
};

} // namespace stark

#endif
