//===- FileStorage.cpp - A folder that machines share --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Storages.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;
namespace fs = llvm::sys::fs;

namespace {
/// A file system that does not answer is ended by who waits for this process.
class FileStorage : public TimedStorage {
public:
  explicit FileStorage(std::string Folder) : Folder(std::move(Folder)) {}

  llvm::Expected<std::optional<std::string>>
  get(llvm::StringRef Name, size_t Limit, uint64_t) override {
    std::string Error, Path = pathOf(Name);
    if (llvm::Error E = check())
      return E;
    fs::file_status Status;
    if (fs::status(Path, Status, /*follow=*/false) ==
        std::errc::no_such_file_or_directory)
      return std::nullopt;
    std::optional<std::string> Bytes =
        posix::readRegularFile(Path, Limit, Error);
    if (!Bytes)
      return failed(Error);
    return Bytes;
  }

  llvm::Expected<bool> has(llvm::StringRef Name, uint64_t) override {
    if (llvm::Error E = check())
      return E;
    return fs::is_regular_file(pathOf(Name));
  }

  llvm::Error put(llvm::StringRef Name, llvm::StringRef Bytes,
                  uint64_t) override {
    if (llvm::Error E = check())
      return E;
    return writeFileAtomically(pathOf(Name), Bytes);
  }

private:
  std::string pathOf(llvm::StringRef Name) const {
    return (Folder + "/" + Name).str();
  }
  /// Where nothing is mounted, nothing is to be made.
  llvm::Error check() const {
    if (fs::is_directory(Folder))
      return llvm::Error::success();
    return failed("'" + Folder + "' is no folder");
  }
  const std::string Folder;
};
} // namespace

std::unique_ptr<TimedStorage> stark::makeFileStorage(std::string Folder) {
  return std::make_unique<FileStorage>(std::move(Folder));
}
