//===- SharedPadding.cpp - Columns of shared memory in different banks ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to `__shared__ T tile[n][32]`, also 64, 96, ..., of which
/// neighbouring threads access a column: one element more a row.
///
/// Faster, because the 32 rows of a column then lie in different banks rather
/// than in one.
///
/// Kept: everything, since the array is only accessed by both of its indices.
/// Refused where its address is taken or its size asked for, where a row is
/// passed on, and where the block would need more than 48 KB.
///
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "Catalogue.h"
#include "clang/AST/Attr.h"
#include "clang/AST/TypeLoc.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

static constexpr uint64_t StaticLimit = 49152;

namespace {
class SharedPadding : public Rewrite {
public:
  llvm::StringRef name() const override { return "shared-padding"; }
  llvm::StringRef summary() const override {
    return "pad the rows of a shared array, so that columns have no bank "
           "conflicts";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

/// threadIdx.x itself, or a variable made of it.
static bool variesAlongWarp(const Expr *E, unsigned Depth = 0) {
  bool Found = false;
  forEach(E, [&](const Stmt *N) {
    const auto *Each = llvm::dyn_cast<Expr>(N);
    if (!Each || Found)
      return;
    if (llvm::isa<PseudoObjectExpr, MemberExpr>(Each))
      Found |= isBuiltin(Each, "threadIdx", 'x');
    const VarDecl *V =
        llvm::isa<DeclRefExpr>(Each) ? variableOf(Each) : nullptr;
    if (V && V->hasLocalStorage() && V->getInit() && Depth < 6)
      Found |= variesAlongWarp(V->getInit(), Depth + 1);
  });
  return Found;
}

/// The largest value that \p E can have; unset when that is not known. An
/// index that runs past its row into the next one would miss after padding.
static std::optional<uint64_t> largest(const Facts &F, const Kernel &K,
                                       const Expr *E, unsigned Depth = 0) {
  if (std::optional<uint64_t> N = F.constantOf(E, K))
    return N;
  if (Depth > 6)
    return std::nullopt;
  E = strip(E);
  if (std::optional<BuiltinIndex> B = builtinIndex(E)) {
    if (B->Name != "threadIdx" || !K.LaunchedElsewhere.empty() ||
        K.Launches.empty())
      return std::nullopt;
    uint64_t Most = 0;
    for (const Launch *L : K.Launches) {
      if (!L->BlockSize)
        return std::nullopt;
      Most = std::max(Most, (*L->BlockSize)[unsigned(B->Axis - 'x')]);
    }
    return Most ? std::optional(Most - 1) : std::nullopt;
  }
  if (const VarDecl *V = variableOf(E)) {
    if (!V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V) || !V->getInit())
      return std::nullopt;
    if (isNeverWritten(V, K.body(), *K.Parents))
      return largest(F, K, V->getInit(), Depth + 1);
    std::optional<uint64_t> Found;
    forEach(K.body(), [&](const Stmt *N) {
      const auto *Loop = llvm::dyn_cast<ForStmt>(N);
      const auto *Init =
          Loop ? llvm::dyn_cast_or_null<DeclStmt>(Loop->getInit()) : nullptr;
      const auto *Cond = Loop && Loop->getCond()
                             ? llvm::dyn_cast<BinaryOperator>(
                                   Loop->getCond()->IgnoreParenImpCasts())
                             : nullptr;
      if (!Init || !Init->isSingleDecl() || Init->getSingleDecl() != V ||
          !Cond || Cond->getOpcode() != BO_LT ||
          variableOf(Cond->getLHS()) != V ||
          !isNeverWritten(V, Loop->getBody(), *K.Parents))
        return;
      std::optional<uint64_t> End = F.constantOf(Cond->getRHS(), K);
      if (End && *End)
        Found = *End - 1;
    });
    return Found;
  }
  const auto *B = llvm::dyn_cast<BinaryOperator>(E);
  if (!B)
    return std::nullopt;
  std::optional<uint64_t> R = largest(F, K, B->getRHS(), Depth + 1);
  if (B->getOpcode() == BO_Rem && B->getType()->isUnsignedIntegerType())
    return R && *R ? std::optional(*R - 1) : std::nullopt;
  std::optional<uint64_t> L = largest(F, K, B->getLHS(), Depth + 1);
  if (!L || !R || *L > UINT32_MAX || *R > UINT32_MAX)
    return std::nullopt;
  if (B->getOpcode() == BO_Add)
    return *L + *R;
  if (B->getOpcode() == BO_Mul)
    return *L * *R;
  return std::nullopt;
}

void SharedPadding::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    std::vector<std::pair<const VarDecl *, const DeclStmt *>> Arrays;
    uint64_t Shared = 0;
    forEach(K.body(), [&](const Stmt *N) {
      const auto *D = llvm::dyn_cast<DeclStmt>(N);
      if (!D)
        return;
      for (const Decl *Each : D->decls()) {
        const auto *V = llvm::dyn_cast<VarDecl>(Each);
        if (!V || !V->hasAttr<CUDASharedAttr>() ||
            V->getType()->isIncompleteType())
          continue;
        Shared += uint64_t(
            F.context().getTypeSizeInChars(V->getType()).getQuantity());
        Arrays.emplace_back(V, D);
      }
    });
    for (const auto &Pair : Arrays) {
      const VarDecl *V = Pair.first;
      const DeclStmt *D = Pair.second;
      const auto *Rows = F.context().getAsConstantArrayType(V->getType());
      const auto *Row =
          Rows ? F.context().getAsConstantArrayType(Rows->getElementType())
               : nullptr;
      if (!Row || Row->getElementType()->isArrayType())
        continue;
      uint64_t Bytes = uint64_t(
          F.context().getTypeSizeInChars(Row->getElementType()).getQuantity());
      uint64_t Width = Row->getZExtSize(), Count = Rows->getZExtSize();
      if (Bytes != 4 || Width % 32 != 0)
        continue;
      // Columns: the row's number varies along a warp, the place in it not.
      bool Column = false;
      std::set<const Stmt *> Seen;
      std::string Why;
      forEach(K.body(), [&](const Stmt *N) {
        const auto *Outer = llvm::dyn_cast<ArraySubscriptExpr>(N);
        const auto *Inner =
            Outer ? llvm::dyn_cast<ArraySubscriptExpr>(strip(Outer->getBase()))
                  : nullptr;
        if (!Inner || variableOf(Inner->getBase()) != V)
          return;
        forEach(Inner->getBase(), [&](const Stmt *M) { Seen.insert(M); });
        Column |= variesAlongWarp(Inner->getIdx()) &&
                  !variesAlongWarp(Outer->getIdx());
        std::optional<uint64_t> Most = largest(F, K, Outer->getIdx());
        if (!Most || *Most >= Width)
          Why = "an index at line " + std::to_string(F.lineOf(N)) +
                " is not seen to stay within its row";
        const Stmt *Up =
            K.Parents->getParentIgnoreParens(const_cast<Stmt *>(N));
        const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(Up);
        if (U && U->getOpcode() == UO_AddrOf)
          Why = "its address is taken at line " + std::to_string(F.lineOf(N));
      });
      if (!Column)
        continue;
      forEach(K.body(), [&](const Stmt *N) {
        const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
        if (Ref && Ref->getDecl() == V && !Seen.count(N))
          Why = "it is used otherwise than by both of its indices at line " +
                std::to_string(F.lineOf(N));
        const auto *Size = llvm::dyn_cast<UnaryExprOrTypeTraitExpr>(N);
        if (Size && !Size->isArgumentType() &&
            mentions(Size->getArgumentExpr(), V))
          Why = "its size is asked for at line " + std::to_string(F.lineOf(N));
      });
      if (Why.empty() && Shared + Count * Bytes > StaticLimit)
        Why = "the block would need more than 48 KB of shared memory";
      std::optional<Range> Extent;
      if (const TypeSourceInfo *Written = V->getTypeSourceInfo())
        if (auto First = Written->getTypeLoc().getAs<ArrayTypeLoc>())
          if (auto Second = First.getElementLoc().getAs<ArrayTypeLoc>())
            Extent = F.range(Second.getSizeExpr());
      if (Why.empty() && (!Extent || !llvm::all_of(F.text(*Extent), [](char C) {
            return llvm::isAlnum(C) || C == '_';
          })))
        Why = "its width is not written as one number or name";
      const Site *At = F.siteAt(SiteKind::Declaration, D);
      if (!At)
        continue;
      if (!Why.empty()) {
        Out.refuse(At->Id, At->Line, Why);
        continue;
      }
      Match M;
      M.Site = At->Id;
      M.Line = At->Line;
      M.Sites = {K.name()};
      M.Promise = 55;
      M.Title = "Pad the rows of " + V->getNameAsString();
      M.Advice = "Neighbouring threads access a column of '" +
                 V->getNameAsString() + "', whose rows are " +
                 std::to_string(Width) +
                 " words long, so all of them ask the same bank. Make the rows "
                 "one word longer.";
      size_t End = Extent->End;
      Out.offer(std::move(M), std::vector<Edit>{{{End, End}, " + 1"}});
    }
  }
}

std::unique_ptr<const Rewrite> stark::makeSharedPadding() {
  return std::make_unique<SharedPadding>();
}
