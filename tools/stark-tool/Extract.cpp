//===- Extract.cpp - stark-tool extract -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Extract.h"
#include "Flags.h"
#include "stark/AST/SourceFile.h"
#include "stark/Draft/Draft.h"
#include "stark/Eval/CompileText.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Task/Workload.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "extract",
    "Make one source of an entry and what it reaches in headers\n\n"
    "  stark-tool extract FILE.cu [--entry NAME | --workload W.json]\n"
    "             [-o OUT.cu] [-- compiler flags]\n\n"
    "Prints FILE.cu with its includes of the project's headers replaced by\n"
    "what the entry reaches of them: launchers, kernels, functions, types,\n"
    "constants, macros, in their order and with their comments. What else\n"
    "is included (CUDA, the standard library, PyTorch, -isystem) stays an\n"
    "include. #line directives name the files and lines that all came from.\n\n"
    "What is made is parsed again and has to mean the same; where it does\n"
    "not, more of the headers is kept, and a note says why. nvcc compiles\n"
    "it, if it is here.\n\n"
    "`optimize`, `build` and `bench` do so by themselves (--no-extract).\n\n"
    "  stark-tool extract norm.cu --entry launch_norm -o one.cu -- "
    "-Iinclude\n\n"
    "Exit codes: 0 made, 1 it cannot be, 2 usage. docs/extract.md has more.");
static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.cu"),
                                 cl::Required, cl::sub(Command));
static Flag<std::string> Entry(Command, "entry", cl::value_desc("NAME"),
                               cl::desc("The function to keep (default: as "
                                        "`workload` chooses)"));
static Flag<std::string>
    WorkloadFile(Command, "workload", cl::value_desc("FILE"),
                 cl::desc("Keep its entry and its reference"));
static Flag<std::string> Output(Command, "o", cl::value_desc("FILE"),
                                cl::desc("Write here (default: standard "
                                         "output)"));
static Flag<bool> Force(Command, "force", cl::desc("Replace an existing file"));
static Flag<bool> NoLines(Command, "no-line",
                          cl::desc("Name files in comments, without #line: "
                                   "what a search sees"));
static Flag<bool> NoCompile(Command, "no-compile",
                            cl::desc("Do not let nvcc look at it"));
static tool::ParseFlags Parse(Command);

/// Those of the workload, the one that was named, else the one that is chosen.
static llvm::Expected<std::vector<std::string>>
entries(const ParsedSource &Source, const ParseOptions &Options) {
  if (Entry.given() && WorkloadFile.given())
    return usageError("--entry and --workload: give one of them");
  if (Entry.given())
    return std::vector<std::string>{Entry};
  if (WorkloadFile.given()) {
    llvm::Expected<std::string> Text = readFile(WorkloadFile);
    if (!Text)
      return Text.takeError();
    llvm::Expected<Workload> Load = parseWorkload(*Text, WorkloadFile);
    if (!Load)
      return Load.takeError();
    std::vector<std::string> Names{Load->Entry};
    if (!Load->Reference.empty())
      Names.push_back(Load->Reference);
    return Names;
  }
  std::vector<std::unique_ptr<ParsedSource>> Callers =
      findCallers(Source, Options);
  llvm::Expected<std::unique_ptr<Drafter>> Chosen =
      makeDrafter(Source, Callers);
  if (!Chosen)
    return Chosen.takeError();
  std::string Name = (*Chosen)->entries().front();
  llvm::errs() << "note: the entry is " << Name << "\n";
  return std::vector<std::string>{Name};
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  llvm::Expected<ParseOptions> Options = Parse.options(File, Flags);
  if (!Options)
    return Options.takeError();
  auto Source = parseSourceFile(File, *Options);
  if (!Source)
    return Source.takeError();
  llvm::Expected<std::vector<std::string>> Of = entries(**Source, *Options);
  if (!Of)
    return Of.takeError();
  if (Output.given() && !Force && llvm::sys::fs::exists(Output))
    return usageError("'" + Output + "' exists; --force replaces it");
  llvm::Expected<Extraction> Made = extractEntry(**Source, *Options, *Of);
  if (!Made)
    return Made.takeError();
  if (!Made->WhyMore.empty())
    llvm::errs() << "note: "
                 << (Made->Level == ExtractLevel::Whole
                         ? "all headers are kept whole: "
                     : Made->Level == ExtractLevel::Macros
                         ? "all macros and conditionals are kept: "
                     : Made->Level == ExtractLevel::Used
                         ? "all includes are kept: "
                         : "classes are kept whole: ")
                 << Made->WhyMore << "\n";
  for (const ExtractedHeader &H : Made->Headers)
    llvm::errs() << "note: " << H.Text.size() << " bytes are of " << H.Name
                 << "\n";
  const std::string &Text = NoLines ? Made->Text : Made->Lines;
  if (!NoCompile) {
    llvm::Expected<bool> Compiled = compilesWithNvcc(Text, File, *Options);
    if (!Compiled)
      return Compiled.takeError();
    if (!*Compiled)
      llvm::errs() << "note: no CUDA toolkit is here to compile it\n";
  }
  if (Output.given())
    return writeFileAtomically(Output, Text);
  llvm::outs() << Text;
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
