//===- Job.h - The contract between the evaluators and the worker --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A job is a folder: job.json and the libraries it names, nothing else
/// needed. All sizes are numbers by now. This library links no LLVM: stark-
/// worker runs on machines that have none. Errors are returned as text, empty
/// when all is well.
///
///     job folder  = job.json candidate.so source.so
///     spool       = jobs/ID/   (made under a temporary name and renamed)
///                   libraries/DIGEST.so (sources', for all jobs that name it)
///                   claimed/ID/ (a worker renamed it: nobody else takes it)
///                   results/ID.json
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JOB_JOB_H
#define STARK_JOB_JOB_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stark::job {

enum class DType {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  Enumerator,
#include "stark/Job/DTypes.def"
};
unsigned dtypeBytes(DType T);
bool isWhole(DType T);         ///< integers and truth values, compared exactly
const char *atenName(DType T); ///< "at::kFloat"
/// Of a complex type that of its two parts; else \p T itself.
DType partOf(DType T);
inline bool isComplex(DType T) { return partOf(T) != T; }

enum class Role {
  Input,   ///< filled before each call; changing it is an error
  Output,  ///< poisoned before each call; compared
  InOut,   ///< filled before each call; compared
  Scratch, ///< poisoned before each call; not compared
};

enum class InitKind {
  Normal,
  Uniform,
  Integers, ///< whole numbers, whatever the type
  Mixed,    ///< Normal, times a power of two from 2^-6 to 2^6
  Arange,
  Zeros,
  Ones,
  Constant,
  Permutation,
  OneHot, ///< one element of each row is 1, the others 0
  File
};

/// What of a matrix is kept, the rest being zero.
enum class Triangle { Whole, Lower, Upper };

struct Init {
  InitKind Kind = InitKind::Normal;
  /// Of Uniform and Integers: [Low, High); of Normal and Mixed: mean, sigma; of
  /// Constant: Low.
  double Low = 0, High = 1;
  double Times = 1, Plus = 0; ///< what was drawn, times Times, plus Plus
  bool Clamped = false;       ///< to what lies between Least and Greatest
  double Least = 0, Greatest = 0;
  Triangle Keep = Triangle::Whole; ///< of the last two dimensions
  bool EqualRows = false;          ///< each has what was drawn for the first
  std::string File;                ///< of File: a .npy in the job folder
};

/// What the buffers of a case hold; docs/judging.md has what each is for.
enum class Regime {
  Given,    ///< what the workload says
  Hardened, ///< of tensors: weights and inputs that hide no fault
  Tiny,
  Huge,
  Mixed,
  Integers,
  Zeros,
  OneHot,
  EqualRows,
  Denormals
};

/// What a leaf is filled with in a regime that is not Given.
struct RegimeFill {
  Regime Of = Regime::Given;
  Init Fill;
};

/// One field of the records that a buffer consists of: numbers of one type.
struct Field {
  std::string Name;    ///< in the record: "cell", "at.x"
  uint64_t Offset = 0; ///< in bytes, a multiple of its type's
  DType Type = DType::F32;
  uint64_t Count = 1; ///< more than 1: an array of that length
  Init Fill;
  std::vector<RegimeFill> Otherwise; ///< as Leaf's
  double Tolerance = 0;              ///< as Leaf's
};

enum class LeafKind { Buffer, Integer, Real, Stream };

/// One pointer that stark_call() gets. A by-value struct is several leaves.
struct Leaf {
  std::string Name; ///< "x", "params.eps"
  LeafKind Kind = LeafKind::Buffer;
  DType Type = DType::F32; ///< of a buffer
  Role Use = Role::Input;  ///< of a buffer
  Init Fill;               ///< of Input and InOut
  bool Weight = false;     ///< what a module has learnt, not what it is given
  /// In other regimes, where that is something else than Fill.
  std::vector<RegimeFill> Otherwise;
  double Tolerance = 0; ///< of Output and InOut: relative, see compare()
  /// Of a buffer of records: Type is U8, the last extent the bytes of one, and
  /// each is filled and compared field by field (Records.h); bytes of no field
  /// are filled with 0 and not compared. Tolerance is the greatest of theirs.
  std::vector<Field> Fields;

  const Init &fillIn(Regime R) const;
  /// Is it filled with Fill in \p R?
  bool isAsGivenIn(Regime R) const { return &fillIn(R) == &Fill; }
};

/// What the pointer of a buffer leaf points to.
struct BufferArgument {
  void *Data = nullptr;
  const int64_t *Shape = nullptr;
  int64_t Rank = 0;
};

/// What one leaf is for one size.
struct LeafValue {
  std::vector<int64_t> Shape; ///< of a buffer, in elements
  int64_t Integer = 0;
  double Real = 0;
  /// What a buffer is filled with at this size, where that is not what
  /// Leaf::Fill says: values below another size's extent, for one.
  std::optional<Init> Fill;
  /// Likewise of Leaf::Fields, all of them; empty: as these say.
  std::vector<Init> FieldFills;
  uint64_t elements() const;
};

struct Case {
  std::string Label; ///< "rows=4096 cols=32768"
  bool Timed = true; ///< false: compared only
  /// Thought of by the tool, not by the user: left out when the source itself
  /// cannot do it.
  bool Added = false;
  /// What its buffers hold. Unless that is what the workload says, the case is
  /// left out where the source itself gives what is not finite.
  Regime Filling = Regime::Given;
  bool Brief = false; ///< compared with one seed
  /// One of many, of which a judge may draw some: Job::DrawnCases.
  bool Drawn = false;
  /// Each buffer begins an element, or 4 bytes, past where it is aligned.
  bool Shifted = false;
  /// What one call has to move at least, as the workload says; 0: it does not.
  double MovedBytes = 0;
  std::vector<LeafValue> Values; ///< one a leaf
};

/// What a buffer of leaf \p L and with the values \p V is filled with in \p R.
inline const Init &fillOf(const Leaf &L, const LeafValue &V, Regime R) {
  const Init &Fill = L.fillIn(R);
  return &Fill == &L.Fill && V.Fill ? *V.Fill : Fill;
}
inline const Init &fillOf(const Leaf &L, const Case &C, size_t I) {
  return fillOf(L, C.Values[I], C.Filling);
}

/// When to stop sampling; see docs/judging.md for how a sample is taken.
struct TimingRule {
  uint64_t WarmupMs = 50, MinSamples = 30, MaxSamples = 200, MaxMs = 2000;
  double RelativeError = 0.005; ///< standard error of the mean over the mean
  /// Pairs of processes that are sampled, each by this rule.
  uint64_t Rounds = 1;
  /// The buffers are placed anew after about so many pairs.
  uint64_t PairsAPlacement = 5;
};

struct Job {
  std::string Id, Purpose; ///< Purpose: "attempt" or "confirm"
  std::string SourceLibrary, CandidateLibrary; ///< file names in the folder
  std::string SourceDigest, CandidateDigest;   ///< SHA-256 of the source texts
  /// SHA-256 of the source's library, which is then not in the folder but among
  /// the spool's libraries; empty: it is in the folder.
  std::string SharedSource;
  std::string Arch; ///< "sm_90"
  std::vector<Leaf> Leaves;
  std::vector<Case> Cases;
  std::vector<uint64_t> Seeds; ///< one comparison each, per case
  uint64_t TimingSeed = 0;     ///< never one of Seeds
  TimingRule Timing;
  uint64_t TimeoutMs = 60000; ///< of each call, source and candidate apart
  std::string Compiler;       ///< what it said of the candidate; only passed on
  /// Version of the libtorch that the libraries are linked with ("2.11.0");
  /// empty: none.
  std::string Torch;
  /// How many of the cases that may be drawn are compared; 0: all.
  uint64_t DrawnCases = 0;
  /// Whether an answer that a wrong candidate could give, too, is no reason to
  /// refuse the source.
  bool MayBeDegenerate = false;
  /// Of tensors: whether what a timed call gives has to agree with what the
  /// source's own gave, as torch.allclose() compares them.
  bool AgreeWithSource = false;
  /// What the candidate's code rounds with that the source's does not; only
  /// passed on.
  std::vector<std::string> Precision;
  /// Sanitizers and CUPTI look at a candidate that is more than this many times
  /// as fast as the source; 0: at any, below 0: at none.
  double SanitizeAbove = -1;
  /// Whether the candidate's kernels wait for mbarriers or clusters, of which
  /// racecheck does not see what they order.
  bool AsyncBarriers = false;
  /// The file in the folder that has the candidate's text, under the name that
  /// it was compiled as: a profiler looks at it when it is correct. Empty: none
  /// does.
  std::string ProfiledText;
};

/// Samples that were taken in pairs, the buffers lying where they lay; in
/// microseconds. Wall: by the supervisor's clock, of the whole request.
struct Block {
  std::vector<double> SourceUs, CandidateUs, SourceWallUs, CandidateWallUs;
};

/// What was taken of one size in one pair of processes.
struct Samples {
  std::string Label;
  uint64_t Round = 0;     ///< which pair of processes
  uint64_t Discarded = 0; ///< calls that are in no block
  /// Pairs in no block, since the device was held back: docs/judging.md.
  uint64_t Throttled = 0;
  std::vector<Block> Blocks;
};

struct Timing {
  std::string Label;
  uint64_t Samples = 0, Discarded = 0;
  uint64_t Throttled = 0; ///< pairs, taken while the device was held back
  double MedianUs = 0, IqrUs = 0, MinUs = 0; ///< of the candidate
  double SourceMedianUs = 0, SourceIqrUs = 0, SourceMinUs = 0;
  /// source / candidate, with a 95 % interval
  double Speedup = 0, SpeedupLow = 0, SpeedupHigh = 0;
};

/// The stage that ended the job, as the verdict's kind names it.
enum class Outcome {
  Correct,
  Wrong,
  Unstable,
  Crashed,
  TimedOut,
  Forbidden,
  NotCompiled, ///< of the simulator, which compiles itself
  Unsupported, ///< likewise: it cannot run this
  Infrastructure
};

/// What the judge spent a while on. They nest, and stand in the order of their
/// ends.
struct Stage {
  std::string Name;                ///< "open", "compare"
  std::string Label;               ///< of the size; empty: of none
  uint64_t BeginUs = 0, EndUs = 0; ///< since the job was begun
};
/// So that a job of many sizes stays small.
inline constexpr size_t MaxStages = 2000;

/// What a profiler found of a candidate, from the GPU's own counters.
struct Profile {
  std::string Text;    ///< see MaxProfileLines; empty: there is a Problem
  std::string Problem; ///< why it says nothing, or has no counters
  /// It would say nothing of another candidate either: there is none, or it may
  /// not read the counters.
  bool Unavailable = false;
};
/// Of the size that takes longest, and of each other one.
inline constexpr size_t MaxProfileLines = 15, MaxOtherLines = 3;
inline constexpr size_t MaxProfileBytes = 5000;

struct Result {
  std::string Id, CandidateDigest, SourceDigest;
  Outcome End = Outcome::Infrastructure;
  std::string Diagnostics; ///< what a programmer would want to read
  std::string Compiler;    ///< of the job
  /// A candidate that is wrong was right in all cases whose values are as the
  /// workload says.
  bool RightAsShipped = false;
  /// Of one that is correct: with what it was compared, a line each.
  std::vector<std::string> Proved;
  std::vector<std::string> Precision; ///< of the job
  std::vector<Timing> Timings;
  double EventPairUs = 0; ///< an empty event pair on this device
  double CopyGBs = 0; ///< device-to-device copy, read + written, 0: not taken
  std::string Device, Driver; ///< "NVIDIA H200", "580.159.04"
  bool Modelled = false;
  uint64_t WallMs = 0;
  std::vector<Stage> Stages;      ///< the first MaxStages; none: not recorded
  std::optional<Profile> Counted; ///< of one that is correct, when asked for
};

/// \p Error names file and field; the value is only good when it is empty.
Job parseJob(const std::string &Text, const std::string &File,
             std::string &Error);
std::string printJob(const Job &J);
Result parseResult(const std::string &Text, const std::string &File,
                   std::string &Error);
std::string printResult(const Result &R);
/// A line.
std::string printSamples(const Samples &S);

} // namespace stark::job

#endif
