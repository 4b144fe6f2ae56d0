//===- SourceFile.cpp - A file as Clang sees it ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/SourceFile.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

/// What nobody wrote by hand, or can read.
static constexpr uint64_t SourceLimit = 16 << 20;

/// What begins with these bytes; empty: it may be a source.
static llvm::StringRef foreignKind(llvm::StringRef Bytes) {
  for (auto [Start, Kind] :
       {std::pair<llvm::StringRef, llvm::StringRef>("%PDF-", "a PDF document"),
        {"\x7f"
         "ELF",
         "a program or library"},
        {"PK\x03\x04", "a ZIP archive"},
        {"\x1f\x8b", "a compressed file"},
        {"\xFF\xFE", "text in UTF-16"},
        {"\xFE\xFF", "text in UTF-16"}})
    if (Bytes.starts_with(Start))
      return Kind;
  return Bytes.contains('\0') ? "a file of bytes that are no text" : "";
}

llvm::Expected<std::string> stark::readSource(llvm::StringRef Path) {
  uint64_t Size = 0;
  if (!llvm::sys::fs::file_size(Path, Size) && Size > SourceLimit)
    return failed("cannot read '" + Path + "': got " + llvm::Twine(Size >> 20) +
                  " MiB, wanted a source of at most " +
                  llvm::Twine(SourceLimit >> 20));
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text;
  if (llvm::StringRef Kind = foreignKind(*Text); !Kind.empty())
    return failed("cannot read '" + Path + "': got " + Kind +
                  ", wanted a source of CUDA C++");
  return Text;
}

llvm::Expected<std::unique_ptr<ParsedSource>>
stark::parseSourceFile(llvm::StringRef Path, const ParseOptions &Options,
                       llvm::StringRef As) {
  llvm::Expected<std::string> Text = readSource(Path);
  if (!Text)
    return Text.takeError();
  return parseSource(As.empty() ? Path : As, *Text, Options);
}
