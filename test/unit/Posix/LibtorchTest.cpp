//===- LibtorchTest.cpp - Where libtorch is ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Libtorch.h"
#include "stark/Posix/File.h"
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace stark::posix;

namespace {
class LibtorchTest : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/stark-torch-XXXXXX";
    Folder = mkdtemp(Name);
    if (const char *Given = std::getenv("STARK_TORCH"))
      Before = Given;
    unsetenv("STARK_TORCH");
  }
  void TearDown() override {
    fs::remove_all(Folder);
    if (Before)
      setenv("STARK_TORCH", Before->c_str(), 1);
    else
      unsetenv("STARK_TORCH");
  }
  void write(const std::string &Name, const std::string &Text = "") {
    std::string Failed;
    ASSERT_TRUE(writeFileAtomically(Folder + "/" + Name, Text, Failed))
        << Failed;
  }
  /// Headers and libraries of \p Version below \p Root.
  void install(const std::string &Root, const std::string &Version = "2.11.0",
               const std::string &Libraries = "lib",
               const std::string &VersionFile = "torch/headeronly/version.h") {
    std::string Text = "#pragma once\n";
    size_t At = 0;
    for (const char *Part : {"MAJOR", "MINOR", "PATCH"}) {
      size_t End = Version.find('.', At);
      Text += std::string("#define TORCH_VERSION_") + Part + " " +
              Version.substr(At, End - At) + "\n";
      At = End + 1;
    }
    write(Root + "include/" + VersionFile, Text);
    write(Root + "include/ATen/ATen.h");
    for (const char *Name : {"libtorch.so", "libtorch_cpu.so", "libc10.so"})
      write(Root + Libraries + "/" + Name);
  }
  std::optional<Libtorch> find(const std::string &Given) {
    Error.clear();
    return findLibtorch(Given.empty() ? "" : Folder + "/" + Given, Error);
  }

  std::string Folder, Error;
  std::optional<std::string> Before;
};
} // namespace

// The torch package of a Python, or libtorch unpacked.
TEST_F(LibtorchTest, APackage) {
  install("torch/");
  std::optional<Libtorch> T = find("torch");
  ASSERT_TRUE(T) << Error;
  EXPECT_EQ(T->Root, Folder + "/torch");
  EXPECT_EQ(T->Libraries, Folder + "/torch/lib");
  EXPECT_EQ(T->Includes,
            (std::vector<std::string>{
                Folder + "/torch/include",
                Folder + "/torch/include/torch/csrc/api/include"}));
  EXPECT_EQ(T->Version, "2.11.0");
  EXPECT_FALSE(T->Cuda);
  EXPECT_EQ(T->libraryFiles(),
            (std::vector<std::string>{Folder + "/torch/lib/libc10.so",
                                      Folder + "/torch/lib/libtorch_cpu.so",
                                      Folder + "/torch/lib/libtorch.so"}));
}

// CUDA's part is found by its file, and its libraries beside the package. Each
// can be loaded after those before it.
TEST_F(LibtorchTest, OneWithCuda) {
  install("site-packages/torch/");
  write("site-packages/torch/lib/libtorch_cuda.so");
  write("site-packages/torch/lib/libc10_cuda.so");
  write("site-packages/nvidia/cu13/lib/libcudart.so.13");
  write("site-packages/nvidia/doc/readme");
  std::optional<Libtorch> T = find("site-packages/torch");
  ASSERT_TRUE(T) << Error;
  EXPECT_TRUE(T->Cuda);
  std::string Files;
  for (const std::string &File : T->libraryFiles())
    Files += fs::path(File).filename().string() + " ";
  EXPECT_EQ(Files, "libc10.so libtorch_cpu.so libc10_cuda.so libtorch_cuda.so "
                   "libtorch.so ");
  EXPECT_EQ(T->searchPath().rfind(T->Libraries + ":", 0), 0u);
  EXPECT_NE(T->searchPath().find("/../nvidia/cu13/lib"), std::string::npos);
  EXPECT_EQ(T->searchPath().find("nvidia/doc"), std::string::npos);
}

TEST_F(LibtorchTest, AVirtualEnvironment) {
  install("venv/lib/python3.11/site-packages/torch/");
  std::optional<Libtorch> T = find("venv");
  ASSERT_TRUE(T) << Error;
  EXPECT_EQ(T->Root, Folder + "/venv/lib/python3.11/site-packages/torch");
}

// Debian's: headers in include, libraries in the folder of the architecture,
// the version in the older of two files.
TEST_F(LibtorchTest, ADistributions) {
  install("usr/", "1.13.1", "lib/x86_64-linux-gnu",
          "torch/csrc/api/include/torch/version.h");
  std::optional<Libtorch> T = find("usr");
  ASSERT_TRUE(T) << Error;
  EXPECT_EQ(T->Libraries, Folder + "/usr/lib/x86_64-linux-gnu");
  EXPECT_EQ(T->Version, "1.13.1");
}

// Libraries without headers, as a Python that only runs has them; headers whose
// version cannot be told; nothing at all.
TEST_F(LibtorchTest, WhatIsNotWhole) {
  install("torch/");
  fs::remove(Folder + "/torch/include/ATen/ATen.h");
  EXPECT_FALSE(find("torch"));
  EXPECT_EQ(Error, "no libtorch in '" + Folder +
                       "/torch': wanted lib/libtorch.so and include/ATen, or "
                       "a Python's folder that has torch");
  install("torch/");
  EXPECT_TRUE(find("torch")) << Error;
  write("torch/include/torch/headeronly/version.h",
        "#define TORCH_VERSION x\n");
  EXPECT_FALSE(find("torch"));
  install("torch/");
  fs::remove(Folder + "/torch/lib/libtorch.so");
  EXPECT_FALSE(find("torch"));
  EXPECT_FALSE(find("nowhere"));
}

// What is given comes before the variable, which comes before all that is
// looked for; and is the only place then.
TEST_F(LibtorchTest, TheVariable) {
  install("a/", "2.11.0");
  install("b/", "2.10.2");
  setenv("STARK_TORCH", (Folder + "/a").c_str(), 1);
  ASSERT_TRUE(find("")) << Error;
  EXPECT_EQ(find("")->Version, "2.11.0");
  EXPECT_EQ(find("b")->Version, "2.10.2");
  setenv("STARK_TORCH", (Folder + "/none").c_str(), 1);
  EXPECT_FALSE(find(""));
  EXPECT_EQ(Error.rfind("no libtorch in '" + Folder + "/none': ", 0), 0u)
      << Error;
}
