//===- Judge.h - One job, from folder to result ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   job.json -> plan of trials -> (source, candidate, compare)* -> time ->
/// result
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_JUDGE_H
#define STARK_JUDGE_JUDGE_H

#include "stark/Judge/Compare.h"
#include "stark/Judge/Runner.h"
#include <functional>
#include <string_view>

namespace stark {
class Clock;
}

namespace stark::judge {

/// Never fails: what kept the job in \p Folder from being judged is a result of
/// outcome Infrastructure. \p Outputs: unless empty, what the candidate
/// computed for the smallest size and first seed is written to
/// OUTPUTS.LEAF.npy, LEAF counted from 0.
job::Result judge(const std::string &Folder, Runner &R,
                  const std::string &Outputs, Clock &Time);

/// The comparisons of \p J in their order: by size, then seed, then round.
std::vector<Trial> planTrials(const job::Job &J, const CompareRule &Rule);

/// A buffer that is compared.
bool isOutput(const job::Leaf &L);
uint64_t outputBytes(const job::Job &J, unsigned Case);

/// "size 'n=7', seed 3"
std::string describeInputs(const job::Job &J, unsigned Case, uint64_t Seed);

/// What one side left in output \p Leaf; null when there is nothing to compare.
using OutputOf = std::function<const void *(unsigned Leaf)>;

/// How many times its tolerance it may be off.
using SlackOf = std::function<double(unsigned Leaf)>;

/// The scale of a row is at least this share of the whole output's.
double shareOfWhole(const job::Job &J);

/// compare() with what \p J says of output \p Leaf of a case. The scale of a
/// row of a tensor is at least a tenth of the whole tensor's: what a ReLU
/// leaves of a row says nothing of what was summed up. \p Scale:
/// RowScale::Fixed.
Comparison compareLeaf(const job::Job &J, unsigned Case, unsigned Leaf,
                       const void *Got, const void *Wanted, double Slack,
                       unsigned Round, double Scale = 0);

/// Compares all outputs of one call but those that have \p Agreed; nothing when
/// they are right. \p Name: "second call with the same inputs".
MaybeStop compareOutputs(const job::Job &J, const Trial &T,
                         const std::string &Name,
                         const std::vector<bool> &Agreed,
                         const OutputOf &OfCandidate, const OutputOf &OfSource,
                         const SlackOf &Slack, job::Outcome IfBad);

/// What the source left, told from ofSource().
SourceLook lookHere(const job::Job &J, const Trial &T, Runner &R);

/// Of a source that is judged against itself, before a search: what makes it a
/// poor judge of others goes to \p Notes. A Stop where there is nothing that a
/// wrong candidate would fail with. \p LeftOut: by case.
MaybeStop admit(const job::Job &J, Runner &R, const std::vector<bool> &LeftOut,
                std::string &Notes);

/// Whether the candidate of \p J that took \p Timings may win, and other tools
/// look at it before.
bool isAboutToWin(const job::Job &J, const std::vector<job::Timing> &Timings);

/// With which cases sanitizers do: the smallest of those that were compared, as
/// the workload says. \p Compared: by case.
std::vector<unsigned> sanitizedCases(const job::Job &J,
                                     const std::vector<bool> &Compared);

/// How the line of proofOf() begins that names the regimes beyond the
/// workload's own values.
inline constexpr std::string_view OtherValues = "other values: ";

/// With what a candidate was compared, a line each. \p Compared: by case.
std::vector<std::string> proofOf(const job::Job &J,
                                 const std::vector<bool> &Compared);

/// What makes a case a poor test of a candidate, a line each: outputs that are
/// constant, tiny, or another input's.
std::string degeneracies(const job::Job &J, unsigned Case, const Portraits &Of,
                         const SlackOf &Slack);
/// Would whatever does not look at its inputs pass?
bool provesNothing(const job::Job &J, unsigned Case, const Portraits &Of);

/// Of \p Data, beside \p Other: what another input gave, null where it was not
/// called.
Portrait portrait(const job::Job &J, unsigned Case, unsigned Leaf,
                  const void *Data, const void *Other, double Slack);

} // namespace stark::judge

#endif
