//===- Check.h - What the search itself finds in a candidate -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   candidate -> footprint -> known already? -> contract -> (evaluator)
/// What is found here is a verdict that no GPU had to be asked for.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_CHECK_H
#define STARK_LIB_SEARCH_CHECK_H

#include "stark/AST/Prelude.h"
#include "stark/Search/CheckCandidate.h"
#include "stark/Search/Search.h"
#include <map>

namespace stark {

/// A source of the tree with its sites.
struct ParsedNode {
  std::shared_ptr<ParsedSource> Source;
  Sites All;
};

/// Keeps the few parses that the next attempts are likely to need again.
class ParsedNodes {
public:
  explicit ParsedNodes(const Task &Of) : Of(Of) {}
  /// Of node \p Number, whose text is \p Text. Node 0 is the task's own.
  llvm::Expected<std::shared_ptr<const ParsedNode>> get(unsigned Number,
                                                        llvm::StringRef Text);
  /// What the source includes, parsed; null for the first that asks, as one
  /// candidate alone does not pay for it, and where there is nothing to be had.
  const Prelude *headers();

private:
  const Task &Of;
  /// The headers of the source; unset until a second candidate is parsed.
  std::optional<std::unique_ptr<const Prelude>> Headers;
  unsigned Candidates = 0;
  /// Least recently used first.
  std::vector<std::pair<unsigned, std::shared_ptr<const ParsedNode>>> Kept;
};

/// The oldest node with given tokens whose verdict came of these tokens alone
/// (not of where its anchors lay).
class KnownTokens {
public:
  void add(const Node &N);
  /// -1 when there is none.
  int find(llvm::StringRef Text) const;

private:
  std::map<std::string, unsigned> Nodes; ///< by digest
};

/// That node's verdict, saying so.
Verdict knownVerdict(const Node &Known);

Verdict noCandidate(llvm::StringRef Problem);

} // namespace stark

#endif
