//===- KeptLibrariesTest.cpp - When a source is not built again -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptLibraries.h"
#include "FolderFixture.h"
#include "SourceKey.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <set>

using namespace stark;

namespace {
class KeptLibraries : public FolderFixture {
protected:
  void keep(llvm::StringRef Key) {
    write("made.so", std::string("library\n\0of bytes", 17));
    BuildResult Built;
    Built.Ok = true;
    Built.Library = path("made.so");
    Built.Diagnostics = "uses 8 registers\n";
    Built.Imports = {"cudaLaunchKernel", "expf"};
    Built.Initializers = 1;
    Built.HasDeviceCode = Built.AsyncBarriers = true;
    Built.Precision = {"ex2.approx"};
    Built.Device = "__global__ void k();\n";
    keepLibrary(path("kept"), Key, Built);
  }
  std::optional<BuildResult> fetch(llvm::StringRef Key) {
    return fetchLibrary(path("kept"), Key, path("out.so"));
  }
  std::string fileOf(llvm::StringRef Key) {
    return path("kept/llvmcache-") + Key.take_front(32).str();
  }
  const std::string Key = std::string(64, 'a');
};
} // namespace

// What comes back is what was kept, to the byte and to the field.
TEST_F(KeptLibraries, ComeBackWhole) {
  EXPECT_FALSE(fetch(Key));
  keep(Key);
  std::optional<BuildResult> Built = fetch(Key);
  ASSERT_TRUE(Built);
  EXPECT_EQ(llvm::cantFail(readFile(path("out.so"))),
            llvm::cantFail(readFile(path("made.so"))));
  EXPECT_TRUE(Built->Ok);
  EXPECT_EQ(Built->Library, path("out.so"));
  EXPECT_EQ(Built->Diagnostics, "uses 8 registers\n");
  EXPECT_EQ(llvm::join(Built->Imports, " "), "cudaLaunchKernel expf");
  EXPECT_EQ(Built->Initializers, 1u);
  EXPECT_TRUE(Built->HasDeviceCode);
  EXPECT_TRUE(Built->AsyncBarriers);
  EXPECT_EQ(llvm::join(Built->Precision, " "), "ex2.approx");
  EXPECT_EQ(Built->Device, "__global__ void k();\n");
}

// A file of another key under this one's name, one that was cut short or
// changed, a link and a folder are nothing that was kept.
TEST_F(KeptLibraries, AreNotTrustedByName) {
  keep(Key);
  std::string Good = llvm::cantFail(readFile(fileOf(Key)));
  EXPECT_FALSE(fetch(std::string(32, 'a') + std::string(32, 'b')));
  std::string Changed = Good;
  Changed.back() ^= 1;
  for (const std::string &Bad :
       {Changed, Good.substr(0, Good.size() - 1), Good.substr(0, 20),
        std::string(), "{}\n" + Good}) {
    llvm::cantFail(writeFileAtomically(fileOf(Key), Bad));
    EXPECT_FALSE(fetch(Key)) << Bad;
  }
  llvm::cantFail(writeFileAtomically(path("elsewhere"), Good));
  llvm::sys::fs::remove(fileOf(Key));
  ASSERT_FALSE(llvm::sys::fs::create_link(path("elsewhere"), fileOf(Key)));
  EXPECT_FALSE(fetch(Key));
  llvm::sys::fs::remove(fileOf(Key));
  ASSERT_FALSE(llvm::sys::fs::create_directory(fileOf(Key)));
  EXPECT_FALSE(fetch(Key));
}

// Without a folder or a key nothing is kept.
TEST_F(KeptLibraries, NeedAFolderAndAKey) {
  keep("");
  EXPECT_FALSE(llvm::sys::fs::exists(path("kept")));
  EXPECT_FALSE(fetch(""));
  EXPECT_FALSE(fetchLibrary("", Key, path("out.so")));
}

namespace {
constexpr const char *TwiceText = R"(#include "twice.h"
#ifdef __CUDA_ARCH__
#include "device.h"
#endif
__global__ void twice(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * FACTOR;
}
)";
constexpr const char *TwiceWorkload = R"({
  "launch": {"kernel": "twice", "grid": "n", "block": "1"},
  "sizes": [{"n": 100}],
  "arguments": {"y": {"dtype": "f32", "shape": ["n"], "role": "output"},
                "x": {"dtype": "f32", "shape": ["n"]}, "n": {"value": "n"}}})";

class SourceKeys : public FolderFixture {
protected:
  void SetUp() override {
    write("twice.cu", TwiceText);
    write("twice.h", "#define FACTOR 2.0f\n");
    write("device.h", "// for the device\n");
    write("host.h", "// for the host\n");
    write("twice.workload.json", TwiceWorkload);
    Options.Arch = "sm_90";
    Options.Toolkit = "none";
  }
  std::string key(std::vector<std::string> Flags = {}) {
    ParseOptions Parse;
    Parse.Flags = std::move(Flags);
    Parse.Toolkit = "none";
    return sourceKey(llvm::cantFail(loadTask(
                         path("twice.cu"), path("twice.workload.json"), Parse)),
                     Options);
  }
  BuildOptions Options;
};
} // namespace

// The same source has the same key in each process; with whatever is another,
// its library may be another.
TEST_F(SourceKeys, DifferWithWhatTheLibraryDependsOn) {
  std::set<std::string> Keys = {"", key()};
  EXPECT_EQ(key(), *Keys.rbegin());
  EXPECT_EQ(Keys.size(), 2u);
  auto IsNew = [&](const char *What, const std::string &Key) {
    EXPECT_TRUE(Keys.insert(Key).second) << What;
  };
  IsNew("flag", key({"-DN=4"}));
  IsNew("flag for the device", key({"--use_fast_math"}));
  Options.Arch = "sm_80";
  IsNew("architecture", key());
  Options.Arch = "sm_90";
  Options.Host = HostCompiler::Users;
  IsNew("host compiler", key());
  Options.Host = HostCompiler::Own;
  Options.Simulated = true;
  IsNew("simulator", key());
  Options.Simulated = false;
  write("twice.h", "#define FACTOR 3.0f\n");
  IsNew("header", key());
  // Which of the compilers reads it Clang, which reads it once, cannot say.
  write("device.h", "// of the device\n");
  IsNew("header of one pass", key());
  write("twice.cu", std::string("\n") + TwiceText);
  IsNew("text", key());
}

// What is nowhere told has no key.
TEST_F(SourceKeys, AreEmptyWhereSomethingIsNotTold) {
  for (const char *Flag :
       {"-lmine", "-Lwhere", "-Xcompiler=-march=native", "-rdc=true", "x.o"})
    EXPECT_EQ(key({Flag}), "") << Flag;
  EXPECT_NE(key({"-lineinfo"}), "");
  for (const char *Text :
       {"const char *const When = __TIME__;\n",
        "#if __has_include(\"here.h\")\n#endif\n",
        "#define ANY \"host.h\"\n#ifdef __clang__\n#else\n#include ANY\n"
        "#endif\n"}) {
    write("device.h", Text);
    EXPECT_EQ(key(), "") << Text;
  }
}
