//===- device_vector.h - A part of Thrust ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// All that is offered is one file.
///
//===----------------------------------------------------------------------===//

#include "detail/all.h"
