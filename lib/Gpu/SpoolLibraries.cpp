//===- SpoolLibraries.cpp - Sources' libraries that jobs share -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpoolLibraries.h"
#include "stark/Job/Job.h"
#include "stark/Posix/File.h"
#include "stark/Posix/Sha256.h"
#include <algorithm>

using namespace stark;
using namespace stark::gpu;

namespace {
constexpr size_t LargestJob = size_t(64) << 20;
constexpr size_t LargestLibrary = size_t(1) << 30;
/// In memory, so that the spool's disk is asked once a task. The newest is kept
/// whatever its size.
constexpr size_t KeptLibraries = 8, KeptBytes = size_t(64) << 20;
} // namespace

const SpoolLibraries::Library *SpoolLibraries::find(const std::string &Digest,
                                                    std::string &Error) {
  auto Known = std::find_if(Kept.begin(), Kept.end(), [&](const Library &L) {
    return L.Digest == Digest;
  });
  if (Known != Kept.end()) {
    std::rotate(Kept.begin(), Known, Known + 1);
    return &Kept.front();
  }
  std::string File = Spool + "/libraries/" + Digest + ".so", Problem;
  std::optional<std::string> Bytes =
      posix::readRegularFile(File, LargestLibrary, Problem);
  if (!Bytes) {
    Error = "the source's library is not in the spool: " + Problem;
    return nullptr;
  }
  if (std::string Got = posix::sha256(*Bytes); Got != Digest) {
    Error = File + ": the source's library was changed: its SHA-256 is " + Got;
    return nullptr;
  }
  Kept.push_front({Digest, std::move(*Bytes)});
  size_t Sum = 0, Count = 0;
  for (const Library &L : Kept) {
    Sum += L.Bytes.size();
    if (Count && (Sum > KeptBytes || Count == KeptLibraries))
      break;
    ++Count;
  }
  Kept.resize(Count);
  return &Kept.front();
}

bool SpoolLibraries::place(const std::string &Folder, std::string &Error) {
  std::string File = Folder + "/job.json", Problem;
  std::optional<std::string> Text =
      posix::readRegularFile(File, LargestJob, Problem);
  if (!Text)
    return true; // the judge says what is wrong with it
  job::Job J = job::parseJob(*Text, File, Problem);
  if (!Problem.empty() || J.SharedSource.empty())
    return true;
  const Library *Shared = find(J.SharedSource, Error);
  return Shared && posix::writeFileAtomically(Folder + "/" + J.SourceLibrary,
                                              Shared->Bytes, Error,
                                              /*Flush=*/false);
}
