//===- CompileCommand.cpp - What clang++ would tell its compile step ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/HostCode/CompileCommand.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"

using namespace stark;

std::vector<std::string>
stark::compileArguments(llvm::ArrayRef<std::string> Words,
                        clang::DiagnosticsEngine &Diags,
                        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files) {
  std::vector<const char *> Pointers;
  for (const std::string &W : Words)
    Pointers.push_back(W.c_str());
  clang::driver::Driver Driver("clang++", llvm::sys::getDefaultTargetTriple(),
                               Diags, "stark", std::move(Files));
  Driver.setCheckInputsExist(false);
  std::unique_ptr<clang::driver::Compilation> Commands(
      Driver.BuildCompilation(Pointers));
  if (!Commands)
    return {};
  for (const clang::driver::Command &C : Commands->getJobs()) {
    if (!llvm::is_contained(C.getArguments(), llvm::StringRef("-cc1")))
      continue;
    std::vector<std::string> Arguments(C.getArguments().begin(),
                                       C.getArguments().end());
    llvm::erase(Arguments, "-cc1");
    return Arguments;
  }
  return {};
}
