//===- Ending.cpp - Why a request was the last ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ending.h"
#include "stark/Judge/Judge.h"

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

/// A call of an entry, of which its inputs are told.
static std::string leafName(const Job &J, uint32_t Leaf) {
  return Leaf < J.Leaves.size() ? J.Leaves[Leaf].Name : "?";
}

Stop gpu::hostFailed(const std::string &Why) {
  return Stop{Outcome::Infrastructure, Why};
}

Stop gpu::endOfSource(const Ending &E) {
  std::string Why;
  if (E.A.What == Answer::TimedOut)
    Why = "no answer within " + std::to_string(E.LimitMs) + " ms";
  else if (E.A.What == Answer::Closed)
    Why = E.Child.describeDeath();
  else if (E.A.R.What == Status::Infrastructure ||
           E.A.R.What == Status::NoMemory)
    return hostFailed(E.A.R.Text);
  else if (E.A.R.What == Status::OutOfBounds)
    Why = "it writes outside '" + leafName(E.J, E.A.R.Leaf) + "'";
  else if (E.A.R.What == Status::InputChanged)
    Why = "it changes '" + leafName(E.J, E.A.R.Leaf) +
          "', which the workload calls an input; \"role\": \"inout\" would "
          "allow it";
  else if (E.A.R.What == Status::BadResult)
    Why = std::string(E.A.R.Text) + "; the workload's \"returns\" says so";
  else if (E.A.R.What == Status::Escaped)
    Why = "it works on another stream than the one it is given";
  else
    Why = E.A.R.Text;
  std::string Where =
      isCall(E.R.What) ? " with size '" + E.J.Cases[E.R.Case].Label + "'" : "";
  return hostFailed("the source itself fails" + Where + ": " + Why);
}

Stop gpu::endOfCandidate(const Ending &E, const std::string &Name) {
  std::string Where = " (" + Name;
  if (isCall(E.R.What))
    Where += " with " + describeInputs(E.J, E.R.Case, E.R.Seed);
  Where += ")";
  if (E.A.What == Answer::TimedOut)
    return Stop{Outcome::TimedOut,
                "the entry did not come back within " +
                    std::to_string(E.LimitMs) + " ms" + Where +
                    "; it was killed. A loop that never ends, a barrier that "
                    "not all threads reach, or a wait on another block would "
                    "do that."};
  if (E.A.What == Answer::Closed)
    return Stop{E.Child.madeForbiddenCall() ? Outcome::Forbidden
                                            : Outcome::Crashed,
                E.Child.describeDeath() + Where};
  switch (E.A.R.What) {
  case Status::Failed:
    return Stop{Outcome::Crashed, E.A.R.Text + Where};
  case Status::InputChanged:
    return Stop{Outcome::Wrong, "the entry changed its input '" +
                                    leafName(E.J, E.A.R.Leaf) + "'" + Where +
                                    "; inputs must be left as they are"};
  case Status::OutOfBounds:
    return Stop{Outcome::Wrong,
                "the entry wrote outside '" + leafName(E.J, E.A.R.Leaf) +
                    "': at least " + std::to_string(E.A.R.Count) +
                    " bytes just before or after the buffer changed" + Where};
  case Status::BadResult:
    return Stop{Outcome::Wrong, E.A.R.Text + Where};
  case Status::Escaped:
    return Stop{Outcome::Forbidden,
                "work escapes the timed stream" + Where +
                    ": outputs changed while the stream stood still, or after "
                    "everything on it was done. All work must be on the stream "
                    "that the entry is given"};
  case Status::Forbidden:
    return Stop{Outcome::Forbidden, E.A.R.Text + Where};
  case Status::Ok: // has no ending
  case Status::NoMemory:
  case Status::Infrastructure:
    break;
  }
  return hostFailed(E.A.R.Text);
}
