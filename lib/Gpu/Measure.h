//===- Measure.h - The clock and the device's own figures ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   How long one call takes between two events with a cold L2, and what the
///   device
/// can do at best.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_MEASURE_H
#define STARK_GPU_MEASURE_H

#include "Kernels.h"
#include "Protocol.h"
#include "ReadOnly.h"
#include <array>
#include <cuda_runtime.h>

namespace stark::gpu {

/// Makes \p Ordinal current and fills name, driver, arch, memory and L2. Text
/// when there is no such device, with what to do about it.
std::string openDevice(int Ordinal, DeviceFacts &Facts);

/// What is freed in the order of a stream stays with the device's pool from now
/// on, as where nobody waits for the device between calls; what is there is
/// given back.
std::string keepPool();

/// Known kernels with known answers: the harness works on this device.
std::string selfTest();

/// A profiler sets itself up with the first kernel that it sees, this one: for
/// that it needs more than a child is left with later. Between two calls it
/// tells which launches are whose.
std::string showKernel();

/// Shows a sanitizer \p What.
std::string showFault(Fault What);

/// Median of empty event pairs, and of device-to-device copies.
std::string calibrate(DeviceFacts &Facts);

/// Bytes of the device's memory that nobody has; 0 when it does not say.
uint64_t freeMemory();

/// A pair of events around one call, with L2 flushed before.
class Stopwatch {
public:
  Stopwatch() = default;
  ~Stopwatch();
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;
  std::string open(uint64_t L2Bytes);
  /// The stream stands still behind what it was given until release(), or for
  /// a while.
  std::string hold(cudaStream_t Stream);
  /// Flushes, and holds it until release() or stop(), or for a shorter while.
  std::string start(cudaStream_t Stream);
  /// What follows is timed.
  std::string begin(cudaStream_t Stream);
  /// All that is timed has been launched.
  void release();
  std::string stop(cudaStream_t Stream);
  /// When the stream has come past the stop event.
  std::string read(double &Us);

private:
  cudaEvent_t Begin = nullptr, End = nullptr;
  char *Trash = nullptr;
  uint64_t TrashBytes = 0;
  unsigned long long *Sink = nullptr;
  volatile uint32_t *Gate = nullptr; ///< in the host's memory
  uint32_t Ticket = 0;
};

/// Of a warm-up, in which free memory was looked at so often.
constexpr unsigned Quarters = 4;

/// Bytes of \p Free, by quarter, that were lost to the calls. Memory that is
/// lost in two of the last three quarters, and comes back in none, is lost by
/// the calls: what is set up once is set up in the first. The driver gives
/// memory by 2 MiB, so a small loss is not seen in each of them.
uint64_t leakIn(const std::array<uint64_t, Quarters> &Free);

/// By how much a process grew in each of the quarters of a warm-up, in whose
/// beginning its calls had been made before: less than 16 MiB is what drivers
/// and allocators do. 0 where it stayed as it was in one of them.
uint64_t growthOf(const std::array<uint64_t, Quarters> &Sizes);

} // namespace stark::gpu

#endif
