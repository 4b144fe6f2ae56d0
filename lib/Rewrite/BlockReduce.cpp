//===- BlockReduce.cpp - Warp shuffles instead of a tree in shared memory ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to `partial[t] = value; __syncthreads();` and the loop of halves
/// after it, when the block is a constant power of two from 32 to 1024. The
/// warps reduce in registers; one value a warp goes through shared memory.
///
/// Faster, because nine barriers and as many rounds through shared memory (for
/// 256 threads) become two.
///
/// Kept: partial[0] holds the result for all threads. The values are combined
/// in another order, so a floating-point sum rounds otherwise; a minimum or
/// maximum does not.
///
/// Refused where the block's size is not known, where anything but partial[0]
/// is read afterwards, where threads may have left before, and for types that
/// no shuffle takes.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "Reduction.h"
#include "Uniform.h"
#include "stark/Support/Error.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

namespace {
class BlockReduce : public Rewrite {
public:
  llvm::StringRef name() const override { return "block-reduce"; }
  llvm::StringRef summary() const override {
    return "reduce over a block with warp shuffles instead of a tree in shared "
           "memory";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

static std::string elementType(const Reduction &R, const ASTContext &Context) {
  QualType T = Context.getAsArrayType(R.Array->getType())->getElementType();
  const auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  if (!B)
    return "";
  switch (B->getKind()) {
  case BuiltinType::Int:
  case BuiltinType::UInt:
  case BuiltinType::Long:
  case BuiltinType::ULong:
  case BuiltinType::LongLong:
  case BuiltinType::ULongLong:
  case BuiltinType::Float:
  case BuiltinType::Double:
    return T.getCanonicalType().getUnqualifiedType().getAsString(
        Context.getPrintingPolicy());
  default:
    return "";
  }
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
    for (const Stmt *Up = N; Up && Up != K.body();
         Up = K.Parents->getParent(const_cast<Stmt *>(Up))) {
      const Expr *Cond = nullptr;
      if (const auto *If = llvm::dyn_cast<IfStmt>(Up))
        Cond = If->getCond();
      else if (llvm::isa<ForStmt, WhileStmt, DoStmt, SwitchStmt>(Up))
        Line = F.lineOf(N);
      if (Cond && (!Order.known() || !Same.expression(Cond, Up)))
        Line = F.lineOf(N);
    }
  });
  return Line;
}

static std::string whyNot(const Facts &F, const Kernel &K,
                          const std::vector<Reduction> &All,
                          const Reduction &R) {
  std::string Why;
  std::optional<uint64_t> Block = F.blockSize(K, Why);
  if (!Block)
    return Why;
  if (*Block < 32 || *Block > 1024 || (*Block & (*Block - 1)))
    return "its blocks have " + std::to_string(*Block) +
           " threads, no power of two from 32 to 1024";
  if (!R.StartsAtBlock && R.StartsAt != *Block / 2)
    return "the tree begins at " + std::to_string(R.StartsAt.value_or(0)) +
           ", not at half of the block's " + std::to_string(*Block) +
           " threads";
  const auto *Array = F.context().getAsConstantArrayType(R.Array->getType());
  if (!Array)
    return "'" + R.Array->getNameAsString() +
           "' has no constant size, so other uses of the memory are not seen";
  if (Array->getSize().ult(*Block))
    return "'" + R.Array->getNameAsString() + "' is smaller than the block";
  if (elementType(R, F.context()).empty() ||
      R.Array->getType().isVolatileQualified() ||
      Array->getElementType().isVolatileQualified())
    return "no shuffle takes a '" + Array->getElementType().getAsString() + "'";
  // Every use of the array.
  std::set<const Stmt *> Ours;
  for (const Reduction &Each : All)
    if (Each.Array == R.Array) {
      forEach(Each.First, [&](const Stmt *N) { Ours.insert(N); });
      forEach(Each.Last, [&](const Stmt *N) { Ours.insert(N); });
    }
  Accesses A(F, K);
  forEach(K.body(), [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Why.empty() || !Ref || Ref->getDecl() != R.Array || Ours.count(Ref))
      return;
    for (const Access &Each : A.all())
      if (Each.Index && Each.Base == R.Array && mentions(Each.E, R.Array) &&
          Each.Load && !Each.Store && F.constantOf(Each.Index, K) == 0u) {
        bool Inside = false;
        forEach(Each.E, [&](const Stmt *M) { Inside |= M == Ref; });
        if (Inside)
          return;
      }
    Why = "'" + R.Array->getNameAsString() +
          "' is used for more than its "
          "element 0 at line " +
          std::to_string(F.lineOf(Ref));
  });
  if (!Why.empty())
    return Why;
  if (unsigned Line = partialReturn(F, K, R.First))
    return "threads may have returned at line " + std::to_string(Line) +
           ", and a shuffle needs whole warps";
  return "";
}

static llvm::Expected<std::vector<Edit>> write(const Facts &F, const Kernel &K,
                                               const Reduction &R) {
  std::optional<Range> First = F.statementRange(R.First),
                       Last = F.statementRange(R.Last);
  std::string Value = F.text(R.Value);
  if (!First || !Last || Value.empty() || Last->End < First->Begin)
    return failed("the reduction stands in a macro");
  std::string Type = elementType(R, F.context());
  std::string Name = blockReduceName(R.Operation, Type);
  llvm::Expected<std::vector<Edit>> Edits =
      F.declare(K, Name, blockReduceText(R.Operation, Type));
  if (!Edits)
    return Edits.takeError();
  Edits->push_back(
      {{First->Begin, Last->End},
       Name + "(" + R.Array->getNameAsString() + ", " + Value + ");"});
  return Edits;
}

void BlockReduce::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    std::vector<Reduction> All = findReductions(F, K);
    for (const auto &[S, Why] : findAlmostReductions(F, K))
      if (const Site *At = F.siteAt(SiteKind::Loop, S))
        Out.refuse(At->Id, At->Line, Why);
    for (const Reduction &R : All) {
      const Site *At = R.Tree ? F.siteAt(SiteKind::Loop, R.Last) : nullptr;
      if (!At)
        continue;
      std::string Why = whyNot(F, K, All, R);
      if (Why.empty()) {
        llvm::Expected<std::vector<Edit>> Try = write(F, K, R);
        if (!Try)
          Why = llvm::toString(Try.takeError());
      }
      if (!Why.empty()) {
        Out.refuse(At->Id, At->Line, Why);
        continue;
      }
      Match M;
      M.Site = At->Id;
      M.Line = At->Line;
      M.Sites = {K.name()};
      M.Promise = 60;
      M.Title = "Reduce over the block with warp shuffles";
      M.Advice =
          "The tree over '" + R.Array->getNameAsString() + "' at line " +
          std::to_string(At->Line) +
          " has a barrier and a round through shared memory for each halving. "
          "Let each warp reduce in registers with __shfl_xor_sync, put one "
          "value a warp into shared memory, and let the first warp reduce "
          "those: two barriers. The values are combined in another order, so "
          "a floating-point sum may round otherwise.";
      Out.offer(std::move(M), [&F, &K, R] { return write(F, K, R); });
    }
  }
}

std::unique_ptr<const Rewrite> stark::makeBlockReduce() {
  return std::make_unique<BlockReduce>();
}
