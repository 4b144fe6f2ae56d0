//===- SweepScan.cpp - Warp shuffles instead of two sweeps over a tree ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a scan of Brent and Kung: sums of ever more elements, and then
/// back, a barrier a round.
///
///     for (unsigned s = 1; s <= blockDim.x; s *= 2) {
///       __syncthreads();
///       unsigned k = (threadIdx.x + 1) * 2 * s - 1;
///       if (k < SECTION) sums[k] += sums[k - s];
///     }
///     for (int s = SECTION / 4; s > 0; s /= 2) {
///       __syncthreads();
///       unsigned k = (threadIdx.x + 1) * 2 * s - 1;
///       if (k + s < SECTION) sums[k + s] += sums[k];
///     }
/// ->
///     const float first = sums[2 * threadIdx.x], ...
///     const float before = block_sum_before_float(first + second);
///
/// Faster, because a warp hands sums on in registers, and the block waits four
/// times and not twenty.
///
/// Kept: each element's sum, in another order. The block is tested at run time,
/// with the source's loops where it is another. Refused where threads may have
/// returned, or may not all come there, and where the section is not one or two
/// elements a thread.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Facts.h"
#include "Analysis/ScannedType.h"
#include "Analysis/ThreadNumber.h"
#include "Catalogue.h"
#include "CodeTemplate.h"
#include "WarpScan.h"
#include <tuple>

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    NotAllCome("threads may have returned, or not all come to line %0");
static constexpr ReasonKind
    SectionOther("its section of %0 is not one or two elements for each of %1 "
                 "threads, of which there are whole warps");

static constexpr char Says[] =
    "/// What the threads before this one in the block bring, added up. All "
    "threads\n"
    "/// of the block call it, which are whole warps along x.";

static constexpr CodeTemplate Two(R"cuda(
if (blockDim.x == $block && blockDim.y == 1 && blockDim.z == 1) {
  __syncthreads();
  const $type @first = $array[2 * threadIdx.x], @second = $array[2 * threadIdx.x + 1];
  const $type @before = block_sum_before_$type(@first + @second);
  $array[2 * threadIdx.x] = @before + @first;
  $array[2 * threadIdx.x + 1] = @before + @first + @second;
  __syncthreads();
} else {
  $loops
}
)cuda");

static constexpr CodeTemplate One(R"cuda(
if (blockDim.x == $block && blockDim.y == 1 && blockDim.z == 1) {
  __syncthreads();
  const $type @first = $array[threadIdx.x];
  const $type @before = block_sum_before_$type(@first);
  $array[threadIdx.x] = @before + @first;
  __syncthreads();
} else {
  $loops
}
)cuda");

namespace {
struct Plan {
  const Kernel *K = nullptr;
  const Site *At = nullptr;
  const ForStmt *Up = nullptr, *Down = nullptr;
  const VarDecl *Array = nullptr;
  uint64_t Section = 0, Block = 0;
};

/// "sums[To] += sums[From]" of a loop.
struct Round {
  const VarDecl *Index = nullptr; ///< that it declares, or null
  const Expr *Reached = nullptr;  ///< what has to be less than the section
  uint64_t Section = 0;           ///< 0: not known
  const VarDecl *Array = nullptr, *Other = nullptr;
  const Expr *To = nullptr, *From = nullptr;
  const BinaryOperator *Goes = nullptr; ///< the loop's condition, on its stride
};

/// One of the two loops: a barrier, an index and an addition under a guard.
class Sweep {
public:
  Sweep(const Facts &F, const Kernel &K, const ForStmt *Loop, uint64_t Block)
      : F(F), K(K), Loop(Loop), Block(Block),
        Stride(onlyVariable(Loop->getInit())) {}
  bool goesUp(Plan &P) const;
  bool goesDown(Plan &P) const;

private:
  std::optional<uint64_t> number(const Expr *E) const;
  bool isPlace(const Expr *E, const VarDecl *Index) const;
  bool isBeyond(const Expr *E, const VarDecl *Index) const;
  std::optional<Round> round() const;
  bool steps(BinaryOperatorKind Whole, BinaryOperatorKind Shift) const;

  const Facts &F;
  const Kernel &K;
  const ForStmt *Loop;
  const uint64_t Block;
  const VarDecl *Stride;
};
} // namespace

/// A constant, the width of the block, or what is computed of these.
std::optional<uint64_t> Sweep::number(const Expr *E) const {
  if (std::optional<uint64_t> N = F.constantOf(E, K))
    return N;
  if (isBlockWidth(E, F, K))
    return Block;
  const BinaryOperator *B = binary(E);
  std::optional<uint64_t> L = B ? number(B->getLHS()) : std::nullopt,
                          R = L ? number(B->getRHS()) : std::nullopt;
  if (!R)
    return std::nullopt;
  if (B->getOpcode() == BO_Mul)
    return *L * *R;
  if (B->getOpcode() == BO_Div && *R)
    return *L / *R;
  if (B->getOpcode() == BO_Shr && *R < 32)
    return *L >> *R;
  return std::nullopt;
}

/// (threadIdx.x + 1) * 2 * s - 1, or the variable of that value.
bool Sweep::isPlace(const Expr *E, const VarDecl *Index) const {
  if (Index && variableOf(E) == Index)
    return true;
  const BinaryOperator *B = binary(E);
  if (!B || B->getOpcode() != BO_Sub || F.constantOf(B->getRHS(), K) != 1u)
    return false;
  bool Next = false, Twice = false, Far = false;
  std::vector<const Expr *> Factors = factorsOf(B->getLHS());
  for (const Expr *Each : Factors) {
    Twice |= F.constantOf(Each, K) == 2u;
    Far |= variableOf(Each) == Stride;
    Next |= eitherWay(
        termsOf(Each), [&](const Expr *T) { return isThreadNumber(T, K); },
        [&](const Expr *T) { return F.constantOf(T, K) == 1u; });
  }
  return Factors.size() == 3 && Next && Twice && Far;
}

/// k + s
bool Sweep::isBeyond(const Expr *E, const VarDecl *Index) const {
  return eitherWay(
      termsOf(E), [&](const Expr *T) { return isPlace(T, Index); },
      [&](const Expr *T) { return variableOf(T) == Stride; });
}

/// What \p E is an element of, with its index.
static std::pair<const VarDecl *, const Expr *> elementOf(const Expr *E) {
  const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
  return Sub ? std::pair(variableOf(Sub->getBase()), Sub->getIdx())
             : std::pair<const VarDecl *, const Expr *>();
}

std::optional<Round> Sweep::round() const {
  const auto *Body = llvm::dyn_cast<CompoundStmt>(Loop->getBody());
  if (!Body || !Stride || !Stride->getType()->isIntegerType() ||
      F.context().getTypeSize(Stride->getType()) < 32 ||
      !isNeverWritten(Stride, Body, *K.Parents))
    return std::nullopt;
  std::vector<const Stmt *> Lines(Body->body_begin(), Body->body_end());
  size_t Barriers =
      llvm::count_if(Lines, [](const Stmt *S) { return isBlockBarrier(S); });
  if (Lines.empty() || Barriers != 1 ||
      !(isBlockBarrier(Lines.front()) || isBlockBarrier(Lines.back())))
    return std::nullopt;
  llvm::erase_if(Lines, [](const Stmt *S) { return isBlockBarrier(S); });
  Round R;
  if (Lines.size() == 2) {
    R.Index = onlyVariable(Lines.front());
    if (!R.Index || !R.Index->getInit() || !K.keeps(R.Index) ||
        !isPlace(R.Index->getInit(), nullptr) ||
        F.context().getTypeSize(R.Index->getType()) < 32)
      return std::nullopt;
    Lines.erase(Lines.begin());
  }
  const auto *If =
      Lines.size() == 1 ? llvm::dyn_cast<IfStmt>(Lines.front()) : nullptr;
  if (!If || If->getElse() || If->getInit() || If->getConditionVariable())
    return std::nullopt;
  const BinaryOperator *Less = binary(If->getCond());
  if (!Less || Less->getOpcode() != BO_LT)
    return std::nullopt;
  R.Reached = Less->getLHS();
  R.Section = number(Less->getRHS()).value_or(0);
  const auto *Add =
      llvm::dyn_cast_or_null<BinaryOperator>(onlyStatement(If->getThen()));
  R.Goes = Loop->getCond() ? binary(Loop->getCond()) : nullptr;
  if (!Add || Add->getOpcode() != BO_AddAssign || !R.Goes ||
      variableOf(R.Goes->getLHS()) != Stride || !Stride->getInit())
    return std::nullopt;
  std::tie(R.Array, R.To) = elementOf(Add->getLHS());
  std::tie(R.Other, R.From) = elementOf(Add->getRHS());
  return R;
}

/// s *= 2, s <<= 1, or s /= 2, s >>= 1.
bool Sweep::steps(BinaryOperatorKind Whole, BinaryOperatorKind Shift) const {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Loop->getInc());
  std::optional<uint64_t> N = B ? F.constantOf(B->getRHS(), K) : std::nullopt;
  return B && variableOf(B->getLHS()) == Stride &&
         ((B->getOpcode() == Whole && N == 2u) ||
          (B->getOpcode() == Shift && N == 1u));
}

/// Finds the array and its section.
bool Sweep::goesUp(Plan &P) const {
  std::optional<Round> R = round();
  if (!R || F.constantOf(Stride->getInit(), K) != 1u ||
      !steps(BO_MulAssign, BO_ShlAssign))
    return false;
  std::optional<uint64_t> Until = number(R->Goes->getRHS());
  const BinaryOperator *Before = R->From ? binary(R->From) : nullptr;
  if (!R->Array || R->Array != R->Other || !Until || !Before ||
      Before->getOpcode() != BO_Sub || !isPlace(Before->getLHS(), R->Index) ||
      variableOf(Before->getRHS()) != Stride || !isPlace(R->To, R->Index) ||
      !isPlace(R->Reached, R->Index) || R->Section < 4 ||
      (R->Section & (R->Section - 1)))
    return false;
  P.Array = R->Array;
  P.Section = R->Section;
  return (R->Goes->getOpcode() == BO_LE && *Until >= R->Section / 2) ||
         (R->Goes->getOpcode() == BO_LT && *Until > R->Section / 2);
}

/// Of the array and section that are known.
bool Sweep::goesDown(Plan &P) const {
  std::optional<Round> R = round();
  if (!R || !steps(BO_DivAssign, BO_ShrAssign))
    return false;
  std::optional<uint64_t> End = F.constantOf(R->Goes->getRHS(), K),
                          Start = number(Stride->getInit());
  return ((R->Goes->getOpcode() == BO_GT && End == 0u) ||
          (R->Goes->getOpcode() == BO_GE && End == 1u)) &&
         (Start == P.Section / 4 || Start == P.Section / 2) &&
         R->Array == P.Array && R->Other == P.Array &&
         isBeyond(R->To, R->Index) && isPlace(R->From, R->Index) &&
         isBeyond(R->Reached, R->Index) && R->Section == P.Section;
}

static void findIn(const Facts &F, const Kernel &K, const CompoundStmt *Lines,
                   uint64_t Block, const Visitor<Plan> &Out) {
  for (size_t I = 0; I < Lines->size(); ++I) {
    const auto *Up = llvm::dyn_cast<ForStmt>(Lines->body_begin()[I]);
    size_t Next = I + 1;
    if (Next < Lines->size() && isBlockBarrier(Lines->body_begin()[Next]))
      ++Next;
    const auto *Down = Up && Next < Lines->size()
                           ? llvm::dyn_cast<ForStmt>(Lines->body_begin()[Next])
                           : nullptr;
    const Site *At = Down ? F.siteAt(SiteKind::Loop, Up) : nullptr;
    Plan P;
    P.K = &K;
    P.At = At;
    P.Up = Up;
    P.Down = Down;
    P.Block = Block;
    if (!At || !Sweep(F, K, Up, Block).goesUp(P) ||
        !Sweep(F, K, Down, Block).goesDown(P) || scannedType(P.Array).empty())
      continue;
    bool Returns =
        anyOf(K.body(), [](const Stmt *N) { return llvm::isa<ReturnStmt>(N); });
    if (Returns || Lines != K.body())
      Out.refuse(*At, Reason(NotAllCome, At->Line));
    else if (Block % 32 || Block > 1024 ||
             (P.Section != Block && P.Section != 2 * Block))
      Out.refuse(*At, Reason(SectionOther, P.Section, Block));
    else
      Out.fits(P);
  }
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    OrReason<uint64_t> Block = F.blockSize(*K);
    if (!Block)
      continue;
    forEach(K->body(), [&](const Stmt *N) {
      if (const auto *Lines = llvm::dyn_cast<CompoundStmt>(N))
        findIn(F, *K, Lines, *Block, Out);
    });
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 74, "Scan the block with warp shuffles",
      "The loops from line " + std::to_string(P.At->Line) + " on add up `" +
          nameOf(P.Array) +
          "` in two sweeps over a tree, with a barrier in each round. Let the "
          "warps do so in registers with __shfl_up_sync, and one warp with "
          "what the warps come to. The sums are added up in another order.");
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::string Type = scannedType(P.Array);
  std::optional<Range> Up = F.statementRange(P.Up),
                       Down = F.statementRange(P.Down);
  if (!Up || !Down)
    return Reason(why::InMacro, "part of it");
  const CodeTemplate &Scan = P.Section == P.Block ? One : Two;
  auto Names = Scan.names([&](llvm::StringRef N) { return F.freshName(N); });
  std::string Text =
      llvm::cantFail(Scan.fill({{"block", std::to_string(P.Block)},
                                {"type", Type},
                                {"array", nameOf(P.Array)},
                                {"loops", F.text(Range{Up->Begin, Down->End})}},
                               Names));
  std::string Name = "block_sum_before_" + Type;
  std::string Result = "  " + Type +
                       " before = __shfl_up_sync(0xffffffffu, value, 1);\n"
                       "  if (lane == 0)\n"
                       "    before = 0;\n"
                       "  return warp > 0 ? before + sums[warp - 1] : before;";
  OrReason<Changes> Made =
      F.declare(*P.K, Name, printWarpScan({Name, Type, Says, Result}));
  if (Made)
    Made->write({Up->Begin, Down->End}, llvm::StringRef(Text).trim());
  return Made;
}

STARK_REWRITE(SweepScan, "sweep-scan")
