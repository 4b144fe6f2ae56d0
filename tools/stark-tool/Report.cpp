//===- Report.cpp - stark-tool report ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Report.h"
#include "Flags.h"
#include "stark/Support/Error.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "report",
    "Show what a run tried and found, from its folder alone\n\n"
    "  stark-tool report RUN [--markdown | --json]\n\n"
    "RUN is the --run-dir of `stark-tool optimize`, ended or not. Needs no\n"
    "model, GPU or CUDA toolkit, and changes nothing.\n\n"
    "Example:\n"
    "  stark-tool report run --markdown > run.md\n\n"
    "Exit codes: 0 done, 1 the folder is no run or is damaged, 2 usage.");
static cl::opt<std::string> Folder(cl::Positional, cl::desc("RUN"),
                                   cl::Required, cl::sub(Command));
static Flag<bool> Markdown(Command, "markdown", cl::desc("Print Markdown"));
static Flag<bool> Json(Command, "json", cl::desc("Print JSON"));

static llvm::Error run(const std::vector<std::string> &Flags) {
  if (Markdown && Json)
    return usageError("got --markdown and --json, wanted one of them");
  llvm::Expected<RecordedRun> Run = readRun(Folder);
  if (!Run)
    return Run.takeError();
  printReport(*Run,
              Markdown ? ReportFormat::Markdown
              : Json   ? ReportFormat::Json
                       : ReportFormat::Text,
              llvm::outs());
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
