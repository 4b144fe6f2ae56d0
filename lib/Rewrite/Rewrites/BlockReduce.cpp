//===- BlockReduce.cpp - Warp shuffles instead of a tree in shared memory -===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a tree of halves or of neighbours, when the block is a constant
/// power of two from 32 to 1024. The warps reduce in registers; one value a
/// warp goes through shared memory.
///
///     partial[t] = value;
///     __syncthreads();
///     for (int s = blockDim.x / 2; s > 0; s /= 2) {
///       if (t < s) partial[t] += partial[t + s];
///       __syncthreads();
///     }
/// ->
///     block_reduce_sum_float(partial, value);
///
/// The loop may stop at the width of a warp, and the first warp go on by itself
/// ("if (t < 32) finish(partial, t);").
///
/// Faster, because nine barriers and as many rounds through shared memory (for
/// 256 threads) become two.
///
/// Kept: partial[0] holds the result for all threads. The values are combined
/// in another order, so a floating-point sum rounds otherwise; a minimum or
/// maximum does not.
///
/// Refused where the block's size is not known, where anything but partial[0]
/// is read afterwards, where threads may have left before, for types that no
/// shuffle takes, and where dynamic shared memory has a second name.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Accesses.h"
#include "Analysis/Pragmas.h"
#include "Analysis/Reduction.h"
#include "Analysis/ThreadNumber.h"
#include "Analysis/Uniform.h"
#include "Analysis/WarpReduction.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OddBlockSize("its blocks have %0 threads, no power of two from %1 to "
                 "1024");
static constexpr ReasonKind
    OddTreeStart("the tree begins at %0, not at half of the block's %1 "
                 "threads");
static constexpr ReasonKind
    SecondName("'%0' is dynamic shared memory, which '%1' may name too");
static constexpr ReasonKind TooSmall("'%0' is smaller than the block");
static constexpr ReasonKind NoShuffle("no shuffle takes a '%0'");
static constexpr ReasonKind
    MoreThanFirst("'%0' is used for more than its element 0 at line %1");
static constexpr ReasonKind
    MayHaveReturned("threads may have returned at line %0, and a shuffle needs "
                    "whole warps");

static constexpr ReasonKind
    AlreadyTested("a test of the block's size decides whether it runs");

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  Reduction Tree;
  bool Tested; ///< whether the block fits is seen when it runs
};
} // namespace

/// Empty when no shuffle takes it.
static std::string elementType(const Facts &F, const Reduction &R) {
  QualType T = F.context().getAsArrayType(R.Array->getType())->getElementType();
  const auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  if (!B || T.isVolatileQualified())
    return "";
  bool Taken = isFullInteger(B) || B->getKind() == BuiltinType::Float ||
               B->getKind() == BuiltinType::Double;
  return Taken ? F.typeName(T) : "";
}

/// The line of a return before \p S that not all threads take together; 0:
/// none.
static unsigned partialReturn(const Facts &F, const Kernel &K, const Stmt *S) {
  Flow Order(K);
  Uniform Same(F, K, Order, false);
  std::optional<Range> Here = F.range(S);
  unsigned Line = 0;
  forEach(K.body(), [&](const Stmt *N) {
    if (!llvm::isa<ReturnStmt>(N))
      return;
    std::optional<Range> At = F.range(N);
    if (At && Here && At->Begin > Here->Begin)
      return;
    for (const Stmt *Up = N; Up && Up != K.body(); Up = K.parent(Up)) {
      const auto *If = llvm::dyn_cast<IfStmt>(Up);
      if (llvm::isa<ForStmt, WhileStmt, DoStmt, SwitchStmt>(Up))
        Line = F.lineOf(N);
      if (If && (!Order.known() || !Same.expression(If->getCond(), Up)))
        Line = F.lineOf(N);
    }
  });
  return Line;
}

/// "threadIdx.x == 0", "!threadIdx.x", alone or with more.
static bool asksForFirst(const Expr *Condition, const Facts &F,
                         const Kernel &K) {
  const BinaryOperator *B = binary(Condition);
  if (B && B->getOpcode() == BO_LAnd)
    return asksForFirst(B->getLHS(), F, K) || asksForFirst(B->getRHS(), F, K);
  if (B && B->getOpcode() == BO_EQ)
    return eitherWay(
        {B->getLHS(), B->getRHS()},
        [&](const Expr *E) { return isThreadNumber(E, K); },
        [&](const Expr *E) { return F.constantOf(E, K) == 0u; });
  const auto *Not =
      llvm::dyn_cast<UnaryOperator>(Condition->IgnoreParenImpCasts());
  return Not && Not->getOpcode() == UO_LNot &&
         isThreadNumber(Not->getSubExpr()->IgnoreParenImpCasts(), K);
}

/// Only the block's first thread comes to \p S.
static bool isOfFirst(const Stmt *S, const Facts &F, const Kernel &K) {
  for (const Stmt *Up = K.parent(S); Up; S = Up, Up = K.parent(Up))
    if (const auto *If = llvm::dyn_cast<IfStmt>(Up);
        If && If->getThen() == S && asksForFirst(If->getCond(), F, K))
      return true;
  return false;
}

/// The array's uses but for reductions load its element 0, also as that of the
/// thread's number in what the first thread alone does.
static WhyNot whyNotFirst(const Facts &F, const Kernel &K,
                          const std::vector<Reduction> &All,
                          const VarDecl *Array) {
  std::set<const Stmt *> Fine;
  for (const Reduction &Each : All)
    if (Each.Array == Array) {
      Fine.merge(nodesOf(Each.First));
      Fine.merge(nodesOf(Each.Last));
      if (Each.Loop)
        Fine.merge(nodesOf(Each.Loop));
    }
  // What is done to it before the tree, when nothing comes back there.
  std::optional<Range> Before;
  for (const Reduction &Each : All)
    if (Each.Array == Array && !Each.Value && !Before)
      Before = F.range(Each.Loop ? Each.Loop : Each.Last);
  Accesses A(F, K);
  for (const Access &Each : A.all()) {
    std::optional<Range> At = F.range(Each.E);
    bool Earlier = Before && At && At->End <= Before->Begin;
    bool First = Each.Index && Each.Base == Array && Each.Load && !Each.Store &&
                 (F.constantOf(Each.Index, K) == 0u ||
                  (isThreadNumber(Each.Index, K) && isOfFirst(Each.E, F, K)));
    if (First || Earlier)
      Fine.merge(nodesOf(Each.E));
  }
  WhyNot Why;
  forEachUse(K.body(), [&](const DeclRefExpr *Ref, const VarDecl *V) {
    if (!Why && V == Array && !Fine.count(Ref))
      Why = Reason(MoreThanFirst, nameOf(Array), F.lineOf(Ref));
  });
  return Why;
}

/// Another name for dynamic shared memory that \p S, or a function of the text
/// that it may call, uses. Null: none.
static const NamedDecl *secondName(const Stmt *S, const VarDecl *Array,
                                   std::set<const FunctionDecl *> &Seen) {
  const NamedDecl *Found = nullptr;
  forEach(S, [&](const Stmt *N) {
    const ValueDecl *D = nullptr;
    if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N))
      D = Ref->getDecl();
    else if (const auto *Member = llvm::dyn_cast<MemberExpr>(N))
      D = Member->getMemberDecl();
    else if (const auto *Made = llvm::dyn_cast<CXXConstructExpr>(N))
      D = Made->getConstructor();
    const auto *V = llvm::dyn_cast_or_null<VarDecl>(D);
    if (V && V != Array && V->hasAttr<CUDASharedAttr>() &&
        V->getType()->isIncompleteArrayType())
      Found = V;
    const auto *Callee = llvm::dyn_cast_or_null<FunctionDecl>(D);
    const FunctionDecl *Text = nullptr;
    if (Callee && !Found && Callee->hasBody(Text) && Seen.insert(Text).second)
      Found = secondName(Text->getBody(), Array, Seen);
  });
  return Found;
}

/// A warp that ends the tree reads what lies behind a smaller block.
static uint64_t leastBlock(const Reduction &R) {
  return std::max<uint64_t>(32, 2 * R.WarpFrom);
}

static WhyNot whyNot(const Facts &F, const Kernel &K,
                     const std::vector<Reduction> &All, const Reduction &R,
                     bool &Tested) {
  OrReason<uint64_t> Block = F.blockSize(K);
  for (const Stmt *Up = K.parent(R.Loop); Up; Up = K.parent(Up))
    if (const auto *If = llvm::dyn_cast<IfStmt>(Up);
        If && anyOf(If->getCond(), [](const Stmt *N) {
          std::optional<BuiltinIndex> B = builtinNode(N);
          return B && B->Name == "blockDim";
        }))
      return Reason(AlreadyTested);
  // A tree over the whole block, whatever that is.
  Tested = !Block && R.StartsAtBlock;
  if (!Block && !Tested)
    return Block.why();
  if (Block &&
      (*Block < leastBlock(R) || *Block > 1024 || (*Block & (*Block - 1))))
    return Reason(OddBlockSize, *Block, leastBlock(R));
  if (Block && !R.StartsAtBlock && R.StartsAt != *Block / 2)
    return Reason(OddTreeStart, R.StartsAt.value_or(0), *Block);
  const auto *Array = F.context().getAsConstantArrayType(R.Array->getType());
  // Dynamic memory has room for the block: each thread stores its value.
  if (!Array) {
    std::set<const FunctionDecl *> Seen;
    if (const NamedDecl *Other = secondName(K.body(), R.Array, Seen))
      return Reason(SecondName, nameOf(R.Array), nameOf(Other));
  } else if (Block && Array->getSize().ult(*Block)) {
    return Reason(TooSmall, nameOf(R.Array));
  }
  if (elementType(F, R).empty() || R.Array->getType().isVolatileQualified())
    return Reason(NoShuffle, F.context()
                                 .getAsArrayType(R.Array->getType())
                                 ->getElementType()
                                 .getAsString());
  if (WhyNot Why = whyNotFirst(F, K, All, R.Array))
    return Why;
  if (unsigned Line = partialReturn(F, K, R.First))
    return Reason(MayHaveReturned, Line);
  return std::nullopt;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Reductions Found = findReductions(F, *K);
    for (const AlmostReduction &Each : Found.Almost)
      if (const Site *At = F.siteAt(SiteKind::Loop, Each.Loop))
        Out.refuse(*At, Each.Lacks);
    std::vector<Reduction> All = Found.All;
    All.insert(All.end(), Found.ByWarp.begin(), Found.ByWarp.end());
    for (const Reduction &R : All) {
      const Site *At = R.Tree ? F.siteAt(SiteKind::Loop, R.Loop) : nullptr;
      if (!At)
        continue;
      bool Tested = false;
      if (WhyNot Why = whyNot(F, *K, All, R, Tested))
        Out.refuse(*At, *Why);
      else
        Out.fits({K, At, R, Tested});
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 60, "Reduce over the block with warp shuffles",
      "The tree over '" + nameOf(P.Tree.Array) + "' at line " +
          std::to_string(P.At->Line) +
          " has a barrier and a round through shared memory for each halving. "
          "Let each warp reduce in registers with __shfl_xor_sync, put one "
          "value a warp into shared memory, and let the first warp reduce "
          "those: two barriers. The values are combined in another order, so "
          "a floating-point sum may round otherwise.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const Reduction &R = P.Tree;
  std::optional<Range> First = F.statementRange(R.First),
                       Last = F.statementRange(R.Last);
  if (First)
    First = withPragmas(F, *First);
  std::string Type = elementType(F, R), Array = nameOf(R.Array);
  std::string Value = R.Value ? F.text(R.Value) : F.freshName(Array + "_mine");
  if (!First || !Last || Value.empty() || Last->End < First->Begin)
    return Reason(why::InMacro, "the reduction");
  std::string Name = warpReductionName(R.Operation, Type);
  OrReason<Changes> Made =
      F.declare(*P.K, Name, warpReductionText(R.Operation, Type));
  std::string Old = F.text(Range{First->Begin, Last->End});
  std::string Test =
      P.Tested ? "if (blockDim.x >= " + std::to_string(leastBlock(R)) +
                     " && (blockDim.x & (blockDim.x - 1)) == 0 "
                     "&& blockDim.y * blockDim.z == 1) {\n"
               : "";
  std::string Otherwise = P.Tested ? "\n} else {\n" + Old + "\n}" : "";
  if (Made)
    // Nobody may put a warp's value where another thread's still stands.
    Made->write({First->Begin, Last->End},
                Test +
                    (R.Value
                         ? Name + "(" + Array + ", " + Value + ");"
                         : "{\nconst " + Type + " " + Value + " = " + Array +
                               "[threadIdx.x];\n__syncthreads();\n" + Name +
                               "(" + Array + ", " + Value + ");\n}") +
                    Otherwise);
  return Made;
}

STARK_REWRITE(BlockReduce, "block-reduce")
