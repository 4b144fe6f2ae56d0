//===- HostStubs.h - What simulated code names and nobody has -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A file may have much that a call of its entry never reaches: a main that
/// reads images, a comparison with a library. What cannot be linked becomes a
/// stub that ends the run by name when it is called.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_HOSTSTUBS_H
#define STARK_LIB_SIM_HOSTSTUBS_H

#include "Symbols.h"
#include "llvm/IR/Module.h"

namespace stark::sim {

/// Functions of \p Host that neither \p Known nor this process has end the run;
/// such variables are zeros.
void stubMissingHost(llvm::Module &Host, const SymbolList &Known);
/// The same of device code, with the line of each call.
void stubMissingDevice(llvm::Module &Device, const SymbolList &Known);

/// Has \p Host tell the runtime, before each call that allocates device memory,
/// what its code calls the pointer.
void tellNames(llvm::Module &Host);

} // namespace stark::sim

#endif
