//===- JournaledProfiler.cpp - Counters as steps of a run -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Journaled.h"
#include "stark/Support/Digest.h"

using namespace stark;

const Counters *ShownCounters::of(unsigned Node) const {
  auto Found = All.find(Node);
  return Found == All.end() ? nullptr : &Found->second;
}

void ShownCounters::keep(unsigned Node, const Counters &Found) {
  All[Node] = Found;
  TooSlow |= Found.TooSlow;
  if (!Found.Problem.empty())
    Steps.noteOnce(RunSteps::Once::NoCounters,
                   "plans are shown no counters of node " +
                       std::to_string(Node) + ": " + Found.Problem);
}

namespace {
class JournaledProfiler : public Profiler {
public:
  JournaledProfiler(Profiler &Live, RunSteps &Steps, ShownCounters &Shown,
                    unsigned Attempt)
      : Live(Live), Steps(Steps), Shown(Shown), Attempt(Attempt) {}

  llvm::Expected<Counters> profile(const Candidate &C) override;

private:
  llvm::Expected<Counters> look(const Candidate &C);

  Profiler &Live;
  RunSteps &Steps;
  ShownCounters &Shown;
  const unsigned Attempt;
};
} // namespace

static Counters noneAfterSlowOne() {
  Counters None;
  None.Problem = "an earlier node was too slow";
  return None;
}

llvm::Expected<Counters> JournaledProfiler::look(const Candidate &C) {
  if (const Counters *Known = Shown.of(C.Node))
    return *Known;
  if (!Shown.tooSlow())
    return Live.profile(C);
  return noneAfterSlowOne();
}

llvm::Expected<Counters> JournaledProfiler::profile(const Candidate &C) {
  if (!Steps.recorded<CountersEvent>(Attempt)) {
    // With several attempts in flight, which are made again in another order,
    // each has its own.
    bool One = Steps.run().identity().Options.Jobs == 1;
    if (const Counters *Known = Shown.of(C.Node); One && Known)
      return *Known;
    // What was asked about without them is asked so again.
    if (One && Shown.tooSlow())
      return noneAfterSlowOne();
    if (Steps.recordedStep(Attempt))
      return Counters();
  }
  CountersEvent E{Attempt, C.Node, sha256(C.Text), {}};
  llvm::Expected<CountersEvent> Taken =
      Steps.step<CountersEvent>(Attempt,
                                {"profile",
                                 "node " + std::to_string(C.Node) +
                                     ", candidate " + E.Candidate.substr(0, 16),
                                 [&](const CountersEvent &Had) {
                                   return Had.Attempt == Attempt &&
                                          Had.Node == C.Node &&
                                          Had.Candidate == E.Candidate;
                                 }},
                                [&]() -> llvm::Expected<CountersEvent> {
                                  llvm::Expected<Counters> Found = look(C);
                                  if (!Found)
                                    return Found.takeError();
                                  E.Found = std::move(*Found);
                                  return E;
                                });
  if (!Taken)
    return Taken.takeError();
  Shown.keep(C.Node, Taken->Found);
  return std::move(Taken->Found);
}

std::unique_ptr<Profiler> stark::journalCounters(Profiler &Live,
                                                 RunSteps &Steps,
                                                 ShownCounters &Shown,
                                                 unsigned Attempt) {
  return std::make_unique<JournaledProfiler>(Live, Steps, Shown, Attempt);
}
