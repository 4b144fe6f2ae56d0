//===- TensorTrampoline.h - The call of an entry of tensors ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TASK_TENSORTRAMPOLINE_H
#define STARK_LIB_TASK_TENSORTRAMPOLINE_H

#include "stark/Task/Task.h"

namespace stark {

/// What makeTrampoline() is for an entry of tensors.
std::string makeTensorTrampoline(const Task &T);
/// Likewise makeReferenceTrampoline(): \p T's reference, or its own entry in
/// double precision.
std::string makeTensorReference(const Task &T);

} // namespace stark

#endif
