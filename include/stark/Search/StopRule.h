//===- StopRule.h - When a search has found enough ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tree -> why no more attempts are begun
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_STOPRULE_H
#define STARK_SEARCH_STOPRULE_H

#include "stark/Search/Options.h"
#include "stark/Search/Tree.h"
#include "stark/Task/Workload.h"
#include <algorithm>

namespace stark {

/// Whether a search that has made some attempts, one after the other, has
/// waited long enough for another gain.
class Gains {
public:
  /// \p Speedup over the source; 0 of an attempt that is not correct.
  void add(double Speedup);
  /// A gain was found, and since then there were \p Patience attempts or more
  /// without another one, and as many as it took to come to it: where gains
  /// came late, others may. Never with a \p Patience of 0.
  bool enough(unsigned Patience) const {
    return Patience > 0 && Last > 0 && Since >= std::max(Patience, Last);
  }
  /// Attempts since the last gain.
  unsigned since() const { return Since; }

private:
  double Awaited = 1; ///< speed-up of the last gain
  unsigned Last = 0;  ///< which attempt it was; 0: none yet
  unsigned Since = 0;
};

/// The least share of its floor (Eval/Floor.h), over the timed sizes, that \p V
/// has: the floor over the median. Bytes are no floor of a size of which L2
/// could keep half. Unset where a size has none, or the times are modelled.
std::optional<double> leastFloorShare(const Workload &Load, const Verdict &V,
                                      llvm::StringRef SourceText = "");

/// Unset: it goes on. It follows from the nodes alone, in their order.
std::optional<std::string> whyEnough(const Tree &Nodes, const Workload &Load,
                                     const SearchOptions &Options);

} // namespace stark

#endif
