//===- Window.cpp - What each role is shown of the tree ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Window.h"
#include <set>

using namespace stark;

std::vector<unsigned> stark::noWindow(unsigned Selected) {
  if (Selected == 0)
    return {0};
  return {0, Selected};
}

std::vector<unsigned> stark::makeWindow(WindowRole Role, const Tree &T,
                                        const Leaderboard &Leaders,
                                        unsigned Selected, unsigned Limit,
                                        Random &Draw) {
  if (Role == WindowRole::Single)
    Role = T.node(Selected).hasBug() ? WindowRole::Debug : WindowRole::Plan;
  std::set<unsigned> Others;
  auto Add = [&](const std::vector<unsigned> &Numbers) {
    for (unsigned N : Numbers)
      // An attempt that gave no candidate was never evaluated: there is
      // nothing to show.
      if (N != 0 && N != Selected &&
          T.node(N).Found.Kind != VerdictKind::NoCandidate)
        Others.insert(N);
  };
  switch (Role) {
  case WindowRole::Plan: {
    Add(T.node(Selected).Children);
    std::vector<unsigned> Outside;
    for (unsigned L : Leaders.nodes())
      if (!T.inSubtree(L, Selected))
        Outside.push_back(L);
    Add(Outside);
    break;
  }
  case WindowRole::Code:
    Add(T.node(Selected).Children);
    for (unsigned S : T.siblings(Selected))
      Add(T.node(S).Children);
    break;
  case WindowRole::Debug:
  case WindowRole::Single:
    Add(T.siblings(Selected));
    break;
  }
  std::set<unsigned> Shown = {0, Selected};
  std::vector<unsigned> Pool(Others.begin(), Others.end());
  size_t Room = Limit > Shown.size() ? Limit - Shown.size() : 0;
  if (Pool.size() <= Room)
    Shown.insert(Pool.begin(), Pool.end());
  else
    for (size_t I : Draw.sample(Pool.size(), Room))
      Shown.insert(Pool[I]);
  return {Shown.begin(), Shown.end()};
}
