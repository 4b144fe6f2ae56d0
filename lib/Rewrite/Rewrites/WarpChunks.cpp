//===- WarpChunks.cpp - A warp goes through its threads' parts together ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop in which each thread goes through a part of its own,
/// which begins at a multiple of its number:
///
///     int begin = t * n, end = min(begin + n, all);
///     for (int i = begin; i < end; ++i) y[i] = f(x[i]);
/// ->
///     for (int i = the warp's begin + lane; i < the warp's end; i += 32)
///       y[i] = f(x[i]);
///
/// where the parts of the warp's threads lie one behind the other. A loop that
/// adds something up has one part after the other, in each of which every lane
/// takes an iteration of 32, and gives the sum to the thread whose part it is.
///
/// Faster, because the lanes touch neighbours rather than places that are n
/// apart.
///
/// Kept: each iteration is run once, by another thread of the warp. Sums are
/// added in another order. Whether all 32 lanes are there and their parts lie
/// side by side (or, for sums, have 64 iterations or more) is seen when it
/// runs; else the old form does. Refused where iterations need each other or
/// read what is a thread's own but its index.
///
//===----------------------------------------------------------------------===//

#include "Analysis/LaneLoop.h"
#include "Analysis/ThreadLoop.h"
#include "Analysis/Uniform.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OtherTypes("its index and its bound differ in type");
static constexpr ReasonKind
    OwnVariable("'%0' may be another one in each thread");
static constexpr ReasonKind NoSum("'%0' is no plain sum");

static constexpr CodeTemplate Together(R"cuda(
// The parts of a warp's threads are gone through together where they lie one
// behind the other.
$type @first = 0, @last = 0;
bool @together = false;
if (__activemask() == 0xffffffffu && blockDim.x % 32 == 0) {
  const $type @begin = $start, @end = $bound;
  const $type @next = __shfl_down_sync(0xffffffffu, @begin, 1);
  @together = __all_sync(0xffffffffu, @begin <= @end &&
      (threadIdx.x % 32 == 31 || @next == @end));
  @first = __shfl_sync(0xffffffffu, @begin, 0);
  @last = __shfl_sync(0xffffffffu, @end, 31);
  __syncwarp();
}
if (@together) {
  $loop
  __syncwarp();
} else {
)cuda");

static constexpr CodeTemplate Turns(R"cuda(
// A warp goes through the parts of its threads in turn, where they are long.
$type @begin = 0, @end = 0;
bool @together = false;
if (__activemask() == 0xffffffffu && blockDim.x % 32 == 0) {
  @begin = $start;
  @end = $bound;
  @together = __all_sync(0xffffffffu, @begin < @end && @end - @begin >= 64);
  __syncwarp();
}
if (@together) {
  $kept
  for (int @turn = 0; @turn < 32; ++@turn) {
    const $type @first = __shfl_sync(0xffffffffu, @begin, @turn);
    const $type @last = __shfl_sync(0xffffffffu, @end, @turn);
    $loop
  }
  $given
  __syncwarp();
} else {
)cuda");

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  LaneLoop L;
};

class Check {
public:
  Check(const Facts &F, const Kernel &K, const Accesses &A, const LaneLoop &L)
      : F(F), K(K), A(A), L(L), Order(K), Same(F, K, Order, /*Grid=*/false),
        Inside(variablesDeclaredIn(L.L.S)) {}
  /// The lanes touch places apart, which lie along the loop.
  bool pays() const;
  WhyNot whyNot() const;

private:
  bool beginsAtMultiple(const Expr *E, unsigned Depth = 0) const;
  bool isSameInWarp(const VarDecl *V) const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const LaneLoop &L;
  const Flow Order;
  const Uniform Same;
  const std::set<const VarDecl *> Inside;
};
} // namespace

/// A product with something that depends on threadIdx.x is a term of it.
bool Check::beginsAtMultiple(const Expr *E, unsigned Depth) const {
  for (const Expr *Term : termsOf(resolve(E, K.body(), *K.Parents))) {
    std::vector<const Expr *> Factors = factorsOf(Term);
    if (Factors.size() > 1 && llvm::any_of(Factors, [](const Expr *Each) {
          return dependsOnThread(Each, 'x');
        }))
      return true;
    const VarDecl *V = variableOf(Term);
    // An index of a loop around it begins with its thread's.
    const Expr *Init = V && V->hasLocalStorage() ? V->getInit() : nullptr;
    if (Init && Depth < MostSteps && !llvm::isa<ParmVarDecl>(V) &&
        strip(Init) != E && beginsAtMultiple(Init, Depth + 1))
      return true;
  }
  return false;
}

bool Check::pays() const {
  ThreadLoop Index(L.L);
  int Along = 0, Across = 0;
  for (const Access *Each : A.in(L.L.S))
    if (Each->Index)
      ++(isShiftedIndex(F, K, Index, Each->Index) ? Along : Across);
  return Along && Along >= Across && beginsAtMultiple(L.L.Start);
}

bool Check::isSameInWarp(const VarDecl *V) const {
  if (!V->hasLocalStorage())
    return true;
  if (!V->getType()->isScalarType() || !K.keeps(V) || !Order.known() ||
      !Same.at(V, L.L.S))
    return false;
  // Lanes may be in different rounds of a loop around this one.
  for (const Stmt *Up = K.parent(L.L.S); Up; Up = K.parent(Up))
    if (llvm::isa<ForStmt, WhileStmt, DoStmt>(Up) &&
        variablesDeclaredIn(Up).count(V))
      return false;
  return true;
}

WhyNot Check::whyNot() const {
  if (L.L.Compare != BO_LT || !F.context().hasSameUnqualifiedType(
                                  L.L.Bound->getType(), L.L.I->getType()))
    return Reason(OtherTypes);
  for (const Access *Each : A.in(L.L.S)) {
    if (Each->Unclear)
      return Reason(why::LineUnclear, F.lineOf(Each->E));
    if (Each->E->getType().isVolatileQualified())
      return Reason(why::Volatile);
  }
  for (const auto &[V, Operation] : L.Sums)
    if (Operation != "+")
      return Reason(NoSum, nameOf(V));
  WhyNot Why;
  const Stmt *Body = L.L.S->getBody();
  forEach(Body, [&](const Stmt *N) {
    std::optional<BuiltinIndex> B = builtinNode(N);
    if (B && B->Name == "threadIdx")
      Why = Reason(why::UsesThread, "threadIdx." + std::string(1, B->Axis));
    if (isWarpOperation(N) || isBlockBarrier(N))
      Why = Reason(why::WorksOnWarps);
  });
  forEachUse(Body, [&](const DeclRefExpr *, const VarDecl *V) {
    if (!Why && V != L.L.I && !Inside.count(V) && !L.Sums.count(V) &&
        !isSameInWarp(V))
      Why = Reason(OwnVariable, nameOf(V));
  });
  return Why;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      std::optional<CountedLoop> Counted = readCountedLoop(F, *K, S);
      if (!At || !Counted || !Check(F, *K, A, {*Counted, {}}).pays())
        continue;
      OrReason<LaneLoop> L = readLaneLoop(F, *K, A, S);
      if (!L)
        Out.refuse(*At, L.why());
      else if (WhyNot Why = Check(F, *K, A, *L).whyNot())
        Out.refuse(*At, *Why);
      else
        Out.fits({K, At, *L});
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.At, {P.K->name()}, 86, "Go through the threads' parts by warps",
      "In the loop at line " + std::to_string(P.At->Line) +
          " each thread goes through a part of its own, so the lanes of a warp "
          "touch places apart. Let the warp go through the parts of its "
          "threads together, with neighbouring lanes at neighbouring elements" +
          (P.L.Sums.empty()
               ? std::string(".")
               : ", and add up with shuffles what the lanes collect. Sums are "
                 "added in another order, so their rounding may differ."));
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const CountedLoop &L = P.L.L;
  std::optional<Range> Whole = F.statementRange(L.S), Start = F.range(L.Start),
                       Bound = F.range(L.Bound), Step = F.range(L.S->getInc());
  if (!Whole || !Start || !Bound || !Step)
    return Reason(why::InMacro, "part of it");
  std::optional<size_t> Begin = lineBefore(F, *P.K, L.S);
  if (!Begin)
    return Reason(why::NoLineBefore);
  const CodeTemplate &Text = P.L.Sums.empty() ? Together : Turns;
  auto Names = Text.names([&](llvm::StringRef N) { return F.freshName(N); });
  std::string Type = F.writtenType(L.I->getType().getUnqualifiedType());
  std::optional<std::string> Loop =
      substituted(F.text(), *Whole,
                  {{*Start, "static_cast<" + Type + ">(" +
                                Names.lookup("first") + " + threadIdx.x % 32)"},
                   {*Bound, Names.lookup("last")},
                   {*Step, nameOf(L.I) + " += 32"}});
  if (!Loop)
    return Reason(why::InMacro, "part of it");
  CodeTemplate::Values Given{{"type", Type},
                             {"start", F.text(*Start)},
                             {"bound", F.text(*Bound)},
                             {"loop", *Loop}};
  if (!P.L.Sums.empty()) {
    std::string Kept, Before, After, Back;
    for (const auto &[V, Operation] : P.L.Sums) {
      std::string Name = nameOf(V), Own = F.freshName(Name + "_own");
      std::string Offset = F.freshName("offset");
      Kept += F.typeName(V->getType()) + " " + Own + " = " + Name + ";\n";
      Before += Name + " = 0;\n";
      After += "for (int " + Offset + " = 16; " + Offset + " > 0; " + Offset +
               " /= 2)\n" + Name + " += __shfl_xor_sync(0xffffffffu, " + Name +
               ", " + Offset +
               ");\nif (threadIdx.x % 32 == " + Names.lookup("turn") + ")\n" +
               Own + " += " + Name + ";\n";
      Back += Name + " = " + Own + ";\n";
    }
    Given["kept"] = Kept;
    Given["given"] = Back;
    Given["loop"] = Before + *Loop + "\n" + After;
  }
  Changes Made;
  Made.write({*Begin, *Begin},
             "{\n" +
                 llvm::StringRef(llvm::cantFail(Text.fill(Given, Names)))
                     .trim()
                     .str() +
                 "\n");
  Made.write({Whole->End, Whole->End}, "\n}\n}");
  return Made;
}

STARK_REWRITE(WarpChunks, "warp-chunks")
