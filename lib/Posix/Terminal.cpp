//===- Terminal.cpp - How large a terminal is -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Terminal.h"
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace stark;
using namespace stark::posix;

std::optional<TerminalSize> posix::terminalSize(int Descriptor) {
  if (!isatty(Descriptor))
    return std::nullopt;
  const char *Kind = std::getenv("TERM");
  if (!Kind || !*Kind || Kind == std::string_view("dumb"))
    return std::nullopt;
  TerminalSize Size;
  winsize Now = {};
  if (ioctl(Descriptor, TIOCGWINSZ, &Now) == 0) {
    if (Now.ws_col)
      Size.Columns = Now.ws_col;
    if (Now.ws_row)
      Size.Rows = Now.ws_row;
  }
  return Size;
}
