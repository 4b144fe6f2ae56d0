//===- Tunables.h - Numbers of a source that may be others ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   ParsedSource -> tunables -> the text with other values
/// A tunable is a number that has a name (a constant, an enumerator, a macro)
/// and that shapes what the entry launches: it reaches the configuration of a
/// launch, the extent of an array, a template's argument or launch bounds. So
/// are the number of a `#pragma unroll`, and a literal among a launched
/// kernel's template arguments. A number that only takes part in arithmetic is
/// none, since other results come of another, unless its line offers values:
///
///     constexpr int kRows = 4; // tune: 1, 2, 4, 8
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_TUNABLES_H
#define STARK_AST_TUNABLES_H

#include "stark/AST/Site.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <map>

namespace stark {

struct Tunable {
  /// "kBlock"; "scale<1>" of a kernel's first template argument, "unroll:12" of
  /// the pragma of line 12.
  std::string Name;
  uint32_t Value = 0; ///< from 1 to MostTuned
  Range Digits;       ///< in the source
  unsigned Line = 0;  ///< 1-based
  /// The values that its line offers, ascending; empty: none are.
  std::vector<uint32_t> Offered;
};

inline constexpr uint32_t MostTuned = 65536;

/// Of the functions that \p Entry reaches, in source order; of all when the
/// source does not define it.
std::vector<Tunable> findTunables(const ParsedSource &Source,
                                  llvm::StringRef Entry);

/// \p Text, in which \p All were found, with \p Values in their order.
std::string withValues(llvm::StringRef Text, llvm::ArrayRef<Tunable> All,
                       llvm::ArrayRef<uint32_t> Values);

/// What no GPU has: more than 48 KiB of a kernel's own static shared memory, a
/// launch with more than 1024 threads a block, or with more registers than an
/// SM's 65536. \p Registers are those a thread, by kernel; one with launch
/// bounds gets what fits. As far as the AST says it; empty: nothing.
std::string
beyondEveryGpu(const ParsedSource &Source,
               const std::map<std::string, unsigned> &Registers = {});

} // namespace stark

#endif
