//===- Verdict.cpp - From a candidate's call to what is said of it --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Call.h"

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using namespace stark::judge;

MaybeStop sim::stopOf(const Report &R, const std::string &Where) {
  std::string Text = std::string(R.Text) + "\n" + Where;
  switch (R.What) {
  case Report::Done:
    break;
  case Report::Unsupported:
    return Stop{Outcome::Unsupported, "the simulator cannot run " + Text};
  case Report::NotRun:
    return Stop{Outcome::Infrastructure, R.Text};
  case Report::TooMany:
    return Stop{Outcome::TimedOut,
                "the candidate makes more than ten times the memory accesses "
                "of the source, or never ends " +
                    Where};
  case Report::TooLong:
    return Stop{Outcome::TimedOut, "the candidate " + Text};
  case Report::Died:
  case Report::Stopped:
    return Stop{Outcome::Crashed, Text};
  case Report::BadResult:
    return Stop{Outcome::Wrong, Text};
  case Report::Found:
    return Stop{effectOf(R.Kind) == Effect::Stops ? Outcome::Crashed
                                                  : Outcome::Wrong,
                Text};
  }
  return std::nullopt;
}
