//===- Nearest.h - The name that was meant -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A misspelt name in an input file -> the nearest one that exists, for the
/// error's text.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_NEAREST_H
#define STARK_SUPPORT_NEAREST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

/// "; did you mean 'rows'?" when one of \p Known is about as \p Given, else
/// nothing.
std::string didYouMean(llvm::StringRef Given,
                       llvm::ArrayRef<std::string> Known);

} // namespace stark

#endif
