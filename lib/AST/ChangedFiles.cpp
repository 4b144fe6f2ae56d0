//===- ChangedFiles.cpp - Files with another text than the disk's ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/ChangedFiles.h"
#include <memory>

using namespace stark;
using namespace llvm;

namespace {
using Shared = std::shared_ptr<const FileChange>;

class ChangedFile : public vfs::File {
public:
  ChangedFile(std::unique_ptr<vfs::File> Real, Shared Change)
      : Real(std::move(Real)), Change(std::move(Change)) {}
  ErrorOr<vfs::Status> status() override { return Real->status(); }
  ErrorOr<std::string> getName() override { return Real->getName(); }
  std::error_code close() override { return Real->close(); }
  ErrorOr<std::unique_ptr<MemoryBuffer>> getBuffer(const Twine &Name,
                                                   int64_t Size,
                                                   bool EndsWithNull,
                                                   bool IsVolatile) override {
    auto Buffer = Real->getBuffer(Name, Size, EndsWithNull, IsVolatile);
    if (!Buffer)
      return Buffer;
    std::optional<std::string> Text = Change->Make((*Buffer)->getBuffer());
    if (!Text)
      return Buffer;
    return MemoryBuffer::getMemBufferCopy(*Text,
                                          (*Buffer)->getBufferIdentifier());
  }

private:
  std::unique_ptr<vfs::File> Real;
  Shared Change;
};

class ChangedFiles : public vfs::ProxyFileSystem {
public:
  ChangedFiles(IntrusiveRefCntPtr<vfs::FileSystem> Real, FileChange Change)
      : ProxyFileSystem(std::move(Real)),
        Change(std::make_shared<const FileChange>(std::move(Change))) {}
  ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &Path) override {
    auto Opened = ProxyFileSystem::openFileForRead(Path);
    if (!Opened || !Change->Concerns(Path.str()))
      return Opened;
    return std::make_unique<ChangedFile>(std::move(*Opened), Change);
  }

private:
  Shared Change;
};
} // namespace

IntrusiveRefCntPtr<vfs::FileSystem>
stark::withChange(IntrusiveRefCntPtr<vfs::FileSystem> Real, FileChange Change) {
  return makeIntrusiveRefCnt<ChangedFiles>(std::move(Real), std::move(Change));
}
