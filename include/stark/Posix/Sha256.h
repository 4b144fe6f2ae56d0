//===- Sha256.h - SHA-256 without LLVM -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   For programs that run where there is no LLVM; Support/Digest.h has it for
/// the others.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_SHA256_H
#define STARK_POSIX_SHA256_H

#include <string>
#include <string_view>

namespace stark::posix {

/// 64 lower-case hexadecimal digits (FIPS 180-4, section 6.2).
std::string sha256(std::string_view Bytes);

} // namespace stark::posix

#endif
