//===- Show.cpp - stark-tool show ----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Report/NodeView.h"

using namespace stark;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "show",
    "Show all that a run tells of one node\n\n"
    "  stark-tool show RUN NODE\n\n"
    "Why its parent was selected and what the agents were shown; instruction,\n"
    "with the text that it is anchored to; verdict, times, and what compiler\n"
    "and judge said; the replies and the file that it came to. NODE is a\n"
    "number of `stark-tool tree`, or source, best or winner.\n\n"
    "Example:\n"
    "  stark-tool show run winner\n\n"
    "Exit codes: 0 done, 1 the folder is no run or is damaged, 2 usage.");
static cl::opt<std::string> Folder(cl::Positional, cl::desc("RUN"),
                                   cl::Required, cl::sub(Command));
static cl::opt<std::string> Name(cl::Positional, cl::desc("NODE"), cl::Required,
                                 cl::sub(Command));

static llvm::Error run(const std::vector<std::string> &) {
  llvm::Expected<RecordedRun> Run = readRun(Folder);
  if (!Run)
    return Run.takeError();
  llvm::Expected<unsigned> Node = findNode(*Run, Name);
  if (!Node)
    return Node.takeError();
  printNode(*Run, *Node, llvm::outs());
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
