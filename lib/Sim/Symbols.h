//===- Symbols.h - What simulated code may call ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Names and addresses of the functions behind
/// lib/Sim/headers/stark/stark_sim_builtins.h and cuda_runtime_api.h, which the
/// JIT links simulated code with.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_SYMBOLS_H
#define STARK_LIB_SIM_SYMBOLS_H

#include <string>
#include <utility>
#include <vector>

namespace stark::sim {

using SymbolList = std::vector<std::pair<std::string, void *>>;

/// \p Own and what compilers call to convert between the half types and wider
/// ones.
SymbolList withFloat16Symbols(SymbolList Own);
SymbolList deviceSymbols();
SymbolList hostSymbols();

} // namespace stark::sim

#define STARK_SYMBOL(name, what) {name, reinterpret_cast<void *>(&what)}

#endif
