//===- WindowText.cpp - Nodes as an agent reads them ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WindowText.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

WindowEntry stark::windowEntry(const Tree &T, unsigned Number) {
  const Node &N = T.node(Number);
  WindowEntry Entry;
  Entry.Node = Number;
  if (Number == 0) {
    Entry.Title = "source";
  } else {
    llvm::raw_string_ostream OS(Entry.Title);
    OS << "attempt " << Number << " ("
       << (N.FromDebug ? "repair of " : "child of ");
    if (N.Parent == 0)
      OS << "the source";
    else
      OS << N.Parent;
    OS << "): " << N.Given.Title;
  }
  Entry.Text = N.Text;
  Entry.Advice = N.Given.Advice;
  Entry.Compiler = N.Found.Compiler;
  Entry.Run = verdictName(N.Found.Kind).str();
  if (!N.Found.Run.empty())
    Entry.Run += "\n" + N.Found.Run;
  return Entry;
}

std::string stark::deviceLine(const Verdict &Source, const Task &T) {
  return Source.Device.empty() ? T.Parse.Arch
                               : Source.Device + ", " + T.Parse.Arch;
}

std::string stark::describeSpeedup(const Verdict &V) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::format("%.3f", V.speedup())
     << " times the source's speed, at least "
     << llvm::format("%.3f", V.speedupLow());
  return Text;
}
