//===- CacheKey.cpp - What an answer follows from -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheKey.h"
#include "Entry.h"
#include "stark/Json/Foreign.h"
#include "stark/Posix/Libtorch.h"
#include "stark/Support/CodeTokens.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static constexpr size_t KeyDigits = 12;
static constexpr int DeepestNesting = 16;

KeyParts::KeyParts(const CacheInputs &In)
    : Name(llvm::sys::path::filename(In.SourcePath)), Flags(In.Flags) {}

/// The libtorch whose headers are found first.
static void findTorch(KeyParts &Parts) {
  for (const std::string &Folder : Parts.Flags.Folders) {
    Parts.Torch = posix::libtorchVersion(Folder);
    if (Parts.Torch.empty())
      continue;
    for (const std::string &File : posix::versionFiles(Folder))
      if (Parts.TorchFile.empty() && llvm::sys::fs::exists(File))
        Parts.TorchFile = absolutePath(File);
    return;
  }
}

std::string KeyParts::prefix() const { return Key.substr(0, KeyDigits) + "-"; }

static std::string keyOf(const KeyParts &Parts, llvm::StringRef Arch,
                         llvm::StringRef Source) {
  DigestBuilder Key;
  Key.add("format", "stark kernel cache 2");
  Key.add("name", Parts.Name);
  Key.add("source", Source);
  Key.add("workload", Parts.Workload);
  for (const std::string &Flag : Parts.Flags.Counting)
    Key.add("flag", Flag);
  Key.add("arch", Arch);
  if (!Parts.Torch.empty())
    Key.add("torch", Parts.Torch);
  return Key.finish();
}

/// Empty when \p Workload names none.
static std::string entryIn(llvm::StringRef Workload) {
  json Root = parseForeignObject<json>(Workload, DeepestNesting,
                                       /*Comments=*/true);
  if (!Root.is_object())
    return "";
  auto Entry = Root.find("entry");
  return Entry != Root.end() && Entry->is_string() ? Entry->get<std::string>()
                                                   : "";
}

llvm::Expected<KeyParts> stark::makeKey(const CacheInputs &In) {
  KeyParts Parts(In);
  llvm::Expected<std::string> Source = readFile(In.SourcePath);
  if (!Source)
    return Source.takeError();
  llvm::Expected<std::string> Workload = readFile(In.WorkloadPath);
  if (!Workload)
    return Workload.takeError();
  Parts.Source = codeDigest(*Source);
  Parts.Workload = textDigest(*Workload);
  findTorch(Parts);
  Parts.Key = keyOf(Parts, In.Arch, Parts.Source);
  return Parts;
}

std::optional<ReachedKey> stark::makeReachedKey(const CacheInputs &In,
                                                const KeyParts &Parts) {
  llvm::Expected<std::string> Source = readFile(In.SourcePath);
  llvm::Expected<std::string> Workload = readFile(In.WorkloadPath);
  // makeKey() has read them.
  if (!Source || !Workload) {
    llvm::consumeError(Source.takeError());
    llvm::consumeError(Workload.takeError());
    return std::nullopt;
  }
  std::string Entry = entryIn(*Workload);
  std::optional<CodeReach> Reach = reachOf(*Source, Entry);
  if (Entry.empty() || !Reach)
    return std::nullopt;
  std::string Key = keyOf(Parts, In.Arch, codeDigest(Reach->Text));
  return ReachedKey{std::move(Key), std::move(*Reach)};
}

llvm::Expected<std::string> stark::cacheKey(const CacheInputs &In) {
  llvm::Expected<KeyParts> Parts = makeKey(In);
  if (!Parts)
    return Parts.takeError();
  return Parts->Key;
}
