//===- Timed.cpp - The sizes that are timed, by the model -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProfiledValues.h"
#include "Runner.h"
#include <cstdio>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using namespace stark::judge;

/// Beside a finding: how fast it would be, by the first size that is timed.
std::string SimRunner::modelledAllTheSame() {
  for (Step &S : Steps) {
    if (!S.Timed)
      continue;
    unsigned Free = 1;
    if (!S.Candidate) {
      while (!knowsResources(Code, Time))
        Time.sleep(LongestPause);
      if (!fill(S, S.Mine))
        return "";
      S.Begun = true;
      S.Candidate = start(S, Code.candidate(), *S.Mine, false, ~0ull, Free);
    }
    S.Candidate->wait(0);
    if (S.Candidate->report().What != Report::Done)
      return "";
    char Us[64];
    std::snprintf(Us, sizeof(Us), "%.1f us", S.Candidate->report().TimeUs);
    return "\nmodelled all the same, " + J->Cases[S.Case].Label + ": " + Us;
  }
  return "";
}

MaybeStop SimRunner::time(unsigned Case, std::vector<Timing> &Timings,
                          std::string &Notes) {
  size_t Index = Retired;
  while (!Steps[Index].Timed || Steps[Index].Case != Case)
    ++Index;
  Step &S = Steps[Index];
  runUntil(Index, [&] {
    return S.Candidate && S.Candidate->ended() &&
           (alone() || (S.Source && S.Source->ended()));
  });
  if (!S.Trouble.empty())
    return Stop{Outcome::Infrastructure, S.Trouble};
  const Report &After = S.Candidate->report();
  if (MaybeStop Ended = whyCandidate(After, S))
    return Ended;
  const Report &Before = alone() ? After : S.Source->report();
  if (Before.What != Report::Done)
    return Stop{Outcome::Infrastructure,
                std::string("the source itself cannot be modelled: ") +
                    Before.Text + "\n" + where(S)};
  if (Options.Reach) {
    Notes += After.Text;
    return std::nullopt;
  }
  uint64_t Compared = 0;
  if (comparesProfiles())
    if (MaybeStop Bad = compareProfiled(
            *J, Case, S.Candidate->written(), S.Source->written(),
            describeInputs(*J, S.Case, S.Seed), Compared))
      return Bad;
  Timing T;
  T.Label = J->Cases[Case].Label;
  T.Samples = 1;
  T.MedianUs = T.MinUs = After.TimeUs;
  T.SourceMedianUs = T.SourceMinUs = Before.TimeUs;
  T.Speedup = T.SpeedupLow = T.SpeedupHigh = Before.TimeUs / After.TimeUs;
  Timings.push_back(T);
  if (comparesProfiles() && (!IsRun[Case] || LeftOut[Case]))
    Notes += T.Label + ": too large to be run whole; " +
             (Compared ? std::to_string(Compared) +
                             " elements agree that profiled blocks of source "
                             "and candidate write\n"
                       : std::string("its outputs were not compared\n"));
  Notes += T.Label + ": " + After.Text;
  return std::nullopt;
}
