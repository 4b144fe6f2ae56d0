//===- Pipe.h - A pipe that closes itself ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   write end -> read end; no program that is started has either
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_PIPE_H
#define STARK_POSIX_PIPE_H

#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace stark::posix {

class Pipe {
public:
  Pipe() = default;
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  ~Pipe() {
    closeReadEnd();
    closeWriteEnd();
  }
  /// False, with errno, where there can be no more.
  bool open() { return ::pipe2(Ends, O_CLOEXEC) == 0; }
  int readEnd() const { return Ends[0]; }
  int writeEnd() const { return Ends[1]; }
  void closeReadEnd() { closeEnd(Ends[0]); }
  void closeWriteEnd() { closeEnd(Ends[1]); }

private:
  static void closeEnd(int &End) {
    if (int Was = std::exchange(End, -1); Was >= 0)
      ::close(Was);
  }
  int Ends[2] = {-1, -1};
};

} // namespace stark::posix

#endif
