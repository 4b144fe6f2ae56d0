//===- Utf8.h - Text that JSON can hold -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Sources and answers are bytes; JSON and models take UTF-8.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_UTF8_H
#define STARK_SUPPORT_UTF8_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

bool isUtf8(llvm::StringRef Text);

/// \p Text, with U+FFFD for each longest part that begins no character.
std::string repairUtf8(llvm::StringRef Text);

/// At most \p Limit bytes of \p Text, with "..." at the end of what was cut,
/// which is between characters. \p Limit: 3 or more.
std::string shortenUtf8(llvm::StringRef Text, size_t Limit);

/// \p Text with a line feed for each carriage return and line feed.
std::string withUnixLines(llvm::StringRef Text);

} // namespace stark

#endif
