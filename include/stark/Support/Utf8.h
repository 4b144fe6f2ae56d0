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
#include <cstdint>
#include <string>

namespace stark {

bool isUtf8(llvm::StringRef Text);

struct Utf8Character {
  uint32_t Code = 0;
  size_t Bytes = 1;
};

/// That \p Text, which is not empty, begins with; a byte that begins none is
/// one by itself.
Utf8Character firstCharacter(llvm::StringRef Text);

/// Whether it turns the direction of the text beside it.
bool changesDirection(uint32_t Code);

/// \p Text, with U+FFFD for each longest part that begins no character.
std::string repairUtf8(llvm::StringRef Text);

/// At most \p Limit bytes of \p Text, with "..." at the end of what was cut,
/// which is between characters. \p Limit: 3 or more.
std::string shortenUtf8(llvm::StringRef Text, size_t Limit);

/// \p Text with a line feed for each carriage return and line feed.
std::string withUnixLines(llvm::StringRef Text);

/// \p Text as a terminal may be sent it, whoever wrote it: what is no character
/// of UTF-8 as U+FFFD; control characters, those that change the direction of
/// text and all else that is not seen as "\\u{1b}". Line feeds and tabs stay.
std::string visibleText(llvm::StringRef Text);

/// The same in one line: a space for each line feed and tab.
std::string visibleLine(llvm::StringRef Text);

/// \p Line, visible, in \p Columns of a terminal: the end that has no room is
/// left out, with "..." in its place.
std::string fitLine(llvm::StringRef Line, size_t Columns);

/// The columns that \p Line, visible, takes.
size_t columnsOf(llvm::StringRef Line);

} // namespace stark

#endif
