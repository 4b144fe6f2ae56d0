//===- TuneLimits.h - How long numbers are tried --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_TUNELIMITS_H
#define STARK_SEARCH_TUNELIMITS_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace stark {

/// What a search may spend on the numbers of its fastest node, once its
/// attempts are made; 0: no limit of this kind. Nothing is tried without one.
struct TuneLimits {
  unsigned Candidates = 0; ///< that the judge or the search refuses or times
  unsigned Seconds = 0;    ///< none is begun after that
  bool any() const { return Candidates || Seconds; }
};

/// "candidates=20", "minutes=5", each at most once. Errors say what was given
/// and what is wanted.
llvm::Expected<TuneLimits>
parseTuneLimits(const std::vector<std::string> &Texts);

} // namespace stark

#endif
