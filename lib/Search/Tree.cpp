//===- Tree.cpp - The tree of attempts -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Tree.h"
#include <algorithm>
#include <cassert>

using namespace stark;

unsigned Tree::add(Node N) {
  N.Number = unsigned(Nodes.size());
  assert((N.Parent >= 0) == !Nodes.empty() && "only the source has no parent");
  assert(N.Parent < int(N.Number) && "a parent is older than its children");
  N.Children.clear();
  if (N.Parent >= 0)
    Nodes[size_t(N.Parent)].Children.push_back(N.Number);
  Nodes.push_back(std::move(N));
  return Nodes.back().Number;
}

bool Tree::inSubtree(unsigned Number, unsigned Root) const {
  for (int I = int(Number); I >= 0; I = Nodes[size_t(I)].Parent)
    if (unsigned(I) == Root)
      return true;
  return false;
}

std::vector<unsigned> Tree::siblings(unsigned Number) const {
  std::vector<unsigned> Others;
  if (Nodes[Number].Parent < 0)
    return Others;
  for (unsigned Child : Nodes[size_t(Nodes[Number].Parent)].Children)
    if (Child != Number)
      Others.push_back(Child);
  return Others;
}

void Leaderboard::update(const Tree &T, unsigned Number) {
  const Node &N = T.node(Number);
  if (N.hasBug() || N.SameAs >= 0)
    return;
  // Nodes come in the order of their age, so upper_bound puts a tie behind
  // the older node.
  auto Place = std::upper_bound(
      Best.begin(), Best.end(), N.scoreUs(),
      [&](double Score, unsigned B) { return Score < T.node(B).scoreUs(); });
  Best.insert(Place, Number);
  if (Best.size() > Limit)
    Best.resize(Limit);
}
