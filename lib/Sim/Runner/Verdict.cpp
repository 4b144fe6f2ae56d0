//===- Verdict.cpp - From a candidate's call to what is said of it --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include <algorithm>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using namespace stark::judge;

std::string sim::whyTooLarge(const Report &R, uint64_t Limit) {
  return "too large to simulate in full: " +
         (R.What == Report::TooMany
              ? "after " + std::to_string(Limit / 1000000) +
                    " million accesses "
              : std::string("it ")) +
         R.Text;
}

/// A few numbers, by which a host decides what to launch.
static constexpr uint64_t MostHostBytes = 4096;

MaybeStop sim::unlikeSource(const Report &R, const Report &Source, const Job &J,
                            const std::string &Where) {
  bool HasStream =
      std::any_of(J.Leaves.begin(), J.Leaves.end(),
                  [](const Leaf &L) { return L.Kind == LeafKind::Stream; });
  if (HasStream && R.Elsewhere[0] && !Source.Elsewhere[0])
    return Stop{Outcome::Forbidden,
                std::string("the entry works in another stream than the one "
                            "that it is given, which the source does not: ") +
                    R.Elsewhere + "\n" + Where};
  if (R.KeptBytes && !Source.KeptBytes)
    return Stop{
        Outcome::Forbidden,
        "the entry leaks memory of the device: " + std::to_string(R.KeptBytes) +
            " bytes are not freed when it returns\n" + Where};
  if (R.HostBytes > std::max(MostHostBytes, Source.HostBytes))
    return Stop{Outcome::Unsupported,
                "the simulator cannot run an entry whose host code computes: "
                "the host is given " +
                    std::to_string(R.HostBytes) +
                    " bytes of the device's, by the source " +
                    std::to_string(Source.HostBytes) +
                    "; what it does with them takes no modelled time\n" +
                    Where};
  if (R.Changed[0] && !Source.Changed[0])
    return Stop{Outcome::Unstable, R.Changed + ("\n" + Where)};
  return std::nullopt;
}

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
                "of the source, or never ends: " +
                    Text};
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
