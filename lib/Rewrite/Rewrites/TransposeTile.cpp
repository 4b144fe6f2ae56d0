//===- TransposeTile.cpp - Rows and columns through a shared tile ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of square blocks whose threads store one element each,
/// where neighbouring threads load along a row and store down a column, or the
/// other way round: what is computed goes through shared memory, and the store
/// (or all that comes before) is made by the thread on the other side of the
/// block's diagonal.
///
///     int x = ... + threadIdx.x;     { x and y; tile[threadIdx.y][threadIdx.x]
///     int y = ... + threadIdx.y;           = in[y * w + x]; }
///     out[x * h + y] =            -> __syncthreads();
///         in[y * w + x];             { x by threadIdx.y, y by threadIdx.x;
///                                      out[x * h + y] =
///                                          tile[threadIdx.x][threadIdx.y]; }
///
/// Faster, because both the loads and the stores of a warp then lie in a few
/// sectors of 32 bytes rather than in one each.
///
/// Kept: each element is computed once, by the same expression, and stored
/// where it was. Each thread stands in for just one other of its block, and all
/// of them reach the barrier, since a guard that ended a thread becomes a
/// condition. Grid, block and launch stay. Refused where blocks are not square
/// or not known, and where threadIdx stands in a macro; not looked at are
/// kernels that do more than declare, guard and store.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Linear.h"
#include "Analysis/SingleStore.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

/// Elements from which on two lie in different sectors of 32 bytes.
static constexpr uint64_t SectorElements = 8;
/// Of a block, along each side.
static constexpr uint64_t LeastSide = 8, MostSide = 32;

static constexpr ReasonKind
    OddBlock("its blocks are no squares of 8 to 32 threads a side");
static constexpr ReasonKind ThreadInMacro("it names threadIdx in a macro");
static constexpr ReasonKind
    OddElement("its elements are of a type that shared memory cannot hold");

static constexpr CodeTemplate Through(R"cuda(
  // Rows become columns here, so that a warp loads and stores along rows.
  __shared__ $type @tile[$side][$side + 1];
  {
    $load_declared$load_guard@tile[$load_at] = $value;
  }
  __syncthreads();
  {
    $store_declared$store_guard$element = @tile[$store_at];
  })cuda");

namespace {
struct Plan {
  const Kernel *K;
  SingleStore S;
  uint64_t Side;
  bool LoadsSwapped; ///< else the store is
};
} // namespace

/// How many of \p Of lie rows apart for threads of neighbouring \p Axis.
static unsigned apart(const Facts &F, const Kernel &K,
                      llvm::ArrayRef<const Access *> Of, char Axis) {
  unsigned Apart = 0;
  Linear Indices(F, K);
  for (const Access *Each : Of) {
    std::optional<std::vector<LinearTerm>> Terms = Indices.offsetOf(*Each);
    if (!Terms)
      continue;
    unsigned Times = 0;
    std::optional<uint64_t> Step;
    for (const LinearTerm &T : *Terms) {
      std::vector<const Expr *> Others;
      bool Grows = false;
      for (const Expr *Factor : T.Factors) {
        if (isBuiltin(Factor, "threadIdx", Axis))
          Grows = true;
        else
          Others.push_back(Factor);
      }
      if (Grows) {
        ++Times;
        Step = Indices.constantOf(Others);
      }
    }
    Apart += Times == 1 && (!Step || *Step >= SectorElements);
  }
  return Apart;
}

/// Whether the loads would better be made by the other thread than the store,
/// and which; unset when both are best as they are, or both the other way.
static std::optional<bool> swappedLoads(const Facts &F, const Kernel &K,
                                        const SingleStore &S) {
  Accesses A(F, K);
  std::vector<const Access *> Loads, Stores;
  for (const Access &Each : A.all()) {
    if (Each.Unclear || Each.Shared || !Each.Root ||
        Each.E->getType().isVolatileQualified())
      return std::nullopt;
    (Each.Store ? Stores : Loads).push_back(&Each);
  }
  bool Load = apart(F, K, Loads, 'x') > apart(F, K, Loads, 'y'),
       Store = apart(F, K, Stores, 'x') > apart(F, K, Stores, 'y');
  // Else nothing is won on one of the sides.
  bool LoadMatters = apart(F, K, Loads, 'x') != apart(F, K, Loads, 'y'),
       StoreMatters = apart(F, K, Stores, 'x') != apart(F, K, Stores, 'y');
  if (Load == Store || !LoadMatters || !StoreMatters || Stores.size() != 1)
    return std::nullopt;
  return Load;
}

static WhyNot whyNot(const Facts &F, const Kernel &K, const SingleStore &S,
                     uint64_t &Side) {
  OrReason<std::array<uint64_t, 3>> Block = F.block(K);
  if (!Block)
    return Block.why();
  Side = (*Block)[0];
  if ((*Block)[1] != Side || (*Block)[2] != 1 || Side < LeastSide ||
      Side > MostSide)
    return Reason(OddBlock);
  WhyNot Why;
  forEach(K.body(), [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (!B || B->Name != "threadIdx" || B->Axis == 'z')
      return;
    std::optional<Range> R = F.range(N);
    if (!R || F.text(*R) != "threadIdx." + std::string(1, B->Axis))
      Why = Reason(ThreadInMacro);
  });
  QualType T = S.Store->getLHS()->getType();
  if (!T.isTrivialType(F.context()) || F.context().getTypeSize(T) > 128)
    Why = Reason(OddElement);
  return Why;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    std::optional<SingleStore> S = readSingleStore(F, *K);
    std::optional<bool> Loads = S ? swappedLoads(F, *K, *S) : std::nullopt;
    if (!Loads)
      continue;
    uint64_t Side = 0;
    if (WhyNot Why = whyNot(F, *K, *S, Side))
      Out.refuse(*K->At, *Why);
    else
      Out.fits({K, *S, Side, *Loads});
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Side = std::to_string(P.Side);
  return matchAt(
      *P.K->At, {P.K->name()}, 88, "Transpose in a shared tile",
      "In '" + P.K->name() + "' neighbouring threads " +
          (P.LoadsSwapped ? "store along a row and load down a column"
                          : "load along a row and store down a column") +
          ", so that a warp needs a sector for each of its elements. Let the "
          "block of " +
          Side + " x " + Side +
          " threads put its elements into a tile of shared memory, with rows "
          "one element longer, and take them out on the other side of the "
          "diagonal.");
}

/// \p S as the thread runs it, or the one on the other side of the diagonal.
static std::optional<std::string> asRunBy(const Facts &F, const Stmt *S,
                                          bool Other) {
  std::vector<Instead> Nodes;
  forEach(S, [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (Other && B && B->Name == "threadIdx" && B->Axis != 'z')
      Nodes.emplace_back(N, B->Axis == 'x' ? "threadIdx.y" : "threadIdx.x");
  });
  return F.textWith(S, Nodes);
}

namespace {
/// What comes before \p Result in one of the two parts.
struct Part {
  std::string Declared, Guard, Result;
};
} // namespace

static std::optional<Part> partFor(const Facts &F, const SingleStore &S,
                                   const Expr *Result, bool Other) {
  Part P;
  std::vector<const Expr *> Needed{Result};
  for (const SingleStore::Guard &G : S.Guards) {
    std::optional<std::string> Text = asRunBy(F, G.Condition, Other);
    if (!Text)
      return std::nullopt;
    P.Guard += P.Guard.empty() ? "if (" : " && ";
    P.Guard += G.Returns ? "!(" + *Text + ")" : "(" + *Text + ")";
    Needed.push_back(G.Condition);
  }
  if (S.Guards.size() == 1 && !S.Guards.front().Returns)
    P.Guard = "if " + P.Guard.substr(4);
  else if (!S.Guards.empty())
    P.Guard += ")";
  if (!P.Guard.empty())
    P.Guard += "\n      ";
  for (const DeclStmt *D : llvm::reverse(S.Declared)) {
    std::set<const VarDecl *> Own = variablesDeclaredIn(D);
    bool Used = llvm::any_of(Needed, [&](const Expr *E) {
      return llvm::any_of(Own,
                          [&](const VarDecl *V) { return mentions(E, V); });
    });
    if (!Used)
      continue;
    std::optional<std::string> Text = asRunBy(F, D, Other);
    if (!Text)
      return std::nullopt;
    P.Declared = *Text + "\n    " + P.Declared;
    for (const VarDecl *V : Own)
      Needed.push_back(V->getInit());
  }
  std::optional<std::string> Text = asRunBy(F, Result, Other);
  if (!Text)
    return std::nullopt;
  P.Result = *Text;
  return P;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const auto *Body = llvm::cast<CompoundStmt>(P.K->body());
  std::optional<Range> First = F.range(Body->body_front()),
                       Last = F.statementRange(Body->body_back());
  std::optional<Part> Load =
                          partFor(F, P.S, P.S.Store->getRHS(), P.LoadsSwapped),
                      Store =
                          partFor(F, P.S, P.S.Store->getLHS(), !P.LoadsSwapped);
  if (!First || !Last || !Load || !Store)
    return Reason(why::InMacro, "part of it");
  auto Names = Through.names([&](llvm::StringRef N) { return F.freshName(N); });
  auto At = [](bool Swapped) {
    return Swapped ? "threadIdx.x][threadIdx.y" : "threadIdx.y][threadIdx.x";
  };
  std::string Text = llvm::cantFail(
      Through.fill({{"type", F.writtenType(P.S.Store->getLHS()->getType())},
                    {"side", std::to_string(P.Side)},
                    {"load_declared", Load->Declared},
                    {"load_guard", Load->Guard},
                    {"load_at", At(P.LoadsSwapped)},
                    {"value", Load->Result},
                    {"store_declared", Store->Declared},
                    {"store_guard", Store->Guard},
                    {"store_at", At(!P.LoadsSwapped)},
                    {"element", Store->Result}},
                   Names));
  Changes Made;
  Made.write({First->Begin, Last->End}, llvm::StringRef(Text).trim());
  return Made;
}

STARK_REWRITE(TransposeTile, "transpose-tile")
