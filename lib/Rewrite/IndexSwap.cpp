//===- IndexSwap.cpp - Neighbouring threads to neighbouring memory --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of square blocks whose threads of neighbouring
/// threadIdx.x touch global memory rows apart, while threadIdx.y counts along
/// the row: threadIdx.x and threadIdx.y change places.
///
/// Faster, because the 32 accesses of a warp then lie in a few sectors of 32
/// bytes rather than in one each.
///
/// Kept: the block's threads are numbered otherwise, and nothing else. Grid and
/// launch stay. Refused where blocks are not square or not known, and where
/// the kernel works on warps or calls what may look at the thread's number.
///
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

namespace {
class IndexSwap : public Rewrite {
public:
  llvm::StringRef name() const override { return "index-swap"; }
  llvm::StringRef summary() const override {
    return "let neighbouring threads touch neighbouring memory";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

void IndexSwap::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    Accesses A(F, K);
    int Apart = 0, Along = 0;
    for (const Access &Each : A.all()) {
      if (Each.Shared || !Each.Index)
        continue;
      for (const Expr *Term : termsOf(Each.Index)) {
        bool Product = factorsOf(Term).size() > 1;
        (Product ? Apart : Along) +=
            dependsOnThread(Term, 'x') && !dependsOnThread(Term, 'y');
        (Product ? Along : Apart) +=
            dependsOnThread(Term, 'y') && !dependsOnThread(Term, 'x');
      }
    }
    if (Apart <= Along)
      continue;
    std::string Why = K.LaunchedElsewhere;
    if (Why.empty() && K.Launches.empty())
      Why = "no launch of it is in this file";
    for (const Launch *L : K.Launches)
      if (!L->BlockSize)
        Why = "the block size of a launch is no constant";
      else if ((*L->BlockSize)[0] != (*L->BlockSize)[1] ||
               (*L->BlockSize)[2] != 1)
        Why = "its blocks are not square";
    std::vector<Edit> Edits;
    forEach(K.body(), [&](const Stmt *N) {
      const auto *E = llvm::dyn_cast<Expr>(N);
      if (!E)
        return;
      llvm::StringRef Name = calleeOf(E);
      if (Name.starts_with("__shfl") || Name == "__syncwarp")
        Why = "it works on warps";
      std::optional<BuiltinIndex> B = llvm::isa<PseudoObjectExpr, MemberExpr>(E)
                                          ? builtinIndex(E)
                                          : std::nullopt;
      if (!B || B->Name != "threadIdx" || B->Axis == 'z')
        return;
      std::optional<Range> R = F.range(E);
      if (!R || F.text(*R) != "threadIdx." + std::string(1, B->Axis)) {
        Why = "it names threadIdx in a macro";
        return;
      }
      Edits.push_back({*R, B->Axis == 'x' ? "threadIdx.y" : "threadIdx.x"});
    });
    for (const Access &Each : A.all())
      if (Why.empty() && llvm::isa<CallExpr>(Each.E) && Each.Unclear)
        Why =
            "it calls a function that may look at the thread's number (line " +
            std::to_string(F.lineOf(Each.E)) + ")";
    if (!Why.empty()) {
      Out.refuse(K.name(), K.At->Line, Why);
      continue;
    }
    Match M;
    M.Site = K.name();
    M.Line = K.At->Line;
    M.Sites = {K.name()};
    M.Promise = 85;
    M.Title = "Let neighbouring threads touch neighbouring memory";
    M.Advice = "In '" + K.name() +
               "' threads of neighbouring threadIdx.x touch global memory rows "
               "apart, so that a warp needs a sector for each of them. The "
               "blocks are square: let threadIdx.x and threadIdx.y change "
               "places.";
    Out.offer(std::move(M),
              [Edits]() -> llvm::Expected<std::vector<Edit>> { return Edits; });
  }
}

std::unique_ptr<const Rewrite> stark::makeIndexSwap() {
  return std::make_unique<IndexSwap>();
}
