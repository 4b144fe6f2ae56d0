//===- Program.h - A CUDA program that runs on this CPU -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source -> two modules -> machine code in this process. What was compiled
///   is
/// only ever called in a child of it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_PROGRAM_H
#define STARK_SIM_PROGRAM_H

#include "stark/Sim/Compile.h"
#include "stark/Sim/Finding.h"
#include "stark/Sim/Gpu.h"
#include "stark/Sim/Profile.h"
#include "stark/Sim/Resources.h"
#include <functional>
#include <optional>

namespace stark::sim {

class Machine;
class Team;

/// Device memory that the caller owns.
struct DeviceBuffer {
  std::string Name;
  char *Data = nullptr;
  uint64_t Bytes = 0;
  unsigned ElementBytes = 1;
  bool Holds = true; ///< false: reading it before it is written is an error
  bool ReadOnly = false;
  /// No other data lie in its pages, so host code can be kept from them.
  bool OwnPages = false;
};

enum class RunMode {
  Check,   ///< every block, every check
  Profile, ///< some blocks of each launch, counters and modelled time
};

struct RunHooks {
  /// Called at the first problem, in the thread that met it; must not return.
  std::function<void(const Finding &)> OnFinding;
  std::function<void(const Unsupported &)> OnUnsupported;
  /// Called, likewise, when threads have made more accesses than this, with how
  /// far they had come.
  uint64_t AccessLimit = ~0ull;
  std::function<void(const std::string &)> OnLimit;
  /// What a shuffle gives that reads a lane which is not there: 0 the lane's
  /// own value, 1 a large one, 2 a small one. Where outputs depend on it, the
  /// program is wrong; RunProfile::Suspicion says whether there was such one.
  unsigned Undefined = 0;
  /// What kernels need; those that it has not keep the estimate. May be null.
  const ResourceTable *Resources = nullptr;
  /// That will be known when it is modelled: no launch is refused for an
  /// estimate now.
  bool ResourcesLater = false;
  /// Fill RunProfile::Reached, which takes a look at all that is watched.
  bool Reach = false;
  /// Fill RunProfile::Written.
  bool Written = false;
  /// Launches are shared with partners, if there are some; null: they are not.
  Team *Others = nullptr;
  /// Machine::SpreadAfter; unset: as it is.
  std::optional<uint64_t> SpreadAfter;
  /// Asked after each call, with the instructions of threads that were executed
  /// so far, whether to call once more, on the same device. Unset: no.
  std::function<bool(double Instructions)> Again;
};

class Program {
public:
  /// Null with \p Diagnostics filled when the source does not compile, and with
  /// \p Missing when that is for what the simulator does not have. Errors:
  /// Clang or the JIT cannot be set up.
  static llvm::Expected<std::unique_ptr<Program>>
  build(const CompileRequest &Request, std::string &Diagnostics,
        std::optional<Unsupported> &Missing);
  /// Device code alone: \p Kernels are the symbols that may be launched, where
  /// the text has them.
  static llvm::Expected<std::unique_ptr<Program>>
  buildDevice(const CompileRequest &Request,
              const std::vector<std::string> &Kernels, std::string &Diagnostics,
              std::optional<Unsupported> &Missing);
  ~Program();

  /// Calls \p Entry(\p Arguments) on a fresh device.
  RunProfile run(const char *Entry, void **Arguments, const GpuDescription &Gpu,
                 RunMode Mode, const std::vector<DeviceBuffer> &Buffers,
                 const RunHooks &Hooks);
  /// The same with host code elsewhere: \p Body has launched what it asks for
  /// when it returns. \p Of may be null: nothing can be launched, then.
  static RunProfile runWith(const Program *Of,
                            const std::function<void(Machine &)> &Body,
                            const GpuDescription &Gpu, RunMode Mode,
                            const std::vector<DeviceBuffer> &Buffers,
                            const RunHooks &Hooks);
  /// In another process than run(), which has asked \p Of for partners: does
  /// what partner \p I is ordered to, and ends the process.
  [[noreturn]] void runPart(const GpuDescription &Gpu, Team &Of,
                            unsigned I) const;
  bool has(const char *Entry) const;
  const Tables &tables() const;
  /// Whether something was left out, see CompileRequest::Lenient.
  bool isPartial() const;
  /// Functions that have no body for that.
  const std::vector<std::string> &lacking() const;

private:
  friend llvm::Expected<ResourceTable>
  estimateResources(const CompileRequest &Request, std::string &Diagnostics);
  Program();
  struct Image;
  std::unique_ptr<Image> I;
};

/// Of each kernel of a text, as they are estimated where ptxas is not asked;
/// spills are not. Nothing is run. None, with \p Diagnostics filled, when it
/// does not compile.
llvm::Expected<ResourceTable> estimateResources(const CompileRequest &Request,
                                                std::string &Diagnostics);

} // namespace stark::sim

#endif
