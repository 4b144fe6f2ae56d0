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

#include "Catalogue.h"
#include "ThreadLoop.h"
#include "stark/Support/Error.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace clang;

namespace {
class BlockSize : public Rewrite {
public:
  llvm::StringRef name() const override { return "block-size"; }
  llvm::StringRef summary() const override {
    return "launch a kernel with blocks of another size";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};

/// Where the number is written, and every place that takes it from there.
struct Source {
  const Expr *Number = nullptr;   ///< the literal
  const VarDecl *Named = nullptr; ///< the constant it initialises
  const Site *NamedAt = nullptr;
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

/// Every use of threadIdx and blockDim is one of a loop that threads share or
/// of a reduction.
static std::string whyNotAnySize(const Facts &F, const Kernel &K) {
  Accesses A(F, K);
  std::vector<Reduction> Reductions = findReductions(F, K);
  std::set<const Stmt *> Fine;
  auto Allow = [&](const Stmt *S) {
    forEach(S, [&](const Stmt *N) { Fine.insert(N); });
  };
  std::string Why;
  std::vector<const ForStmt *> Loops;
  forEach(K.body(), [&](const Stmt *N) {
    if (const auto *Loop = llvm::dyn_cast<ForStmt>(N))
      Loops.push_back(Loop);
  });
  for (const Reduction &R : Reductions) {
    if (R.Tree && !R.StartsAtBlock)
      return "a reduction begins at a fixed number of threads (line " +
             std::to_string(F.lineOf(R.Last)) + ")";
    // What each thread brings is looked at on its own.
    if (const auto *B = llvm::dyn_cast<BinaryOperator>(R.First))
      Allow(B->getLHS());
    else
      Fine.insert(R.First);
    if (R.Tree)
      Allow(R.Last);
    if (!variableOf(R.Value))
      return "what a thread brings to the reduction at line " +
             std::to_string(F.lineOf(R.First)) + " is no plain variable";
  }
  for (const ForStmt *Loop : Loops) {
    std::string Note;
    std::optional<ThreadLoop> L = readThreadLoop(F, K, Loop, Note);
    if (!L)
      continue;
    if (L->Grid)
      return "a loop is shared by the whole grid, whose size depends on the "
             "block's (line " +
             std::to_string(F.lineOf(Loop)) + ")";
    if (std::string No = whyNotRemap(F, K, A, Reductions, *L); !No.empty())
      return "line " + std::to_string(F.lineOf(Loop)) + ": " + No;
    Allow(L->Start);
    Allow(L->Step);
  }
  // Copies of the thread's number are as good as it, used in the same places.
  forEach(K.body(), [&](const Stmt *N) {
    const auto *E = llvm::dyn_cast<Expr>(N);
    if (!E || !Why.empty() || Fine.count(N))
      return;
    std::optional<BuiltinIndex> B = llvm::isa<PseudoObjectExpr, MemberExpr>(E)
                                        ? builtinIndex(E)
                                        : std::nullopt;
    const VarDecl *V = llvm::isa<DeclRefExpr>(E) ? variableOf(E) : nullptr;
    bool Copy = V && V->hasLocalStorage() && isThreadNumber(E, K);
    bool Index = B && (B->Name == "threadIdx" || B->Name == "blockDim");
    if (!Copy && !Index)
      return;
    // if (threadIdx.x == 0), and the declaration of a copy.
    const Stmt *Up =
        K.Parents->getParentIgnoreParenImpCasts(const_cast<Stmt *>(N));
    const auto *Compared = llvm::dyn_cast_or_null<BinaryOperator>(Up);
    if (Compared && Compared->isEqualityOp() &&
        (isThreadNumber(Compared->getLHS(), K) ||
         isThreadNumber(Compared->getRHS(), K)) &&
        (F.constantOf(Compared->getLHS(), K) == 0u ||
         F.constantOf(Compared->getRHS(), K) == 0u))
      return;
    if (const auto *D = llvm::dyn_cast_or_null<DeclStmt>(Up);
        D && D->isSingleDecl() && !Copy) {
      const auto *Named = llvm::dyn_cast<VarDecl>(D->getSingleDecl());
      if (Named && Named->getInit() && isThreadNumber(Named->getInit(), K) &&
          isNeverWritten(Named, K.body(), *K.Parents))
        return;
    }
    Why = "line " + std::to_string(F.lineOf(N)) +
          " relies on the thread's number or the block's size";
  });
  if (!Why.empty())
    return Why;
  // Warp operations, cooperative groups, and functions that may look at the
  // thread's number themselves.
  for (const Access &Each : A.all()) {
    const auto *C = llvm::dyn_cast<CallExpr>(Each.E);
    if (C && !Fine.count(C))
      return "it calls " +
             (calleeOf(C).empty() ? "a function" : calleeOf(C).str()) +
             " at line " + std::to_string(F.lineOf(C)) +
             ", which may rely on the block's size";
  }
  forEach(K.body(), [&](const Stmt *N) {
    llvm::StringRef Name = calleeOf(N);
    if (Why.empty() && (Name.starts_with("__shfl") || Name == "__syncwarp"))
      Why = "line " + std::to_string(F.lineOf(N)) + " works on warps";
    // With a constant that is the block's size as it is.
    if (const auto *Loop = llvm::dyn_cast<ForStmt>(N)) {
      std::string Note;
      std::optional<ThreadLoop> L = readThreadLoop(F, K, Loop, Note);
      if (L && !isBuiltin(L->Step, "blockDim", 'x') && F.constantOf(L->Step, K))
        Why = "the step of the loop at line " + std::to_string(F.lineOf(Loop)) +
              " is a number, not blockDim.x";
    }
  });
  return Why;
}

/// The literal behind a launch's block.
static std::string findSource(const Facts &F, const Launch &L, Source &S) {
  const Expr *E = F.dimensions(L.Block, L)[0];
  const HostFunction *H = F.hostOf(L.Host);
  for (unsigned Depth = 0; E && Depth < 3; ++Depth) {
    E = strip(E);
    if (llvm::isa<IntegerLiteral>(E)) {
      S.Number = E;
      if (!F.range(E) ||
          F.text(E).find_first_not_of("0123456789uU") != std::string::npos)
        return "the block's size is written in a macro";
      return "";
    }
    const VarDecl *V = variableOf(E);
    if (!V || !V->getInit() || llvm::isa<ParmVarDecl>(V))
      break;
    bool Fixed = V->isConstexpr() || V->getType().isConstQualified() ||
                 (V->hasLocalStorage() && H &&
                  isNeverWritten(V, L.Host->getBody(), *H->Parents));
    if (!Fixed || S.Named)
      break;
    S.Named = V;
    E = V->getInit();
  }
  return "the block's size is not written as one number";
}

/// Uses of the constant: the blocks of the kernel's launches, and extents of
/// shared arrays of the kernel that reductions run over.
static std::string whyNotConstant(const Facts &F, const Kernel &K,
                                  const Source &S) {
  UseFinder Finder(S.Named);
  Finder.TraverseDecl(
      const_cast<TranslationUnitDecl *>(F.context().getTranslationUnitDecl()));
  for (const DeclRefExpr *Use : Finder.Uses) {
    bool Known = false;
    for (const Launch *L : K.Launches)
      forEach(L->Block, [&](const Stmt *N) { Known |= N == Use; });
    // dim3 block(kThreads) stands before the launch.
    for (const Launch *L : K.Launches)
      if (const VarDecl *V = variableOf(L->Block); V && V->getInit())
        forEach(V->getInit(), [&](const Stmt *N) { Known |= N == Use; });
    std::optional<Range> At = F.range(Use);
    if (!Known && At && K.Bytes.contains(*At)) {
      // In an array's extent no statement of the body holds it.
      bool InBody = false;
      forEach(K.body(), [&](const Stmt *N) { InBody |= N == Use; });
      Known = !InBody;
    }
    if (!Known)
      return "'" + S.Named->getNameAsString() + "' is used at line " +
             std::to_string(F.lineOf(Use)) + " for something else";
  }
  return "";
}

static llvm::Expected<std::vector<Edit>> write(const Facts &F, const Kernel &K,
                                               const Source &S, unsigned Size) {
  std::optional<Range> R = F.range(S.Number);
  if (!R)
    return failed("the block's size stands in a macro");
  std::vector<Edit> Edits{{*R, std::to_string(Size)}};
  if (!K.F->hasAttr<CUDALaunchBoundsAttr>()) {
    size_t Name =
        F.context().getSourceManager().getFileOffset(K.F->getLocation());
    Edits.push_back(
        {{Name, Name}, "__launch_bounds__(" + std::to_string(Size) + ") "});
  }
  return Edits;
}

void BlockSize::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (K.Launches.empty())
      continue;
    const Launch &L = *K.Launches.front();
    std::string Site = L.At ? L.At->Id : K.name();
    std::string Why = K.Problem;
    std::optional<uint64_t> Now;
    if (Why.empty())
      Now = F.blockSize(K, Why);
    Source S;
    if (Why.empty() && K.Launches.size() > 1)
      Why = "it is launched at several places";
    if (Why.empty() && K.F->redecls_begin() != K.F->redecls_end() &&
        std::distance(K.F->redecls_begin(), K.F->redecls_end()) > 1)
      Why = "it is declared before it is defined";
    if (Why.empty() && K.F->hasAttr<CUDALaunchBoundsAttr>())
      Why = "its __launch_bounds__ rely on the block's size";
    if (Why.empty())
      Why = findSource(F, L, S);
    if (Why.empty() && S.Named)
      Why = whyNotConstant(F, K, S);
    if (Why.empty() && L.Shared && F.constantOf(L.Shared, L) != 0u)
      Why = "the launch gives it dynamic shared memory, whose size may rely on "
            "the block's";
    if (Why.empty()) {
      // gridDim and the grid at the launch: block and grid apart.
      bool Mixed = S.Named && mentions(L.Grid, S.Named);
      forEach(L.Grid, [&](const Stmt *N) {
        const auto *M = llvm::dyn_cast<MemberExpr>(N);
        const VarDecl *V = variableOf(L.Block);
        Mixed |= M && V && variableOf(M->getBase()) == V;
      });
      if (const VarDecl *V = variableOf(L.Grid); V && V->getInit())
        Mixed |= (S.Named && mentions(V->getInit(), S.Named)) ||
                 (variableOf(L.Block) &&
                  mentions(V->getInit(), variableOf(L.Block)));
      if (Mixed)
        Why = "the grid is computed from the block's size";
    }
    if (Why.empty())
      Why = whyNotAnySize(F, K);
    // Every shared array that a reduction runs over must have room.
    if (Why.empty())
      for (const Reduction &R : findReductions(F, K)) {
        const Expr *Extent = nullptr;
        if (const TypeSourceInfo *Written = R.Array->getTypeSourceInfo())
          if (auto Array = Written->getTypeLoc().getAs<ArrayTypeLoc>())
            Extent = Array.getSizeExpr();
        if (R.Tree && (!Extent || !S.Named || variableOf(Extent) != S.Named))
          Why = "'" + R.Array->getNameAsString() +
                "' is not declared with the constant that the launch uses";
      }
    if (Why.empty()) {
      size_t Name =
          F.context().getSourceManager().getFileOffset(K.F->getLocation());
      if (!F.context().getSourceManager().isInMainFile(K.F->getLocation()) ||
          !K.Bytes.contains(Range{Name, Name + 1}))
        Why = "its name is written in a macro";
    }
    if (!Why.empty()) {
      Out.refuse(Site, L.At ? L.At->Line : K.At->Line, Why);
      continue;
    }
    for (unsigned Size : {512u, 1024u, 128u, 256u, 64u}) {
      if (Size == *Now || Size > 8 * *Now || Size * 8 < *Now)
        continue;
      Match M;
      M.Variant = std::to_string(Size);
      M.Site = Site;
      M.Line = L.At ? L.At->Line : K.At->Line;
      M.Sites = {K.name()};
      if (S.Named && !S.Named->hasLocalStorage()) {
        if (std::optional<Range> R = F.range(S.Named->getSourceRange()))
          if (const stark::Site *At = F.siteAt(SiteKind::Declaration, *R))
            M.Sites.push_back(At->Id);
      } else {
        for (const stark::Site &Each : F.In.All->All)
          if (Each.Kind == SiteKind::Host && L.At &&
              Each.Bytes.contains(L.At->Bytes))
            M.Sites.push_back(Each.Id);
      }
      M.Promise = Size > *Now ? 45 - Size / 256 : 30 - unsigned(*Now / Size);
      M.Title = "Blocks of " + std::to_string(Size) + " threads";
      M.Advice = "'" + K.name() + "' runs with blocks of " +
                 std::to_string(*Now) + " threads. Try " +
                 std::to_string(Size) +
                 ": its loops run up to blockDim.x and its reductions take any "
                 "power of two. " +
                 (Size > *Now ? "More threads keep more loads under way."
                              : "Fewer threads wait less at barriers, and more "
                                "blocks fit on a multiprocessor.") +
                 " Sums are added in another order.";
      Out.offer(std::move(M),
                [&F, &K, S, Size] { return write(F, K, S, Size); });
    }
  }
}

std::unique_ptr<const Rewrite> stark::makeBlockSize() {
  return std::make_unique<BlockSize>();
}
