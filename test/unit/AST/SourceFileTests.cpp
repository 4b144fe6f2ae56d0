//===- SourceFileTests.cpp - What is no source ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/SourceFile.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

using namespace stark;

// What cannot be a source is one error that says what it is.
TEST(SourceFile, WhatIsNoSource) {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("source"));
  std::string Path = (Folder.path() + "/k.cu").str();
  auto Read = [&](llvm::StringRef Bytes) {
    llvm::cantFail(writeFileAtomically(Path, Bytes));
    llvm::Expected<std::string> Text = readSource(Path);
    return Text ? *Text : "error: " + llvm::toString(Text.takeError());
  };
  std::string Begins = "error: cannot read '" + Path + "': got ",
              Ends = ", wanted a source of CUDA C++";
  EXPECT_EQ(Read("%PDF-1.4\n"), Begins + "a PDF document" + Ends);
  EXPECT_EQ(Read(llvm::StringRef("\x7f"
                                 "ELF\2\1\0",
                                 7)),
            Begins + "a program or library" + Ends);
  EXPECT_EQ(Read(llvm::StringRef("\xFF\xFEi\0n\0t\0", 8)),
            Begins + "text in UTF-16" + Ends);
  EXPECT_EQ(Read(llvm::StringRef("int a\0;", 7)),
            Begins + "a file of bytes that are no text" + Ends);
  EXPECT_EQ(Read(std::string((16 << 20) + 1, ' ')),
            Begins + "16 MiB, wanted a source of at most 16");
  // Clang reads these, and says what it finds.
  for (const char *Text : {"", "int a;", "\xEF\xBB\xBF// caf\xE9\r\n"})
    EXPECT_EQ(Read(Text), Text);
}
