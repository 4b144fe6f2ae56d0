//===- FindArch.h - What Clang parses for ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRIVER_FINDARCH_H
#define STARK_LIB_DRIVER_FINDARCH_H

#include "stark/Eval/EvaluatorSpec.h"

namespace stark {

/// The architecture that the evaluator's GPU has, so that Clang sees the
/// branches that nvcc will compile; empty when nothing says it. \p Given wins;
/// \p Replayed is that of the run whose verdicts are given again.
llvm::Expected<std::string> findArch(const EvaluatorSpec &Evaluator,
                                     const std::string &Given,
                                     const std::string &Replayed);

} // namespace stark

#endif
