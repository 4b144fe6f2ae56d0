//===- Report.cpp - stark-tool report ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Report.h"
#include "Flags.h"
#include "ReportPages.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "report",
    "Show what a run tried and found, from its folder alone\n\n"
    "  stark-tool report RUN [--format F] [-o FILE] [--remarks FILE]\n"
    "  stark-tool report RUN RUN ... [--format F] [-o FILE]\n"
    "  stark-tool report SUITE [--format F] [-o FILE]\n"
    "  stark-tool report kernels.json ... -o FILE.html\n\n"
    "RUN is the --run-dir of `stark-tool optimize`, ended or not; several are\n"
    "shown side by side. SUITE is the --out of `stark-tool bench`.\n"
    "kernels.json is what stark_optimize_kernels() writes for a target: the\n"
    "last search of each of its sources is shown, several below an index, and\n"
    "the page's path printed. Needs no\n"
    "model, GPU or CUDA toolkit, and changes nothing in these folders. "
    "Formats:\n\n"
    "  text      attempts, tree, sizes, verdicts, tokens (the default)\n"
    "  markdown  for a pull request: times with their intervals, registers,\n"
    "            shared memory and spills before and after, what was checked\n"
    "            and what was not, the diff\n"
    "  html      one file that opens offline; -o FILE.html alone says it, "
    "too.\n"
    "            That of a suite has a page for each run beside it: with\n"
    "            -o DIR/index.html in DIR/index/TASK/PRESET/seed-S.html\n"
    "  json      figures for programs (docs/search.md)\n"
    "  csv       of a suite alone\n"
    "  sarif     SARIF 2.1.0: candidates that were refused, at the lines of\n"
    "            the source that they meant to change (docs/review.md)\n"
    "  remarks   LLVM's optimisation remarks in YAML, for llvm-opt-report\n\n"
    "Examples:\n"
    "  stark-tool report run -o report.html\n"
    "  stark-tool report run --format markdown -o run.md\n"
    "  stark-tool report monday tuesday -o days.html\n\n"
    "Exit codes: 0 done, 1 a folder is no run or is damaged, 2 usage.");
static cl::list<std::string> Folders(cl::Positional, cl::desc("RUN ..."),
                                     cl::OneOrMore, cl::sub(Command));
static Flag<std::string> Format(Command, "format", cl::value_desc("name"),
                                cl::desc("text (default), markdown, html, "
                                         "json, sarif, remarks or csv"));
static Flag<std::string> Output(Command, "o", cl::value_desc("file"),
                                cl::desc("Where it goes (default: standard "
                                         "output)"));
static tool::RemarksFlag Remarks(Command);

static llvm::Error writeRemarks() {
  if (Folders.size() != 1)
    return usageError("--remarks: got " + llvm::Twine(Folders.size()) +
                      " folders, wanted one run");
  llvm::Expected<RecordedRun> Run = readRun(Folders.front());
  return Run ? Remarks.write(*Run) : Run.takeError();
}

static llvm::Error run(const std::vector<std::string> &) {
  // By custom, "-" is standard output.
  std::string Into = Output == "-" ? "" : Output.getValue();
  std::string As = tool::formatOf(Format, Into);
  if (Remarks.given())
    if (llvm::Error E = writeRemarks())
      return E;
  if (llvm::StringRef(Folders.front()).ends_with(".json"))
    return tool::reportTargets({Folders.begin(), Folders.end()}, As, Into);
  llvm::Expected<bool> Done =
      tool::reportPages({Folders.begin(), Folders.end()}, As, Into);
  if (!Done || *Done)
    return Done.takeError();
  std::optional<ReportFormat> F = valueNamed<ReportFormat>(As);
  if (!F)
    return usageError("--format: got '" + As + "', wanted html, csv, " +
                      allNames<ReportFormat>());
  llvm::Expected<RecordedRun> Run = readRun(Folders.front());
  if (!Run)
    return Run.takeError();
  if (Into.empty())
    return printReport(*Run, *F, llvm::outs());
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (llvm::Error E = printReport(*Run, *F, OS))
    return E;
  return writeFileAtomically(Into, Text);
}

static const tool::Verb Registered(Command, run);
