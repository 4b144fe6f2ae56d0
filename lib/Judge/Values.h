//===- Values.h - Elements of buffers as numbers --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   bits of an element -> double; work in parts -> threads
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_JUDGE_VALUES_H
#define STARK_LIB_JUDGE_VALUES_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace stark::judge {

struct Half {
  uint16_t Bits;
  double value() const {
    // A call for each element would take longer than the rest.
    static const std::vector<float> Table = [] {
      std::vector<float> T(65536);
      for (uint32_t I = 0; I < 65536; ++I) {
        uint16_t Bits = uint16_t(I);
        _Float16 Value;
        std::memcpy(&Value, &Bits, sizeof(Value));
        T[I] = float(Value);
      }
      return T;
    }();
    return Table[Bits];
  }
};
/// Never compared as such: its parts are.
template <class T> using Complex = T;
struct BFloat {
  uint16_t Bits;
  double value() const {
    uint32_t Wide = uint32_t(Bits) << 16;
    float F;
    std::memcpy(&F, &Wide, 4);
    return F;
  }
};
template <class T> inline double valueOf(T V) { return double(V); }
inline double valueOf(Half H) { return H.value(); }
inline double valueOf(BFloat B) { return B.value(); }

/// Calls Body(Part) for 0..Parts-1 on as many threads as are worth it.
template <class Function> void forParts(uint64_t Parts, Function Body) {
  unsigned Threads = unsigned(std::min<uint64_t>(
      {Parts, std::max(1u, std::thread::hardware_concurrency()), 32}));
  if (Threads <= 1) {
    for (uint64_t P = 0; P < Parts; ++P)
      Body(P);
    return;
  }
  std::atomic<uint64_t> Next{0};
  auto Work = [&] {
    for (uint64_t P; (P = Next.fetch_add(1)) < Parts;)
      Body(P);
  };
  std::vector<std::thread> Pool;
  for (unsigned I = 1; I < Threads; ++I)
    Pool.emplace_back(Work);
  Work();
  for (std::thread &T : Pool)
    T.join();
}

} // namespace stark::judge

#endif
