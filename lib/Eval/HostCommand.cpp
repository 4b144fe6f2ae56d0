//===- HostCommand.cpp - Who compiles host code ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCommand.h"
#include "stark/HostCode/OwnCompiler.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace stark;

/// What g++ says to \p Question; empty when it cannot be run.
static std::string ask(const char *Question) {
  ProcessSpec Spec;
  Spec.Program = UsersCompiler;
  Spec.Arguments = {Question};
  llvm::Expected<ProcessResult> Said = runProcess(Spec);
  if (!Said) {
    llvm::consumeError(Said.takeError());
    return "";
  }
  return Said->Out;
}

/// Asked once: it is wanted for every compilation.
static const std::string &usersVersion() {
  static const std::string Version = ask("--version");
  return Version;
}

/// The folder that holds what belongs to g++, its C++ library beside it; empty
/// where it does not tell.
static const std::string &usersFolder() {
  static const std::string Folder = [] {
    std::string File = ask("-print-libgcc-file-name");
    return llvm::sys::path::parent_path(llvm::StringRef(File).trim()).str();
  }();
  return Folder;
}

std::vector<std::string> stark::quickLinker() {
  static const bool Has = bool(llvm::sys::findProgramByName("ld.gold"));
  // Constants in a segment of their own, which no code can be called in; ld
  // does so by itself.
  return Has ? std::vector<std::string>{"-fuse-ld=gold", "-Wl,--rosegment"}
             : std::vector<std::string>{};
}

static std::string ownProgram(const BuildOptions &Options) {
  return Options.Tool.empty() ? programFolder() + "/stark-tool" : Options.Tool;
}

bool stark::hasOwnCompiler(const BuildOptions &Options) {
  return llvm::sys::fs::can_execute(ownProgram(Options));
}

HostCommand stark::hostCommand(const BuildOptions &Options) {
  if (Options.Host == HostCompiler::Users)
    return {UsersCompiler, {}, {}, usersVersion(), ".gch"};
  HostCommand Own = {ownProgram(Options),
                     // Clang 18 began to put the types of template parameters
                     // into names, which the g++ of libtorch does not.
                     {OwnCompilerWord, "-fclang-abi-compat=17"},
                     // What libtorch's inline functions want is not made anew
                     // for each text.
                     {"-fpch-instantiate-templates"},
                     // With another g++ the C++ library is another.
                     ownCompilerVersion() + "\n" + usersVersion(),
                     ".pch"};
  if (!usersFolder().empty())
    Own.First.push_back("--gcc-install-dir=" + usersFolder());
  return Own;
}
