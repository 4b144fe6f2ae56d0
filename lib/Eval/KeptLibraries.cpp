//===- KeptLibraries.cpp - Sources that were built before -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptLibraries.h"
#include "stark/Json/Fields.h"
#include "stark/Posix/Lockdown.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/CachePruning.h"
#include <nlohmann/json.hpp>

using namespace stark;
using Json = nlohmann::json;

/// A megabyte each, as a rule.
static constexpr uint64_t MaxFiles = 100, MaxBytes = uint64_t(1) << 30;
static constexpr size_t LargestFile = size_t(256) << 20;

namespace {
struct KeptLibrary {
  std::string Key, Digest;
  BuildResult Built;
};

template <class IO> void fields(IO &F, KeptLibrary &K) {
  F.format("format", 1);
  F.required("key", K.Key);
  F.required("digest", K.Digest);
  F.required("diagnostics", K.Built.Diagnostics);
  F.required("imports", K.Built.Imports);
  F.required("initializers", K.Built.Initializers);
  F.required("has_device_code", K.Built.HasDeviceCode);
  F.required("precision", K.Built.Precision);
  F.required("async_barriers", K.Built.AsyncBarriers);
  F.required("device", K.Built.Device);
}
} // namespace

std::string stark::keptLibraries() {
  std::string Cache = userCacheFolder();
  return Cache.empty() || !posix::canConfineFiles() ? "" : Cache + "/libraries";
}

/// llvm::pruneCache() looks at files of this name alone.
static std::string fileOf(llvm::StringRef Folder, llvm::StringRef Key) {
  return (Folder + "/llvmcache-" + Key.take_front(32)).str();
}

std::optional<BuildResult> stark::fetchLibrary(llvm::StringRef Folder,
                                               llvm::StringRef Key,
                                               const std::string &Library) {
  if (Folder.empty() || Key.empty())
    return std::nullopt;
  TraceScope Traced("fetch library");
  std::string Error;
  std::optional<std::string> Text =
      posix::readRegularFile(fileOf(Folder, Key), LargestFile, Error);
  if (!Text)
    return std::nullopt;
  auto [Line, Bytes] = llvm::StringRef(*Text).split('\n');
  Json Read = Json::parse(Line.begin(), Line.end(), nullptr, false);
  KeptLibrary Kept;
  if (Read.is_discarded() || !readFields(Read, "", "", Kept).empty() ||
      Kept.Key != Key || Kept.Digest != sha256(Bytes))
    return std::nullopt;
  if (llvm::Error E = writeFileAtomically(Library, Bytes, /*Flush=*/false)) {
    llvm::consumeError(std::move(E));
    return std::nullopt;
  }
  Kept.Built.Ok = true;
  Kept.Built.Library = Library;
  return std::move(Kept.Built);
}

void stark::keepLibrary(llvm::StringRef Folder, llvm::StringRef Key,
                        const BuildResult &Built) {
  assert(Built.Ok && "what was not built is not kept");
  if (Folder.empty() || Key.empty())
    return;
  llvm::Expected<std::string> Bytes = readFile(Built.Library);
  if (!Bytes)
    return llvm::consumeError(Bytes.takeError());
  KeptLibrary Kept{Key.str(), sha256(*Bytes), Built};
  // Without it the next process builds.
  if (llvm::Error E = writeFileAtomically(
          fileOf(Folder, Key),
          dumpJson(writeFields<Json>(Kept)) + "\n" + *Bytes, /*Flush=*/false))
    return llvm::consumeError(std::move(E));
  llvm::CachePruningPolicy Policy;
  Policy.MaxSizeFiles = MaxFiles;
  Policy.MaxSizeBytes = MaxBytes;
  llvm::pruneCache(Folder, Policy);
}
