//===- HostObjects.cpp - Host code that was compiled before --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostObjects.h"
#include "stark/Support/File.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

/// A third of a megabyte each.
static constexpr uint64_t MaxFiles = 400;

/// llvm::pruneCache() looks at files of this name alone.
std::string HostObjects::fileOf(llvm::StringRef Key) const {
  return (Folder + "/llvmcache-" + Key + ".o").str();
}

/// Whether it can tell the lines it stands on, but for the messages of
/// libtorch's macros; or have a directive's text in a literal.
static bool knowsItsLines(llvm::StringRef Text) {
  for (llvm::StringRef Word : {"LINE", "source_location", "R\"", "##"})
    if (Text.contains(Word))
      return true;
  return false;
}

std::string HostObjects::key(llvm::StringRef Text, DigestBuilder Around) const {
  if (Folder.empty())
    return "";
  if (knowsItsLines(Text))
    return Around.add("with lines", Text).finish().substr(0, 32);
  std::string Kept;
  bool GoesOn = false; // from the line before
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    if (GoesOn || !Line.starts_with("#line "))
      Kept += (Line + "\n").str();
    GoesOn = Line.rtrim().ends_with("\\");
    Text = Rest;
  }
  return Around.add("text", Kept).finish().substr(0, 32);
}

bool HostObjects::fetch(llvm::StringRef Key, llvm::StringRef Object) const {
  return !Key.empty() && !llvm::sys::fs::copy_file(fileOf(Key), Object);
}

void HostObjects::keep(llvm::StringRef Key, llvm::StringRef Object) const {
  if (Key.empty())
    return;
  llvm::Expected<std::string> Bytes = readFile(Object);
  if (!Bytes)
    return llvm::consumeError(Bytes.takeError());
  // Without it the next one compiles.
  if (llvm::Error E = writeFileAtomically(fileOf(Key), *Bytes,
                                          /*Flush=*/false))
    return llvm::consumeError(std::move(E));
  llvm::CachePruningPolicy Policy;
  Policy.MaxSizeFiles = MaxFiles;
  llvm::pruneCache(Folder, Policy);
}
