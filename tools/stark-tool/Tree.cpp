//===- Tree.cpp - stark-tool tree ----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Report/NodeView.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "tree",
    "Show the tree of a run's attempts\n\n"
    "  stark-tool tree RUN [--explain]\n\n"
    "A line a node, under the node that it was made of: who made it, verdict,\n"
    "median over the sizes, speed-up over the source with its 95 % interval,\n"
    "title. RUN is the --run-dir of a search, ended or not.\n\n"
    "Example:\n"
    "  stark-tool tree run --explain\n\n"
    "Exit codes: 0 done, 1 the folder is no run or is damaged, 2 usage.");
static cl::opt<std::string> Folder(cl::Positional, cl::desc("RUN"),
                                   cl::Required, cl::sub(Command));
static Flag<bool> Explain(Command, "explain",
                          cl::desc("Say of each node why its parent was "
                                   "selected, what the agents were shown, and "
                                   "why it is not correct"));

static llvm::Error run(const std::vector<std::string> &) {
  llvm::Expected<RecordedRun> Run = readRun(Folder);
  if (!Run)
    return Run.takeError();
  printTree(*Run, Explain, llvm::outs());
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
