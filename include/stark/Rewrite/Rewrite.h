//===- Rewrite.h - Changes that need no model -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + sites -> where each rewrite applies, and why not elsewhere
///                  -> the rewritten text
/// A rewrite keeps what the source computes, up to the rounding of a reordered
/// sum where its advice says so. Where that cannot be shown from the AST (and,
/// for what only the caller knows, from the workload), it refuses with the
/// reason. docs/rewrites.md lists them all.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REWRITE_REWRITE_H
#define STARK_REWRITE_REWRITE_H

#include "stark/AST/Site.h"
#include "stark/Rewrite/Reason.h"
#include "stark/Task/Task.h"
#include <memory>
#include <string>
#include <vector>

namespace stark {

/// What rewrites look at. All of it is the caller's.
struct RewriteInput {
  const ParsedSource *Source = nullptr;
  const Sites *All = nullptr;
  /// Says which arguments are buffers of their own and what error is allowed.
  /// Without it whatever depends on that is refused.
  const Task *Given = nullptr;
};

/// A place where a rewrite applies. Only data: it says which change is meant
/// and makes none, so it may outlive the set that it is from.
struct Match {
  std::string Rewrite;            ///< "vector-access"
  std::string Variant;            ///< "512" of a block size; often empty
  std::string Site;               ///< "softmax_kernel:loop1"
  std::vector<std::string> Sites; ///< what has to change, for the plan
  unsigned Line = 0;
  std::string Title;    ///< at most ten words
  std::string Advice;   ///< what changes, why that is faster, what it relies on
  unsigned Promise = 0; ///< 1 to 100: which to try first, no prediction
  /// Its changes may overlap those at other places of its function, so there
  /// is no match that takes them all.
  bool Alone = false;
  /// Of one that takes several places of a function: the site of each.
  std::vector<std::string> Places;
  /// "block-size=512@launch_softmax:launch1"; unique in a source.
  std::string key() const;
};

/// A place where it might be thought to apply, and does not.
struct Refusal {
  std::string Rewrite, Site;
  unsigned Line = 0;
  Reason Why;
};

/// All rewrites over one source: what is known of it, and the matches. What
/// \p Input points to must outlive it; \p Input itself need not.
class RewriteSet {
public:
  explicit RewriteSet(const RewriteInput &Input);
  ~RewriteSet();
  /// The most promising first, then in source order. Where a rewrite applies
  /// at several places of one function there is a match that takes them all.
  const std::vector<Match> &matches() const;
  const std::vector<Refusal> &refusals() const;
  /// The whole text with the match of \p Key applied. Errors: no such match
  /// (with those that are meant), changes that overlap.
  llvm::Expected<std::string> apply(llvm::StringRef Key) const;

private:
  struct Impl;
  std::unique_ptr<Impl> Hidden;
};

/// For the plan agent of a model: the matches of \p Input, one a line with the
/// site; empty when there is none.
std::string describeRewrites(const RewriteInput &Input);

} // namespace stark

#endif
