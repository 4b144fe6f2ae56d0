//===- SimRunner.h - Source and candidate on a simulated GPU --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Judge -> SimRunner -> a child for each simulated call
/// A job folder of the simulator holds job.json, the two sources, their
/// trampolines included, and compile.json. Nothing that was compiled runs in
/// this process.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_SIMRUNNER_H
#define STARK_SIM_SIMRUNNER_H

#include "stark/Judge/Runner.h"
#include "stark/Sim/Compile.h"
#include "stark/Sim/Gpu.h"
#include "stark/Sim/Resources.h"
#include <memory>
#include <optional>

namespace stark {
class Clock;
}

namespace stark::sim {

/// How fast the simulator itself was: what simulated threads executed in the
/// launches of one mode, and the processor time that this took.
struct Speed {
  double ThreadInstructions = 0, Seconds = 0;
};
struct Speeds {
  Speed Check, Profile;
  /// Parts of launches that partners ran and that were taken over, and those
  /// that were run again.
  uint64_t PartsTaken = 0, PartsRunAgain = 0;
};

/// compile.json: how both texts are compiled (Json/Fields.h).
template <class IO> void fields(IO &F, CompileRequest &R) {
  F.required("path", R.Path);
  F.required("folder", R.Folder);
  F.required("flags", R.Flags);
  F.required("arch", R.Arch);
}

/// Of entries of tensors: libraries of host code, which stark-sim-host loads.
/// Names without a folder are in the job's.
struct HostLibraries {
  std::string Source, Candidate;
  std::vector<std::string> Preload; ///< libtorch and its observer, in order
  std::string SearchPath;           ///< for LD_LIBRARY_PATH
};
template <class IO> void fields(IO &F, HostLibraries &L) {
  F.required("source", L.Source);
  F.required("candidate", L.Candidate);
  F.required("preload", L.Preload);
  F.required("search_path", L.SearchPath);
}

/// All of compile.json.
struct CompileFile {
  CompileRequest Request;
  std::optional<HostLibraries> Host;      ///< of entries of tensors
  std::optional<ResourceFiles> Resources; ///< unset: they are estimated
};
template <class IO> void fields(IO &F, CompileFile &C) {
  fields(F, C.Request);
  F.optional("host", C.Host);
  F.optional("resources", C.Resources);
}

struct SimRunnerOptions {
  /// Calls that are simulated at once, each on one core; where there are fewer,
  /// the blocks of large launches are. The result does not depend on it.
  unsigned Jobs = 1;
  std::optional<uint64_t> SpreadAfter; ///< RunHooks::SpreadAfter
  /// Nothing is compared, and the diagnostics are the counters of the timed
  /// sizes.
  bool CountersOnly = false;
  /// With CountersOnly: the timed sizes are run in full, and the diagnostics
  /// are printReach().
  bool Reach = false;
  std::string Headers; ///< CompileRequest's
  std::string Host;    ///< the path of stark-sim-host
};

/// \p Gpu and \p Took outlive it.
std::unique_ptr<judge::Runner> makeSimRunner(const std::string &Folder,
                                             const GpuDescription &Gpu,
                                             const SimRunnerOptions &Options,
                                             Clock &Time, Speeds &Took);

} // namespace stark::sim

#endif
