//===- Diff.cpp - stark-tool diff ----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Report/NodeView.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/Process.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "diff",
    "Show what a node changed\n\n"
    "  stark-tool diff RUN [NODE] [--from NODE]\n\n"
    "The winner against the source, or NODE against it, as a unified diff "
    "that\n"
    "`patch` takes. A NODE is a number of `stark-tool tree`, or source, best "
    "or\n"
    "winner; --from parent is the node that NODE was made of. On a terminal,\n"
    "characters that would do something are shown instead.\n\n"
    "Example:\n"
    "  stark-tool diff run 7 --from parent\n\n"
    "Exit codes: 0 done, 1 the folder is no run or is damaged, 2 usage, no\n"
    "such node, no candidate or no winner.");
static cl::opt<std::string> Folder(cl::Positional, cl::desc("RUN"),
                                   cl::Required, cl::sub(Command));
static cl::opt<std::string> Name(cl::Positional, cl::desc("[NODE]"),
                                 cl::init("winner"), cl::sub(Command));
static Flag<std::string> From(Command, "from", cl::value_desc("node"),
                              cl::init("source"),
                              cl::desc("What it is compared with (default: "
                                       "source)"));

static llvm::Error run(const std::vector<std::string> &) {
  llvm::Expected<RecordedRun> Run = readRun(Folder);
  if (!Run)
    return Run.takeError();
  llvm::Expected<unsigned> Node = findNode(*Run, Name);
  if (!Node)
    return Node.takeError();
  int Parent = Run->Nodes.node(*Node).Parent;
  if (From == "parent" && Parent < 0)
    return usageError("--from: the source has no parent");
  llvm::Expected<unsigned> Old =
      From == "parent" ? llvm::Expected<unsigned>(unsigned(Parent))
                       : findNode(*Run, From);
  if (!Old)
    return Old.takeError();
  llvm::Expected<std::string> Text = nodeDiff(*Run, *Old, *Node);
  if (!Text)
    return Text.takeError();
  bool ToPeople = llvm::sys::Process::StandardOutIsDisplayed();
  llvm::outs() << (ToPeople ? visibleText(*Text) : *Text);
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
