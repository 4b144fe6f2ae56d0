//===- References.h - How far a source is off its own reference -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   reference + the source's own outputs -> how far off a candidate may be
/// Of entries of tensors: docs/judging.md says why.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_REFERENCES_H
#define STARK_JUDGE_REFERENCES_H

#include "stark/Judge/Judge.h"
#include <map>

namespace stark::judge {

class References {
public:
  /// \p How the reference of \p Case was computed, "in f64, TF32 off".
  void add(unsigned Case, const std::string &How) { Computed[Case] = How; }
  bool empty() const { return Computed.empty(); }
  /// What the source itself computed of output \p Leaf was off by \p
  /// WorstError, in units of what is allowed.
  void add(unsigned Case, unsigned Leaf, double WorstError);
  /// What the source itself computed for the inputs of \p T.
  void compare(const job::Job &J, const Trial &T, const OutputOf &Own,
               const OutputOf &OfReference);
  /// How many times its tolerance an output may be off: twice what the source
  /// was off for the worst inputs so far, which could have been worse.
  double slack(unsigned Case, unsigned Leaf) const;
  /// Both as lines of text.
  std::string notes(const job::Job &J) const;

private:
  std::map<std::pair<unsigned, unsigned>, double> Slack; ///< by case and leaf
  std::map<unsigned, std::string> Computed;              ///< by case
};

} // namespace stark::judge

#endif
