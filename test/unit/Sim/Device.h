//===- Device.h - A simulated device whose kernels are C++ ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A kernel here is a function that calls what instrumented code would call.
/// A finding ends a run, so each run is a child process.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TEST_UNIT_SIM_DEVICE_H
#define STARK_TEST_UNIT_SIM_DEVICE_H

#include "Machine.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
extern uint32_t *__stark_sim_lane;
extern uint32_t __stark_sim_probe;
extern char *__stark_sim_shared;
}

namespace stark::sim::test {

/// Probes of the tables below; probe N is at line N + 1.
enum : uint32_t { Load, Store, Atomic, Sync, Other, ProbeCount };

inline uint32_t threadX() { return __stark_sim_lane[0]; }
inline uint32_t blockX() { return __stark_sim_lane[3]; }

struct Device {
  Tables T;
  GpuDescription Gpu;
  Mode How = Mode::Check;

  Device() {
    T.Probes.resize(ProbeCount);
    for (uint32_t S = 0; S < ProbeCount; ++S) {
      T.Probes[S].Line = S + 1;
      T.Probes[S].Align = S <= Atomic ? 4 : 1;
      T.Probes[S].Bytes = S <= Atomic ? 4 : 0;
    }
    T.Probes[Store].Kind = ProbeKind::Store;
    T.Probes[Atomic].Kind = ProbeKind::Atomic;
    T.Probes[Sync].Kind = T.Probes[Other].Kind = ProbeKind::Sync;
    T.Probes[Sync].What = "barrier";
    T.Probes[Other].What = "shuffle";
    T.Shared.push_back({"tile", 0, 256, "tile"});
    T.SharedEnd = 1024;
    T.Functions.emplace_back();
    T.Functions[0].Name = "k";
    Gpu.Sms = 2;
    Gpu.SharedPerSm = 100 * 1024;
    Gpu.SharedPerBlock = 64 * 1024;
    Gpu.L1Bytes = 128 * 1024;
    Gpu.ClockGHz = Gpu.DramGBs = Gpu.L2GBs = 1;
  }

  /// What a run found: "kind: text", "unsupported: text", or what \p Host
  /// returned. \p Host is the host's code. \p Meanwhile is done here, again
  /// and again.
  std::string run(const std::function<std::string(Machine &)> &Host,
                  const std::function<void()> &Meanwhile = nullptr) {
    auto *Said = static_cast<char *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    auto Tell = [Said](const std::string &Text) {
      std::memcpy(Said, Text.c_str(), std::min<size_t>(Text.size(), 4095));
    };
    pid_t Child = fork();
    if (Child == 0) {
      Machine M(T, Gpu);
      M.setMode(How);
      M.OnFinding = [&](const Finding &F) {
        Tell(std::string(nameOf(F.Kind)) + ": " + F.Text);
        _exit(0);
      };
      M.OnUnsupported = [&](const Unsupported &U) {
        Tell("unsupported: " + U.text());
        _exit(0);
      };
      M.OnLimit = [&](const std::string &Progress) {
        Tell("limit: " + Progress);
        _exit(0);
      };
      setMachine(&M);
      Tell(Host(M));
      _exit(0);
    }
    int Status = 0;
    while (waitpid(Child, &Status, Meanwhile ? WNOHANG : 0) == 0) {
      Meanwhile();
      usleep(100);
    }
    std::string Text =
        WIFEXITED(Status) ? std::string(Said) : "the child crashed";
    munmap(Said, 4096);
    return Text;
  }

  /// Launches \p Thread as kernel k.
  static int launch(Machine &M, const std::function<void()> &Thread, Dim3 Grid,
                    Dim3 Block, uint64_t Dynamic = 0, bool Cooperative = false,
                    unsigned Registers = 32) {
    Kernel K;
    K.Name = "k";
    K.Registers = Registers;
    K.Call = [](void *Closure) {
      (*static_cast<const std::function<void()> *>(Closure))();
    };
    M.Kernels = {K};
    return M.launch(0, &Thread, {Grid, Block, Dynamic, Cooperative});
  }

  /// One launch of threads that get an array of 64 floats, `x`, which holds
  /// numbers when \p Holds.
  std::string threads(const std::function<void(Machine &, float *)> &Thread,
                      Dim3 Grid, Dim3 Block, bool Holds = true,
                      bool Cooperative = false) {
    return run([&](Machine &M) {
      static float X[64];
      M.adopt(reinterpret_cast<char *>(X), sizeof(X), "x", 4, Holds);
      launch(M, [&] { Thread(M, X); }, Grid, Block, 0, Cooperative);
      return std::string("clean");
    });
  }
};

// What instrumented code does at an access.
inline float load(Machine &M, float *P) {
  M.access(Load, reinterpret_cast<char *>(P), 4, ProbeKind::Load, 0, false);
  return *P;
}
inline void store(Machine &M, float *P, float V) {
  uint32_t Bits;
  std::memcpy(&Bits, &V, 4);
  M.access(Store, reinterpret_cast<char *>(P), 4, ProbeKind::Store, Bits, true);
  *P = V;
}
inline void add(Machine &M, float *P, float V) {
  M.access(Atomic, reinterpret_cast<char *>(P), 4, ProbeKind::Atomic, 0, false);
  *P += V;
}
inline void syncthreads(Machine &M, uint32_t Probe = Sync) {
  __stark_sim_probe = Probe;
  M.barrier(-1, 0, 0, 0);
}

} // namespace stark::sim::test

#endif
