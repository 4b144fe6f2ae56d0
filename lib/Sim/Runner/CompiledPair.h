//===- CompiledPair.h - Source and candidate, compiled --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   compile.json, two source texts -> two programs for the simulator
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_COMPILEDPAIR_H
#define STARK_SIM_COMPILEDPAIR_H

#include "Call.h"
#include "HostProcess.h"
#include "stark/Sim/SimRunner.h"
#include <memory>

namespace stark::sim {

struct CompiledPair {
  SimCode Source;
  SimCode Candidate;                      ///< empty when the two are the same
  std::unique_ptr<HostProcess> Host;      ///< of entries of tensors
  std::optional<ResourceFiles> Resources; ///< that ptxas' words are to be in
  Clock::Time Asked;                      ///< when it was begun
  bool Known = false;                     ///< knowsResources()
  const SimCode &candidate() const {
    return Candidate.Kernels || !Candidate.Library.empty() ? Candidate : Source;
  }
};

/// Compiles what \p J names in \p Folder; both at once when there may be more
/// than one job, and no thread is left then. Where only counters are wanted,
/// what is wrong with the source is an outcome, not the host's failure.
/// \p Messages: the compiler's, of a candidate that does not compile.
judge::MaybeStop compilePair(const std::string &Folder, const job::Job &J,
                             const SimRunnerOptions &Options,
                             CompiledPair &Into, std::string &Messages);

/// Whether what the kernels of both need is known as well as it will be; what
/// ptxas says is in \p Of, then.
bool knowsResources(CompiledPair &Of, Clock &Time);

} // namespace stark::sim

#endif
