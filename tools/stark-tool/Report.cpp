//===- Report.cpp - stark-tool report ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Report.h"
#include "Flags.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "report",
    "Show what a run tried and found, from its folder alone\n\n"
    "  stark-tool report RUN [--format F] [-o FILE] [--remarks FILE]\n\n"
    "RUN is the --run-dir of `stark-tool optimize`, ended or not. Needs no\n"
    "model, GPU or CUDA toolkit, and changes nothing. Formats:\n\n"
    "  text      attempts, tree, sizes, verdicts, tokens (the default)\n"
    "  markdown  for a pull request: times with their intervals, registers,\n"
    "            shared memory and spills before and after, what was checked\n"
    "            and what was not, the diff\n"
    "  json      figures for programs (docs/search.md)\n"
    "  sarif     SARIF 2.1.0: candidates that were refused, at the lines of\n"
    "            the source that they meant to change (docs/review.md)\n"
    "  remarks   LLVM's optimisation remarks in YAML, for llvm-opt-report\n\n"
    "Example:\n"
    "  stark-tool report run --format markdown -o run.md\n\n"
    "Exit codes: 0 done, 1 the folder is no run or is damaged, 2 usage.");
static cl::opt<std::string> Folder(cl::Positional, cl::desc("RUN"),
                                   cl::Required, cl::sub(Command));
static Flag<std::string> Format(Command, "format", cl::value_desc("name"),
                                cl::init("text"),
                                cl::desc("text (default), markdown, json, "
                                         "sarif or remarks"));
static Flag<std::string> Output(Command, "o", cl::value_desc("file"),
                                cl::desc("Where it goes (default: standard "
                                         "output)"));
static tool::RemarksFlag Remarks(Command);

static llvm::Error run(const std::vector<std::string> &) {
  std::optional<ReportFormat> F = valueNamed<ReportFormat>(Format.getValue());
  if (!F)
    return usageError("--format: got '" + Format + "', wanted " +
                      allNames<ReportFormat>());
  llvm::Expected<RecordedRun> Run = readRun(Folder);
  if (!Run)
    return Run.takeError();
  if (llvm::Error E = Remarks.write(*Run))
    return E;
  if (Output.empty())
    return printReport(*Run, *F, llvm::outs());
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (llvm::Error E = printReport(*Run, *F, OS))
    return E;
  return writeFileAtomically(Output, Text);
}

static const tool::Verb Registered(Command, run);
