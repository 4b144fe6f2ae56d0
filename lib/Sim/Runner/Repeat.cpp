//===- Repeat.cpp - The same call again, in one process -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   inputs as they were -> the call -> outputs to the bit, often
/// A simulated device gives the same each time, so what differs was kept
/// between calls: in memory that was freed, in the C library, in a function's
/// attributes. A shipped entry is called by a process that lives.
///
//===----------------------------------------------------------------------===//

#include "Call.h"
#include <algorithm>

using namespace stark;
using namespace stark::sim;

/// Up to twice as many are made.
static constexpr unsigned FewestCalls = 100;
/// No further call is made when so many were executed; two are the least.
static constexpr double MostInstructions = 5e6;

unsigned sim::repeatsOf(const job::Job &J) {
  return FewestCalls + unsigned(J.Seeds.front() % FewestCalls);
}

void Repetition::compare() {
  std::vector<DeviceBuffer> Now = Arguments.buffers();
  for (size_t I = 0; I < Now.size() && Changed.empty(); ++I) {
    auto At = std::mismatch(First[I].begin(), First[I].end(), Now[I].Data);
    if (At.first != First[I].end())
      Changed = "call " + std::to_string(Made) +
                " in one process gives another '" + Now[I].Name +
                "' than the first, with the same inputs, from byte " +
                std::to_string(At.first - First[I].begin()) +
                " on: something is kept between calls";
  }
}

bool Repetition::again(double Instructions) {
  ++Made;
  std::vector<DeviceBuffer> Buffers = Arguments.buffers();
  if (Made == 1)
    for (const DeviceBuffer &B : Buffers)
      First.emplace_back(B.Data, B.Data + B.Bytes);
  else
    compare();
  bool Enough = Made >= Most || (Made > 1 && Instructions > MostInstructions);
  if (Changed.empty() && !Enough) {
    Arguments.arm(0);
    return true;
  }
  // What is compared with the source's are those of the first.
  for (size_t I = 0; I < Buffers.size(); ++I)
    std::copy(First[I].begin(), First[I].end(), Buffers[I].Data);
  return false;
}
