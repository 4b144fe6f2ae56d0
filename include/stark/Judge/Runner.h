//===- Runner.h - Where source and candidate are called -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Judge -> Runner -> children on a GPU, or a simulated launch
/// The judge decides what is called, in which order, and what the answers mean;
/// a runner calls, and says what went wrong. Nothing that was generated runs in
/// the process of either.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_RUNNER_H
#define STARK_JUDGE_RUNNER_H

#include "stark/Judge/Compare.h"
#include "stark/Judge/Stages.h"

namespace stark::judge {

/// Why a job ends before its time.
struct Stop {
  job::Outcome End = job::Outcome::Infrastructure;
  std::string Diagnostics;
};
/// Nothing: it goes on.
using MaybeStop = std::optional<Stop>;

/// One comparison: a size, a seed, and which call with them.
struct Trial {
  size_t Index = 0; ///< in the plan
  unsigned Case = 0;
  uint64_t Seed = 0;
  unsigned Round = 0; ///< each has a poison pattern of its own
  /// Of the leaves that are weights; nothing: Seed.
  std::optional<uint64_t> WeightSeed;
  /// Where above 0, in place of rows' root mean squares: RowScale::Fixed.
  double Scale = 0;
};

/// What a runner can afford to compare, and how.
struct CompareRule {
  unsigned Rounds = 2; ///< calls with the same inputs, to tell the unstable
  /// Sizes whose buffers hold more bytes than this are not compared.
  uint64_t MaxBytes = UINT64_MAX;
  /// But where there is no smaller one the smallest is, up to this.
  uint64_t OnlyMaxBytes = 0;
  /// Sizes whose buffers hold more bytes than this are compared with one seed.
  uint64_t ManySeedsMaxBytes = UINT64_MAX;
  /// A size that the tool added is left out when the source does not write all
  /// of its outputs.
  bool GapsLeaveOut = true;
  /// Brief ones whose buffers hold more bytes than this are not compared.
  uint64_t BriefMaxBytes = UINT64_MAX;
  /// Which of the cases that may be drawn are, where not all are.
  uint64_t DrawSeed = 0;
  uint64_t MostDrawn = UINT64_MAX; ///< whatever the job asks for
  /// Whether a source that is judged against itself is tried as a task.
  bool Admits = true;
  bool Compares = true;             ///< false: sizes are only timed
  std::string Place = "the device"; ///< where calls are made, for messages
};

/// What a call of the source came to.
struct SourceEnd {
  enum Kind {
    Done,
    Failed,   ///< not the candidate's fault: Text is for the result
    TooLarge, ///< cannot be run here in full: Text says why, for a note
  } What = Done;
  std::string Text;
};

enum class Side { Source, Candidate };

/// What the source left in its outputs.
struct SourceLook {
  bool AllFinite = true;
  bool HasGaps = false; ///< elements that still hold the poison
};

/// What an output is like.
struct Portrait {
  Extremes Values;
  /// What the source gives for another input would pass for it.
  bool AnothersPasses = false;
};
/// By leaf; nothing where there is nothing to compare.
using Portraits = std::vector<std::optional<Portrait>>;

/// Calls are asked for in the order of the plan: first the source, then, when
/// it is done, the candidate. What a runner returns as a Stop ends the job.
class Runner {
public:
  virtual ~Runner() = default;

  /// Has it say in \p Into what it spends its time on.
  void watch(Stages &Into) { Log = &Into; }
  /// What is known of the device before it is looked for.
  virtual void identify(job::Result &) {}
  /// Makes both ready to be called; the rest of what \p Out says of the device
  /// and the compiler is filled in. \p J outlives the runner's use.
  virtual MaybeStop open(const job::Job &J, job::Result &Out) = 0;
  virtual CompareRule rule() const = 0;
  /// All comparisons that will be asked for, so that calls can run ahead.
  virtual void plan(const std::vector<Trial> &Trials) = 0;

  virtual SourceEnd source(const Trial &T) = 0;
  /// How long it may take follows from the source.
  virtual MaybeStop candidate(const Trial &T) = 0;
  /// Has ofSource() or ofCandidate() hold what the last call left.
  virtual MaybeStop bring(Side) { return std::nullopt; }
  /// Compares both where they lie, if it can: \p Agreed has the leaves that are
  /// right. The others' last calls are brought.
  virtual MaybeStop compare(const Trial &, std::vector<bool> &Agreed) {
    Agreed.clear();
    return std::nullopt;
  }
  /// What the source left. Unset: to be looked for in ofSource().
  virtual std::optional<SourceLook> look(const Trial &) { return std::nullopt; }
  /// What the source gives for \p T, beside what it gives for \p Other, told
  /// where they lie. Empty: to be looked for in ofSource().
  virtual MaybeStop portray(const Trial &, const Trial &, Portraits &Out) {
    Out.clear();
    return std::nullopt;
  }
  /// What the last call left in output \p Leaf. Null for the source when there
  /// is nothing to compare with.
  virtual const void *ofSource(const Trial &T, unsigned Leaf) = 0;
  virtual const void *ofCandidate(const Trial &T, unsigned Leaf) = 0;
  /// How many times its tolerance output \p Leaf may be off, once source() is
  /// done: more than once where the source is further off its own reference,
  /// or where it moves more than that when its inputs move in their last place.
  virtual double slack(const Trial &, unsigned) { return 1; }
  /// What a user should know of how it was compared.
  virtual std::string notes() { return ""; }
  /// "second call with the same inputs"
  virtual std::string nameOf(const Trial &T) const = 0;
  /// No further trial of \p Case is asked for.
  virtual MaybeStop leaveOut(unsigned Case) = 0;

  /// Adds the timing of one size, and what there is to tell of it to \p Notes.
  virtual MaybeStop time(unsigned Case, std::vector<job::Timing> &Timings,
                         std::string &Notes) = 0;
  /// Of several cases of \p J: one after the other, unless a runner knows
  /// better.
  virtual MaybeStop timeAll(const job::Job &J,
                            const std::vector<unsigned> &Cases,
                            std::vector<job::Timing> &Timings,
                            std::string &Notes);

  /// Has tools look at how the candidate does what it does, in calls of their
  /// own with \p Cases. What they found in order goes to \p Proved, a line
  /// each, what they could not look at to \p Notes.
  virtual MaybeStop sanitize(const std::vector<unsigned> &Cases,
                             std::vector<std::string> &Proved,
                             std::string &Notes) {
    return std::nullopt;
  }

  /// Has a second clock look at calls of the candidate with each of \p Cases,
  /// which were timed. What agreed goes to \p Proved, a line each, what could
  /// not be looked at to \p Notes.
  virtual MaybeStop trace(const std::vector<unsigned> &Cases,
                          const std::vector<job::Timing> &Timings,
                          std::vector<std::string> &Proved,
                          std::string &Notes) {
    return std::nullopt;
  }

  /// Has a profiler look at a call of the candidate with each of \p Cases, at
  /// least one, which \p Out has the timings of; the first is described at
  /// length. Nothing more is asked for. What it comes to goes to \p Out;
  /// nothing where a runner has none.
  virtual void profile(const std::vector<unsigned> &Cases, job::Result &Out) {}

  /// Has all that it started end, and does not wait for that; nothing more is
  /// asked for.
  virtual void beginToEnd() {}

protected:
  Stages *Log = nullptr; ///< may stay null
};

} // namespace stark::judge

#endif
