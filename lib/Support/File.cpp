//===- File.cpp - Whole files, atomically written -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text of an error -> llvm::Error
///
//===----------------------------------------------------------------------===//

#include "stark/Support/File.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

llvm::Expected<std::string> stark::readFile(llvm::StringRef Path) {
  std::string Error;
  std::optional<std::string> Bytes = posix::readFile(Path.str(), Error);
  if (!Bytes)
    return failed(Error);
  return std::move(*Bytes);
}

llvm::Expected<std::string> stark::readText(llvm::StringRef Path) {
  constexpr size_t Most = size_t(64) << 20;
  std::string Error;
  std::optional<std::string> Text = posix::readFile(Path.str(), Error, Most);
  if (!Text)
    return failed(Error);
  return std::move(*Text);
}

llvm::Error stark::createFolders(llvm::StringRef Path) {
  std::string Error;
  return posix::createFolders(Path.str(), Error) ? llvm::Error::success()
                                                 : failed(Error);
}

llvm::Error stark::writeFileAtomically(llvm::StringRef Path,
                                       llvm::StringRef Bytes, bool Flush) {
  std::string Error;
  return posix::writeFileAtomically(Path.str(), Bytes, Error, Flush)
             ? llvm::Error::success()
             : failed(Error);
}

std::string stark::absolutePath(llvm::StringRef Path) {
  llvm::SmallString<256> Absolute(Path);
  fs::make_absolute(Absolute);
  path::remove_dots(Absolute, /*remove_dot_dot=*/true);
  return std::string(Absolute);
}

llvm::Expected<std::unique_ptr<FileLock>>
stark::lockFolder(llvm::StringRef Path) {
  std::string Error;
  std::unique_ptr<FileLock> Lock = posix::lockFolder(Path.str(), Error);
  if (!Lock)
    return failed(Error);
  return Lock;
}

llvm::Expected<TemporaryFolder>
TemporaryFolder::create(llvm::StringRef Prefix) {
  llvm::SmallString<256> Made;
  if (std::error_code Code = fs::createUniqueDirectory(Prefix, Made))
    return failed("cannot create a temporary folder: " + Code.message());
  return TemporaryFolder(std::string(Made));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&Other)
    : Path(std::move(Other.Path)) {
  Other.Path.clear();
}

TemporaryFolder::~TemporaryFolder() {
  if (!Path.empty())
    (void)fs::remove_directories(Path, /*IgnoreErrors=*/true);
}

std::string stark::userCacheFolder() {
  if (const char *Own = std::getenv("STARK_CACHE_DIR"); Own && *Own)
    return Own;
  if (const char *Xdg = std::getenv("XDG_CACHE_HOME"); Xdg && *Xdg)
    return std::string(Xdg) + "/stark";
  if (const char *Home = std::getenv("HOME"); Home && *Home)
    return std::string(Home) + "/.cache/stark";
  return "";
}
