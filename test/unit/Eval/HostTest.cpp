//===- HostTest.cpp - How host code is compiled ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderFixture.h"
#include "HostFlags.h"
#include "HostObjects.h"

using namespace stark;

// What nvcc takes for the whole text is what the host's compiler takes for the
// host half, in the same order; what is nvcc's own is left out.
TEST(HostFlags, AreThoseThatChangeTheText) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(
      hostFlagsOf({"-arch=sm_90", "-DN=4", "-D", "M", "-I", "a b",
                   "-isystem=sys", "-std=c++20", "--use_fast_math", "-O3",
                   "-Xcompiler", "-fopenmp,-g", "-Xcompiler=-mavx2", "-gencode",
                   "arch=compute_90,code=sm_90", "-include", "x.h"}),
      (Words{"-DN=4", "-D", "M", "-I", "a b", "-isystem", "sys", "-std=c++20",
             "-O3", "-fopenmp", "-g", "-mavx2", "-include", "x.h"}));
  EXPECT_EQ(hostFlagsOf({"-I"}), Words{"-I"});
}

TEST(HostFlags, TellWhatNvccHasToLink) {
  EXPECT_TRUE(wantDeviceLinker({"-O3", "-rdc=true"}));
  EXPECT_TRUE(wantDeviceLinker({"--relocatable-device-code", "true"}));
  EXPECT_TRUE(wantDeviceLinker({"-dlto"}));
  EXPECT_FALSE(wantDeviceLinker({"-O3", "-lineinfo", "-DRDC"}));
}

// A home may be several machines'.
TEST(HostFlags, TellWhatIsOfThisProcessor) {
  EXPECT_TRUE(areOfProcessor({"-O3", "-Xcompiler=-march=native"}));
  EXPECT_TRUE(areOfProcessor({"-Xcompiler", "-O2,-mtune=native"}));
  EXPECT_FALSE(areOfProcessor({"-O3", "-Xcompiler", "-mavx2", "-DNATIVE"}));
}

// What an attempt's host code would be compiled without may change it.
TEST(HostFlags, TellWhichAreKnown) {
  EXPECT_TRUE(areKnownToHosts({}));
  EXPECT_TRUE(areKnownToHosts({"-O3", "-std=c++17", "-I", "a b", "-Dx=-y",
                               "--use_fast_math", "-Xcompiler", "-fopenmp",
                               "-Xptxas=-v", "-gencode",
                               "arch=compute_90,code=sm_90", "-lcublas"}));
  for (const char *Flag :
       {"--default-stream=per-thread", "-default-stream", "--define-macro=N=4",
        "-rdc=true", "-ccbin=clang++", "x.cpp"})
    EXPECT_FALSE(areKnownToHosts({"-O3", Flag})) << Flag;
}

namespace {
class HostObjectsTest : public FolderFixture {
protected:
  std::string key(llvm::StringRef Text, llvm::StringRef Home = "/home") {
    DigestBuilder Around;
    Around.add("home", Home);
    return HostObjects(path("kept")).key(Text, std::move(Around));
  }
  bool same(llvm::StringRef A, llvm::StringRef B) { return key(A) == key(B); }
};
} // namespace

TEST_F(HostObjectsTest, KeepWhatWasCompiled) {
  llvm::cantFail(createFolders(path("kept")));
  HostObjects Objects(path("kept"));
  std::string Key = key("int x;\n");
  EXPECT_FALSE(Objects.fetch(Key, path("out.o")));
  llvm::cantFail(writeFileAtomically(path("made.o"), "object"));
  Objects.keep(Key, path("made.o"));
  ASSERT_TRUE(Objects.fetch(Key, path("out.o")));
  EXPECT_EQ(llvm::cantFail(readFile(path("out.o"))), "object");
  EXPECT_FALSE(Objects.fetch(key("int y;\n"), path("out.o")));
  EXPECT_FALSE(Objects.fetch(key("int x;\n", "/elsewhere"), path("out.o")));
}

// A folder that is not there, or none: compiling goes on.
TEST_F(HostObjectsTest, KeepNothingWithoutAFolder) {
  llvm::cantFail(writeFileAtomically(path("made.o"), "object"));
  HostObjects(path("none")).keep(key("int x;\n"), path("made.o"));
  EXPECT_EQ(HostObjects("").key("int x;\n", DigestBuilder()), "");
  HostObjects("").keep("", path("made.o"));
  EXPECT_FALSE(HostObjects("").fetch("", path("out.o")));
}

// A kernel that has another line more moves the host code below it.
TEST_F(HostObjectsTest, DoNotCountLines) {
  EXPECT_TRUE(same("#line 3 \"a.cu\"\nint x;\n", "#line 4 \"a.cu\"\nint x;\n"));
  EXPECT_FALSE(same("#line 3\nint x;\n", "#line 4\nint x; \n"));
}

TEST_F(HostObjectsTest, CountThemWhereTheCodeCanTell) {
  for (llvm::StringRef Code :
       {"int x = __LINE__;", "int x = __builtin_LINE();", "auto x = A ## B;",
        "auto x = std::source_location::current();", "auto x = R\"(\")\";"})
    EXPECT_FALSE(same(("#line 3\n" + Code + "\n").str(),
                      ("#line 4\n" + Code + "\n").str()))
        << Code.str();
  // It is a part of the literal.
  EXPECT_FALSE(
      same("auto x = \"\\\n#line 3\";\n", "auto x = \"\\\n#line 4\";\n"));
}
