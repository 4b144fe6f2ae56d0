//===- FlagsDatabase.cpp - Flags from compile_commands.json ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Flags.h"
#include "stark/AST/Parse.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

llvm::Error stark::completeFlags(llvm::StringRef File, ParseOptions &Options) {
  namespace path = llvm::sys::path;
  // Who reads a file that is not there says it better.
  if (!Options.Flags.empty() || !llvm::sys::fs::is_regular_file(File))
    return llvm::Error::success();
  std::string Absolute = absolutePath(File);
  for (llvm::StringRef Folder = path::parent_path(Absolute); !Folder.empty();
       Folder = path::parent_path(Folder)) {
    std::string Name = (Folder + "/compile_commands.json").str();
    if (!llvm::sys::fs::exists(Name))
      continue;
    std::string Problem;
    auto Database = clang::tooling::JSONCompilationDatabase::loadFromFile(
        Name, Problem, clang::tooling::JSONCommandLineSyntax::Gnu);
    if (!Database)
      return usageError("'" + Name + "': " + llvm::StringRef(Problem).trim());
    std::vector<clang::tooling::CompileCommand> Commands =
        Database->getCompileCommands(Absolute);
    if (!Commands.empty() && Commands.front().CommandLine.size() > 1) {
      const clang::tooling::CompileCommand &C = Commands.front();
      Options.Folder = C.Directory;
      Options.Flags.assign(C.CommandLine.begin() + 1, C.CommandLine.end());
    }
    return llvm::Error::success();
  }
  return llvm::Error::success();
}
