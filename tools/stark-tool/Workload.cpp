//===- Workload.cpp - stark-tool workload --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/AST/Flags.h"
#include "stark/AST/SourceFile.h"
#include "stark/Eval/DraftProof.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Task/Task.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "workload",
    "Draft a workload for a CUDA source, or check one\n\n"
    "  stark-tool workload FILE.cu [--entry NAME | --all] [-o FILE] [-- "
    "flags]\n"
    "  stark-tool workload FILE.cu --check NAME.workload.json [-- flags]\n\n"
    "A draft takes sizes, shapes, grid and block from what main() allocates\n"
    "and launches, else from the indices that the entry uses. The entry is a\n"
    "host function that launches on pointers of the device, else the kernel\n"
    "that the program launches most. The draft is run at a small size on the\n"
    "simulated GPU. What was guessed, and what was found, is listed on\n"
    "standard error: read it, and put in production sizes.\n"
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
static Flag<bool> All(Command, "all",
                      cl::desc("a draft for each entry, as "
                               "NAME.ENTRY.workload.json beside FILE.cu"));
static Flag<bool> NoProve(Command, "no-prove",
                          cl::desc("do not run the draft in the simulator"));
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

/// The draft of \p Name, written to \p Into (standard output when that is
/// empty).
static llvm::Error draftOne(Drafter &Drafts, const std::string &Name,
                            const std::string &Into,
                            const ParseOptions &Options) {
  llvm::Expected<std::unique_ptr<Draft>> D = Drafts.draft(Name);
  if (!D)
    return D.takeError();
  if (!Into.empty() && !Force && llvm::sys::fs::exists(Into))
    return usageError("'" + Into + "' exists; --force replaces it");
  DraftProof Proof;
  Proof.Form = likelyForm(**D);
  if (!NoProve && (*D)->Comparable) {
    EvaluatorOptions Judge;
    Judge.Build.Arch = Options.Arch;
    Judge.TimeoutMs = 30000;
    llvm::Expected<DraftProof> Tried = proveDraft(**D, File, Options, Judge);
    if (!Tried)
      return Tried.takeError();
    Proof = std::move(*Tried);
    (*D)->Notes.push_back(Proof.Note);
  }
  for (const std::string &Note : (*D)->Notes)
    llvm::errs() << "note: " << Note << "\n";
  std::string Text = (*D)->text(Proof.Form, DraftSizes::All);
  if (!Into.empty())
    return writeFileAtomically(Into, Text);
  llvm::outs() << Text;
  return llvm::Error::success();
}

/// "dir/softmax.cu", "k<float, 4>" -> "dir/softmax.k_float_4.workload.json"
static std::string fileFor(llvm::StringRef Source, llvm::StringRef Name) {
  std::string Plain;
  for (char C : Name)
    if (llvm::isAlnum(C) || C == '_')
      Plain += C;
    else if (!Plain.empty() && Plain.back() != '_')
      Plain += '_';
  llvm::SmallString<256> Path(Source);
  llvm::sys::path::replace_extension(Path, llvm::StringRef(Plain).rtrim('_') +
                                               ".workload.json");
  return Path.str().str();
}

static llvm::Error draftAll(Drafter &Drafts, const ParseOptions &Options) {
  for (const std::string &Name : Drafts.entries()) {
    std::string Into = fileFor(File, Name);
    llvm::errs() << Into << "\n";
    if (llvm::Error E = draftOne(Drafts, Name, Into, Options))
      llvm::errs() << "note: no draft: " << llvm::toString(std::move(E))
                   << "\n";
  }
  return llvm::Error::success();
}

/// What Clang does not take is left out, and with it what follows from it.
static void noteErrors(const ParsedSource &Source) {
  if (Source.errors().empty())
    return;
  const SourceError &First = Source.errors().front();
  llvm::errs() << "note: "
               << (First.Line ? "line " + std::to_string(First.Line) + ": "
                              : std::string())
               << First.Message
               << (Source.errors().size() > 1
                       ? " (and " + std::to_string(Source.errors().size() - 1) +
                             " errors more)"
                       : std::string())
               << "; the draft is made of the rest, and may lack what this "
                  "hides: give the compiler's flags after --\n";
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  ParseOptions Options;
  Options.Flags = Flags;
  Options.Toolkit = CudaPath;
  if (!Check.empty())
    return checkOne(Options);
  if (All && (!Entry.empty() || !Output.empty()))
    return usageError("--all: got --entry or -o beside it, wanted neither");
  if (llvm::Error E = completeFlags(File, Options))
    return E;
  auto Source = parseSourceFile(File, Options);
  if (!Source)
    return Source.takeError();
  noteErrors(**Source);
  std::vector<std::unique_ptr<ParsedSource>> Callers =
      findCallers(**Source, Options);
  for (const auto &Caller : Callers)
    llvm::errs() << "note: launches are also looked for in " << Caller->path()
                 << "\n";
  std::vector<std::string> Notes;
  std::unique_ptr<ParsedSource> WithInstances =
      makeInstances(**Source, Callers, Options, Notes);
  for (const std::string &Note : Notes)
    llvm::errs() << "note: " << Note << "\n";
  llvm::Expected<std::unique_ptr<Drafter>> Drafts =
      makeDrafter(WithInstances ? *WithInstances : **Source, Callers);
  if (!Drafts)
    return Drafts.takeError();
  if (All)
    return draftAll(**Drafts, Options);
  std::vector<std::string> Names = (*Drafts)->entries();
  std::string Chosen = Entry;
  if (Chosen.empty()) {
    Chosen = Names.front();
    Names.erase(Names.begin());
    if (!Names.empty())
      llvm::errs() << "note: the entry is " << Chosen
                   << "; --entry picks another of " << llvm::join(Names, ", ")
                   << "\n";
  }
  return draftOne(**Drafts, Chosen, Output, Options);
}

static const tool::Verb Registered(Command, run);
