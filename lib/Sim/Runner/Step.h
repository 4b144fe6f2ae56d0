//===- Step.h - One size and seed of a plan -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_STEP_H
#define STARK_SIM_STEP_H

#include "Call.h"
#include <array>
#include <memory>
#include <optional>
#include <string>

namespace stark::sim {

/// One size and seed: the calls that are to be made of it.
struct Step {
  unsigned Case = 0;
  uint64_t Seed = 0;
  std::optional<uint64_t> WeightSeed;
  bool Timed = false, Begun = false;
  std::string Trouble; ///< why its inputs cannot be made
  std::unique_ptr<Inputs> Mine, Theirs, Own;
  std::unique_ptr<Call> Candidate, Source;
  /// Of entries of tensors, where Source is its reference: the source itself.
  /// Of regimes of the tool's: the source with inputs moved in their last
  /// place.
  std::unique_ptr<Call> Itself;
  std::array<Call *, 3> calls() const {
    return {Source.get(), Candidate.get(), Itself.get()};
  }
  /// How many processes run for it.
  unsigned running() const {
    unsigned Count = 0;
    for (Call *C : calls())
      Count += C && !C->ended() ? 1 + C->partners() : 0;
    return Count;
  }
  /// Cores that are free go to calls that want some.
  void lend(unsigned &Free) const {
    for (Call *C : calls())
      if (C && !C->ended()) {
        unsigned Had = C->partners(), Has = C->lend(Free);
        Free -= Has > Had ? Has - Had : 0;
      }
  }
};

} // namespace stark::sim

#endif
