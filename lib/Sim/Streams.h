//===- Streams.h - What orders one operation of the device before another -===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A launch, a copy or a set is an operation. It is run when it is asked for;
/// what a GPU might have run at the same time is told by vector clocks: each
/// stream, each event and the host know how far they have seen each stream.
///
///   host asks -> begin(stream) -> epochs of the machine -> ordered(epoch)?
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_STREAMS_H
#define STARK_LIB_SIM_STREAMS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stark::sim {

class Streams {
public:
  /// The legacy default stream and, as a thread's own, another one.
  static constexpr unsigned Legacy = 0, PerThread = 1;
  /// The one that an entry is called with.
  static constexpr unsigned Callers = 2;
  static void *callersHandle();
  Streams();

  /// By what the host's code names it; a name that is not known is Legacy.
  unsigned named(const void *Handle) const;
  const void *create(bool NonBlocking);

  /// The machine's epochs from \p Epoch on belong to an operation in
  /// \p Stream, which people are told as \p What.
  void begin(unsigned Stream, uint32_t Epoch, std::string What);
  /// The host waits for what has been asked of \p Stream.
  void wait(unsigned Stream);
  void waitForAll();
  void record(uint64_t Event, unsigned Stream);
  void waitEvent(unsigned Stream, uint64_t Event);
  void hostWaitsEvent(uint64_t Event);

  /// Before this epoch everything is ordered before the operation that has
  /// begun.
  uint32_t allBefore() const { return AllBefore; }
  /// What was done in \p Epoch, before the operation that has begun.
  bool ordered(uint32_t Epoch) const;
  /// "kernel k, launched at line 3 in stream 1"
  const std::string &what(uint32_t Epoch) const;
  static std::string nameOf(unsigned Stream);

private:
  /// How many operations of each stream have been seen.
  using Clock = std::vector<uint32_t>;
  struct Stream {
    bool Blocking = true;
    Clock Seen;
    std::vector<uint32_t> Epochs; ///< of its operations
  };
  struct Operation {
    uint32_t Epoch = 0, Stream = 0, Number = 0;
    std::string What;
  };
  static void join(Clock &Into, const Clock &With);
  /// What comes next in \p Stream comes after this.
  Clock before(unsigned Stream) const;
  const Operation &at(uint32_t Epoch) const;

  std::vector<Stream> All;
  Clock Host, Now;
  std::map<uint64_t, Clock> Events;
  std::vector<Operation> Operations; ///< by epoch
  uint32_t AllBefore = 0;
};

} // namespace stark::sim

#endif
