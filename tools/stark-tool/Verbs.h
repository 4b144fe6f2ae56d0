//===- Verbs.h - The verbs of stark-tool ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   One verb a file: it declares its flags as cl::opt on a cl::SubCommand, and
/// a run function that copies them into plain structs and calls the libraries.
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

struct Verb {
  llvm::cl::SubCommand &Command;
  /// \p Flags: what stands after "--" on the command line.
  llvm::Error (*Run)(const std::vector<std::string> &Flags);
};

/// In the order of --help.
std::vector<Verb> verbs();

// One a file, each named after its verb.
Verb sitesVerb();
Verb groundVerb();
Verb rewritesVerb();
Verb workloadVerb();
Verb optimizeVerb();
Verb reportVerb();
Verb benchVerb();
Verb buildVerb();
Verb doctorVerb();
Verb askVerb();
Verb simulateVerb();

} // namespace stark::tool

#endif
