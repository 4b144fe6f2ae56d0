//===- TerminalBlock.cpp - Lines that are drawn again in place ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/TerminalBlock.h"
#include "stark/Support/Utf8.h"
#include <algorithm>

using namespace stark;

// ECMA-48 ("ANSI") control sequences.
static constexpr const char *Escape = "\x1b[";
static constexpr const char *ClearLine = "\x1b[K";
static constexpr const char *ClearBelow = "\x1b[J";

/// A terminal that became narrower has broken the old lines into several rows.
std::string TerminalBlock::backToTop(posix::TerminalSize Size) const {
  size_t Rows = 0, Columns = std::max(1u, Size.Columns);
  for (const std::string &Line : Drawn)
    Rows += std::max<size_t>(1, (columnsOf(Line) + Columns - 1) / Columns);
  return Rows ? Escape + std::to_string(Rows) + "A\r" : "\r";
}

void TerminalBlock::draw(llvm::ArrayRef<std::string> Lines,
                         posix::TerminalSize Size) {
  std::vector<std::string> Now;
  // A full last column makes some terminals begin a row of their own.
  size_t Columns = std::max(2u, Size.Columns) - 1;
  // The cursor has the last row.
  size_t Rows = std::max(2u, Size.Rows) - 1;
  for (const std::string &Line : Lines.take_front(Rows))
    Now.push_back(fitLine(visibleLine(Line), Columns));
  if (Now == Drawn && Size == DrawnIn)
    return;
  std::string Text = backToTop(Size);
  for (const std::string &Line : Now)
    Text += Line + ClearLine + "\n";
  OS << Text << ClearBelow;
  OS.flush();
  Drawn = std::move(Now);
  DrawnIn = Size;
}

void TerminalBlock::clear(posix::TerminalSize Size) {
  if (Drawn.empty())
    return;
  OS << backToTop(Size) << ClearBelow;
  OS.flush();
  Drawn.clear();
}
