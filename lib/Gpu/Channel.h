//===- Channel.h - Questions and answers with a deadline ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request + nonce -> socket -> reply with the same nonce, in time
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_CHANNEL_H
#define STARK_GPU_CHANNEL_H

#include "Protocol.h"
#include "stark/Posix/Clock.h"

namespace stark::gpu {

/// What became of a request.
struct Answer {
  enum Kind { Replied, TimedOut, Closed } What = Closed;
  Reply R;
  double WallUs = 0; ///< from the request to the reply
};

/// The supervisor's end of a SOCK_SEQPACKET pair.
class Channel {
public:
  /// Takes over \p Descriptor.
  Channel(int Descriptor, Clock &Time) : Descriptor(Descriptor), Time(Time) {}
  ~Channel() { close(); }
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  /// One that is gone is noticed when its answer is waited for.
  void send(Request R);
  /// The second part of the last request.
  void sendPart(const ErrandRecord &E);
  /// The answer to the last request; the deadline counts from that.
  Answer receive(uint64_t TimeoutMs);
  void close();

private:
  int Descriptor;
  Clock &Time;
  uint64_t Nonce = 0; ///< of the request that is being answered
  Clock::Time Sent;
};

} // namespace stark::gpu

#endif
