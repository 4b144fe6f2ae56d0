//===- TerminalBlock.h - Lines that are drawn again in place --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   lines, size of the terminal -> what moves the cursor and draws them
/// The only place that writes escape sequences. The cursor stands in the first
/// column below the block, so that whatever a killed program leaves behind is
/// an ordinary screen.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_TERMINALBLOCK_H
#define STARK_REPORT_TERMINALBLOCK_H

#include "stark/Posix/Terminal.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace stark {

class TerminalBlock {
public:
  explicit TerminalBlock(llvm::raw_ostream &OS) : OS(OS) {}
  TerminalBlock(const TerminalBlock &) = delete;

  /// Puts \p Lines in the place of those that were drawn before, in a terminal
  /// that has \p Size now: each is cut to fit, and so many that none scrolls
  /// away. Nothing is written when nothing has changed.
  void draw(llvm::ArrayRef<std::string> Lines, posix::TerminalSize Size);
  /// Takes the block away, so that other text can be written.
  void clear(posix::TerminalSize Size);
  /// What is drawn stays, and the next block begins below.
  void leave() { Drawn.clear(); }

private:
  std::string backToTop(posix::TerminalSize Size) const;

  llvm::raw_ostream &OS;
  std::vector<std::string> Drawn;
  posix::TerminalSize DrawnIn;
};

} // namespace stark

#endif
