//===- Verbs.h - The verbs of stark-tool ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   One verb a file: it declares its flags (Flags.h) on a cl::SubCommand, and
///   a
/// run function that copies them into plain structs and calls the libraries:
///
///     static cl::SubCommand Command("sites", "List the places ...");
///     static llvm::Error run(const std::vector<std::string> &Flags) { ... }
///     static const tool::Verb Registered(Command, run);
///
/// That last line is all that makes it a verb.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TOOL_VERBS_H
#define STARK_TOOL_VERBS_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark::tool {

/// Each of the tool's own flags is in this category; Clang's and LLVM's are
/// hidden from --help.
llvm::cl::OptionCategory &category();

class Verb {
public:
  /// \p Flags: what stands after "--" on the command line.
  using Function = llvm::Error (*)(const std::vector<std::string> &Flags);

  /// Both must live as long as the program, and so must the verb itself.
  Verb(llvm::cl::SubCommand &Command, Function Run);
  Verb(const Verb &) = delete;

  llvm::cl::SubCommand &command() const { return Command; }
  llvm::Error run(const std::vector<std::string> &Flags) const {
    return Run(Flags);
  }

  /// All of them; --help sorts them.
  static const std::vector<const Verb *> &all();

private:
  llvm::cl::SubCommand &Command;
  const Function Run;
};

} // namespace stark::tool

#endif
