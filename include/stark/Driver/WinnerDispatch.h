//===- WinnerDispatch.h - A winner that only runs where it was proved  ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   task + winner -> the plan by which a build puts both into one source
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_WINNERDISPATCH_H
#define STARK_DRIVER_WINNERDISPATCH_H

#include "stark/Cache/DispatchPlan.h"
#include "stark/Task/ExtractedTask.h"

namespace stark {

/// Clang cuts the winner, and looks at what is made of it. An error says what
/// of it cannot be dispatched; it names the winner's construct or argument.
/// \p Users: the source, where the task's was extracted of it.
llvm::Expected<DispatchPlan> planDispatch(const Task &T,
                                          llvm::StringRef WinnerText,
                                          const UsersSource *Users = nullptr);

/// An error of planDispatch() that any winner of \p T would have, so that
/// nobody is asked for one.
llvm::Error checkPlannable(const Task &T, const UsersSource *Users = nullptr);

} // namespace stark

#endif
