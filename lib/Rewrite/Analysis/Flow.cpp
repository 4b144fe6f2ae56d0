//===- Flow.cpp - The order of statements ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

using namespace stark;
using namespace clang;

Flow::Flow(const Kernel &K)
    : Graph(CFG::buildCFG(K.F, const_cast<Stmt *>(K.body()),
                          &K.F->getASTContext(), CFG::BuildOptions())) {}

namespace {
/// Goes through the elements of a graph, each once.
class Walk {
public:
  /// An element of a block.
  using Place = std::pair<const CFGBlock *, unsigned>;

  explicit Walk(bool Forward) : Forward(Forward) {}

  std::optional<Place> next() {
    if (Work.empty())
      return std::nullopt;
    Place P = Work.back();
    Work.pop_back();
    return P;
  }

  /// On to what can run right after (before) \p P.
  void step(const Place &P) {
    if (Forward ? P.second + 1 < P.first->size() : P.second > 0)
      add({P.first, Forward ? P.second + 1 : P.second - 1});
    else
      for (const CFGBlock *Next : neighbours(*P.first))
        enter(Next);
  }

  static const Stmt *statementOf(const Place &P) {
    std::optional<CFGStmt> E = (*P.first)[P.second].getAs<CFGStmt>();
    return E ? E->getStmt() : nullptr;
  }

private:
  void add(Place P) {
    if (Seen.insert(P).second)
      Work.push_back(P);
  }

  std::vector<const CFGBlock *> neighbours(const CFGBlock &B) const {
    std::vector<const CFGBlock *> Found;
    auto Take = [&](const CFGBlock::AdjacentBlock &N) {
      Found.push_back(N.getReachableBlock() ? N.getReachableBlock()
                                            : N.getPossiblyUnreachableBlock());
    };
    if (Forward)
      llvm::for_each(B.succs(), Take);
    else
      llvm::for_each(B.preds(), Take);
    return Found;
  }

  /// The first element of \p B, or of the blocks behind it when it is empty.
  void enter(const CFGBlock *B) {
    std::vector<const CFGBlock *> Empty{B};
    while (!Empty.empty()) {
      const CFGBlock *Next = Empty.back();
      Empty.pop_back();
      if (!Next || !Entered.insert(Next).second)
        continue;
      if (!Next->empty())
        add({Next, Forward ? 0 : unsigned(Next->size()) - 1});
      else
        for (const CFGBlock *Behind : neighbours(*Next))
          Empty.push_back(Behind);
    }
  }

  const bool Forward;
  std::vector<Place> Work;
  std::set<Place> Seen;
  std::set<const CFGBlock *> Entered;
};
} // namespace

std::vector<const Stmt *>
Flow::around(const Stmt *S, bool Forward,
             llvm::function_ref<bool(const Stmt *)> Stop) const {
  std::set<const Stmt *> Inside = nodesOf(S);
  Walk Way(Forward);
  for (const CFGBlock *B : *Graph)
    for (unsigned I = 0; I < B->size(); ++I)
      if (const Stmt *E = Walk::statementOf({B, I}); E && Inside.count(E))
        Way.step({B, I});
  std::vector<const Stmt *> Found;
  while (std::optional<Walk::Place> P = Way.next()) {
    const Stmt *E = Walk::statementOf(*P);
    if (E && !Inside.count(E)) {
      if (Stop(E))
        continue;
      Found.push_back(E);
    }
    Way.step(*P);
  }
  return Found;
}
