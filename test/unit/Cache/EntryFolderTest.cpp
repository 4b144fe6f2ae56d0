//===- EntryFolderTest.cpp -----------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryFolder.h"
#include "Bundle.h"
#include "stark/Cache/Limits.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;
using std::chrono::hours;

namespace {
/// A store with entries of one source, and a folder that is none of its.
struct EntryFolderTest : testing::Test {
  std::optional<TemporaryFolder> Root;
  std::string Store, Elsewhere;

  void SetUp() override {
    llvm::Expected<TemporaryFolder> Made = TemporaryFolder::create("entries");
    ASSERT_TRUE(bool(Made));
    Root.emplace(std::move(*Made));
    Store = (Root->path() + "/store").str();
    Elsewhere = (Root->path() + "/elsewhere").str();
    write(Elsewhere + "/kernel.cu", "not yours");
    write(Elsewhere + "/entry.json", "not yours");
  }
  void write(const std::string &Path, llvm::StringRef Text) {
    ASSERT_FALSE(bool(writeFileAtomically(Path, Text, /*Flush=*/false)));
  }
  std::string read(const std::string &Path) {
    std::string Error;
    return posix::readFile(Path, Error).value_or("");
  }
  std::string place(const std::string &Kernel, const std::string &Word = "a") {
    StoredEntry E;
    E.Key = sha256(Word);
    E.Arch = "sm_90";
    E.Kernel = textDigest(Kernel);
    llvm::Expected<std::string> Where = placeEntry(E, Kernel, "k.cu", Store);
    if (!Where) {
      ADD_FAILURE() << llvm::toString(Where.takeError());
      return "";
    }
    return *Where;
  }
  std::string problem(const std::string &Where) {
    StoredEntry E;
    std::string Kernel;
    bool Gone = false;
    return readWhole(Where, E, Kernel, Gone);
  }
  /// As if it was used last \p Ago.
  void age(const std::string &File, hours Ago) {
    int Opened = ::open(File.c_str(), O_RDONLY);
    ASSERT_GE(Opened, 0);
    auto When = std::chrono::system_clock::now() - Ago;
    EXPECT_FALSE(fs::setLastAccessAndModificationTime(Opened, When, When));
    ::close(Opened);
  }
};
} // namespace

// What stands in an entry's place and is none is refused, and at once: links,
// pipes, devices and huge files.
TEST_F(EntryFolderTest, OnlyRegularFilesAreRead) {
  std::string Where = place("int f();"), Kernel = Where + "/kernel.cu";
  EXPECT_EQ(problem(Where), "");
  auto Refused = [&](const char *Why) {
    EXPECT_NE(problem(Where).find(Why), std::string::npos) << problem(Where);
    fs::remove(Kernel);
  };
  fs::remove(Kernel);
  write(Elsewhere + "/same", "int f();");
  ASSERT_EQ(::symlink((Elsewhere + "/same").c_str(), Kernel.c_str()), 0);
  Refused("it is a link");
  ASSERT_EQ(::mkfifo(Kernel.c_str(), 0600), 0);
  Refused("it is no regular file");
  ASSERT_FALSE(fs::create_directory(Kernel));
  Refused("it is no regular file");
  write(Kernel, "");
  ASSERT_EQ(::truncate(Kernel.c_str(), off_t(1) << 40), 0);
  Refused("is larger than 16777216 bytes");
  ASSERT_EQ(::symlink("/dev/zero", Kernel.c_str()), 0);
  Refused("it is a link");
}

TEST_F(EntryFolderTest, FolderIsNoLink) {
  std::string Where = place("int f();"), Moved = Elsewhere + "/moved";
  ASSERT_FALSE(fs::rename(Where, Moved));
  ASSERT_EQ(::symlink(Moved.c_str(), Where.c_str()), 0);
  EXPECT_EQ(problem(Where), "it is no folder");
}

// In the place of a link the link goes, and what it leads to stays.
TEST_F(EntryFolderTest, NothingOutsideIsRemoved) {
  std::string Where = place("int f();");
  ASSERT_EQ(removeEntry(Where), "");
  EXPECT_FALSE(fs::exists(Where));
  for (bool Replaced : {false, true}) {
    ASSERT_EQ(::symlink(Elsewhere.c_str(), Where.c_str()), 0);
    if (Replaced)
      EXPECT_EQ(place("int f();"), Where);
    else
      EXPECT_EQ(removeEntry(Where), "");
    EXPECT_EQ(read(Elsewhere + "/kernel.cu"), "not yours");
    EXPECT_EQ(read(Elsewhere + "/entry.json"), "not yours");
  }
  EXPECT_EQ(problem(Where), "");
}

TEST_F(EntryFolderTest, StrangersFilesStay) {
  std::string Where = place("int f();");
  write(Where + "/notes.txt", "mine");
  EXPECT_NE(removeEntry(Where).find("holds 'notes.txt'"), std::string::npos);
  EXPECT_EQ(read(Where + "/notes.txt"), "mine");
  EXPECT_EQ(problem(Where), "");
}

// What was used last stays; what is no entry is neither counted nor removed.
TEST_F(EntryFolderTest, LeastRecentlyUsedGoes) {
  std::string Old = place("int f();", "a"), Used = place("int f();", "b"),
              New = place("int f();", "c");
  write(Store + "/torch/0123456789abcdef/huge", std::string(1 << 16, 'x'));
  for (const std::string &Where : {Old, Used})
    for (const char *Name : {"/entry.json", "/kernel.cu"})
      age(Where + Name, hours(48));
  noteUse(Used);
  uint64_t Size = stateOf(New)->Bytes;
  auto Now = std::chrono::system_clock::now();
  Pruned P = prune(Store, {2 * Size, std::nullopt}, Now);
  EXPECT_EQ(P.Entries, 1u);
  EXPECT_EQ(P.Kept, 2u);
  EXPECT_EQ(P.KeptBytes, 2 * Size);
  EXPECT_FALSE(fs::exists(Old));
  age(Used + "/used", hours(48));
  P = prune(Store, {2 * Size, 1u}, Now);
  EXPECT_EQ(P.Entries, 1u);
  EXPECT_FALSE(fs::exists(Used));
  EXPECT_EQ(problem(New), "");
  EXPECT_TRUE(fs::exists(Store + "/torch/0123456789abcdef/huge"));
}

// What a killed writer left goes in time; that of one who writes now stays.
TEST_F(EntryFolderTest, LeftoversGo) {
  place("int f();");
  std::string Home = Store + "/k.cu";
  for (const char *Name : {"/.tmp-old", "/.tmp-new"}) {
    write(Home + Name + "/kernel.cu", "half");
    write(Home + Name + "/entry.json.abc123.tmp", "half");
  }
  age(Home + "/.tmp-old", hours(2));
  Pruned P = prune(Store, {}, std::chrono::system_clock::now());
  EXPECT_EQ(P.Leftovers, 1u);
  EXPECT_FALSE(fs::exists(Home + "/.tmp-old"));
  EXPECT_TRUE(fs::exists(Home + "/.tmp-new/kernel.cu"));
}

// What is packed is found again elsewhere, byte for byte; what was changed on
// the way is refused, and nothing is written.
TEST_F(EntryFolderTest, PackedAndUnpacked) {
  std::string Kernel = "// \xff\xfe caf\xe9\r\nint f();\n";
  llvm::Expected<std::string> Line = packEntry(place(Kernel));
  ASSERT_TRUE(bool(Line));
  std::string Other = (Root->path() + "/other").str();
  llvm::Expected<std::string> Where = unpackEntry(*Line, Other);
  ASSERT_TRUE(bool(Where)) << llvm::toString(Where.takeError());
  EXPECT_EQ(read(*Where + "/kernel.cu"), Kernel);
  EXPECT_EQ(problem(*Where), "");
  std::string None = (Root->path() + "/none").str();
  // The name is part of the key, which is found under that name alone.
  size_t Name = Line->find("k.cu");
  for (size_t At = 0; At < Line->size(); At += 7) {
    if (At >= Name && At < Name + 4)
      continue;
    std::string Changed = *Line;
    Changed[At] = Changed[At] == 'x' ? 'y' : 'x';
    llvm::Expected<std::string> Refused = unpackEntry(Changed, None);
    EXPECT_FALSE(bool(Refused)) << Changed;
    if (!Refused)
      llvm::consumeError(Refused.takeError());
  }
  EXPECT_FALSE(fs::exists(None));
}

TEST_F(EntryFolderTest, NamesAreOfFiles) {
  for (const char *Name : {"", ".", "..", ".hidden", "a/b.cu", "../a.cu",
                           "a\nb.cu", "a\x1b[2J.cu"})
    EXPECT_FALSE(isSourceName(Name)) << Name;
  for (const char *Name : {"softmax.cu", "a b.cu", "\xc3\xa4.cu"})
    EXPECT_TRUE(isSourceName(Name)) << Name;
}

TEST(LimitsTest, AreRead) {
  EXPECT_EQ(llvm::cantFail(parseBytes("3K", "x")), 3072u);
  EXPECT_EQ(llvm::cantFail(parseBytes("0", "x")), 0u);
  for (const char *Text : {"", "K", "1T", "-1", "1.5G", "99999999999G"}) {
    llvm::Expected<uint64_t> Bytes = parseBytes(Text, "--max-size");
    ASSERT_FALSE(bool(Bytes)) << Text;
    EXPECT_EQ(llvm::toString(Bytes.takeError()),
              "--max-size: got '" + std::string(Text) +
                  "', wanted a number of bytes such as 500M or 2G");
  }
}
