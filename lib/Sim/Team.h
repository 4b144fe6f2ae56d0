//===- Team.h - Processes that share one launch ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A call is a process that may start no other. It asks whoever started it
/// for partners, which each run some blocks of a launch on memory of their own.
///
///   call: asks -> starter: forks partners -> call: what the launch is, which
///   blocks are whose -> partners: run them, tell what they did -> call: takes
///   that over in the order of blocks, or runs those blocks itself
///
/// All of it lies in memory that they share. What the call tells the starter is
/// not trusted: it can get partners and nothing else.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_TEAM_H
#define STARK_LIB_SIM_TEAM_H

#include "stark/Posix/Process.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace stark::sim {

/// Partners of one call, at most.
constexpr unsigned MostPartners = 7;

/// Of one partner.
struct PartnerSlot {
  std::atomic<uint32_t> Failed; ///< it is gone, or cannot do its part
  std::atomic<int32_t> Process;
  /// What goes from the partner to the call: bytes put there, and taken.
  std::atomic<uint64_t> Put, Taken;
  uint64_t Begin, End; ///< its clusters
};

/// In memory that all of them see.
class Team {
public:
  enum Phase : uint32_t {
    Alone,   ///< nothing is asked for
    Wanted,  ///< by the call: some partners
    Refused, ///< by the starter: there is no core for one
    Here,    ///< by the starter: they wait
    Begun,   ///< by the call: they may read their orders
    Over,    ///< by the call: they may go
  };

  /// Null when there is no memory.
  static Team *create();
  static void destroy(Team *T);

  std::atomic<uint32_t> Now;
  std::atomic<uint32_t> Asked; ///< how many partners are wanted
  std::atomic<uint32_t> Count; ///< how many there are
  /// Processor time of partners of which the call has taken over what they did.
  std::atomic<uint64_t> TakenMs;
  // What came of it, for people.
  std::atomic<uint64_t> Taken, RunAgain;
  PartnerSlot Slots[MostPartners];

  /// What a launch is, from the call to the partners.
  char *orders();
  static constexpr uint64_t OrderBytes = uint64_t(1) << 30;

  /// By partner \p I, which ends where nobody wants to know.
  void put(unsigned I, const void *From, uint64_t Bytes);
  /// By the call; false: there will be no more. \p Patient: whether to go on
  /// waiting.
  bool take(unsigned I, void *To, uint64_t Bytes,
            const std::function<bool()> &Patient);
  /// By a partner: until it may read its orders. Ends it where there are none.
  void awaitOrders();
  /// Both have ended or will never come again.
  void clear();

private:
  static constexpr uint64_t HeaderBytes = 4096, RingBytes = 1 << 20;
  static constexpr uint64_t WholeBytes =
      HeaderBytes + OrderBytes + MostPartners * RingBytes;
  char *ring(unsigned I);
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// In the process that started the call.
class TeamStarter {
public:
  /// \p Body: what partner I does in its process.
  TeamStarter(Team &Of, std::function<void(unsigned I)> Body)
      : Of(Of), Body(std::move(Body)) {}
  /// Starts at most \p Free partners when some are wanted, and ends those that
  /// are not needed any more. How many there are then.
  unsigned look(unsigned Free);
  unsigned running() const { return unsigned(Partners.size()); }

private:
  void start(unsigned Count);

  Team &Of;
  std::function<void(unsigned)> Body;
  struct Partner {
    unsigned Slot;
    posix::ChildGroup Process;
  };
  std::vector<Partner> Partners;
};

/// Of process \p Id, this one when it is 0, in seconds.
double processorSecondsOf(int Id);

} // namespace stark::sim

#endif
