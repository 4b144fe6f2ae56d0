//===- SharedPadding.cpp - Columns of shared memory in different banks ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a shared array of elements of 4 or 8 bytes with rows of 32
/// words, also 64, 96, ..., of which neighbouring threads access a column: one
/// element more a row.
///
///     __shared__ float tile[32][32];  ->  __shared__ float tile[32][32 + 1];
///
/// Faster, because the 32 rows of a column then lie in different banks rather
/// than in one.
///
/// Kept: everything, since the array is only accessed by both of its indices.
/// Refused where its address is taken or its size asked for, where a row is
/// passed on, and where the block would need more than 48 KB.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "stark/AST/BlockLimits.h"
#include "clang/AST/Attr.h"
#include "clang/AST/TypeLoc.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OutOfRow("an index at line %0 is not seen to stay within its row");
static constexpr ReasonKind AddressTaken("its address is taken at line %0");
static constexpr ReasonKind
    UsedOtherwise("it is used otherwise than by both of its indices at line "
                  "%0");
static constexpr ReasonKind SizeAsked("its size is asked for at line %0");
static constexpr ReasonKind
    TooMuchShared("the block would need more than 48 KB of shared memory");
static constexpr ReasonKind
    OddWidth("its width is not written as one number or name");

namespace {
/// A shared array of rows.
struct Rows {
  const VarDecl *V;
  const DeclStmt *Declared;
  uint64_t Width, Count; ///< elements a row, rows
  uint64_t Bytes;        ///< an element
};

struct Plan {
  const Kernel *K;
  const Site *At;
  Rows Array;
  size_t AfterWidth;
};

/// The largest value that an index of a kernel can have. One that runs past its
/// row into the next one would miss after padding.
class Largest {
public:
  Largest(const Facts &F, const Kernel &K) : F(F), K(K) {}
  std::optional<uint64_t> of(const Expr *E, unsigned Depth = 0) const;

private:
  std::optional<uint64_t> ofThread(const BuiltinIndex &B) const;
  std::optional<uint64_t> ofVariable(const VarDecl *V, unsigned Depth) const;
  std::optional<uint64_t> ofOperation(const BinaryOperator *B,
                                      unsigned Depth) const;
  const Facts &F;
  const Kernel &K;
};
} // namespace

/// threadIdx.x itself, or a variable made of it.
static bool variesAlongWarp(const Expr *E, unsigned Depth = 0) {
  return anyOf(E, [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (B && B->Name == "threadIdx" && B->Axis == 'x')
      return true;
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const VarDecl *V = Ref ? variableOf(Ref) : nullptr;
    return V && V->hasLocalStorage() && V->getInit() && Depth < 6 &&
           variesAlongWarp(V->getInit(), Depth + 1);
  });
}

std::optional<uint64_t> Largest::ofThread(const BuiltinIndex &B) const {
  OrReason<std::array<uint64_t, 3>> Block = F.block(K);
  if (B.Name != "threadIdx" || !Block)
    return std::nullopt;
  return (*Block)[unsigned(B.Axis - 'x')] - 1;
}

std::optional<uint64_t> Largest::ofVariable(const VarDecl *V,
                                            unsigned Depth) const {
  if (!V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V) || !V->getInit())
    return std::nullopt;
  if (K.keeps(V))
    return of(V->getInit(), Depth + 1);
  std::optional<uint64_t> Found;
  for (const ForStmt *Loop : loopsOf(K)) {
    const BinaryOperator *Cond = binary(Loop->getCond());
    if (onlyVariable(Loop->getInit()) != V || !Cond ||
        Cond->getOpcode() != BO_LT || variableOf(Cond->getLHS()) != V ||
        !isNeverWritten(V, Loop->getBody(), *K.Parents))
      continue;
    std::optional<uint64_t> End = F.constantOf(Cond->getRHS(), K);
    if (End && *End)
      Found = *End - 1;
  }
  return Found;
}

std::optional<uint64_t> Largest::ofOperation(const BinaryOperator *B,
                                             unsigned Depth) const {
  std::optional<uint64_t> R = of(B->getRHS(), Depth + 1);
  if (B->getOpcode() == BO_Rem && B->getType()->isUnsignedIntegerType())
    return R && *R ? std::optional(*R - 1) : std::nullopt;
  std::optional<uint64_t> L = of(B->getLHS(), Depth + 1);
  if (!L || !R || *L > UINT32_MAX || *R > UINT32_MAX)
    return std::nullopt;
  if (B->getOpcode() == BO_Add)
    return *L + *R;
  if (B->getOpcode() == BO_Mul)
    return *L * *R;
  return std::nullopt;
}

std::optional<uint64_t> Largest::of(const Expr *E, unsigned Depth) const {
  if (std::optional<uint64_t> N = F.constantOf(E, K))
    return N;
  if (Depth > 6)
    return std::nullopt;
  E = strip(E);
  if (std::optional<BuiltinIndex> B = builtinIndex(E))
    return ofThread(*B);
  if (const VarDecl *V = variableOf(E))
    return ofVariable(V, Depth);
  const auto *B = llvm::dyn_cast<BinaryOperator>(E);
  return B ? ofOperation(B, Depth) : std::nullopt;
}

/// The shared arrays whose rows all begin in the same bank, and \p Shared, the
/// bytes of all shared variables.
static std::vector<Rows> rowsOf(const Facts &F, const Kernel &K,
                                uint64_t &Shared) {
  const ASTContext &Context = F.context();
  auto Size = [&](QualType T) {
    return uint64_t(Context.getTypeSizeInChars(T).getQuantity());
  };
  std::vector<Rows> Found;
  forEach(K.body(), [&](const Stmt *N) {
    const auto *D = llvm::dyn_cast<DeclStmt>(N);
    if (!D)
      return;
    for (const Decl *Each : D->decls()) {
      const auto *V = llvm::dyn_cast<VarDecl>(Each);
      if (!V || !V->hasAttr<CUDASharedAttr>() ||
          V->getType()->isIncompleteType())
        continue;
      Shared += Size(V->getType());
      const auto *All = Context.getAsConstantArrayType(V->getType());
      const auto *Row =
          All ? Context.getAsConstantArrayType(All->getElementType()) : nullptr;
      if (!Row || Row->getElementType()->isArrayType())
        continue;
      Rows R{V, D, Row->getZExtSize(), All->getZExtSize(),
             Size(Row->getElementType())};
      if ((R.Bytes == 4 || R.Bytes == 8) && R.Width * R.Bytes % 128 == 0)
        Found.push_back(R);
    }
  });
  return Found;
}

/// Unset when no column of \p R is accessed; else why padding may be seen.
static std::optional<WhyNot> whyNot(const Facts &F, const Kernel &K,
                                    const Rows &R) {
  bool Column = false;
  std::set<const Stmt *> Seen;
  WhyNot Why;
  forEach(K.body(), [&](const Stmt *N) {
    const auto *Outer = llvm::dyn_cast<ArraySubscriptExpr>(N);
    const auto *Inner =
        Outer ? llvm::dyn_cast<ArraySubscriptExpr>(strip(Outer->getBase()))
              : nullptr;
    if (!Inner || variableOf(Inner->getBase()) != R.V)
      return;
    Seen.merge(nodesOf(Inner->getBase()));
    // The row's number varies along a warp, the place in it does not.
    Column |=
        variesAlongWarp(Inner->getIdx()) && !variesAlongWarp(Outer->getIdx());
    std::optional<uint64_t> Most = Largest(F, K).of(Outer->getIdx());
    if (!Most || *Most >= R.Width)
      Why = Reason(OutOfRow, F.lineOf(N));
    const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(
        K.Parents->getParentIgnoreParens(const_cast<Stmt *>(N)));
    if (U && U->getOpcode() == UO_AddrOf)
      Why = Reason(AddressTaken, F.lineOf(N));
  });
  if (!Column)
    return std::nullopt;
  forEach(K.body(), [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (Ref && Ref->getDecl() == R.V && !Seen.count(N))
      Why = Reason(UsedOtherwise, F.lineOf(N));
    const auto *Size = llvm::dyn_cast<UnaryExprOrTypeTraitExpr>(N);
    if (Size && !Size->isArgumentType() &&
        mentions(Size->getArgumentExpr(), R.V))
      Why = Reason(SizeAsked, F.lineOf(N));
  });
  return Why;
}

/// Where the width of a row is written, as one word.
static std::optional<Range> widthOf(const Facts &F, const Rows &R) {
  const TypeSourceInfo *Written = R.V->getTypeSourceInfo();
  auto First =
      Written ? Written->getTypeLoc().getAs<ArrayTypeLoc>() : ArrayTypeLoc();
  auto Second =
      First ? First.getElementLoc().getAs<ArrayTypeLoc>() : ArrayTypeLoc();
  std::optional<Range> Width =
      Second ? F.range(Second.getSizeExpr()) : std::nullopt;
  if (!Width || !llvm::all_of(F.text(*Width), [](char C) {
        return llvm::isAlnum(C) || C == '_';
      }))
    return std::nullopt;
  return Width;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    uint64_t Shared = 0;
    for (const Rows &R : rowsOf(F, *K, Shared)) {
      std::optional<WhyNot> Why = whyNot(F, *K, R);
      const Site *At = F.siteAt(SiteKind::Declaration, R.Declared);
      if (!Why || !At)
        continue;
      std::optional<Range> Width = widthOf(F, R);
      if (!*Why && Shared + R.Count * R.Bytes > MostStaticSharedOfBlock)
        *Why = Reason(TooMuchShared);
      if (!*Why && !Width)
        *Why = Reason(OddWidth);
      if (*Why)
        Out.refuse(*At, **Why);
      else
        Out.fits({K, At, R, Width->End});
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Name = nameOf(P.Array.V);
  return matchAt(*P.At, {P.K->name()}, 55, "Pad the rows of " + Name,
                 "Neighbouring threads access a column of '" + Name +
                     "', whose rows are " +
                     std::to_string(P.Array.Width * P.Array.Bytes / 4) +
                     " words long, so all of them ask the same bank. Make the "
                     "rows one element longer.");
}

static OrReason<Changes> write(const Facts &, const Plan &P) {
  Changes Made;
  Made.insert(P.AfterWidth, " + 1");
  return Made;
}

STARK_REWRITE(SharedPadding, "shared-padding")
