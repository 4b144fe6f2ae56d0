//===- LeadingIncludes.h - What a text includes first -----------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> the includes that nothing but comments stands before or between
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_LEADINGINCLUDES_H
#define STARK_LIB_AST_LEADINGINCLUDES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

struct LeadingInclude {
  std::string Name;
  bool Angled = true; ///< <Name>, not "Name"
};

std::vector<LeadingInclude> leadingIncludes(llvm::StringRef Text);

/// One of the C++ library that says nothing when it is read again, as all of
/// them do but <cassert>.
bool isOfLibrary(llvm::StringRef Name);

/// Those of the toolkit, and of the C++ library, that \p Text begins with.
struct SlowOpening {
  std::vector<std::string> Includes; ///< empty where none of them is slow
  /// A header of its own is read before one of them.
  bool BehindOwn = false;
};

/// With headers of the toolkit in \p Root that take long to read. What may lie
/// elsewhere ends it.
SlowOpening slowOpening(llvm::StringRef Text, llvm::StringRef Root);

/// Of \p Header, the macros that it defines or undefines whatever its
/// conditionals say. False where it has a pragma that what is read later may
/// see.
bool macrosOf(llvm::StringRef Header, std::vector<std::string> &Names);

} // namespace stark

#endif
