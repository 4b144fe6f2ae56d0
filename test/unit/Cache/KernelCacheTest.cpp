//===- KernelCacheTest.cpp -----------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/KernelCache.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <optional>
#include <set>
#include <unistd.h>

using namespace stark;
namespace fs = llvm::sys::fs;

namespace {
bool has(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

/// Why there is no hit.
std::string said(const Lookup &L) { return L.Why ? L.Why->str() : ""; }

/// In which order headers are named does not count.
std::vector<std::string> sorted(std::vector<std::string> Names) {
  llvm::sort(Names);
  return Names;
}

/// A project with a source, its workload, a header beside the source and one in
/// an include folder; and a store.
struct KernelCacheTest : testing::Test {
  std::optional<TemporaryFolder> Root;
  std::string Project, Store;
  CacheInputs In;
  CacheEntry Entry;

  void SetUp() override {
    llvm::Expected<TemporaryFolder> Made = TemporaryFolder::create("cache");
    ASSERT_TRUE(bool(Made));
    Root.emplace(std::move(*Made));
    Store = (Root->path() + "/store").str();
    makeProject("project");
    Entry.WinnerText = "// the winner\r\nint f();";
    Entry.Facts.Title = "Vector loads";
    Entry.Facts.Advice = "Load 16 bytes";
    Entry.Facts.Model = "a model";
    Entry.Facts.Device = "NVIDIA H200";
    Entry.Facts.Timings = {"n=1: 20.0 us, was 40.0 us"};
    Entry.Facts.RunDigest = "abc";
    Entry.Facts.Speedup = 2;
    storeIt();
  }

  void makeProject(const std::string &Name) {
    Project = (Root->path() + "/" + Name).str();
    write("src/softmax.cu", "#include \"util.cuh\"\n");
    write("src/softmax.workload.json", "{}");
    write("src/util.cuh", "// util\n");
    write("include/lib/math.cuh", "// math\n");
    In = {Project + "/src/softmax.cu",
          Project + "/src/softmax.workload.json",
          {"-O3", "-I" + Project + "/include", "-DWIDE=1"},
          "sm_90",
          "13.0"};
    Entry.Headers = {Project + "/src/util.cuh",
                     Project + "/include/lib/math.cuh"};
  }

  void write(const std::string &Path, llvm::StringRef Text) {
    ASSERT_FALSE(bool(writeFileAtomically(Project + "/" + Path, Text)));
  }
  std::string storeIt() {
    llvm::Expected<std::string> Place = storeWinner(In, Entry, Store);
    if (!Place) {
      ADD_FAILURE() << llvm::toString(Place.takeError());
      return "";
    }
    return *Place;
  }
  Lookup find(const std::vector<std::string> &Folders) {
    llvm::Expected<Lookup> Found = findWinner(In, Folders);
    if (!Found) {
      ADD_FAILURE() << llvm::toString(Found.takeError());
      return {};
    }
    return *Found;
  }
  Lookup find() { return find({Store}); }
  std::string key() {
    llvm::Expected<std::string> Key = cacheKey(In);
    if (!Key) {
      ADD_FAILURE() << llvm::toString(Key.takeError());
      return "";
    }
    return *Key;
  }
  std::string read(const std::string &Path) {
    llvm::Expected<std::string> Text = readFile(Path);
    if (!Text) {
      ADD_FAILURE() << llvm::toString(Text.takeError());
      return "";
    }
    return *Text;
  }
  /// Names of what lies in \p Folder.
  std::set<std::string> names(const std::string &Folder) {
    std::set<std::string> Names;
    std::error_code Code;
    for (fs::directory_iterator I(Folder, Code), End; I != End && !Code;
         I.increment(Code))
      Names.insert(llvm::sys::path::filename(I->path()).str());
    return Names;
  }
};
} // namespace

// What was stored is found, byte for byte, with all that is known of it.
TEST_F(KernelCacheTest, RoundTrip) {
  Lookup L = find();
  ASSERT_EQ(L.result(), LookupResult::Hit) << said(L);
  EXPECT_EQ(L.Entry.WinnerText, Entry.WinnerText);
  EXPECT_EQ(L.Entry.Facts.Title, "Vector loads");
  EXPECT_EQ(L.Entry.Facts.Advice, "Load 16 bytes");
  EXPECT_EQ(L.Entry.Facts.Model, "a model");
  EXPECT_EQ(L.Entry.Facts.Device, "NVIDIA H200");
  EXPECT_EQ(L.Entry.Facts.Timings, Entry.Facts.Timings);
  EXPECT_EQ(L.Entry.Facts.RunDigest, "abc");
  EXPECT_EQ(L.Entry.Facts.Speedup, 2);
  EXPECT_FALSE(L.Entry.Facts.Modelled);
  EXPECT_EQ(sorted(L.Entry.Headers), sorted(Entry.Headers));
}

// A store can be committed: another checkout, elsewhere, finds the same winner,
// and no entry names the place where it was made.
TEST_F(KernelCacheTest, MovesWithTheProject) {
  std::string Text = read(find().From + "/entry.json");
  EXPECT_FALSE(has(Text, Root->path().str())) << Text;
  makeProject("deeper/checkout");
  Lookup L = find();
  ASSERT_EQ(L.result(), LookupResult::Hit) << said(L);
  EXPECT_EQ(sorted(L.Entry.Headers), sorted(Entry.Headers));
}

// A header above the source's folder, outside all include folders, is found
// from another checkout as well.
TEST_F(KernelCacheTest, HeaderAboveTheSource) {
  for (const char *Name : {"one", "other/two"}) {
    makeProject(Name);
    write("common/shared.cuh", "// shared\n");
    Entry.Headers = {Project + "/common/shared.cuh"};
    if (llvm::StringRef(Name) == "one") {
      std::string Text = read(storeIt() + "/entry.json");
      EXPECT_FALSE(has(Text, Root->path().str())) << Text;
    }
    Lookup L = find();
    ASSERT_EQ(L.result(), LookupResult::Hit) << said(L);
  }
}

// Everything that can change the answer is part of the key.
TEST_F(KernelCacheTest, KeyCounts) {
  std::set<std::string> Keys{key()};
  auto Differs = [&](const char *What) {
    EXPECT_TRUE(Keys.insert(key()).second) << What;
    EXPECT_EQ(find().result(), LookupResult::Miss) << What;
  };
  CacheInputs Old = In;
  In.Arch = "sm_100";
  Differs("architecture");
  In = Old;
  In.Flags.push_back("--use_fast_math");
  Differs("added flag");
  In = Old;
  In.Flags.back() = "-DWIDE=2";
  Differs("definition");
  In = Old;
  write("src/softmax.workload.json", "{ }");
  Differs("workload");
  write("src/softmax.workload.json", "{}");
  write("src/softmax.cu", "#include \"util.cuh\"\nint edited;\n");
  Differs("source");
}

// What is nothing to a compiler keeps the winner, as does another toolkit, with
// which the winner is tried.
TEST_F(KernelCacheTest, CommentsDoNotCount) {
  std::string Key = key();
  write("src/softmax.cu", "// said\r\n#include  \"util.cuh\" /* again */\r\n");
  write("src/util.cuh", "/* util,\n   edited */\n\n");
  In.ToolkitVersion = "13.1";
  EXPECT_EQ(key(), Key);
  EXPECT_EQ(find().result(), LookupResult::Hit) << said(find());
}

// Two flags are not one flag with both texts.
TEST_F(KernelCacheTest, KeyKeepsFlagsApart) {
  In.Flags = {"-DA", "-DB"};
  std::string Two = key();
  In.Flags = {"-DA-DB"};
  EXPECT_NE(key(), Two);
  In.Flags = {"-DB", "-DA"};
  EXPECT_NE(key(), Two);
}

// Where include folders lie does not count, in any spelling; what is in them
// does.
TEST_F(KernelCacheTest, KeyIgnoresPlaces) {
  std::string Key = key();
  std::string Folder = Project + "/include";
  for (const std::vector<std::string> &Spelling :
       std::vector<std::vector<std::string>>{{"-I", Folder},
                                             {"-I" + Folder},
                                             {"-isystem", Folder},
                                             {"-isystem=" + Folder}}) {
    In.Flags = {"-O3"};
    In.Flags.insert(In.Flags.end(), Spelling.begin(), Spelling.end());
    In.Flags.push_back("-DWIDE=1");
    EXPECT_EQ(key(), Key) << Spelling.front();
    EXPECT_EQ(find().result(), LookupResult::Hit) << Spelling.front();
  }
}

// Which architectures Clang compiles for, and with whose toolkit, is no more in
// the key than what nvcc is told of them.
TEST_F(KernelCacheTest, KeyIgnoresClangsPlacesAndArchitectures) {
  std::string Key = key();
  In.Flags.insert(In.Flags.end(),
                  {"--cuda-path=/elsewhere", "--offload-arch=sm_90",
                   "--cuda-gpu-arch=sm_80", "--no-cuda-version-check",
                   "-Wno-unknown-cuda-version"});
  EXPECT_EQ(key(), Key);
  In.Flags.push_back("-fgpu-rdc");
  EXPECT_NE(key(), Key);
}

// Of libtorch the version counts, not where its headers are or what is in them.
TEST_F(KernelCacheTest, VersionOfTorchCounts) {
  auto Install = [&](const std::string &Place, const std::string &Minor) {
    write(Place + "/ATen/ATen.h", "// " + Place);
    write(Place + "/torch/headeronly/version.h",
          "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR " +
              Minor + "\n#define TORCH_VERSION_PATCH 0\n");
    In.Flags = {"-O3", "-I" + Project + "/include", "-DWIDE=1",
                "-isystem=" + Project + "/" + Place};
  };
  Install("torch", "11");
  EXPECT_EQ(said(find()), "it is of no torch, not of torch 2.11.0");
  storeIt();
  Lookup L = find();
  EXPECT_EQ(L.result(), LookupResult::Hit) << said(L);
  // What is installed in the same place is seen.
  EXPECT_TRUE(llvm::is_contained(
      L.Watched, absolutePath(Project + "/torch/torch/headeronly/version.h")));
  Install("elsewhere", "11");
  EXPECT_EQ(find().result(), LookupResult::Hit);
  Install("torch", "12");
  EXPECT_EQ(said(find()), "it is of torch 2.11.0, not of torch 2.12.0");
}

// A folder without both is none of libtorch's.
TEST_F(KernelCacheTest, TorchHasAVersion) {
  std::string Key = key();
  write("torch/ATen/ATen.h", "");
  In.Flags.push_back("-I" + Project + "/torch");
  EXPECT_EQ(key(), Key);
}

TEST_F(KernelCacheTest, ChangedHeaderIsNamed) {
  write("src/util.cuh", "int edited;\n");
  Lookup L = find();
  EXPECT_EQ(L.result(), LookupResult::Miss);
  EXPECT_EQ(said(L), "header util.cuh changed");
  // A build depends on it, so that going back is seen.
  EXPECT_EQ(sorted(L.Entry.Headers), sorted(Entry.Headers));
  write("src/util.cuh", "// util\n");
  EXPECT_EQ(find().result(), LookupResult::Hit);
}

TEST_F(KernelCacheTest, MissingHeaderIsNamed) {
  fs::remove(Project + "/include/lib/math.cuh");
  Lookup L = find();
  EXPECT_EQ(L.result(), LookupResult::Miss);
  EXPECT_EQ(said(L), "header lib/math.cuh is missing");
}

// Winners for both states of a header live side by side.
TEST_F(KernelCacheTest, OneEntryForEachHeader) {
  std::string First = find().From;
  write("src/util.cuh", "int other;\n");
  Entry.WinnerText = "// another winner\n";
  std::string Second = storeIt();
  EXPECT_NE(First, Second);
  EXPECT_EQ(find().Entry.WinnerText, "// another winner\n");
  write("src/util.cuh", "// util\n");
  EXPECT_EQ(find().Entry.WinnerText, "// the winner\r\nint f();");
}

// Storing again replaces the entry and leaves no temporary behind.
TEST_F(KernelCacheTest, Replaces) {
  Entry.WinnerText = "// better\n";
  std::string Place = storeIt();
  EXPECT_EQ(find().Entry.WinnerText, "// better\n");
  EXPECT_EQ(names(Store + "/softmax.cu"),
            std::set<std::string>{llvm::sys::path::filename(Place).str()});
  EXPECT_EQ(names(Place), (std::set<std::string>{"entry.json", "kernel.cu"}));
}

// Folders are looked through in order, and a damaged entry in the first does
// not hide a whole one in the second.
TEST_F(KernelCacheTest, Order) {
  std::string First = find().From, Second = (Root->path() + "/user").str();
  Entry.WinnerText = "// from the user's cache\n";
  ASSERT_TRUE(bool(storeWinner(In, Entry, Second)));
  EXPECT_EQ(find({Store, Second}).From, First);
  EXPECT_EQ(find({Root->path().str() + "/none", Second}).Entry.WinnerText,
            Entry.WinnerText);
  ASSERT_FALSE(bool(writeFileAtomically(First + "/kernel.cu", "damaged")));
  Lookup L = find({Store, Second});
  ASSERT_EQ(L.result(), LookupResult::Hit) << said(L);
  EXPECT_EQ(L.Entry.WinnerText, Entry.WinnerText);
}

// Whatever happens to an entry's files, the answer is a miss that says so.
TEST_F(KernelCacheTest, DamageIsSaid) {
  std::string Place = find().From;
  std::string Json = read(Place + "/entry.json");
  std::string Kernel = read(Place + "/kernel.cu");
  auto Corrupt = [&](const char *What) {
    Lookup L = find();
    EXPECT_EQ(L.result(), LookupResult::Corrupt) << What;
    EXPECT_TRUE(has(said(L), "corrupt")) << What << ": " << said(L);
    EXPECT_TRUE(L.Entry.WinnerText.empty()) << What;
  };
  auto Put = [&](const char *Name, const std::string &Text) {
    ASSERT_FALSE(bool(writeFileAtomically(Place + "/" + Name, Text)));
  };
  Put("kernel.cu", Kernel + " ");
  Corrupt("a byte more in kernel.cu");
  Put("kernel.cu", "");
  Corrupt("an empty kernel.cu");
  fs::remove(Place + "/kernel.cu");
  Corrupt("no kernel.cu");
  Put("kernel.cu", Kernel);

  for (const char *Text :
       {"", "{", "[]", "null", "7", "{}", "{\"format\": \"1\"}",
        "{\"format\": 1, \"key\": [], \"kernel\": {}, \"headers\": 3, "
        "\"winner\": 4, \"check\": \"\"}",
        "\xff\xfe", "{\"headers\": [null, 3], \"winner\": null}"}) {
    Put("entry.json", Text);
    Corrupt(Text);
  }
  // Cut anywhere.
  for (size_t Length = 0; Length + 2 < Json.size(); Length += 37) {
    Put("entry.json", Json.substr(0, Length));
    Corrupt("a torn entry.json");
  }
  // A fact was edited by hand.
  std::string Edited = Json;
  size_t At = Edited.find("Vector loads");
  ASSERT_NE(At, std::string::npos);
  Edited[At] = 'W';
  Put("entry.json", Edited);
  Corrupt("an edited fact");
  fs::remove(Place + "/entry.json");
  Corrupt("no entry.json");
  Put("entry.json", Json);
  EXPECT_EQ(find().result(), LookupResult::Hit);
}

// Text that is not UTF-8 does not stop a winner from being stored and found.
TEST_F(KernelCacheTest, NotUtf8) {
  Entry.WinnerText = "// \xff\xfe caf\xe9\n";
  Entry.Facts.Title = "caf\xe9";
  storeIt();
  Lookup L = find();
  ASSERT_EQ(L.result(), LookupResult::Hit) << said(L);
  EXPECT_EQ(L.Entry.WinnerText, Entry.WinnerText);
}

// A store that cannot be written is an error that names it; nothing is left.
TEST_F(KernelCacheTest, CannotWrite) {
  std::string File = (Root->path() + "/file").str();
  ASSERT_FALSE(bool(writeFileAtomically(File, "in the way")));
  llvm::Expected<std::string> Place = storeWinner(In, Entry, File);
  ASSERT_FALSE(bool(Place));
  std::string Message = llvm::toString(Place.takeError());
  EXPECT_TRUE(has(Message, "cannot store the winner of softmax.cu")) << Message;
  EXPECT_TRUE(has(Message, File)) << Message;
  EXPECT_EQ(read(File), "in the way");
}

TEST_F(KernelCacheTest, ReadOnlyStore) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may write anywhere";
  std::string Place = (Root->path() + "/readonly").str();
  fs::create_directory(Place);
  fs::setPermissions(Place, fs::perms(0555));
  llvm::Expected<std::string> Made = storeWinner(In, Entry, Place);
  fs::setPermissions(Place, fs::perms(0755));
  ASSERT_FALSE(bool(Made));
  EXPECT_TRUE(has(llvm::toString(Made.takeError()), Place));
  EXPECT_TRUE(names(Place).empty());
}

// A header that cannot be read when a winner is stored is an error, not an
// entry that would never be found.
TEST_F(KernelCacheTest, StoreNeedsItsHeaders) {
  Entry.Headers.push_back(Project + "/src/gone.cuh");
  llvm::Expected<std::string> Place = storeWinner(In, Entry, Store);
  ASSERT_FALSE(bool(Place));
  EXPECT_TRUE(has(llvm::toString(Place.takeError()), "gone.cuh"));
}

// A look-up fails only when the source or the workload cannot be read.
TEST_F(KernelCacheTest, UnreadableInputs) {
  fs::remove(In.WorkloadPath);
  llvm::Expected<Lookup> Found = findWinner(In, {Store});
  ASSERT_FALSE(bool(Found));
  EXPECT_TRUE(has(llvm::toString(Found.takeError()), "softmax.workload.json"));
}

TEST_F(KernelCacheTest, MissSaysWhy) {
  In.Arch = "sm_100";
  Lookup L = find();
  EXPECT_EQ(L.result(), LookupResult::Miss);
  EXPECT_TRUE(has(said(L), "sm_100")) << said(L);
}
