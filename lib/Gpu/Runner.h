//===- Runner.h - Source and candidate on a GPU ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what the judge asks for -> requests to two children -> outputs, times, or
/// how the job ends
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_RUNNER_H
#define STARK_GPU_RUNNER_H

#include "ChildProcess.h"
#include "HeldBack.h"
#include "stark/Gpu/GpuRunner.h"
#include "stark/Gpu/WaitingChildren.h"
#include "stark/Judge/Race.h"
#include "stark/Judge/References.h"
#include "stark/Posix/Secret.h"
#include <map>
#include <tuple>

namespace stark::gpu {

using judge::MaybeStop;
using judge::Side;
using judge::Trial;

/// Driver start-up, module loading and allocation, not the libraries' work.
constexpr uint64_t SetupLimitMs = 120000;

/// One of the two, and the size that its buffers were last set up for.
struct Party {
  Errand Work; ///< to start it again
  std::unique_ptr<ChildProcess> Child;
  bool HasDevice = false; ///< it has answered Hello
  bool HasLoaded = false; ///< its library, for a job before this
  std::optional<unsigned> Prepared;
  uint64_t PieceBytes = 0; ///< that these lie in
  uint64_t Place = 0;      ///< what says where there: Seed of Prepare
  bool Brought = false;    ///< shared memory holds what the last call left
  /// Of a child whose outputs nobody compares.
  Errand bare() const {
    Errand Bare = Work;
    Bare.SharedBytes = 0;
    return Bare;
  }
};

class GpuRunner : public judge::Runner, private judge::TimedPair {
public:
  GpuRunner(const std::string &Folder, GpuRunnerOptions Options, Clock &Time)
      : Folder(Folder), Options(std::move(Options)), Time(Time),
        DrawSeed(posix::secretNumber()) {}

  ~GpuRunner() override { killBoth(); }
  void beginToEnd() override;

  MaybeStop open(const job::Job &J, job::Result &Out) override;
  judge::CompareRule rule() const override;
  void plan(const std::vector<Trial> &) override {}
  judge::SourceEnd source(const Trial &T) override;
  MaybeStop candidate(const Trial &T) override;
  MaybeStop bring(Side Of) override;
  MaybeStop compare(const Trial &T, std::vector<bool> &Agreed) override {
    return compare(T, [&](unsigned L) { return slack(T, L); }, Agreed);
  }
  std::optional<judge::SourceLook> look(const Trial &T) override;
  MaybeStop portray(const Trial &T, const Trial &Other,
                    judge::Portraits &Out) override;
  const void *ofSource(const Trial &T, unsigned Leaf) override {
    return outputOf(Source, T.Case, Leaf);
  }
  const void *ofCandidate(const Trial &T, unsigned Leaf) override {
    return outputOf(Candidate, T.Case, Leaf);
  }
  double slack(const Trial &T, unsigned Leaf) override;
  std::string notes() override { return Found.notes(*J) + ScaleNotes; }
  std::string nameOf(const Trial &T) const override {
    return T.Round ? "second call with the same inputs" : "call";
  }
  MaybeStop leaveOut(unsigned Case) override;
  MaybeStop time(unsigned Case, std::vector<job::Timing> &Timings,
                 std::string &Notes) override {
    return timeAll(*J, {Case}, Timings, Notes);
  }
  MaybeStop timeAll(const job::Job &, const std::vector<unsigned> &Cases,
                    std::vector<job::Timing> &Timings,
                    std::string &Notes) override;
  MaybeStop sanitize(const std::vector<unsigned> &Cases,
                     std::vector<std::string> &Proved,
                     std::string &Notes) override;

  MaybeStop trace(const std::vector<unsigned> &Cases,
                  const std::vector<job::Timing> &Timings,
                  std::vector<std::string> &Proved,
                  std::string &Notes) override;
  void profile(const std::vector<unsigned> &Cases, job::Result &Out) override;

private:
  MaybeStop place(unsigned Case, uint64_t Draw) override;
  MaybeStop warm(Side Of, const judge::TimedCall &Call, uint64_t Ms,
                 uint64_t LimitMs, judge::Warmth &W) override;
  MaybeStop sample(Side Of, const judge::TimedCall &Call, uint64_t LimitMs,
                   judge::Sample &S) override;
  MaybeStop verify(const judge::TimedCall &Last) override;
  bool heldBack() override { return Clocks && Clocks->heldBack(); }

  void count(const std::vector<unsigned> &Cases, job::Result &Out);
  void profileByCupti(const std::vector<unsigned> &Cases, job::Result &Out);
  std::string findCupti() const;
  bool sourceKeeps(unsigned Case, uint64_t Bytes, ChildSpec Spec);
  /// Until no other process opens or leaves the device.
  void settle();
  ChildSpec spec() const;
  MaybeStop start(Party &P, uint32_t Flags = 0);
  std::unique_ptr<ChildProcess> takeRestedSource();
  MaybeStop sendOff(Party &P);
  MaybeStop meet(Party &P, uint32_t Flags = 0);
  MaybeStop startAgain(Side Of);
  /// Both at once: the driver takes a while to clear up after each.
  void killBoth();
  void endBoth();
  MaybeStop meetDevice(uint32_t Flags, Side First);
  MaybeStop loadBoth();
  MaybeStop beginAgain(uint64_t Round);
  void pinBoth();
  MaybeStop load();
  Request beginToPrepare(Side Of, unsigned Case, uint64_t Common);
  MaybeStop endPreparing(Side Of, const Request &R, Answer A);
  static bool hasNoMemory(const Answer &A) {
    return A.What == Answer::Replied && A.R.What == Status::NoMemory;
  }
  MaybeStop prepareFor(Side Of, unsigned Case);
  MaybeStop raceIn(uint64_t Round, unsigned Case, bool Warm, job::Samples &Out);
  /// What goes wrong in the source is not the candidate's fault; what goes
  /// wrong in the candidate ends the job with its outcome. \p Name: what is
  /// asked for, "timed call".
  MaybeStop ask(Side Of, const Request &R, uint64_t LimitMs,
                const std::string &Name, Answer &A, uint32_t FinishFlags = 0);
  MaybeStop judged(Side Of, const Request &R, uint64_t LimitMs,
                   const std::string &Name, const Answer &A);
  bool sourceStillWorks();
  MaybeStop findTorch();
  MaybeStop measureOwnError(const Trial &T);
  /// In a regime of the tool's: how far the source moves when its inputs do.
  uint32_t shakes(const Trial &T) const;
  MaybeStop shake(const Trial &T, uint32_t Way);
  MaybeStop measureShake(const Trial &T);
  bool fewDiffer(const Trial &T, const judge::SlackOf &Slack) const;
  MaybeStop measureScale(const Trial &T);
  MaybeStop makeRoom(Side Of, const Request &Prepare, Answer &A);
  const void *outputOf(const Party &P, unsigned Case, unsigned Leaf) const;
  Party &party(Side Of) { return Of == Side::Source ? Source : Candidate; }
  MaybeStop attach();
  MaybeStop detach();
  MaybeStop detachWhereMoved(Side Of, unsigned Case);
  MaybeStop compare(const Trial &T, const judge::SlackOf &Slack,
                    std::vector<bool> &Agreed);
  MaybeStop compareOnDevice(const Trial &T, uint32_t Flags,
                            const judge::SlackOf &Slack,
                            std::vector<bool> &Agreed);

  std::string Folder;
  const GpuRunnerOptions Options;
  std::optional<posix::Libtorch> Torch; ///< of a job that needs it
  Clock &Time;
  std::unique_ptr<ClockWatch> Clocks; ///< while sizes are timed
  const job::Job *J = nullptr;
  DeviceFacts Facts;
  Party Source, Candidate;
  double SourceUs = 0;       ///< of the last verified call
  bool CandidateRan = false; ///< in the child that it has now
  bool SourceFailed = false; ///< the last one: its child may be lost
  /// SHA-256 of the source's, where another job can go on with its child.
  std::string SourceLibrary;
  bool SourceBegan = false, AllWell = false;
  const uint64_t DrawSeed; ///< a secret
  judge::References Found; ///< of jobs with tensors
  /// Of outputs of few elements: by how much other draws make them larger than
  /// that of one trial does, and what is to be said of it.
  std::map<unsigned, double> Scales;
  std::optional<std::pair<unsigned, uint64_t>> ScaledFor; ///< case, seed
  std::string ScaleNotes;
  /// Case and seeds whose reference the source's child keeps.
  std::optional<std::tuple<unsigned, uint64_t, uint64_t>> Referred;
  /// What the source computed last, where that was looked at.
  std::optional<bool> Finite;
  /// The source's child finds the candidate's outputs on the device.
  bool Attached = false;
  bool CannotAttach = false; ///< on this machine: the host compares
};

Request requestFor(Command What, unsigned Case = 0);
/// One verified call.
Request requestFor(const judge::Trial &T);

} // namespace stark::gpu

#endif
