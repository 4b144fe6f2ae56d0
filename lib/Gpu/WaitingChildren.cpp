//===- WaitingChildren.cpp - Children that wait for a job -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Gpu/WaitingChildren.h"
#include "ChildProcess.h"
#include "CudaTool.h"
#include "Runner.h"
#include <algorithm>
#include <optional>

using namespace stark;
using namespace stark::gpu;

/// The source's and the candidate's.
static constexpr size_t Wanted = 2;

/// What can tell two apart that no tool starts.
static std::string kindOf(const ChildSpec &Spec) {
  return std::to_string(Spec.Device) + " " +
         (Spec.Torch ? Spec.Torch->Root : "");
}

struct WaitingChildren::Waiting {
  std::string Kind;
  std::unique_ptr<ChildProcess> Child;
  Clock::Time Begun;
  bool HasDevice = false;
};

WaitingChildren::WaitingChildren(Clock &Time) : Time(Time) {}
WaitingChildren::~WaitingChildren() { drop(); }

void WaitingChildren::begin(const ChildSpec &Spec) {
  std::string Kind = kindOf(Spec), Ignored;
  if (std::any_of(All.begin(), All.end(),
                  [&](const Waiting &W) { return W.Kind != Kind; }))
    drop();
  while (All.size() < Wanted) {
    std::unique_ptr<ChildProcess> Child =
        ChildProcess::start(Spec, Time, Ignored);
    if (!Child)
      return;
    Child->send(Request());
    All.push_back({Kind, std::move(Child), Time.now(), false});
  }
}

void WaitingChildren::expect(int Device, const posix::Libtorch *Torch) {
  Next = std::make_unique<ChildSpec>();
  Next->Device = Device;
  if (Torch)
    Next->Torch = *Torch;
}

bool WaitingChildren::ready() const { return !Next || All.size() >= Wanted; }

void WaitingChildren::begin() {
  if (Next)
    begin(*Next);
}

void WaitingChildren::await() {
  for (Waiting &W : All) {
    if (W.HasDevice)
      continue;
    // It may have answered long ago.
    Answer A = W.Child->receive(Time.millisecondsSince(W.Begun) + SetupLimitMs);
    W.HasDevice = failureOf(A, *W.Child, SetupLimitMs).empty();
  }
  All.erase(std::remove_if(All.begin(), All.end(),
                           [](const Waiting &W) { return !W.HasDevice; }),
            All.end());
}

std::unique_ptr<ChildProcess> WaitingChildren::take(const ChildSpec &Spec) {
  await();
  expect(Spec.Device, Spec.Torch ? &*Spec.Torch : nullptr);
  std::string Kind = kindOf(Spec);
  auto Found = std::find_if(All.begin(), All.end(),
                            [&](const Waiting &W) { return W.Kind == Kind; });
  if (Found == All.end())
    return nullptr;
  std::unique_ptr<ChildProcess> Child = std::move(Found->Child);
  All.erase(Found);
  return Child;
}

void WaitingChildren::beginToEnd() const {
  for (const Waiting &W : All)
    W.Child->beginToEnd();
}

void WaitingChildren::drop() {
  beginToEnd();
  All.clear();
}
