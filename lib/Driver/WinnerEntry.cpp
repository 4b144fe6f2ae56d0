//===- WinnerEntry.cpp - A run as an entry of the cache ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/WinnerEntry.h"
#include "stark/Report/NodeView.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace stark;

/// "n=4096: 100.00 us (quartiles 1.00 us apart) as source, 40.00 us (0.40) as
/// winner; 2.500 times as fast, 95 % from 2.480; 40 samples"
static std::string describe(const job::Timing &T) {
  std::string Text;
  llvm::raw_string_ostream(Text)
      << T.Label << ": "
      << llvm::format("%.2f us (quartiles %.2f us apart) as source, "
                      "%.2f us (%.2f) as winner; %.3f times as fast, 95 %% "
                      "from %.3f to %.3f; ",
                      T.SourceMedianUs, T.SourceIqrUs, T.MedianUs, T.IqrUs,
                      T.Speedup, T.SpeedupLow, T.SpeedupHigh)
      << T.Samples << " samples";
  return Text;
}

/// Who wrote \p Node: the models that replied in its attempt.
static std::string modelsOf(const RecordedRun &Run, unsigned Node) {
  std::vector<std::string> Names;
  for (const RecordedAttempt &A : Run.Attempts) {
    if (A.Node != Node)
      continue;
    for (const ReplyEvent &R : A.Replies)
      if (!R.Reply.Model.empty() && !llvm::is_contained(Names, R.Reply.Model))
        Names.push_back(R.Reply.Model);
  }
  std::string Text;
  for (const std::string &Name : Names)
    Text += (Text.empty() ? "" : ", ") + Name;
  return Text.empty() ? "a model that was not named" : Text;
}

static SizeTimes timesOf(const job::Timing &T) {
  SizeTimes S;
  S.Size = T.Label;
  S.Samples = T.Samples;
  S.SourceUs = T.SourceMedianUs;
  S.SourceIqrUs = T.SourceIqrUs;
  S.WinnerUs = T.MedianUs;
  S.WinnerIqrUs = T.IqrUs;
  S.Speedup = T.Speedup;
  S.SpeedupLow = T.SpeedupLow;
  S.SpeedupHigh = T.SpeedupHigh;
  return S;
}

/// \p Diff; nothing where it would be most of the entry.
static std::string unlessLong(std::string Diff) {
  static constexpr size_t Longest = size_t(1) << 20;
  return Diff.size() <= Longest ? std::move(Diff) : "";
}

/// The source against \p Winner.
static std::string diffOf(const RecordedRun &Run, unsigned Winner) {
  llvm::Expected<std::string> Text = nodeDiff(Run, 0, Winner);
  if (Text)
    return unlessLong(std::move(*Text));
  llvm::consumeError(Text.takeError());
  return "";
}

/// What \p Judged says of the winner.
static void addVerdict(const Verdict &Judged, WinnerFacts &Facts) {
  if (!Judged.Device.empty())
    Facts.Device = Judged.Device;
  for (const job::Timing &T : Judged.Timings) {
    Facts.Timings.push_back(describe(T));
    Facts.Times.push_back(timesOf(T));
  }
  Facts.Driver = Judged.Driver;
  Facts.Speedup = Judged.speedup();
  Facts.Modelled = Judged.Modelled;
  Facts.Proved = Judged.Proved;
  Facts.Precision = Judged.Precision;
}

CacheEntry stark::makeEntry(const RecordedRun &Run,
                            const std::vector<std::string> &Headers) {
  assert(Run.End && "a run that goes on has no winner yet");
  CacheEntry Entry;
  Entry.Headers = Headers;
  Entry.Facts.RunDigest = Run.Identity.TaskDigest;
  Entry.Facts.Device = Run.Identity.Device;
  for (const RecordedAttempt &A : Run.Attempts)
    if (A.Node && *A.Node) // 0 is the source
      ++Entry.Facts.Verdicts[nameOf(Run.Nodes.node(*A.Node).Found.Kind)];
  if (Run.End->Winner < 0) {
    Entry.Facts.Title = "nothing: " + Run.End->Ended.Why;
    return Entry;
  }
  unsigned Number = unsigned(Run.End->Winner);
  const Node &Winner = Run.Nodes.node(Number);
  // The confirmation is what a winner is judged by.
  const Verdict *Judged = &Winner.Found;
  for (const VerdictEvent &C : Run.Confirmations)
    if (C.Node == Number && C.Found.correct())
      Judged = &C.Found;
  Entry.WinnerText = Winner.Text;
  Entry.Facts.Title = Winner.Given.Title;
  Entry.Facts.Advice = Winner.Given.Advice;
  Entry.Facts.Model = modelsOf(Run, Number);
  Entry.Facts.Diff = diffOf(Run, Number);
  addVerdict(*Judged, Entry.Facts);
  return Entry;
}

CacheEntry stark::makeEntry(const Task &Of, const WrittenCandidate &Winner,
                            const Verdict &Judged) {
  CacheEntry Entry;
  Entry.Headers = Of.Headers;
  Entry.Facts.RunDigest = Of.Digest;
  Entry.Facts.Verdicts[nameOf(Judged.Kind)] = 1;
  Entry.WinnerText = Winner.Text;
  Entry.Facts.Title = Winner.Title;
  Entry.Facts.Model = Winner.Author;
  std::string File = llvm::sys::path::filename(Of.SourcePath).str();
  Entry.Facts.Diff = unlessLong("--- a/" + File + "\n+++ b/" + File + "\n" +
                                hunksOf(Of.SourceText, Winner.Text));
  addVerdict(Judged, Entry.Facts);
  return Entry;
}
