//===- Terminal.h - How large a terminal is -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   file descriptor -> columns and rows
/// LLVM tells whether a stream is a terminal, but no longer how wide it is.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_TERMINAL_H
#define STARK_POSIX_TERMINAL_H

#include <optional>

namespace stark::posix {

struct TerminalSize {
  unsigned Columns = 80, Rows = 24;
  bool operator==(const TerminalSize &) const = default;
};

/// As it is now, so that whoever asks at each drawing follows every change;
/// unset where \p Descriptor is no terminal, or one that moves no cursor
/// (TERM=dumb). A terminal that does not know its size has 80 columns and 24
/// rows.
std::optional<TerminalSize> terminalSize(int Descriptor);

} // namespace stark::posix

#endif
