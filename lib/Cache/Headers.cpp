//===- Headers.cpp - Headers that an entry names -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Headers.h"
#include "stark/Support/CodeTokens.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using Kind = MissReason::Kind;

/// Where \p H lies now; empty when nowhere. Only regular files are looked at:
/// what an entry names may be anything.
static std::string locate(const StoredHeader &H, llvm::StringRef SourceFolder,
                          const BuildFlags &Flags) {
  llvm::SmallString<256> Found;
  if (H.From == "source") {
    Found = SourceFolder;
    path::append(Found, H.Path);
    return fs::is_regular_file(Found) ? absolutePath(Found) : "";
  }
  for (const std::string &Folder : Flags.Folders) {
    Found = Folder;
    path::append(Found, H.Path);
    if (fs::is_regular_file(Found))
      return absolutePath(Found);
  }
  return "";
}

std::optional<MissReason>
stark::checkHeaders(llvm::ArrayRef<StoredHeader> Headers, const CacheInputs &In,
                    const KeyParts &Now, std::vector<std::string> &Found) {
  std::string SourceFolder =
      path::parent_path(absolutePath(In.SourcePath)).str();
  std::optional<MissReason> Why;
  for (const StoredHeader &H : Headers) {
    std::string Where = locate(H, SourceFolder, Now.Flags);
    if (!Where.empty())
      Found.push_back(Where);
    if (Why)
      continue;
    if (Where.empty()) {
      Why = MissReason{Kind::HeaderMissing, H.Path};
      continue;
    }
    llvm::Expected<std::string> Content = readFile(Where);
    if (!Content)
      Why = MissReason{Kind::HeaderUnread, "",
                       llvm::toString(Content.takeError())};
    else if (codeDigest(*Content) != H.Digest)
      Why = MissReason{Kind::HeaderChanged, H.Path};
  }
  return Why;
}

llvm::Expected<StoredHeader> stark::nameHeader(llvm::StringRef File,
                                               llvm::StringRef SourceFolder,
                                               const BuildFlags &Flags) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  StoredHeader H;
  H.Digest = codeDigest(*Text);
  size_t Deepest = 0;
  auto Try = [&](llvm::StringRef Folder, const char *From) {
    llvm::StringRef Rest = File;
    if (Folder.size() <= Deepest || !Rest.consume_front(Folder) ||
        !Rest.consume_front("/"))
      return;
    Deepest = Folder.size();
    H.From = From;
    H.Path = Rest.str();
  };
  Try(SourceFolder, "source");
  for (const std::string &Folder : Flags.Folders)
    Try(absolutePath(Folder), "include");
  if (Deepest)
    return H;
  // Reached by "../": the same steps lead to it from another checkout.
  H.From = "source";
  llvm::StringRef Base = SourceFolder;
  while (!Base.empty() && Base != "/" &&
         !File.starts_with((Base + "/").str())) {
    H.Path += "../";
    Base = path::parent_path(Base);
  }
  H.Path += File.drop_front(Base == "/" ? 1 : Base.size() + 1).str();
  return H;
}
