//===- TileRows.cpp - A thread adds up several rows of a tile -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop over tiles in shared memory in which each thread of a
/// block of two dimensions adds up one element: a quarter of the threads takes
/// four rows each, and gives the sums back when the loop ends.
///
///     for (int k = 0; k < 16; ++k)          if (threadIdx.y < 4)
///       sum += a[ty][k] * b[k][tx];    ->     for (int k = 0; k < 16; ++k) {
///                                               s0 += a[ty][k] * b[k][tx];
///                                               s1 += a[ty + 4][k] * ...
///                                             }
///                                           ... (after the loop over tiles:)
///                                           rows[ty][tx] = s0; ...; barrier
///                                           sum = rows[ty][tx];
///
/// Faster, because b[k][tx] is loaded once for four products, and loads from
/// shared memory are what such a loop waits for.
///
/// Kept: each sum is added in the same order by the same expressions, and
/// neither grid nor block changes. All threads of the block run the loop over
/// tiles together, and none changes the tiles meanwhile, so it does not matter
/// which of them adds. Refused where the sum is used while it grows, where
/// threads may have left or go ways of their own, where tiles are stored to
/// with no barrier between, and where the block is not known. Blocks so large
/// that four sums a thread would leave an SM with one of them, which waits for
/// memory alone (1024 threads: 0.94 times as fast on an H200), get bounds that
/// leave room for two, if they sum up one number of 4 bytes; others are
/// refused.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Accesses.h"
#include "Analysis/CountedLoop.h"
#include "Analysis/Flow.h"
#include "Analysis/Pragmas.h"
#include "Analysis/RowExpression.h"
#include "Analysis/Uniform.h"
#include "Catalogue.h"
#include "stark/AST/BlockLimits.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    NotTogether("its threads need not run the loop over tiles together");
static constexpr ReasonKind OddStatement("line %0 is no plain sum");
static constexpr ReasonKind
    SumUsed("'%0' is used outside of its loop, or begins with no constant");
static constexpr ReasonKind
    OtherMemory("line %0 uses other memory than tiles in shared memory");
static constexpr ReasonKind
    TileChanges("line %0 stores to a tile with no barrier between");
static constexpr ReasonKind NoReuse("the rows have nothing in common");
static constexpr ReasonKind
    OddBlock("a quarter of its block's rows is no whole number of warps");
static constexpr ReasonKind
    NoSecond("an SM has no room for a second block of its %0 threads where "
             "each has the registers for four sums");
static constexpr ReasonKind
    NoRoom("no shared memory is left, or its size is not known");

namespace {
/// Rows that a thread takes.
constexpr unsigned Taken = 4;
/// Registers of a thread with four sums: ptxas 13.0 gives 42 for a product of
/// floats, in steps of eight.
constexpr uint64_t OfThread = 48;
/// And of one that its launch bounds hold to it: a product of floats fits.
constexpr uint64_t OfBoundThread = 32;

struct Plan {
  const Kernel *K;
  const Site *At;
  const ForStmt *Loop;
  const Stmt *Outer; ///< over the tiles, in the kernel's body
  std::vector<const VarDecl *> Sums;
  std::vector<const Stmt *> Body;
  ThreadRows Block;
  std::optional<size_t> Bounds = std::nullopt; ///< where launch bounds go
};

/// Looks at one loop over the depth of a tile.
class TileReader {
public:
  TileReader(const Facts &F, const Kernel &K, const Accesses &A, Plan &P)
      : F(F), K(K), A(A), P(P), Order(K), Same(F, K, Order, /*Grid=*/false) {}
  bool comesNear();
  WhyNot read();

private:
  WhyNot readWay() const;
  WhyNot readStatement(const Stmt *S);
  WhyNot readSum(const VarDecl *V) const;
  WhyNot readMemory() const;
  WhyNot readHeader() const;
  WhyNot readBlock();
  std::optional<size_t> placeOfBounds() const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  Plan &P;
  const Flow Order;
  const Uniform Same;
};
} // namespace

/// Adds up from shared memory, within a loop that waits.
bool TileReader::comesNear() {
  for (const Access *Each : A.in(P.Loop->getBody()))
    if (!Each->Shared || Each->Store)
      return false;
  const Stmt *Below = P.Loop;
  for (const Stmt *Up = K.parent(P.Loop); Up && Up != K.body();
       Up = K.parent(Up))
    Below = Up;
  P.Outer = Below;
  return P.Outer != P.Loop && !A.in(P.Loop->getBody()).empty() &&
         anyOf(P.Outer, isBlockBarrier) &&
         llvm::isa<ForStmt, WhileStmt>(P.Outer) && Order.known();
}

/// Whether a statement of \p Loop's body itself is a barrier.
static bool waitsEachTime(const Stmt *Loop) {
  const Stmt *Body = nullptr;
  if (const auto *For = llvm::dyn_cast<ForStmt>(Loop))
    Body = For->getBody();
  else if (const auto *While = llvm::dyn_cast<WhileStmt>(Loop))
    Body = While->getBody();
  const auto *Block = llvm::dyn_cast_or_null<CompoundStmt>(Body);
  return Block && llvm::any_of(Block->body(), isBlockBarrier);
}

WhyNot TileReader::readWay() const {
  for (const Stmt *Up = K.parent(P.Loop); Up && Up != K.body();
       Up = K.parent(Up))
    if (!llvm::isa<CompoundStmt, AttributedStmt>(Up) && !waitsEachTime(Up))
      return Reason(NotTogether);
  for (const Stmt *Each : llvm::cast<CompoundStmt>(K.body())->body()) {
    bool Leaves = anyOf(Each, [&](const Stmt *N) {
      return llvm::isa<ReturnStmt, LambdaExpr>(N) ||
             (Each == P.Outer && llvm::isa<BreakStmt, ContinueStmt>(N));
    });
    if (Leaves)
      return Reason(NotTogether);
    if (Each == P.Outer)
      break;
  }
  return std::nullopt;
}

WhyNot TileReader::readSum(const VarDecl *V) const {
  Expr::EvalResult R;
  const Expr *Init = V->getInit();
  bool Plain = V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) &&
               V->getType()->isArithmeticType() &&
               !V->getType().isVolatileQualified() && Init &&
               !llvm::isa<InitListExpr>(Init) &&
               Init->EvaluateAsRValue(R, F.context()) && !R.HasSideEffects;
  // Nothing but the loop uses it before the loop over tiles has ended.
  const Stmt *Declared = nullptr;
  for (const Stmt *Each : llvm::cast<CompoundStmt>(K.body())->body()) {
    const auto *D = llvm::dyn_cast<DeclStmt>(Each);
    if (D && llvm::is_contained(D->decls(), V))
      Declared = Each;
    std::set<const Stmt *> Within =
        Each == P.Outer ? nodesOf(P.Loop->getBody()) : std::set<const Stmt *>();
    forEachUse(Each, [&](const DeclRefExpr *Use, const VarDecl *Used) {
      Plain &= Used != V || Within.count(Use);
    });
    if (Each == P.Outer)
      break;
  }
  if (!Plain || !Declared)
    return Reason(SumUsed, nameOf(V));
  return std::nullopt;
}

WhyNot TileReader::readStatement(const Stmt *S) {
  Reason Odd(OddStatement, F.lineOf(S));
  if (const auto *D = llvm::dyn_cast<DeclStmt>(S)) {
    for (const Decl *Each : D->decls()) {
      const auto *V = llvm::dyn_cast<VarDecl>(Each);
      if (!V || !V->hasLocalStorage() || !V->getType()->isScalarType() ||
          !V->getInit() || !isPure(V->getInit(), F.context()))
        return Odd;
    }
    return std::nullopt;
  }
  const auto *B = llvm::dyn_cast<BinaryOperator>(S);
  const VarDecl *V =
      B && B->isAssignmentOp() ? variableOf(B->getLHS()) : nullptr;
  if (!V || !isPure(B->getRHS(), F.context()))
    return Odd;
  if (!llvm::is_contained(P.Sums, V))
    P.Sums.push_back(V);
  return readSum(V);
}

WhyNot TileReader::readHeader() const {
  std::optional<CountedLoop> L = readCountedLoop(F, K, P.Loop);
  if (!L)
    return Reason(OddStatement, F.lineOf(P.Loop));
  for (const Expr *Each : {L->Start, L->Bound, L->Step})
    if (Each && !Same.expression(Each, P.Loop))
      return Reason(why::BoundDiffers);
  return std::nullopt;
}

WhyNot TileReader::readMemory() const {
  const RowExpressions Of(F, K, P.Block, Same, P.Outer, P.Loop);
  std::vector<const Access *> Mine = A.in(P.Loop);
  bool Shares = false, Varies = false;
  for (const Access *Each : Mine) {
    if (!Each->Shared || Each->Store || Each->Unclear ||
        Each->E->getType().isVolatileQualified())
      return Reason(OtherMemory, F.lineOf(Each->E));
    (Of.dependsOnRow(Each->E) ? Varies : Shares) = true;
  }
  for (const Stmt *Each : P.Body)
    if (WhyNot Why = Of.whyNot(Each, P.Sums))
      return Why;
  if (!Shares || !Varies)
    return Reason(NoReuse);
  for (bool Forward : {false, true})
    for (const Stmt *S : Order.around(P.Loop, Forward, isBlockBarrier))
      for (const Access *Other : A.in(S))
        for (const Access *Each : Mine)
          if (A.conflict(*Each, *Other))
            return Reason(TileChanges, F.lineOf(S));
  return std::nullopt;
}

/// Where bounds can be written that make room for a second block. No launch can
/// have more threads than they say.
std::optional<size_t> TileReader::placeOfBounds() const {
  bool Small = P.Sums.size() == 1 &&
               F.context().getTypeSize(P.Sums.front()->getType()) <= 32;
  if (!Small || P.Block.Width * P.Block.Count != MostThreadsOfBlock ||
      2 * MostThreadsOfBlock * OfBoundThread > MostRegistersOfBlock ||
      K.F->hasAttr<CUDALaunchBoundsAttr>() || !K.F->isFirstDecl() ||
      K.F->getMostRecentDecl() != K.F)
    return std::nullopt;
  return F.nameOffset(K.F, K.Bytes);
}

WhyNot TileReader::readBlock() {
  OrReason<std::optional<ThreadRows>> Block = threadRowsOf(F, K);
  if (!Block)
    return Block.why();
  if (!*Block || (*Block)->Count % Taken != 0 ||
      (*Block)->Width * (*Block)->Count / Taken % 32 != 0)
    return Reason(OddBlock);
  P.Block = **Block;
  uint64_t Threads = P.Block.Width * P.Block.Count;
  if (2 * Threads * OfThread > MostRegistersOfBlock &&
      !(P.Bounds = placeOfBounds()))
    return Reason(NoSecond, unsigned(Threads));
  auto Size = [&](QualType T) {
    return uint64_t(F.context().getTypeSizeInChars(T).getQuantity());
  };
  uint64_t Shared = 0;
  for (const VarDecl *V : variablesDeclaredIn(K.body()))
    if (V->hasAttr<CUDASharedAttr>()) {
      if (V->getType()->isIncompleteType() || V->hasExternalStorage())
        return Reason(NoRoom);
      Shared += Size(V->getType());
    }
  for (const VarDecl *V : P.Sums)
    Shared += Threads * Size(V->getType());
  if (Shared > MostStaticSharedOfBlock)
    return Reason(NoRoom);
  return std::nullopt;
}

WhyNot TileReader::read() {
  if (WhyNot Why = readWay())
    return Why;
  if (const auto *Block = llvm::dyn_cast<CompoundStmt>(P.Loop->getBody()))
    P.Body.assign(Block->body_begin(), Block->body_end());
  else
    P.Body = {P.Loop->getBody()};
  for (const Stmt *S : P.Body)
    if (WhyNot Why = readStatement(S))
      return Why;
  if (P.Sums.empty())
    return Reason(OddStatement, F.lineOf(P.Loop));
  if (WhyNot Why = readHeader())
    return Why;
  if (WhyNot Why = readBlock())
    return Why;
  return readMemory();
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      Plan P{K, At, S, nullptr, {}, {}, {}, {}};
      TileReader Reader(F, *K, A, P);
      if (!At || !Reader.comesNear())
        continue;
      if (WhyNot Why = Reader.read())
        Out.refuse(*At, *Why);
      else
        Out.fits(P);
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  Match M = matchAt(
      *P.At, {P.K->name()}, 86, "Let a thread add up four rows of the tile",
      "Each step of the loop at line " + std::to_string(P.At->Line) +
          " loads from shared memory for one product. Let the threads of the "
          "first quarter of the block's rows add up four rows each, so that "
          "what the rows have in common is loaded once for four, and give the "
          "sums back through shared memory after the loop over the tiles. The "
          "order of each sum stays, and so does its rounding.");
  M.Alone = true;
  return M;
}

/// The statements of the body for row \p Row of four.
static std::optional<std::string>
rowText(const Facts &F, const Plan &P, const RowExpressions &Of, unsigned Row,
        const std::vector<std::string> &Sums) {
  std::string Text;
  bool Declares = false;
  for (const Stmt *S : P.Body) {
    std::vector<Instead> Nodes;
    if (!Of.substitutes(S, Row * P.Block.Count / Taken, Nodes))
      return std::nullopt;
    forEachUse(S, [&](const DeclRefExpr *Use, const VarDecl *V) {
      auto At = llvm::find(P.Sums, V);
      if (At != P.Sums.end())
        Nodes.push_back({Use, Sums[size_t(At - P.Sums.begin())]});
    });
    std::optional<std::string> Written = F.textWith(S, Nodes);
    if (!Written)
      return std::nullopt;
    Text +=
        *Written + (llvm::StringRef(*Written).ends_with(";") ? "\n" : ";\n");
    Declares |= llvm::isa<DeclStmt>(S);
  }
  return Declares ? "{\n" + Text + "}\n" : Text;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const Reason Macro(why::InMacro, "part of it");
  std::optional<Range> Outer = F.statementRange(P.Outer),
                       Above = Outer ? withPragmas(F, *Outer) : std::nullopt,
                       Loop = F.statementRange(P.Loop),
                       Whole = Loop ? withPragmas(F, *Loop) : std::nullopt,
                       Body = F.range(P.Loop->getBody());
  std::optional<size_t> Begin =
      Above ? F.lineBegin(Above->Begin) : std::nullopt;
  if (!Begin || !Whole || !Body)
    return Macro;
  std::string First =
                  P.Block.row() + " < " + std::to_string(P.Block.Count / Taken),
              Before, Back, Again, Steps;
  std::vector<std::vector<std::string>> Sums(Taken);
  for (const VarDecl *V : P.Sums) {
    std::string Name = nameOf(V), Type = F.typeName(V->getType()),
                Tile = F.freshName(Name + "_rows"), Init = F.text(V->getInit());
    if (Init.empty())
      return Macro;
    Before += "__shared__ " + Type + " " + Tile + "[" +
              std::to_string(P.Block.Count) + "][" +
              std::to_string(P.Block.Width) + "];\n" + Type + " ";
    for (unsigned Row = 0; Row < Taken; ++Row) {
      Sums[Row].push_back(F.freshName(Name + "_row" + std::to_string(Row)));
      std::string Plus =
          Row ? " + " + std::to_string(Row * P.Block.Count / Taken)
              : std::string();
      Before +=
          Sums[Row].back() + " = " + Init + (Row + 1 < Taken ? ", " : ";\n");
      Back += Tile + "[" + P.Block.row() + Plus + "][" + P.Block.column() +
              "] = " + Sums[Row].back() + ";\n";
    }
    Again += Name + " = " + Tile + "[" + P.Block.row() + "][" +
             P.Block.column() + "];\n";
  }
  const Accesses A(F, *P.K);
  const Flow Order(*P.K);
  const Uniform Same(F, *P.K, Order, /*Grid=*/false);
  const RowExpressions Of(F, *P.K, P.Block, Same, P.Outer, P.Loop);
  for (unsigned Row = 0; Row < Taken; ++Row) {
    std::optional<std::string> Text = rowText(F, P, Of, Row, Sums[Row]);
    if (!Text)
      return Macro;
    Steps += *Text;
  }
  Changes Made;
  if (P.Bounds)
    Made.insert(*P.Bounds, "__launch_bounds__(" +
                               std::to_string(MostThreadsOfBlock) + ", 2) ");
  Made.write({*Begin, *Begin}, Before);
  Made.write(*Whole, "if (" + First + ") {\n" +
                         F.text(Range{Whole->Begin, Body->Begin}) + "{\n" +
                         Steps + "}\n}");
  Made.write({Outer->End, Outer->End},
             "\nif (" + First + ") {\n" + Back + "}\n__syncthreads();\n" +
                 llvm::StringRef(Again).rtrim().str());
  return Made;
}

STARK_REWRITE(TileRows, "tile-rows")
