//===- TracedChild.cpp - Calls of a library that CUPTI records ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TracedChild.h"
#include "CudaTool.h"
#include "Runner.h"
#include <algorithm>

using namespace stark;
using namespace stark::gpu;

bool TracedChild::ask(const Request &R, uint64_t Limit, Answer &A) {
  sendWhole(*Child, R);
  A = Child->receive(Limit);
  Problem = failureOf(A, *Child, Limit);
  return Problem.empty();
}

bool TracedChild::open(const ChildSpec &Spec, const Errand &Work) {
  Child = ChildProcess::start(Spec, Time, Problem);
  Answer A;
  if (!Child || !ask(requestFor(Command::Hello), SetupLimitMs, A) ||
      !Child->send(Work, 0, Problem))
    return false;
  A = Child->receive(SetupLimitMs);
  Problem = failureOf(A, *Child, SetupLimitMs);
  return Problem.empty() && ask(requestFor(Command::Load), SetupLimitMs, A);
}

bool TracedChild::prepare(unsigned Case, uint64_t WarmMs) {
  Request Place = requestFor(Command::Prepare, Case),
          Warm = requestFor(Command::Warm, Case);
  Place.Seed = posix::secretNumber();
  Place.WeightSeed = posix::secretNumber();
  Warm.Seed = Warm.WeightSeed = posix::secretNumber();
  Warm.Ms = WarmMs;
  Answer A;
  return ask(Place, SetupLimitMs, A) && ask(Warm, LimitMs + WarmMs, A);
}

bool TracedChild::call(unsigned Case, uint64_t Seed, judge::TracedCall &Out) {
  Request R = requestFor(Command::Sample, Case);
  R.Seed = R.WeightSeed = Seed;
  Answer A;
  if (!ask(R, LimitMs, A))
    return false;
  Out = {A.R.EventUs, A.R.WorkUs, A.R.Count, A.R.KeptBytes};
  Works = A.R.Count;
  return true;
}

bool TracedChild::describe(size_t Most, std::vector<DeviceWork> &Out) {
  for (size_t I = 0; I < std::min<uint64_t>(Most, Works); ++I) {
    Answer A;
    if (!ask(requestFor(Command::Describe, unsigned(I)), SetupLimitMs, A))
      return false;
    DeviceWork &Work = Out.emplace_back(A.R.Work);
    Work.Name[sizeof(Work.Name) - 1] = 0;
    for (char *C = Work.Name; *C; ++C)
      if (*C < 32 || *C > 126)
        *C = '?';
  }
  return true;
}
