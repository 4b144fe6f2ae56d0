//===- Team.cpp - Processes that share one launch -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Team.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace stark;
using namespace stark::sim;

namespace {
constexpr std::chrono::microseconds Pause(50);
void rest() { std::this_thread::sleep_for(Pause); }
} // namespace

double sim::processorSecondsOf(int Id) {
  clockid_t Which = CLOCK_PROCESS_CPUTIME_ID;
  timespec Spent{};
  if ((Id && clock_getcpuclockid(Id, &Which) != 0) ||
      clock_gettime(Which, &Spent) != 0)
    return 0;
  return double(Spent.tv_sec) + double(Spent.tv_nsec) * 1e-9;
}

Team *Team::create() {
  void *Memory = mmap(nullptr, WholeBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  static_assert(sizeof(Team) <= HeaderBytes);
  return Memory == MAP_FAILED ? nullptr : new (Memory) Team();
}

void Team::destroy(Team *T) {
  if (T)
    munmap(T, WholeBytes);
}

char *Team::orders() { return reinterpret_cast<char *>(this) + HeaderBytes; }

char *Team::ring(unsigned I) { return orders() + OrderBytes + I * RingBytes; }

void Team::clear() {
  // Gives the pages back.
  madvise(orders(), OrderBytes + MostPartners * RingBytes, MADV_REMOVE);
  Count = 0;
  for (PartnerSlot &S : Slots) {
    S.Failed = 0;
    S.Process = 0;
    S.Put = S.Taken = 0;
  }
}

void Team::awaitOrders() {
  while (Now != Begun) {
    if (Now == Over)
      _exit(0);
    rest();
  }
}

void Team::put(unsigned I, const void *From, uint64_t Bytes) {
  PartnerSlot &S = Slots[I];
  const auto *Next = static_cast<const char *>(From);
  while (Bytes) {
    uint64_t Put = S.Put.load(std::memory_order_relaxed);
    uint64_t Room = RingBytes - (Put - S.Taken.load());
    if (!Room) {
      if (Now != Begun)
        _exit(0);
      rest();
      continue;
    }
    uint64_t Step = std::min({Bytes, Room, RingBytes - Put % RingBytes});
    std::memcpy(ring(I) + Put % RingBytes, Next, Step);
    S.Put.store(Put + Step);
    Next += Step;
    Bytes -= Step;
  }
}

bool Team::take(unsigned I, void *To, uint64_t Bytes,
                const std::function<bool()> &Patient) {
  PartnerSlot &S = Slots[I];
  auto *Next = static_cast<char *>(To);
  while (Bytes) {
    uint64_t Taken = S.Taken.load(std::memory_order_relaxed);
    // Looked at first: what it had told before it ended counts.
    bool Failed = S.Failed;
    uint64_t There = S.Put.load() - Taken;
    if (!There) {
      if (Failed || !Patient())
        return false;
      rest();
      continue;
    }
    uint64_t Step = std::min({Bytes, There, RingBytes - Taken % RingBytes});
    std::memcpy(Next, ring(I) + Taken % RingBytes, Step);
    S.Taken.store(Taken + Step);
    Next += Step;
    Bytes -= Step;
  }
  return true;
}

void TeamStarter::start(unsigned Count) {
  Of.clear();
  for (unsigned I = 0; I < Count; ++I) {
    std::optional<posix::ChildGroup> P =
        posix::ChildGroup::start(posix::ChildGroup::Ties::WithParent, [&] {
          Of.Slots[I].Process = getpid();
          Body(I);
        });
    if (!P)
      break;
    Partners.push_back({I, std::move(*P)});
  }
  Of.Count = unsigned(Partners.size());
  Of.Now = Partners.empty() ? Team::Refused : Team::Here;
}

unsigned TeamStarter::look(unsigned Free) {
  switch (Of.Now) {
  case Team::Wanted:
    if (!Partners.empty())
      break; // nobody asks twice
    if (unsigned Most = std::min({Free, Of.Asked.load(), MostPartners}))
      start(Most);
    else
      Of.Now = Team::Refused;
    break;
  case Team::Over:
    Partners.clear();
    Of.clear();
    Of.Now = Team::Alone;
    break;
  default:
    std::erase_if(Partners, [&](Partner &P) {
      if (!P.Process.ended())
        return false;
      Of.Slots[P.Slot].Failed = 1;
      return true;
    });
  }
  return running();
}
