//===- Journal.h - An append-only record, one event a line ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Each line is {"body":{...},"check":"...","event":"verdict","n":3}, written
/// when append() returns, so that a kill does not lose it, and on disk after
/// the next flush(). n counts from 0; check is the first 16 digits of the
/// SHA-256 of n, event and body. A torn last line is dropped with a note; any
/// other damage is an error that names the line.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SUPPORT_JOURNAL_H
#define STARK_SUPPORT_JOURNAL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stark {

struct JournalEvent {
  uint64_t Number = 0;
  std::string Type; ///< "select", "counters", "reply", "verdict", "node", "end"
  std::string Body; ///< one JSON object, keys sorted
};

struct JournalContent {
  std::vector<JournalEvent> Events;
  std::string Note;       ///< "the last line was torn and is dropped", or empty
  uint64_t GoodBytes = 0; ///< length of the intact part
};

/// A missing file is an empty journal.
llvm::Expected<JournalContent> readJournal(llvm::StringRef Path);

class Journal {
public:
  virtual ~Journal() = default;
  /// Cuts \p Path back to \p Content.GoodBytes and goes on after it.
  static llvm::Expected<std::unique_ptr<Journal>>
  open(llvm::StringRef Path, const JournalContent &Content);
  /// \p Body must be one JSON object without line breaks. On failure (a full
  /// disk) the file is cut back to what it was.
  virtual llvm::Error append(llvm::StringRef Type, llvm::StringRef Body) = 0;
  /// Waits until the disk has what was appended before, which takes
  /// milliseconds. May be called while another thread appends.
  virtual llvm::Error flush() = 0;
};

} // namespace stark

#endif
