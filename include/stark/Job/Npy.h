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

#ifndef STARK_JOB_NPY_H
#define STARK_JOB_NPY_H

#include "stark/Job/Job.h"

namespace stark::job {

/// The array's bytes. \p Error names the file and what was got and wanted when
/// its dtype or shape is not the given one, or when it is shorter than that.
/// bf16, which NumPy does not have, is taken from a 16-bit unsigned array; a
/// boolean array is taken for u8.
std::vector<char> readNpy(const std::string &Path, DType Type,
                          const std::vector<int64_t> &Shape,
                          std::string &Error);

/// What readNpy() would say, from the header and the file's size alone; empty
/// when all is well.
std::string checkNpy(const std::string &Path, DType Type,
                     const std::vector<int64_t> &Shape);

/// The bytes of a .npy file that holds \p Data; bf16 as readNpy() takes it.
std::string printNpy(DType Type, const std::vector<int64_t> &Shape,
                     const char *Data);

} // namespace stark::job

#endif
