//===- DispatchNames.h - Names in a dispatching source  ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What Clang's edits and the text round them call the same.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_DISPATCHNAMES_H
#define STARK_AST_DISPATCHNAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace stark {

/// The name under which \p Name of a winner with \p Suffix stands.
inline std::string winnersName(llvm::StringRef Name, llvm::StringRef Suffix) {
  return (Name + "_stark_" + Suffix).str();
}

/// The source's entry.
inline std::string sourcesName(llvm::StringRef Name) {
  return (Name + "_stark_source").str();
}

/// The macro that guards the device code of a winner.
inline std::string provedMacro(llvm::StringRef Suffix) {
  return ("STARK_PROVED_" + Suffix).str();
}

} // namespace stark

#endif
