//===- Winner.cpp - What a run came to ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Winner.h"
#include "Figures.h"
#include "stark/Support/Error.h"

using namespace stark;

/// "n=4096: 100.00 us as source, 40.00 us as winner (medians, ...)"
static std::string lineOf(const job::Timing &T) {
  std::string Label = T.Label.empty() ? "" : T.Label + ": ";
  return Label + "the source " + fixed(T.SourceMedianUs, 2) +
         " us (quartiles " + fixed(T.SourceIqrUs, 2) + " us apart), this " +
         fixed(T.MedianUs, 2) + " us (" + fixed(T.IqrUs, 2) + " us), " +
         fixed(T.Speedup, 3) + " times as fast, 95 % from " +
         fixed(T.SpeedupLow, 3) + " to " + fixed(T.SpeedupHigh, 3) + "; " +
         std::to_string(T.Samples) + " samples";
}

llvm::Expected<Winner> stark::winnerOf(const RecordedRun &Run) {
  Figures F = countFigures(Run);
  if (F.Winner < 0)
    return usageError("the run has no winner: " + describeEnd(Run, F));
  Winner W;
  W.Node = unsigned(F.Winner);
  W.Text = Run.Nodes.node(W.Node).Text;
  W.Story = "Node " + std::to_string(W.Node) + " of a search, " +
            howTaken(*F.WinnerFound) + " (" + Run.Identity.Arch + ")" +
            (F.Confirmed ? ", confirmed on inputs that no attempt saw" : "") +
            ". Medians:";
  for (const job::Timing &T : F.WinnerFound->Timings)
    W.Story += "\n* " + lineOf(T);
  return W;
}
