//===- Sites.cpp - stark-tool sites --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/AST/Site.h"
#include "stark/AST/SourceFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "sites",
    "List the places of a CUDA source where a change could go\n\n"
    "  stark-tool sites FILE.cu [--json] [-- compiler flags]\n\n"
    "A site is a kernel, device or host function, launch, loop, branch,\n"
    "declaration, barrier, statement, or access to memory. Each has an id\n"
    "that a plan can name (softmax_kernel:loop2), its lines, and, where it\n"
    "cannot be edited, the reason: inside a macro, in skipped text, ...\n\n"
    "Flags are those of nvcc or clang++; what a parse does not need is\n"
    "ignored. Without flags, compile_commands.json in the file's folder or\n"
    "one above it is used. Code that Clang cannot read is no error: nvcc is\n"
    "the judge of what compiles. --json gives byte ranges and Clang's\n"
    "errors; docs/sites.md describes it.\n\n"
    "Exit codes: 0 listed, 1 failed, 2 usage.");
static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.cu"),
                                 cl::Required, cl::sub(Command));
static Flag<bool> Json(Command, "json", cl::desc("Print JSON"));
static tool::ParseFlags Parse(Command);

static llvm::Error run(const std::vector<std::string> &Flags) {
  llvm::Expected<ParseOptions> Options = Parse.options(File, Flags);
  if (!Options)
    return Options.takeError();
  auto Source = parseSourceFile(File, *Options);
  if (!Source)
    return Source.takeError();
  Sites Found = findSites(**Source);
  if (Json)
    llvm::outs() << Found.toJson(**Source) << "\n";
  else
    Found.print(llvm::outs());
  if (Found.All.empty())
    llvm::errs() << "note: '" << File
                 << "' has no kernel, function or launch that Clang can read\n";
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
