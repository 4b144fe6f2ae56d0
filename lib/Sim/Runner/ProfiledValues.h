//===- ProfiledValues.h - What the profiled blocks of two texts wrote -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_PROFILEDVALUES_H
#define STARK_SIM_PROFILEDVALUES_H

#include "stark/Job/Job.h"
#include "stark/Judge/Runner.h"
#include "stark/Sim/Profile.h"
#include <span>

namespace stark::sim {

/// Compares what is known of both, as RunProfile::Written has it: the elements
/// of each output that both wrote, with its tolerance, and the root mean square
/// of these elements for that of a row. \p Compared grows by their number.
/// \p Where: of which size and seed.
judge::MaybeStop compareProfiled(const job::Job &J, unsigned Case,
                                 const std::vector<WrittenWord> &Got,
                                 const std::vector<WrittenWord> &Wanted,
                                 const std::string &Where, uint64_t &Compared);

} // namespace stark::sim

#endif
