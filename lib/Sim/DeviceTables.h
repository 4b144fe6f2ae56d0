//===- DeviceTables.h - Variables and functions of a device module --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   device module -> its shared and other variables, its functions, which of
/// them call and name which
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_DEVICETABLES_H
#define STARK_LIB_SIM_DEVICETABLES_H

#include "stark/Sim/Tables.h"
#include "llvm/IR/Module.h"
#include <vector>

namespace stark::sim {

/// Lists them in \p Out and gives shared variables their places: what named one
/// adds an offset to the base of the block's shared memory. Returns the bodies
/// by their numbers in \p Out.
std::vector<llvm::Function *> listDevice(llvm::Module &M, Tables &Out);

} // namespace stark::sim

#endif
