//===- Tune.h - The best instance of what was found -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   fastest node -> its tunables -> variants, each checked, judged, recorded
/// No model is asked. A variant is an attempt like any other, whose selection
/// says "tune"; its node is a child of the fastest one.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_TUNE_H
#define STARK_LIB_SEARCH_TUNE_H

#include "Attempt.h"

namespace stark {

/// \p Begun attempts were begun, and \p Ended ended them. Called with the run
/// lock held and nothing in flight.
llvm::Error tuneFastest(SearchState &State, unsigned Begun,
                        const RunEnd &Ended);

} // namespace stark

#endif
