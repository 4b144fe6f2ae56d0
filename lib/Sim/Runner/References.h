//===- References.h - How far a source is off its own reference -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   reference + the source's own outputs -> how far off a candidate may be
/// As lib/Gpu/GpuRunner.cpp does it: docs/judging.md says why.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_REFERENCES_H
#define STARK_SIM_REFERENCES_H

#include "Inputs.h"
#include <map>

namespace stark::sim {

class References {
public:
  /// \p How the reference of \p Case was computed, "in f64, TF32 off".
  void add(const job::Job &J, unsigned Case, const std::string &How,
           const Inputs &Reference, const Inputs &Own);
  /// How many times its tolerance an output may be off.
  double slack(unsigned Case, unsigned Leaf) const;
  std::string notes(const job::Job &J) const;

private:
  std::map<std::pair<unsigned, unsigned>, double> Slack; ///< by case and leaf
  std::map<unsigned, std::string> Computed;              ///< by case
};

} // namespace stark::sim

#endif
