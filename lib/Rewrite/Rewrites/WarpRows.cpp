//===- WarpRows.cpp - A warp for each row ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel in which a thread goes along a row of its own: the
/// warp takes the rows of its threads one after the other, and its lanes share
/// each.
///
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) {
///       float sum = 0;
///       for (int j = 0; j < c; ++j) sum += x[i * c + j];
///       y[i] = sum;
///     }
/// ->
///     for (int turn = 0; turn < 32 && first + turn < n; ++turn) {
///       const int i = first + turn;
///       float sum = 0;
///       for (int j = 0 + lane; j < c; j += 32) sum += x[i * c + j];
///       sum = the sum of all lanes' (shuffles);
///       if (lane == 0) y[i] = sum;
///     }
///
/// Faster, because the lanes of a warp then touch elements side by side rather
/// than rows apart.
///
/// Kept: each row is computed by the same statements. Iterations of a loop that
/// is shared touch elements of their own or collect sums, which are added in
/// another order; nothing else may outlive one. Where the block is not known to
/// have whole warps, a test decides, and the old form stays for it. Refused
/// where a loop depends on the order of its iterations, where other control
/// flow stores, and where arrays of the thread's own are used.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Accesses.h"
#include "Analysis/ElementKernel.h"
#include "Analysis/LaneLoop.h"
#include "Analysis/ThreadLoop.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    StoresInFlow("line %0 decides whether something is stored");
static constexpr ReasonKind OwnArray("it has an array of its own, '%0'");

static constexpr CodeTemplate Rows(R"cuda($fallback
  // A warp takes the rows of its threads in turn, and its lanes share each.
  const int @lane = threadIdx.x % 32;
  const $type @first = $start - @lane;
  for (int @turn = 0; @turn < 32 && @first + @turn < $bound; ++@turn) {
    const $type $index = @first + @turn;
    $rest
  })cuda");
namespace {
struct Plan {
  const Kernel *K;
  ElementKernel Shape;
  std::vector<LaneLoop> Loops;
  std::vector<const Stmt *> Stores; ///< outside of loops
  bool WholeWarps = false;          ///< blocks are known to have them
};

/// Reads what a thread does for its row.
class RowReader {
public:
  RowReader(const Facts &F, const Kernel &K, Plan &P)
      : F(F), K(K), A(F, K), P(P) {}
  WhyNot read();
  bool pays() const;

private:
  WhyNot read(const Stmt *S);
  WhyNot readLoop(const ForStmt *S);
  bool dependsOnRow(const Stmt *S, unsigned Depth = 0) const;

  const Facts &F;
  const Kernel &K;
  const Accesses A;
  Plan &P;
};
} // namespace

WhyNot RowReader::readLoop(const ForStmt *S) {
  OrReason<LaneLoop> L = readLaneLoop(F, K, A, S);
  if (!L)
    return L.why();
  P.Loops.push_back(*L);
  return std::nullopt;
}

WhyNot RowReader::read(const Stmt *S) {
  if (const auto *Block = llvm::dyn_cast<CompoundStmt>(S)) {
    for (const Stmt *Each : Block->body())
      if (WhyNot Why = read(Each))
        return Why;
    return std::nullopt;
  }
  if (const auto *Loop = llvm::dyn_cast<ForStmt>(S))
    return readLoop(Loop);
  bool Stores = false;
  for (const Access *Each : A.in(S)) {
    if (Each->Unclear)
      return Reason(why::LineUnclear, F.lineOf(Each->E));
    Stores |= Each->Store;
  }
  if (Stores && !llvm::isa<Expr>(S))
    return Reason(StoresInFlow, F.lineOf(S));
  if (Stores)
    P.Stores.push_back(S);
  return std::nullopt;
}

WhyNot RowReader::read() {
  for (const Stmt *Part : P.Shape.Rest)
    for (const VarDecl *V : variablesDeclaredIn(Part))
      if (V->getType()->isArrayType() || V->getType()->isReferenceType())
        return Reason(OwnArray, nameOf(V));
  for (const Stmt *Part : P.Shape.Rest)
    if (WhyNot Why = read(Part))
      return Why;
  return std::nullopt;
}

bool RowReader::dependsOnRow(const Stmt *S, unsigned Depth) const {
  bool Found = mentions(S, P.Shape.I);
  forEachUse(S, [&](const DeclRefExpr *, const VarDecl *V) {
    if (V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) && V->getInit() &&
        Depth < MostSteps)
      Found = Found || dependsOnRow(V->getInit(), Depth + 1);
  });
  return Found;
}

/// More accesses go along the thread's row than along neighbouring threads.
bool RowReader::pays() const {
  int Along = 0, Across = 0;
  for (const LaneLoop &Each : P.Loops) {
    ThreadLoop Index(Each.L);
    for (const Access *One : A.in(Each.L.S)) {
      if (!One->Index)
        continue;
      bool Unit = isShiftedIndex(F, K, Index, One->Index);
      Along += Unit && dependsOnRow(One->E);
      Across += !Unit;
    }
  }
  return Along > Across;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    std::optional<OrReason<ElementKernel>> S = readElementKernel(F, *K);
    if (!S || !*S)
      continue;
    Plan P{K, **S, {}, {}};
    RowReader Reader(F, *K, P);
    bool Loops = llvm::any_of(P.Shape.Rest, [](const Stmt *Part) {
      return anyOf(Part, [](const Stmt *N) { return llvm::isa<ForStmt>(N); });
    });
    if (!Loops)
      continue;
    if (WhyNot Why = Reader.read()) {
      Out.refuse(*K->At, *Why);
      continue;
    }
    if (!Reader.pays())
      continue;
    OrReason<uint64_t> Block = F.blockSize(*K);
    P.WholeWarps = Block && *Block % 32 == 0;
    Out.fits(P);
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.K->At, {P.K->name()}, 88, "Let a warp share each row",
      "In '" + P.K->name() +
          "' each thread goes along a row of its own, so the lanes of a warp "
          "touch memory rows apart. Let the warp take the rows of its threads "
          "one after the other, with lane l at the elements l, l + 32, ... of "
          "each, and add up what the lanes collect with shuffles. Sums are "
          "added in another order, so their rounding may differ.");
}

/// What a thread did for its row, as a warp does it.
static std::optional<std::string>
restText(const Facts &F, const Plan &P, Range Whole, const std::string &Lane) {
  std::vector<Substitute> Parts;
  for (const LaneLoop &Each : P.Loops) {
    std::optional<Range> R = F.statementRange(Each.L.S);
    std::optional<std::string> Text = laneLoopText(F, Each, Lane, 32);
    if (!R || !Text)
      return std::nullopt;
    // Lanes that have not yet read what is stored here, and those that will.
    Parts.push_back({*R, "{\n__syncwarp();\n" + *Text + "\n__syncwarp();\n}"});
  }
  for (const Stmt *S : P.Stores) {
    std::optional<Range> R = F.statementRange(S);
    if (!R)
      return std::nullopt;
    Parts.push_back({*R, "{\n__syncwarp();\nif (" + Lane + " == 0)\n  " +
                             F.text(*R) + "\n__syncwarp();\n}"});
  }
  return substituted(F.text(), Whole, Parts);
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const ElementKernel &S = P.Shape;
  std::optional<Range> Declared = F.statementRange(S.Declared),
                       First = F.range(S.Rest.front()),
                       Last = F.statementRange(S.Rest.back()),
                       Bound = F.range(S.Bound);
  std::string Start = F.text(S.I->getInit());
  if (!Declared || !First || !Last || !Bound || Start.empty())
    return Reason(why::InMacro, "part of it");
  auto Names = Rows.names([&](llvm::StringRef N) { return F.freshName(N); });
  std::optional<std::string> Rest =
      restText(F, P, {First->Begin, Last->End}, Names.lookup("lane"));
  if (!Rest)
    return Reason(why::InMacro, "part of it");
  std::string Between, Old;
  for (const Stmt *Each : S.Between) {
    std::optional<Range> R = F.statementRange(Each);
    if (!R)
      return Reason(why::InMacro, "part of it");
    Between += F.text(*R) + "\n";
  }
  if (!P.WholeWarps)
    Old = "if (blockDim.x % 32 != 0) {\n" +
          F.text(Range{Declared->Begin, Last->End}) + "\nreturn;\n}\n";
  std::string Text =
      llvm::cantFail(Rows.fill({{"fallback", Old},
                                {"type", F.writtenType(S.I->getType())},
                                {"start", asOperand(Start)},
                                {"bound", asOperand(F.text(*Bound))},
                                {"index", nameOf(S.I)},
                                {"rest", Between + *Rest}},
                               Names));
  Changes Made;
  Made.write({Declared->Begin, Last->End}, llvm::StringRef(Text).trim());
  return Made;
}

STARK_REWRITE(WarpRows, "warp-rows")
