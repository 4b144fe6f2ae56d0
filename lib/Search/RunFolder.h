//===- RunFolder.h - The folder of a run, opened --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   lock -> run.json (made, or checked against what the search is held to) ->
/// journal.jsonl, read. RunSteps goes on from here.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_RUNFOLDER_H
#define STARK_LIB_SEARCH_RUNFOLDER_H

#include "stark/Search/Search.h"
#include "stark/Support/File.h"

namespace stark {

class RunFolder {
public:
  /// Locks the folder, reads what is there and checks that a run with
  /// \p Options may go on with it; a new folder gets run.json, workload and
  /// prompts.
  static llvm::Expected<RunFolder> open(llvm::StringRef Path,
                                        const SearchSetup &Setup,
                                        const SearchOptions &Options,
                                        SearchObserver &Observer);

  const std::string &path() const { return Path; }
  /// What the run began with.
  const RunIdentity &identity() const { return Identity; }
  /// What was recorded when the folder was opened.
  const JournalContent &content() const { return Content; }
  const RecordedRun &recorded() const { return Recorded; }
  /// Whether what is written is on disk before the search goes on.
  bool flushes() const { return Flush; }

  /// Puts the device into run.json once the source was judged.
  llvm::Error setDevice(llvm::StringRef Device);

private:
  RunFolder() = default;
  llvm::Error create(const SearchSetup &Setup);
  llvm::Error goOn(const SearchSetup &Setup, SearchObserver &Observer);
  llvm::Error prepare(const SearchSetup &Setup);

  std::string Path;
  bool Flush = true;
  RunIdentity Identity;
  std::unique_ptr<FileLock> Lock;
  JournalContent Content;
  RecordedRun Recorded;
};

} // namespace stark

#endif
