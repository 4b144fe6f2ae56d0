//===- Programs.h - Where the programs in Python are ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   An installed tool has them in share/stark; one that was built has them
/// beside this file.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TORCH_PROGRAMS_H
#define STARK_LIB_TORCH_PROGRAMS_H

#include "stark/Support/Process.h"

namespace stark::torch {

/// \p Name: "exporter", "baselines", "export".
inline std::string programFolderOf(const std::string &Name) {
  return sharedFolder(Name, STARK_TORCH_PROGRAMS "/" + Name);
}

} // namespace stark::torch

#endif
