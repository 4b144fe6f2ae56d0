//===- LaunchFiles.cpp - Headers whose launches Clang can read ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/LaunchText.h"
#include "llvm/Support/VirtualFileSystem.h"

using namespace stark;
using namespace llvm;

namespace {
class LaunchFile : public vfs::File {
public:
  explicit LaunchFile(std::unique_ptr<vfs::File> Real)
      : Real(std::move(Real)) {}
  ErrorOr<vfs::Status> status() override { return Real->status(); }
  ErrorOr<std::string> getName() override { return Real->getName(); }
  std::error_code close() override { return Real->close(); }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &Name,
                                                   int64_t Size,
                                                   bool EndsWithNull,
                                                   bool IsVolatile) override {
    auto Buffer = Real->getBuffer(Name, Size, EndsWithNull, IsVolatile);
    // Most headers only print with these brackets.
    if (!Buffer || (!(*Buffer)->getBuffer().contains("<< <") &&
                    !(*Buffer)->getBuffer().contains("<<<")))
      return Buffer;
    return MemoryBuffer::getMemBufferCopy(
        launchesForClang((*Buffer)->getBuffer()),
        (*Buffer)->getBufferIdentifier());
  }

private:
  std::unique_ptr<vfs::File> Real;
};

class LaunchFiles : public vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;
  ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &Path) override {
    auto Opened = ProxyFileSystem::openFileForRead(Path);
    if (!Opened || StringRef(Path.str()).starts_with("/usr/"))
      return Opened;
    return std::make_unique<LaunchFile>(std::move(*Opened));
  }
};
} // namespace

IntrusiveRefCntPtr<vfs::FileSystem>
stark::filesForClang(IntrusiveRefCntPtr<vfs::FileSystem> Real) {
  return makeIntrusiveRefCnt<LaunchFiles>(std::move(Real));
}
