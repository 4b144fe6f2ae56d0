//===- Channel.cpp - Questions and answers with a deadline ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   poll until the deadline; what does not repeat the nonce is not listened to
///
//===----------------------------------------------------------------------===//

#include "Channel.h"
#include "stark/Posix/Secret.h"
#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace stark;
using namespace stark::gpu;

void Channel::close() {
  if (Descriptor >= 0)
    ::close(Descriptor);
  Descriptor = -1;
}

void Channel::send(Request R) {
  R.Nonce = Nonce = posix::secretNumber();
  Sent = Time.now();
  if (Descriptor >= 0)
    (void)!::send(Descriptor, &R, sizeof(R), MSG_NOSIGNAL);
}

void Channel::sendPart(const ErrandRecord &E) {
  if (Descriptor >= 0)
    (void)!::send(Descriptor, &E, sizeof(E), MSG_NOSIGNAL);
}

Answer Channel::receive(uint64_t TimeoutMs) {
  Answer A;
  while (Descriptor >= 0) {
    double LeftMs = double(TimeoutMs) - Time.microsecondsSince(Sent) / 1000;
    if (LeftMs <= 0) {
      A.What = Answer::TimedOut;
      return A;
    }
    pollfd P = {Descriptor, POLLIN, 0};
    int Ready = ::poll(&P, 1, int(std::min(LeftMs + 1, 3600e3)));
    if (Ready < 0 && errno != EINTR)
      return A;
    if (Ready <= 0)
      continue;
    ssize_t Got = ::recv(Descriptor, &A.R, sizeof(A.R), MSG_TRUNC);
    if (Got <= 0)
      return A;
    // A record of another size or with another nonce is none of the harness's:
    // it was made by the library, and is not listened to.
    if (Got != sizeof(A.R) || A.R.Nonce != Nonce)
      continue;
    A.R.Text[sizeof(A.R.Text) - 1] = 0;
    A.What = Answer::Replied;
    A.WallUs = Time.microsecondsSince(Sent);
    return A;
  }
  return A;
}
