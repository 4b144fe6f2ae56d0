//===- all.h - Those parts of Thrust that are offered ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// In device code, and with `thrust::seq` or iterators of host memory,
/// algorithms run one element after the other. On device memory they launch
/// kernels: one thread an element, blocks that reduce and scan, a merge sort.
/// What is rarely called is one thread's. The library's own kernels are others,
/// so modelled times are not theirs.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_THRUST_ALL_H
#define STARK_SIM_THRUST_ALL_H

#include "public.h"
#include "vectors.h"

#endif
