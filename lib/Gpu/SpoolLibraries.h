//===- SpoolLibraries.h - Sources' libraries that jobs share -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   DIR/libraries/DIGEST.so -> DIR/claimed/ID/source.so, for each job that
/// names it. What its name does not tell the truth about is nobody's source.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_GPU_SPOOLLIBRARIES_H
#define STARK_LIB_GPU_SPOOLLIBRARIES_H

#include <deque>
#include <string>

namespace stark::gpu {

class SpoolLibraries {
public:
  explicit SpoolLibraries(std::string Spool) : Spool(std::move(Spool)) {}

  /// Puts the library that the job in \p Folder shares with others there.
  /// Nothing is done where it shares none, or is not a job at all. False, with
  /// \p Error, when there is no such library, or it is another than it should
  /// be.
  bool place(const std::string &Folder, std::string &Error);

private:
  struct Library {
    std::string Digest, Bytes;
  };
  /// The library of \p Digest, or null with \p Error.
  const Library *find(const std::string &Digest, std::string &Error);

  std::string Spool;
  std::deque<Library> Kept; ///< the one that was used last is the first
};

} // namespace stark::gpu

#endif
