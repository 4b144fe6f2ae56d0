//===- RunPage.cpp - A run as one HTML file -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/RunPage.h"
#include "Sections.h"

using namespace stark;

static constexpr size_t PageLimit = 18'000'000;

static void writeNavigation(HtmlWriter &W) {
  W.open("nav", {{"aria-label", "Sections"}});
  for (auto [Address, Text] : {std::pair("#summary", "Summary"),
                               {"#tree", "Search"},
                               {"#figures", "Pictures"},
                               {"#attempts", "Attempts"},
                               {"#nodes", "One by one"},
                               {"#environment", "Environment"}})
    W.element("a", {{"href", Address}}, Text).text(" ");
  W.close().line();
}

void stark::printRunPage(const RecordedRun &Run, llvm::StringRef RunFolder,
                         llvm::raw_ostream &OS) {
  RunFacts R(Run, RunFolder);
  HtmlWriter W(OS);
  uint64_t Start = OS.tell();
  beginPage(W, OS, Run.Identity.TaskName + ": report of a search");
  writeSummary(W, R);
  if (Run.Nodes.size()) {
    writeNavigation(W);
    writeTree(W, R);
    writeCharts(W, R);
    writeAttempts(W, R);
    writeNodes(W, R, [&] { return size_t(OS.tell() - Start); }, PageLimit);
  }
  writeEnvironment(W, R);
  endPage(W, OS);
}
