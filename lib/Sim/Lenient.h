//===- Lenient.h - A source some of whose headers are not there -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A main that shows its result with a library of images is no reason not to
/// run a kernel of its file. Where a header is not found, the functions that do
/// not compile without it become stubs, which end the run when they are called.
///
///   text, places of errors -> text without what stands there
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_LENIENT_H
#define STARK_LIB_SIM_LENIENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark::sim {

struct LessSource {
  std::string Text;                   ///< empty: an error is in no declaration
  std::vector<std::string> Functions; ///< that have become stubs
};

/// \p Source with each function that holds one of \p Errors (bytes from its
/// begin) as a stub that tells its name and \p Why, and without other
/// declarations that hold one. Lines stay where they are.
LessSource withoutErrors(llvm::StringRef Source,
                         llvm::ArrayRef<unsigned> Errors, llvm::StringRef Why);

} // namespace stark::sim

#endif
