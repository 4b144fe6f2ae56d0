//===- Npy.h - Arrays from .npy files ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   NumPy's format, versions 1 to 3, little-endian, C order.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_WORKER_NPY_H
#define STARK_WORKER_NPY_H

#include "stark/Job/Job.h"

namespace stark::worker {

/// The array's bytes. \p Error names the file and what was got and wanted when
/// its dtype or shape is not the given one. bf16, which NumPy does not have, is
/// taken from a 16-bit unsigned array.
std::vector<char> readNpy(const std::string &Path, job::DType Type,
                          const std::vector<int64_t> &Shape,
                          std::string &Error);

} // namespace stark::worker

#endif
