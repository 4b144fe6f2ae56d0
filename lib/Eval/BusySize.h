//===- BusySize.h - A timed size that keeps a GPU busy ----------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   modelled time at the program's size -> where it is mostly the launch, a
/// second size
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_BUSYSIZE_H
#define STARK_LIB_EVAL_BUSYSIZE_H

#include "stark/Draft/Draft.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace stark {

/// What the source takes on the simulated GPU.
struct ModelledUs {
  double FirstUs = 0; ///< at the first timed size of a workload
  double LastUs = 0;  ///< at the last
};

/// That, for the workload of this text; unset where it does not run, or nobody
/// waits any more.
using ModelledTimes =
    llvm::function_ref<std::optional<ModelledUs>(const std::string &Workload)>;

/// Gives \p D, which is proved in form \p Form, a second timed size where the
/// program's own is over so soon that its time is mostly the launch's. Which it
/// is goes to the notes.
void offerBusySize(Draft &D, SmallSize Form, ModelledTimes TimesOf);

} // namespace stark

#endif
