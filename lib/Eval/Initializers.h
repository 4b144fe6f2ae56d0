//===- Initializers.h - What runs when an object is loaded ------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_INITIALIZERS_H
#define STARK_LIB_EVAL_INITIALIZERS_H

#include "llvm/Support/Error.h"

namespace llvm::object {
class ObjectFile;
} // namespace llvm::object

namespace stark {

/// How many functions run when \p Object, of ELF, is loaded. What only opens
/// the standard streams, as each file has it of <iostream> in some C++
/// libraries, does not count (on x86-64).
llvm::Expected<unsigned> initializersIn(const llvm::object::ObjectFile &Object);

} // namespace stark

#endif
