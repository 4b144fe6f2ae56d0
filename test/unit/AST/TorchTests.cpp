//===- TorchTests.cpp ----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Torch.h"
#include "stark/Support/File.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace stark;

namespace {
/// A libtorch of empty files, and a source that includes it through a header of
/// its own.
struct TorchTest : testing::Test {
  std::optional<TemporaryFolder> Root;
  std::string Includes, Source;
  ParseOptions Options;

  void SetUp() override {
    llvm::Expected<TemporaryFolder> Made = TemporaryFolder::create("torch");
    ASSERT_TRUE(bool(Made));
    Root.emplace(std::move(*Made));
    Includes = absolutePath((Root->path() + "/torch/include").str());
    Source = write("k.cu", "#include \"own.h\"\n");
    write("own.h", "#include <ATen/ATen.h>\n");
    write("flags", "-I " + Includes);
    write("torch/lib/libtorch.so", "");
    write("torch/include/ATen/ATen.h", "#include <c10/core.h>\n");
    write("torch/include/c10/core.h", "int core;\n");
    write("torch/include/torch/headeronly/version.h",
          "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 11\n"
          "#define TORCH_VERSION_PATCH 1\n");
    Options.Toolkit = "none";
    // What the flags say comes first.
    ::setenv("STARK_TORCH", "/nowhere", 1);
  }
  void TearDown() override { ::unsetenv("STARK_TORCH"); }

  std::string write(const std::string &Path, llvm::StringRef Text) {
    std::string File = (Root->path() + "/" + Path).str();
    EXPECT_FALSE(bool(writeFileAtomically(File, Text)));
    return File;
  }
};
} // namespace

// However the flags spell it, its libtorch is found, and its headers are none
// of the project's.
TEST_F(TorchTest, InFlags) {
  for (const std::vector<std::string> &Flags :
       std::vector<std::vector<std::string>>{
           {"-I" + Includes},
           {"-I", Includes},
           {"-isystem=" + Includes},
           {"-isystem", Includes},
           {"--system-include=" + Includes},
           {"-Xcompiler=-isystem," + Includes},
           {"--options-file", (Root->path() + "/flags").str()}}) {
    Options.Flags = Flags;
    llvm::Expected<posix::Libtorch> Found = torchFor(Options);
    ASSERT_TRUE(bool(Found))
        << Flags.front() << llvm::toString(Found.takeError());
    EXPECT_EQ(Found->Version, "2.11.1");
    EXPECT_EQ(Found->Includes.front(), Includes);
    auto Parsed = parseSource(
        Source, "#include \"own.h\"\nint f() { return core; }\n", Options);
    ASSERT_TRUE(bool(Parsed));
    EXPECT_TRUE((*Parsed)->errors().empty()) << Flags.front();
    std::vector<std::string> Headers = (*Parsed)->includedFiles();
    ASSERT_EQ(Headers.size(), 1u) << Flags.front();
    EXPECT_EQ(llvm::sys::path::filename(Headers.front()), "own.h");
  }
}

TEST_F(TorchTest, NotInFlags) {
  Options.Flags = {"-I" + Root->path().str()};
  EXPECT_TRUE(torchFolders(Options).empty());
  llvm::Expected<posix::Libtorch> Found = torchFor(Options);
  ASSERT_FALSE(bool(Found));
  EXPECT_NE(llvm::toString(Found.takeError()).find("'/nowhere'"),
            std::string::npos);
}
