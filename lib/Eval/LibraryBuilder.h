//===- LibraryBuilder.h - Source and candidates as libraries --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   task, candidate -> which host compiler -> library, and the source's beside
///   it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_LIBRARYBUILDER_H
#define STARK_LIB_EVAL_LIBRARYBUILDER_H

#include "TextsAhead.h"
#include "WorkAhead.h"
#include "stark/Eval/Build.h"
#include "stark/Support/File.h"
#include <map>
#include <mutex>

namespace stark {

/// Builds the source, once for each host compiler, and each candidate, several
/// at once where several threads ask. An
/// attempt's host code is compiled by our own compiler where that takes the
/// source and the candidate; what is to win, and all else, by the user's.
class LibraryBuilder {
public:
  LibraryBuilder(const Task &Of, BuildOptions Options)
      : Of(Of), Options(std::move(Options)) {}
  llvm::Expected<BuildResult> candidate(const Candidate &C);
  /// Begins what candidate() will have to do, which may never be called: of an
  /// entry of pointers all, of one of tensors what it takes to read \p C.
  void prepare(const Candidate &C);
  /// Builds it, for the next candidate() with this text and purpose.
  void begin(const Candidate &C);
  /// What \p Candidate is compared with and timed against: its host code is by
  /// the same compiler. An error when the source does not compile or nvcc
  /// cannot be run.
  llvm::Expected<const BuildResult *> source(const BuildResult &Candidate) {
    return source(Candidate.Host);
  }

private:
  llvm::Expected<std::string> folder();
  llvm::Expected<const BuildResult *> source(HostCompiler By);
  /// The source's library as \p Name in \p Where, which an earlier process may
  /// have built.
  llvm::Expected<BuildResult> fetchOrBuild(const std::string &Where,
                                           const std::string &Name,
                                           HostCompiler By);
  llvm::Expected<BuildResult> make(const Candidate &C);
  /// \p First is what came of it by our own, or null.
  llvm::Expected<BuildResult> build(llvm::StringRef Text, HostCompiler By,
                                    const BuildResult *First = nullptr);
  /// Whether our own compiler is asked for an attempt, if it takes the source.
  bool mayUseOwn() const;
  /// Whether it is known not to take the source.
  bool ownIsOfNoUse();
  const Task &Of;
  BuildOptions Options;
  TextsAhead Ahead;
  std::mutex OfSource; ///< guards what follows; held while a source is built
  std::unique_ptr<TemporaryFolder> Folder;
  /// By host compiler; not Ok where our own did not compile it.
  std::map<HostCompiler, BuildResult> Sources;
  /// By purpose and text. Last: it ends before all else does.
  WorkAhead<std::pair<Purpose, std::string>, BuildResult> Begun;
};

} // namespace stark

#endif
