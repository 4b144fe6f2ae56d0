//===- HostSyscallsTest.cpp - Instructions that a gate of names misses ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSyscalls.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include <gtest/gtest.h>

using namespace stark;

/// What is found in the object of \p Text.
static std::string found(const std::string &Text) {
  llvm::Expected<TemporaryFolder> Folder =
      TemporaryFolder::create("stark-syscalls");
  EXPECT_TRUE(bool(Folder));
  std::string Name = (Folder->path() + "/text").str();
  llvm::cantFail(writeFileAtomically(Name + ".cpp", Text));
  ProcessSpec Spec;
  Spec.Program = "c++";
  Spec.Arguments = {"-O1", "-c", "-fPIC", Name + ".cpp", "-o", Name + ".o"};
  ProcessResult Ran = llvm::cantFail(runProcess(Spec));
  EXPECT_TRUE(Ran.ok()) << Ran.Err;
  return llvm::cantFail(systemCallsIn({Name + ".o"}));
}

#ifdef __x86_64__
// However the text came by it, and in every function of the object.
TEST(HostSyscalls, EachWayIntoTheKernelIsSeen) {
  for (const char *Instruction :
       {"syscall", "sysenter", "int $0x80", "jmp 1f\\n1: syscall"}) {
    std::string Found =
        found("static void f() { asm volatile(\"" + std::string(Instruction) +
              "\"); }\nint g(int a) { f(); return a; }\n");
    EXPECT_NE(Found.find("makes a system call by itself"), std::string::npos)
        << Instruction << ": " << Found;
  }
  std::string Found =
      found("__attribute__((section(\".text.other\"))) void f() { "
            "asm volatile(\"syscall\"); }\n");
  EXPECT_NE(Found.find("(.text.other at"), std::string::npos) << Found;
}

// The processor's own clock has no name either.
TEST(HostSyscalls, TheClockIsSeen) {
  EXPECT_NE(found("unsigned long f() { return __builtin_ia32_rdtsc(); }\n")
                .find("reads the processor's clock"),
            std::string::npos);
}

// Nor has what else it tells beside the arguments.
TEST(HostSyscalls, WhatTheProcessorTellsIsSeen) {
  for (auto [Text, What] : {std::pair("rdrand %%eax", "random number"),
                            {"rdseed %%rax", "random"},
                            {"cpuid", "what it is"},
                            {"rdpid %%rax", "what it is"},
                            {"wrgsbase %%rax", "keeps in a register"}})
    EXPECT_NE(found("void f() { asm volatile(\"" + std::string(Text) +
                    "\" ::: \"rax\", \"rbx\", \"rcx\", \"rdx\"); }\n")
                  .find(What),
              std::string::npos)
        << Text;
}

// A constant among the code can be jumped into.
TEST(HostSyscalls, AConstantThatIsACall) {
  EXPECT_NE(found("unsigned f() { return 0xc3050f; }\n")
                .find("holds a constant whose bytes make a system call"),
            std::string::npos);
}

TEST(HostSyscalls, OrdinaryCodeHasNone) {
  EXPECT_EQ(found("#include <cmath>\n#include <string>\n#include <vector>\n"
                  "double f(const std::vector<double> &v) {\n"
                  "  double s = 0;\n"
                  "  for (double x : v) s += std::sin(x) * 4096;\n"
                  "  if (s < 0) throw std::string(\"negative\");\n"
                  "  return s;\n}\n"),
            "");
}
#endif
