//===- Call.h - One call of an entry, in a child process ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What was compiled runs only here: locked down, watched by a clock, and
/// killed with all that it started.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_CALL_H
#define STARK_SIM_CALL_H

#include "Inputs.h"
#include "Team.h"
#include "Told.h"
#include "stark/Judge/Runner.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Process.h"
#include "stark/Sim/Program.h"

namespace stark::sim {

/// What a child tells.
struct Report {
  enum Status {
    Died,
    Done,
    Found,
    Unsupported,
    Stopped,   ///< host code failed: Text says how
    BadResult, ///< what the entry returned is no output: Text says why
    TooMany,   ///< accesses: Text says how far it came
    TooLong,   ///< by its processor time, or by the clock
    NotRun,    ///< the host's fault: Text says which
  } What;
  FindingKind Kind; ///< of Found
  char Text[8192];  ///< of a reference that is Done: how it was computed
  double TimeUs;
  uint64_t Accesses;
  double ThreadInstructions, LaunchSeconds;
  char Suspicion[1024]; ///< RunProfile::Suspicion
  // What a source may do, and a candidate only where the source does.
  uint64_t KeptBytes;  ///< RunProfile::KeptBytes
  uint64_t HostBytes;  ///< RunProfile::HostBytes
  char Elsewhere[512]; ///< RunProfile::Elsewhere
  char Changed[512];   ///< Repetition::changed()
};

/// Beside it, where CallSpec::Written asks for it: RunProfile::Written.
struct WrittenTable {
  uint64_t Count;
  WrittenWord Words[MostWrittenWords];
};

class HostProcess;

/// A text, compiled.
struct SimCode {
  std::unique_ptr<Program> Kernels; ///< null: a library without kernels
  std::string Library; ///< of host code, for stark-sim-host; empty: in Kernels
  std::optional<ResourceTable> Resources = {}; ///< unset: they are estimated
};

struct CallSpec {
  const SimCode *Of = nullptr;
  const HostProcess *Host = nullptr; ///< where Of has a library
  bool Reference = false;            ///< stark_reference() for stark_call()
  Inputs *Arguments = nullptr;
  RunMode Mode = RunMode::Check;
  uint64_t AccessLimit = ~0ull, TimeoutMs = 60000;
  bool Reach = false;          ///< the report's text is printReach()
  bool Written = false;        ///< RunHooks::Written
  unsigned Undefined = 0;      ///< RunHooks::Undefined
  unsigned Repeats = 1;        ///< calls of the process, if they are small
  bool ResourcesLater = false; ///< RunHooks::ResourcesLater
  /// It may ask for partners (Call::lend).
  bool Spreads = false;
  std::optional<uint64_t> SpreadAfter = {}; ///< RunHooks::SpreadAfter
};

/// What became of parts of launches that partners ran, for people.
struct PartCounts {
  uint64_t Taken = 0, RunAgain = 0;
};

/// How often a process that is judged calls the entry; nobody in it knows.
unsigned repeatsOf(const job::Job &J);

/// The calls of one process, with the same inputs.
class Repetition {
public:
  /// At most \p Calls of them, fewer if they are large.
  Repetition(Inputs &Arguments, unsigned Calls)
      : Arguments(Arguments), Most(Calls) {}
  /// After a call, \p Instructions of threads since the first began: looks at
  /// its outputs and makes them ready for the next call, which is to be made,
  /// or leaves those of the first.
  bool again(double Instructions);
  /// Empty, or how the outputs of a call differed from the first one's.
  const std::string &changed() const { return Changed; }

private:
  void compare();

  Inputs &Arguments;
  unsigned Most, Made = 0;
  std::vector<std::vector<char>> First; ///< of each buffer
  std::string Changed;
};

class Call {
public:
  /// Starts the child; \p Time decides when it is late.
  Call(const CallSpec &Spec, const GpuDescription &Gpu, Clock &Time);
  /// Kills it if it still runs.
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /// Looks whether the child has ended, or kills it when it is late.
  bool ended();
  /// Until it has; it may have that many partners.
  void wait(unsigned Partners);
  /// Gives it up to \p Free partners, if it wants some. How many it has then.
  unsigned lend(unsigned Free);
  unsigned partners() const { return Starter ? Starter->running() : 0; }
  PartCounts parts() const;
  /// Once it has ended.
  const Report &report() const { return Said; }
  /// The same, where it was asked for.
  std::vector<WrittenWord> written() const;

private:
  void notRun(const char *Why);
  void silence();
  void hide() const;
  void show() const;
  void inChild(const GpuDescription &Gpu);
  void finish(bool TimedOut);

  CallSpec Spec;
  Clock &Time;
  Clock::Time Deadline;
  std::optional<posix::ChildGroup> Child;
  Told<Report> Shared;
  std::optional<Told<WrittenTable>> Written; ///< where it is asked for
  Team *Others = nullptr;
  std::optional<TeamStarter> Starter;
  std::optional<Clock::Time> LookedAt; ///< which cores are idle
  unsigned Idle = 0;                   ///< then
  Report Said{};
  bool Ended = false;
};

/// Why a candidate whose call told that is not correct; nothing, if it may be.
/// \p Where: of which size and seed.
judge::MaybeStop stopOf(const Report &R, const std::string &Where);

/// The same of what it does besides, and the source does not.
judge::MaybeStop unlikeSource(const Report &R, const Report &Source,
                              const job::Job &J, const std::string &Where);

/// Of a source that made \p Limit accesses, or was late: why it is left out.
std::string whyTooLarge(const Report &R, uint64_t Limit);

} // namespace stark::sim

#endif
