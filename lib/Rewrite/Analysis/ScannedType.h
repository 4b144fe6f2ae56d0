//===- ScannedType.h - Types that warps scan ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Of what arrays in shared memory warps can scan in registers.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_SCANNEDTYPE_H
#define STARK_LIB_REWRITE_ANALYSIS_SCANNEDTYPE_H

#include "clang/AST/Decl.h"
#include <string>

namespace stark {

/// The type of the elements of \p Array, which lies in shared memory: "int",
/// "unsigned", "float" or "double"; empty for all others.
std::string scannedType(const clang::VarDecl *Array);

} // namespace stark

#endif
