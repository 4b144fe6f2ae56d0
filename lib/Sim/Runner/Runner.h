//===- Runner.h - Source and candidate on a simulated GPU -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_RUNNER_RUNNER_H
#define STARK_SIM_RUNNER_RUNNER_H

#include "Call.h"
#include "CompiledPair.h"
#include "Step.h"
#include "stark/Judge/NearZero.h"
#include "stark/Judge/References.h"
#include "stark/Posix/Clock.h"
#include "stark/Sim/SimRunner.h"
#include <functional>

namespace stark::sim {

/// The longest time between two looks at children.
constexpr std::chrono::microseconds LongestPause(3000);

class SimRunner : public judge::Runner {
public:
  SimRunner(const std::string &Folder, const GpuDescription &Gpu,
            const SimRunnerOptions &Options, Clock &Time, Speeds &Took)
      : Folder(Folder), Gpu(Gpu), Options(Options), Time(Time), Took(Took) {
    this->Options.Jobs = std::max(1u, Options.Jobs);
  }
  ~SimRunner() override {
    for (Step &S : Steps)
      retire(S);
  }

  void identify(job::Result &Out) override {
    Out.Device = "simulated " + Gpu.Name;
    Out.Modelled = true;
  }
  judge::MaybeStop open(const job::Job &TheJob, job::Result &Out) override;
  judge::CompareRule rule() const override;
  void plan(const std::vector<judge::Trial> &Trials) override;
  judge::SourceEnd source(const judge::Trial &T) override;
  judge::MaybeStop candidate(const judge::Trial &T) override;
  const void *ofSource(const judge::Trial &T, unsigned Leaf) override {
    if (T.WeightSeed)
      return Again.Theirs->data(Leaf);
    return alone() ? nullptr : Steps[T.Index].Theirs->data(Leaf);
  }
  const void *ofCandidate(const judge::Trial &T, unsigned Leaf) override {
    return Steps[T.Index].Mine->data(Leaf);
  }
  double slack(const judge::Trial &T, unsigned Leaf) override {
    return Found.slack(T.Case, Leaf);
  }
  std::string notes() override { return Found.notes(*J); }
  std::string nameOf(const judge::Trial &) const override {
    return "simulated call";
  }
  judge::MaybeStop leaveOut(unsigned Case) override {
    LeftOut[Case] = true;
    return std::nullopt;
  }
  judge::MaybeStop time(unsigned Case, std::vector<job::Timing> &Timings,
                        std::string &Notes) override;

private:
  /// A source that is judged for itself has nothing to be compared with.
  bool alone() const {
    return J->SourceDigest == J->CandidateDigest &&
           (!Code.Host || Options.CountersOnly);
  }
  /// Is what profiled blocks write compared?
  bool comparesProfiles() const {
    return !alone() && !Code.Host && !Options.Reach;
  }
  bool passedOver(const Step &S) const { return !S.Timed && LeftOut[S.Case]; }
  /// Runs step \p Next, and some after it, until \p Done or trouble.
  void runUntil(size_t Next, const std::function<bool()> &Done);
  /// Starts what can be started of \p S; \p Free children may be added.
  void advance(Step &S, unsigned &Free);
  void beginChecked(Step &S, unsigned &Free);
  bool fill(Step &S, std::unique_ptr<Inputs> &In, bool Shaken = false) const;
  /// Is it asked how far the source moves when its inputs do?
  bool shakes(const Step &S) const {
    return !Code.Host && !S.Timed && judge::isShaken(J->Cases[S.Case]);
  }
  std::unique_ptr<Call> start(const Step &S, const SimCode &Of, Inputs &In,
                              bool Reference, uint64_t Limit, unsigned &Free,
                              unsigned Undefined = 0) const;
  judge::SourceEnd sourceWithWeights(const judge::Trial &T);
  std::string dependsOnUndefined(const Step &S, const SimCode &Of,
                                 const Inputs &Got) const;
  std::string modelledAllTheSame();
  judge::SourceEnd whySource(const Report &R, const Step &S) const;
  void retire(Step &S);
  judge::MaybeStop whyCandidate(const Report &R, const Step &S) const {
    return stopOf(R, where(S));
  }
  std::string where(const Step &S) const {
    return "(" + judge::describeInputs(*J, S.Case, S.Seed) + ")";
  }

  std::string Folder;
  const GpuDescription &Gpu;
  SimRunnerOptions Options; ///< 1 child at once or more
  Clock &Time;
  Speeds &Took;
  const job::Job *J = nullptr;
  CompiledPair Code;
  std::vector<Step> Steps;   ///< trials in their order, then what is timed
  Step Again;                ///< of a trial with weights of its own
  size_t Retired = 0;        ///< steps that have been freed
  judge::References Found;   ///< of entries of tensors
  std::vector<bool> LeftOut; ///< by case: it cannot be compared
  std::vector<bool> IsRun;   ///< by case: it is compared, unless it is left out
};

} // namespace stark::sim

#endif
