//===- BlockSize.cpp - Another number of threads a block ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of one-dimensional blocks whose size is a constant of
/// the file or of the launching function, or a literal at the launch, and whose
/// threads only share loops (`for (i = threadIdx.x; i < n; i += blockDim.x)`)
/// and reductions over the block. The grid must not depend on the size.
///
///     k<<<rows, 256>>>(...)  ->  k<<<rows, 512>>>(...)
///
/// Faster or slower: more threads hide more latency for long rows, fewer waste
/// less at barriers and in short ones. The measurement says which.
///
/// Kept: everything but the order in which sums are added.
///
/// Refused where the kernel uses the thread's number or the block's size in
/// any other way, where the constant is used for something else, and where not
/// all launches are seen. A larger block comes with __launch_bounds__, so that
/// it cannot fail for want of registers.
///
//===----------------------------------------------------------------------===//

#include "Analysis/BlockIndependence.h"
#include "Catalogue.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/TypeLoc.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    BoundsRely("its __launch_bounds__ rely on the block's size");
static constexpr ReasonKind
    SizeInMacro("the block's size is written in a macro");
static constexpr ReasonKind
    SizeNotOne("the block's size is not written as one number");
static constexpr ReasonKind
    ConstantUsed("'%0' is used at line %1 for something else");
static constexpr ReasonKind
    SharedMayRely("the launch gives it dynamic shared memory, whose size may "
                  "rely on the block's");
static constexpr ReasonKind
    GridRelies("the grid is computed from the block's size");
static constexpr ReasonKind
    ArrayMayRely("'%0' is not declared with the constant that the launch uses");

namespace {
/// Where the number is written, and every place that takes it from there.
struct Source {
  const Expr *Number = nullptr;   ///< the literal
  const VarDecl *Named = nullptr; ///< the constant it initialises
};

struct Plan {
  const Kernel *K;
  const Launch *L;
  Source Written;
  size_t Name; ///< where the kernel's name stands
  uint64_t Now;
  unsigned Size; ///< the other one
};

/// All uses of a variable in the file.
struct UseFinder : RecursiveASTVisitor<UseFinder> {
  const VarDecl *V;
  std::vector<const DeclRefExpr *> Uses;
  explicit UseFinder(const VarDecl *V) : V(V) {}
  bool shouldVisitTemplateInstantiations() const { return false; }
  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (E->getDecl() == V)
      Uses.push_back(E);
    return true;
  }
};
} // namespace

/// The literal behind a launch's block.
static OrReason<Source> findSource(const Facts &F, const Launch &L) {
  Source S;
  const Expr *E = F.dimensions(L.Block, L)[0];
  const HostFunction *H = F.hostOf(L.Host);
  for (unsigned Depth = 0; E && Depth < 3; ++Depth) {
    E = strip(E);
    if (llvm::isa<IntegerLiteral>(E)) {
      S.Number = E;
      if (!F.range(E) ||
          F.text(E).find_first_not_of("0123456789uU") != std::string::npos)
        return Reason(SizeInMacro);
      return S;
    }
    const VarDecl *V = variableOf(E);
    if (!V || !V->getInit() || llvm::isa<ParmVarDecl>(V))
      break;
    bool Fixed = V->isConstexpr() || V->getType().isConstQualified() ||
                 (V->hasLocalStorage() && H && H->keeps(V));
    if (!Fixed || S.Named)
      break;
    S.Named = V;
    E = V->getInit();
  }
  return Reason(SizeNotOne);
}

/// Uses of the constant: the blocks of the kernel's launches, and extents of
/// shared arrays of the kernel that reductions run over.
static WhyNot whyNotConstant(const Facts &F, const Kernel &K, const Source &S) {
  UseFinder Finder(S.Named);
  Finder.TraverseDecl(
      const_cast<TranslationUnitDecl *>(F.context().getTranslationUnitDecl()));
  std::set<const Stmt *> Blocks, Body = nodesOf(K.body());
  for (const Launch *L : K.Launches) {
    Blocks.merge(nodesOf(L->Block));
    // dim3 block(kThreads) stands before the launch.
    if (const VarDecl *V = variableOf(L->Block); V && V->getInit())
      Blocks.merge(nodesOf(V->getInit()));
  }
  for (const DeclRefExpr *Use : Finder.Uses) {
    std::optional<Range> At = F.range(Use);
    // In an array's extent no statement of the body holds it.
    bool Extent = At && K.Bytes.contains(*At) && !Body.count(Use);
    if (!Extent && !Blocks.count(Use))
      return Reason(ConstantUsed, nameOf(S.Named), F.lineOf(Use));
  }
  return std::nullopt;
}

/// The grid at the launch uses the block or its size.
static bool isGridMixed(const Launch &L, const Source &S) {
  const VarDecl *Block = variableOf(L.Block), *Grid = variableOf(L.Grid);
  bool Mixed = S.Named && mentions(L.Grid, S.Named);
  Mixed |= anyOf(L.Grid, [&](const Stmt *N) {
    const auto *M = llvm::dyn_cast<MemberExpr>(N);
    return M && Block && variableOf(M->getBase()) == Block;
  });
  if (Grid && Grid->getInit())
    Mixed |= (S.Named && mentions(Grid->getInit(), S.Named)) ||
             (Block && mentions(Grid->getInit(), Block));
  return Mixed;
}

/// Every shared array that a tree runs over has room for a larger block.
static WhyNot whyNoRoom(const Facts &F, const Kernel &K, const Source &S) {
  for (const Reduction &R : findReductions(F, K).All) {
    const Expr *Extent = nullptr;
    if (const TypeSourceInfo *Written = R.Array->getTypeSourceInfo())
      if (auto Array = Written->getTypeLoc().getAs<ArrayTypeLoc>())
        Extent = Array.getSizeExpr();
    if (R.Tree && (!Extent || !S.Named || variableOf(Extent) != S.Named))
      return Reason(ArrayMayRely, nameOf(R.Array));
  }
  return std::nullopt;
}

/// The plan but for the other size.
static OrReason<Plan> planFor(const Facts &F, const Kernel &K) {
  if (K.Problem)
    return *K.Problem;
  if (K.LaunchedElsewhere)
    return *K.LaunchedElsewhere;
  const Launch &L = *K.Launches.front();
  OrReason<uint64_t> Now = F.blockSize(K);
  if (!Now)
    return Now.why();
  if (K.Launches.size() > 1)
    return Reason(why::SeveralLaunches);
  if (std::distance(K.F->redecls_begin(), K.F->redecls_end()) > 1)
    return Reason(why::DeclaredBefore);
  if (K.F->hasAttr<CUDALaunchBoundsAttr>())
    return Reason(BoundsRely);
  OrReason<Source> S = findSource(F, L);
  if (!S)
    return S.why();
  if (S->Named)
    if (WhyNot Why = whyNotConstant(F, K, *S))
      return *Why;
  if (L.Shared && F.constantOf(L.Shared, L) != 0u)
    return Reason(SharedMayRely);
  if (isGridMixed(L, *S))
    return Reason(GridRelies);
  if (WhyNot Why = whyNotAnyBlockSize(F, K))
    return *Why;
  if (WhyNot Why = whyNoRoom(F, K, *S))
    return *Why;
  std::optional<size_t> Name = F.nameOffset(K.F, K.Bytes);
  if (!Name)
    return Reason(why::NameInMacro);
  return Plan{&K, &L, *S, *Name, *Now, 0};
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel &K : F.kernels()) {
    if (K.Launches.empty())
      continue;
    OrReason<Plan> P = planFor(F, K);
    if (!P) {
      const Site *At = K.LaunchedElsewhere ? K.At : K.Launches.front()->At;
      Out.refuse(At ? *At : *K.At, P.why());
      continue;
    }
    for (unsigned Size : {512u, 1024u, 128u, 256u, 64u}) {
      if (Size == P->Now || Size > 8 * P->Now || Size * 8 < P->Now)
        continue;
      P->Size = Size;
      Out.fits(*P);
    }
  }
}

static Match describe(const Facts &F, const Plan &P) {
  std::vector<std::string> Sites{P.K->name()};
  const VarDecl *Named = P.Written.Named;
  if (Named && !Named->hasLocalStorage()) {
    std::optional<Range> R = F.range(Named->getSourceRange());
    if (const Site *At = R ? F.siteAt(SiteKind::Declaration, *R) : nullptr)
      Sites.push_back(At->Id);
  } else if (P.L->HostAt) {
    Sites.push_back(P.L->HostAt->Id);
  }
  unsigned Promise =
      P.Size > P.Now ? 45 - P.Size / 256 : 30 - unsigned(P.Now / P.Size);
  std::string Size = std::to_string(P.Size);
  Match M = matchAt(
      P.L->At ? *P.L->At : *P.K->At, std::move(Sites), Promise,
      "Blocks of " + Size + " threads",
      "'" + P.K->name() + "' runs with blocks of " + std::to_string(P.Now) +
          " threads. Try " + Size +
          ": its loops run up to blockDim.x and its reductions take any power "
          "of two. " +
          (P.Size > P.Now ? "More threads keep more loads under way."
                          : "Fewer threads wait less at barriers, and more "
                            "blocks fit on a multiprocessor.") +
          " Sums are added in another order.");
  M.Variant = Size;
  return M;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::optional<Range> R = F.range(P.Written.Number);
  if (!R)
    return Reason(why::InMacro, "the block's size");
  Changes Made;
  Made.replace(*R, std::to_string(P.Size));
  Made.insert(P.Name, "__launch_bounds__(" + std::to_string(P.Size) + ") ");
  return Made;
}

STARK_REWRITE(BlockSize, "block-size")
