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

/// New ones: the candidate's, and the source's, which stays where one rests for
/// the next job.
static constexpr size_t Wanted = 2;

/// What can tell two apart that no tool starts.
static std::string kindOf(const ChildSpec &Spec) {
  return std::to_string(Spec.Device) + (Spec.Alone ? " alone " : " ") +
         (Spec.Torch ? Spec.Torch->Root : "");
}

struct WaitingChildren::Waiting {
  std::string Kind, Library; ///< no library: a new one
  std::unique_ptr<ChildProcess> Child;
  Clock::Time Begun;
  bool Ready = false; ///< it has answered Hello or Rest
};

WaitingChildren::WaitingChildren(Clock &Time) : Time(Time) {}
WaitingChildren::~WaitingChildren() { drop(); }

size_t WaitingChildren::missing() const {
  size_t New = std::count_if(All.begin(), All.end(), [](const Waiting &W) {
    return W.Library.empty();
  });
  return Wanted - std::min(New, Wanted);
}

void WaitingChildren::begin(const ChildSpec &Spec) {
  std::string Kind = kindOf(Spec), Ignored;
  if (std::any_of(All.begin(), All.end(),
                  [&](const Waiting &W) { return W.Kind != Kind; }))
    drop();
  for (size_t Count = missing(); Count; --Count) {
    std::unique_ptr<ChildProcess> Child =
        ChildProcess::start(Spec, Time, Ignored);
    if (!Child)
      return;
    Child->send(Request());
    All.push_back({Kind, "", std::move(Child), Time.now(), false});
  }
}

void WaitingChildren::expect(int Device, const posix::Libtorch *Torch) {
  Next = std::make_unique<ChildSpec>();
  Next->Device = Device;
  Next->Alone = true;
  if (Torch)
    Next->Torch = *Torch;
}

bool WaitingChildren::ready() const { return !Next || !missing(); }

void WaitingChildren::begin() {
  if (Next)
    begin(*Next);
}

void WaitingChildren::await() {
  awaitBegun();
  Ending.clear();
}

void WaitingChildren::awaitBegun() {
  for (Waiting &W : All) {
    if (W.Ready)
      continue;
    // It may have answered long ago.
    Answer A = W.Child->receive(Time.millisecondsSince(W.Begun) + SetupLimitMs);
    W.Ready = failureOf(A, *W.Child, SetupLimitMs).empty();
  }
  All.erase(std::remove_if(All.begin(), All.end(),
                           [](const Waiting &W) { return !W.Ready; }),
            All.end());
}

std::unique_ptr<ChildProcess>
WaitingChildren::take(const std::string &Kind, const std::string &Library) {
  awaitBegun();
  auto Found = std::find_if(All.begin(), All.end(), [&](const Waiting &W) {
    return W.Kind == Kind && W.Library == Library;
  });
  if (Found == All.end())
    return nullptr;
  std::unique_ptr<ChildProcess> Child = std::move(Found->Child);
  All.erase(Found);
  return Child;
}

std::unique_ptr<ChildProcess> WaitingChildren::take(const ChildSpec &Spec) {
  expect(Spec.Device, Spec.Torch ? &*Spec.Torch : nullptr);
  return take(kindOf(Spec), "");
}

std::unique_ptr<ChildProcess>
WaitingChildren::takeRested(const ChildSpec &Spec, const std::string &Library) {
  std::unique_ptr<ChildProcess> Child = take(kindOf(Spec), Library);
  // Nobody has to wait here until the driver has cleared up after them.
  for (Waiting &W : All)
    if (!W.Library.empty()) {
      W.Child->beginToEnd();
      Ending.push_back(std::move(W.Child));
    }
  All.erase(std::remove_if(All.begin(), All.end(),
                           [](const Waiting &W) { return !W.Child; }),
            All.end());
  return Child;
}

void WaitingChildren::rest(std::unique_ptr<ChildProcess> Child,
                           const ChildSpec &Spec, const std::string &Library) {
  Request R;
  R.What = Command::Rest;
  Child->send(R);
  All.push_back({kindOf(Spec), Library, std::move(Child), Time.now(), false});
}

void WaitingChildren::beginToEnd() const {
  for (const Waiting &W : All)
    W.Child->beginToEnd();
}

void WaitingChildren::drop() {
  beginToEnd();
  All.clear();
  Ending.clear();
}
