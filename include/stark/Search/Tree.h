//===- Tree.h - The tree of attempts -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Node 0 is the source. A node is a candidate with its instruction and
/// verdict; nodes are only added. Scores are microseconds, lower is better.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_TREE_H
#define STARK_SEARCH_TREE_H

#include "stark/Agent/Agent.h"
#include "stark/Eval/Verdict.h"
#include <deque>

namespace stark {

struct Node {
  unsigned Number = 0;
  int Parent = -1;
  /// The node whose source the anchors refer to: the parent of a plan's child;
  /// a debugged node keeps its parent's.
  int Base = -1;
  bool FromDebug = false;
  bool Tuned = false; ///< its parent with other numbers, which no agent chose
  /// The older node with the same tokens, whose verdict is this one's too; -1:
  /// none. Such a node never enters the leaderboard.
  int SameAs = -1;
  std::string Text; ///< empty when no candidate came of the attempt
  Instruction Given;
  Verdict Found;
  std::vector<unsigned> Children;
  bool hasBug() const { return !Found.correct(); }
  double scoreUs() const { return Found.scoreUs(); }
};

class Tree {
public:
  Tree() = default;
  /// Returns the new node's number.
  unsigned add(Node N);
  const Node &node(unsigned Number) const { return Nodes[Number]; }
  size_t size() const { return Nodes.size(); }
  bool inSubtree(unsigned Number, unsigned Root) const;
  /// Without \p Number itself.
  std::vector<unsigned> siblings(unsigned Number) const;

private:
  /// A node stays where it is when others are added.
  std::deque<Node> Nodes;
};

/// The best correct nodes, best first; ties go to the older node.
class Leaderboard {
public:
  explicit Leaderboard(unsigned Limit) : Limit(Limit) {}
  void update(const Tree &T, unsigned Number);
  const std::vector<unsigned> &nodes() const { return Best; }

private:
  unsigned Limit;
  std::vector<unsigned> Best;
};

} // namespace stark

#endif
