//===- Workload.cpp - stark-tool workload --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/AST/Flags.h"
#include "stark/AST/SourceFile.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Task/EntryChoice.h"
#include "stark/Task/Task.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "workload",
    "Draft a workload for a CUDA source, or check one\n\n"
    "  stark-tool workload FILE.cu [--entry NAME] [-o FILE] [-- flags]\n"
    "  stark-tool workload FILE.cu --check NAME.workload.json [-- flags]\n\n"
    "A draft calls the first host function that launches a kernel, else the\n"
    "first kernel, with integer parameters taken for sizes. What was guessed\n"
    "is listed on standard error: read it, and put in production sizes.\n"
    "--check says whether a workload fits the source, and prints each size\n"
    "with the bytes that its buffers take, the tool's own sizes included.\n"
    "docs/workload.md describes the format. What stands after -- are compiler\n"
    "flags, for nvcc or clang++. Without flags, a draft is made with those\n"
    "of compile_commands.json; a check is made with what is given, as a\n"
    "search would be.\n\n"
    "  stark-tool workload softmax.cu -o softmax.workload.json -- -Iinclude\n\n"
    "Exit codes: 0 done, 1 failed, 2 the workload or the command is wrong.");
static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.cu"),
                                 cl::Required, cl::sub(Command));
static Flag<std::string> Entry(Command, "entry", cl::value_desc("NAME"),
                               cl::desc("the function to call"));
static Flag<std::string>
    Output(Command, "o", cl::value_desc("FILE"),
           cl::desc("write the draft here (default: standard output)"));
static Flag<bool> Force(Command, "force", cl::desc("replace an existing file"));
static Flag<std::string> Check(Command, "check", cl::value_desc("FILE"),
                               cl::desc("check this workload instead"));
static Flag<bool> ShowCall(Command, "call",
                           cl::desc("with --check: print the call"));
static Flag<std::string>
    CudaPath(Command, "cuda-path", cl::value_desc("DIR"),
             cl::desc("the CUDA toolkit (default: looked for)"));

static llvm::Error checkOne(const ParseOptions &Options) {
  llvm::Expected<Task> T = loadTask(File, Check, Options);
  if (!T)
    return T.takeError();
  llvm::Expected<std::vector<job::Case>> Cases = makeCases(*T);
  if (!Cases)
    return Cases.takeError();
  std::vector<job::Leaf> Leaves = makeLeaves(*T);
  llvm::outs() << "entry " << T->Entry.Name << ", line " << T->Entry.Line
               << "\n";
  size_t Drawn = 0;
  std::string Values;
  for (const job::Case &C : *Cases) {
    bool OtherValues = C.Brief && C.Filling != job::Regime::Given;
    if (OtherValues && !C.Drawn)
      Values += std::string(Values.empty() ? "" : ", ") + nameOf(C.Filling);
    Drawn += C.Drawn;
    if (C.Drawn || OtherValues)
      continue;
    uint64_t Bytes = 0;
    for (size_t I = 0; I < Leaves.size(); ++I)
      if (Leaves[I].Kind == job::LeafKind::Buffer)
        Bytes += C.Values[I].elements() * job::dtypeBytes(Leaves[I].Type);
    llvm::outs() << "size " << C.Label << ": "
                 << (C.Timed ? "compared and timed" : "compared") << ", "
                 << Bytes << " bytes\n";
  }
  if (!Values.empty())
    llvm::outs() << "the smallest compared with other values, too: " << Values
                 << "\n";
  if (Drawn)
    llvm::outs() << Drawn << " more to draw from, all in a confirmation\n";
  if (ShowCall)
    llvm::outs() << makeTrampoline(*T) << makeReferenceTrampoline(*T);
  return llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  ParseOptions Options;
  Options.Flags = Flags;
  Options.Toolkit = CudaPath;
  if (!Check.empty())
    return checkOne(Options);
  if (llvm::Error E = completeFlags(File, Options))
    return E;
  auto Source = parseSourceFile(File, Options);
  if (!Source)
    return Source.takeError();
  llvm::Expected<EntryChoice> Chosen = chooseEntry(**Source, Entry);
  if (!Chosen)
    return Chosen.takeError();
  if (!Chosen->Others.empty())
    llvm::errs() << "note: the entry is " << Chosen->Entry.Name
                 << "; --entry picks another of "
                 << llvm::join(Chosen->Others, ", ") << "\n";
  if (llvm::Error E = checkCallable(Chosen->Entry))
    return E;
  std::vector<std::string> Notes;
  std::string Draft = draftWorkload(Chosen->Entry, Notes);
  for (const std::string &Note : Notes)
    llvm::errs() << "note: " << Note << "\n";
  if (Output.empty()) {
    llvm::outs() << Draft;
    return llvm::Error::success();
  }
  if (!Force && llvm::sys::fs::exists(Output))
    return usageError("'" + Output + "' exists; --force replaces it");
  return writeFileAtomically(Output, Draft);
}

static const tool::Verb Registered(Command, run);
