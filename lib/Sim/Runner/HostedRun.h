//===- HostedRun.h - A call whose host code runs elsewhere ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_HOSTEDRUN_H
#define STARK_SIM_HOSTEDRUN_H

#include "Call.h"

namespace stark::sim {

/// In the child of a call: has stark-sim-host call \p Spec's library, and adds
/// up what it says to \p Into. Says in \p Told how it ended.
void runHosted(const CallSpec &Spec, const GpuDescription &Gpu,
               const RunHooks &Hooks, RunProfile &Into, Report &Told);

} // namespace stark::sim

#endif
