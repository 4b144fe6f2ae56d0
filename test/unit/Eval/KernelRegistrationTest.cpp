//===- KernelRegistrationTest.cpp - Stubs that reach the runtime ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What is registered is linked with a runtime of the test's own, and run.
///
//===----------------------------------------------------------------------===//

#include "KernelRegistration.h"
#include "FolderFixture.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

namespace {
/// As Clang makes it of a host half, in the words of g++.
const char *const HostText = R"cpp(
extern "C" void stark_launch(const void *, const void *const *,
                             const unsigned long *, unsigned);
#define KERNEL __attribute__((section(".text.stark_kernels")))
KERNEL void scale(float *x, int n) {
  const void *Values[] = {&x, &n, 0};
  stark_launch((const void *)&scale, Values, 0, 2);
}
KERNEL void other(int n) {
  const void *Values[] = {&n, 0};
  stark_launch((const void *)&other, Values, 0, 1);
}
)cpp";

const char *const RuntimeText = R"cpp(
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
struct Extent { unsigned x, y, z; };
struct Wrapper { int Magic, Version; const char *Code; void *More; };
static std::map<const void *, std::string> &known() {
  static std::map<const void *, std::string> Known;
  return Known;
}
void scale(float *, int);
void other(int);
extern "C" {
void **__cudaRegisterFatBinary(void *At) {
  const Wrapper *W = (const Wrapper *)At;
  std::printf("code %x %d %.8s\n", W->Magic, W->Version, W->Code);
  return (void **)At;
}
void __cudaRegisterFatBinaryEnd(void **) { std::printf("end\n"); }
void __cudaRegisterFunction(void **, const char *Stub, char *, const char *Name,
                            int, void *, void *, void *, void *, int *) {
  known()[Stub] = Name;
}
int __cudaPopCallConfiguration(Extent *Grid, Extent *Block,
                               unsigned long *Shared, void *Stream) {
  *Grid = {1, 2, 3};
  *Block = {4, 5, 6};
  *Shared = 7;
  *(void **)Stream = (void *)8;
  return 0;
}
int cudaLaunchKernel(const void *Stub, Extent Grid, Extent Block, void **Values,
                     unsigned long Shared, void *Stream) {
  std::printf("%s <<<%u %u %u, %u %u %u, %lu, %ld>>>", known()[Stub].c_str(),
              Grid.x, Grid.y, Grid.z, Block.x, Block.y, Block.z, Shared,
              (long)Stream);
  std::printf(" %d\n", *(int *)Values[known()[Stub] == "_Z5scalePfi"]);
  return 0;
}
}
int main() {
  scale(nullptr, 41);
  other(42);
}
)cpp";

class KernelRegistration : public FolderFixture {
protected:
  void SetUp() override {
    write("device.fatbin", "the code");
    compile("host", HostText);
    Parts = {path("host.o"), path("device.fatbin"),
             listOf("_Z5scalePfi") + listOf("_Z5otheri") +
                 listOf("_Z6unusedv")};
  }
  static std::string listOf(llvm::StringRef Symbol) {
    return ("ptxas info    : Compiling entry function '" + Symbol +
            "' for 'sm_90'\n")
        .str();
  }
  ProcessResult run(std::string Program, std::vector<std::string> Arguments) {
    ProcessSpec Spec;
    Spec.Program = std::move(Program);
    Spec.Arguments = std::move(Arguments);
    return llvm::cantFail(runProcess(Spec));
  }
  void compile(std::string Name, llvm::StringRef Text) {
    write(Name + ".cpp", Text);
    ProcessResult How = run(
        "g++", {"-fPIC", "-c", "-o", path(Name + ".o"), path(Name + ".cpp")});
    ASSERT_TRUE(How.ok()) << How.Err;
  }
  bool registered() {
    return llvm::cantFail(registerKernels(Parts, path("made.o"), 60000));
  }

  KernelParts Parts;
};
} // namespace

// Each stub launches its kernel, by name, with what was pushed and what it was
// called with.
TEST_F(KernelRegistration, StubsLaunchTheirKernels) {
  ASSERT_TRUE(registered());
  compile("runtime", RuntimeText);
  ProcessResult Linked = run("g++", {"-o", path("program"), path("made.o"),
                                     path("host.o"), path("runtime.o")});
  ASSERT_TRUE(Linked.ok()) << Linked.Err;
  EXPECT_EQ(run(path("program"), {}).Out,
            "code 466243b1 1 the code\nend\n"
            "_Z5scalePfi <<<1 2 3, 4 5 6, 7, 8>>> 41\n"
            "_Z5otheri <<<1 2 3, 4 5 6, 7, 8>>> 42\n");
}

// A stub whose kernel nvcc did not make would fail when it is launched.
TEST_F(KernelRegistration, AStubWithoutItsKernelIsRefused) {
  Parts.DeviceSaid = listOf("_Z5scalePfi") + listOf("_Z5otherl");
  EXPECT_FALSE(registered());
  EXPECT_FALSE(llvm::sys::fs::exists(path("made.o")));
}

// As is one that no other object can name, or that an assembler may read as
// something else.
TEST_F(KernelRegistration, AStubThatCannotBeNamedIsRefused) {
  for (auto [Declared, Symbol] :
       {std::pair("KERNEL static void local() {}\nvoid (*kept)() = local;\n",
                  "_ZL5localv"),
        std::pair("KERNEL void gr\xc3\xb6sse() {}\n", "_Z7gr\xc3\xb6ssev")}) {
    compile("host", std::string(HostText) + Declared);
    Parts.DeviceSaid += listOf(Symbol);
    EXPECT_FALSE(registered()) << Declared;
  }
}

TEST_F(KernelRegistration, AnUnreadableObjectIsAnError) {
  write("host.o", "no object");
  llvm::Expected<bool> Done = registerKernels(Parts, path("made.o"), 60000);
  ASSERT_FALSE(bool(Done));
  EXPECT_NE(llvm::toString(Done.takeError()).find("host.o"), std::string::npos);
}
