//===- TensorObserver.h - What ATen does in a simulated call --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_TENSOROBSERVER_H
#define STARK_LIB_EVAL_TENSOROBSERVER_H

namespace stark {

/// C++17 over libtorch's headers, for the library that stark-sim-host loads
/// beside libtorch (lib/SimHost/HostCall.cpp says which functions it asks for).
extern const char *const TensorObserver;

} // namespace stark

#endif
