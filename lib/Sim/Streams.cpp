//===- Streams.cpp - What orders one operation of the device before another ==//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   As the CUDA C++ Programming Guide has it: operations of one stream follow
/// each other, the legacy default stream waits for all blocking streams and
/// they for it, events and the host's waits do the rest.
///
//===----------------------------------------------------------------------===//

#include "Streams.h"
#include <algorithm>
#include <cassert>

using namespace stark::sim;

namespace {
/// Handles are addresses that nobody owns; cudaStreamLegacy is 1 and
/// cudaStreamPerThread 2.
constexpr uintptr_t FirstHandle = 0x57000000;
} // namespace

Streams::Streams() : All(3) {}

void *Streams::callersHandle() {
  return reinterpret_cast<void *>(FirstHandle + uintptr_t(Callers) * 16);
}

unsigned Streams::named(const void *Handle) const {
  auto Value = reinterpret_cast<uintptr_t>(Handle);
  if (Value == 2)
    return PerThread;
  uintptr_t Index = (Value - FirstHandle) / 16;
  return Value >= FirstHandle && Index >= 2 && Index < All.size()
             ? unsigned(Index)
             : Legacy;
}

const void *Streams::create(bool NonBlocking) {
  All.emplace_back();
  All.back().Blocking = !NonBlocking;
  return reinterpret_cast<const void *>(FirstHandle + (All.size() - 1) * 16);
}

std::string Streams::nameOf(unsigned Stream) {
  return Stream == Legacy      ? "the default stream"
         : Stream == PerThread ? "the thread's default stream"
         : Stream == Callers   ? "the stream that the entry is given"
                               : "stream " + std::to_string(Stream - Callers) +
                                   " that was created";
}

void Streams::join(Clock &Into, const Clock &With) {
  Into.resize(std::max(Into.size(), With.size()));
  for (size_t I = 0; I < With.size(); ++I)
    Into[I] = std::max(Into[I], With[I]);
}

Streams::Clock Streams::before(unsigned Stream) const {
  Clock Seen = All[Stream].Seen;
  if (Stream == Legacy) {
    for (const auto &Other : All)
      if (Other.Blocking)
        join(Seen, Other.Seen);
  } else if (All[Stream].Blocking) {
    join(Seen, All[Legacy].Seen);
  }
  return Seen;
}

void Streams::begin(unsigned Of, uint32_t Epoch, std::string What) {
  Stream &S = All[Of];
  Now = before(Of);
  join(Now, Host);
  Now.resize(All.size());
  AllBefore = Epoch;
  for (size_t I = 0; I < All.size(); ++I)
    if (Now[I] < All[I].Epochs.size())
      AllBefore = std::min(AllBefore, All[I].Epochs[Now[I]]);
  S.Epochs.push_back(Epoch);
  Now[Of] = uint32_t(S.Epochs.size());
  S.Seen = Now;
  Operations.push_back({Epoch, Of, Now[Of], std::move(What)});
}

void Streams::wait(unsigned Stream) { join(Host, before(Stream)); }

void Streams::waitForAll() {
  for (const Stream &S : All)
    join(Host, S.Seen);
}

void Streams::record(uint64_t Event, unsigned Stream) {
  Events[Event] = before(Stream);
}

void Streams::waitEvent(unsigned Stream, uint64_t Event) {
  if (auto Found = Events.find(Event); Found != Events.end())
    join(All[Stream].Seen, Found->second);
}

void Streams::hostWaitsEvent(uint64_t Event) {
  if (auto Found = Events.find(Event); Found != Events.end())
    join(Host, Found->second);
}

const Streams::Operation &Streams::at(uint32_t Epoch) const {
  auto After = std::upper_bound(
      Operations.begin(), Operations.end(), Epoch,
      [](uint32_t E, const Operation &O) { return E < O.Epoch; });
  assert(After != Operations.begin() && "an epoch before all operations");
  return *std::prev(After);
}

bool Streams::ordered(uint32_t Epoch) const {
  if (Epoch < AllBefore || Operations.empty() || Epoch < Operations[0].Epoch)
    return true;
  const Operation &O = at(Epoch);
  return O.Number <= Now[O.Stream];
}

const std::string &Streams::what(uint32_t Epoch) const {
  return at(Epoch).What;
}
