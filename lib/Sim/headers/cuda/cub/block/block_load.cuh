//===- block_load.cuh - A part of CUB ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   All that is offered is one file.
///
//===----------------------------------------------------------------------===//

#include "../cub.cuh"
