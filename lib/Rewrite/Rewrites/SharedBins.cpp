//===- SharedBins.cpp - A histogram of its own for each block -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel that uses a buffer of the workload for nothing but
/// atomic additions of integers, whose results are not used, where the buffer
/// is short: a histogram. A block counts in shared memory, and adds to the
/// buffer what it counted. Of many blocks the first 1024 do the work of all.
///
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) atomicAdd(&bins[x[i]], 1);
/// ->
///     if (blockIdx.x >= 1024) return;
///     __shared__ int own[256];
///     ... own is cleared
///     for (unsigned block = blockIdx.x; block < gridDim.x; block += 1024) {
///       int i = block * blockDim.x + threadIdx.x;
///       if (i < n) add_to_bin_int(own, 256, bins, x[i], 1);
///     }
///     ... own is added to bins
///
/// Faster, because atomics in shared memory do not wait for those of other
/// SMs, and each block adds to each bin once.
///
/// Kept: integers come to the same in any order, and wrap in the same way. How
/// many bins there are is taken from the workload for speed alone: what lies
/// beyond is added to the buffer itself, and no bin is touched that the source
/// does not touch. Refused where anything else may see the buffer, where the
/// kernel has barriers, shared memory or calls that do more than compute, where
/// it changes a parameter, and where it returns from within a loop.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Accesses.h"
#include "Analysis/Facts.h"
#include "Analysis/Purity.h"
#include "Catalogue.h"
#include "CodeTemplate.h"
#include "stark/Task/Expression.h"

using namespace stark;
using namespace clang;

static constexpr int64_t MostBins = 4096; ///< 16 KB

static constexpr ReasonKind
    OtherUse("'%0' is used for more than atomic additions (line %1)");
static constexpr ReasonKind
    BinsUnknown("how many elements '%0' has is not known, or more than 4096");
static constexpr ReasonKind
    CallOf("it calls what does more than compute (line %0)");
static constexpr ReasonKind
    ParameterChanges("it changes '%0', which the next block would start from");
static constexpr ReasonKind ReturnsInLoop("it returns from within a loop");
static constexpr ReasonKind MayBeSeen("line %0 may read or write '%1'");

static constexpr CodeTemplate Function(R"cuda(
/// Adds to one of a block's own bins, of which there are \p count; else to all
/// blocks'.
static __device__ __forceinline__ void add_to_bin_$tag($type *own, int count, $type *bins, long long bin, $type value) {
  if (bin >= 0 && bin < count)
    atomicAdd(&own[bin], value);
  else
    atomicAdd(&bins[bin], value);
}
)cuda");

static constexpr CodeTemplate Body(R"cuda({
  // The first blocks do the work of all.
  const unsigned @workers = 1024;
  if (blockIdx.x >= @workers)
    return;
  __shared__ $type @own[$count];
  const unsigned @thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned @threads = blockDim.x * blockDim.y * blockDim.z;
  for (unsigned @bin = @thread; @bin < $count; @bin += @threads)
    @own[@bin] = 0;
  __syncthreads();
  for (unsigned @block = blockIdx.x; @block < gridDim.x; @block += @workers) $body
  __syncthreads();
  for (unsigned @bin = @thread; @bin < $count; @bin += @threads)
    if (@own[@bin] != 0)
      atomicAdd(&$bins[@bin], @own[@bin]);
}
)cuda");

namespace {
struct Addition {
  const CallExpr *Call;
  const Expr *Index; ///< null: the first
};

struct Plan {
  const Kernel *K;
  const ParmVarDecl *Bins;
  int64_t Count;
  std::vector<Addition> Additions;
};
} // namespace

/// Of what pointer \p T is: int or unsigned; else empty.
static std::string integerOf(QualType T) {
  QualType To = T->getPointeeType();
  if (To.isNull() || To.isVolatileQualified())
    return "";
  const auto *B = llvm::dyn_cast<BuiltinType>(To.getCanonicalType());
  if (B && B->getKind() == BuiltinType::Int)
    return "int";
  return B && B->getKind() == BuiltinType::UInt ? "unsigned" : "";
}

/// atomicAdd(&bins[e], v), atomicAdd(bins + e, v) or atomicAdd(bins, v), whose
/// result is not used.
static std::optional<std::pair<const ParmVarDecl *, Addition>>
additionOf(const Stmt *N, const Kernel &K) {
  const auto *Call = llvm::dyn_cast<CallExpr>(N);
  const Stmt *Up = Call ? K.parent(N) : nullptr;
  if (!Call || calleeOf(Call) != "atomicAdd" || Call->getNumArgs() != 2 ||
      !llvm::isa_and_nonnull<CompoundStmt, IfStmt, ForStmt, WhileStmt, DoStmt>(
          Up))
    return std::nullopt;
  const Expr *To = strip(Call->getArg(0)), *Index = nullptr;
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(To);
      U && U->getOpcode() == UO_AddrOf) {
    const auto *Sub =
        llvm::dyn_cast<ArraySubscriptExpr>(strip(U->getSubExpr()));
    if (!Sub)
      return std::nullopt;
    Index = Sub->getIdx();
    To = Sub->getBase();
  } else if (const BinaryOperator *B = binary(To);
             B && B->getOpcode() == BO_Add && B->getType()->isPointerType() &&
             B->getLHS()->getType()->isPointerType()) {
    Index = B->getRHS();
    To = B->getLHS();
  }
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(To));
  if (!P || integerOf(P->getType()).empty() || !K.keeps(P))
    return std::nullopt;
  return std::pair(P, Addition{Call, Index});
}

/// The most elements that \p A has at a timed size.
static std::optional<int64_t> elementsOf(const Argument &A, const Workload &W) {
  std::optional<int64_t> Most;
  for (const Size &S : W.Sizes) {
    if (S.CheckOnly)
      continue;
    int64_t Product = 1;
    for (const std::string &Extent : A.Shape) {
      llvm::Expected<int64_t> Value = evaluateExpression(Extent, S.Names);
      if (!Value) {
        llvm::consumeError(Value.takeError());
        return std::nullopt;
      }
      if (*Value < 1 || *Value > MostBins)
        return std::nullopt;
      Product *= *Value;
      if (Product > MostBins)
        return std::nullopt;
    }
    Most = std::max(Most.value_or(0), Product);
  }
  return Most;
}

/// What forbids that a block does several blocks' work, one after the other.
static WhyNot whyNotRepeated(const Facts &F, const Kernel &K,
                             const std::set<const Stmt *> &Additions) {
  WhyNot Why;
  for (const ParmVarDecl *P : K.F->parameters())
    if (!K.keeps(P))
      Why = Reason(ParameterChanges, nameOf(P));
  forEach(K.body(), [&](const Stmt *N) {
    if (Why)
      return;
    if (const auto *Call = llvm::dyn_cast<CallExpr>(N);
        Call && !Additions.count(N) && !builtinNode(N)) {
      if (isBlockBarrier(N) || isWarpOperation(N) || !isPure(Call, F.context()))
        Why = Reason(CallOf, F.lineOf(N));
    } else if (llvm::isa<LambdaExpr, CXXConstructExpr>(N)) {
      Why = Reason(CallOf, F.lineOf(N));
    } else if (const auto *Declared = llvm::dyn_cast<DeclStmt>(N)) {
      for (const Decl *D : Declared->decls())
        if (const auto *V = llvm::dyn_cast<VarDecl>(D);
            V && !V->hasLocalStorage())
          Why = Reason(why::UsesShared);
    } else if (llvm::isa<ReturnStmt>(N)) {
      for (const Stmt *Up = K.parent(N); Up; Up = K.parent(Up))
        if (llvm::isa<ForStmt, WhileStmt, DoStmt, SwitchStmt>(Up))
          Why = Reason(ReturnsInLoop);
    }
  });
  return Why;
}

/// What may touch the elements of \p Bins but for the additions.
static WhyNot whyNotOwn(const Facts &F, const Kernel &K,
                        const ParmVarDecl *Bins,
                        const std::set<const Stmt *> &Additions) {
  std::set<const Stmt *> Known;
  for (const Stmt *Call : Additions)
    forEach(llvm::cast<CallExpr>(Call)->getArg(0),
            [&](const Stmt *N) { Known.insert(N); });
  WhyNot Why;
  forEachUse(K.body(), [&](const DeclRefExpr *Ref, const VarDecl *V) {
    if (V == Bins && !Known.count(Ref))
      Why = Reason(OtherUse, nameOf(Bins), F.lineOf(Ref));
  });
  for (const ParmVarDecl *Other : K.F->parameters())
    if (!Why && Other != Bins && !Other->getType()->isArithmeticType()) {
      if (!Other->getType()->isPointerType() ||
          Other->getType()->getPointeeType()->isPointerType() ||
          Other->getType()->getPointeeType()->isRecordType())
        Why = Reason(MayBeSeen, F.lineOf(K.body()), nameOf(Bins));
      else
        Why = F.whyNotApart(K, Bins, Other);
    }
  if (Why)
    return Why;
  Accesses All(F, K);
  for (const Access &A : All.all()) {
    bool Ours = Additions.count(A.E) != 0;
    for (const Stmt *Call : Additions)
      Ours |= anyOf(Call, [&](const Stmt *N) { return N == A.E; });
    if (!Ours && (A.Unclear || !A.Root || A.Root == Bins))
      return Reason(MayBeSeen, F.lineOf(A.E), nameOf(Bins));
  }
  return std::nullopt;
}

static OrReason<Plan> planOf(const Facts &F, const Kernel &K,
                             const ParmVarDecl *Bins,
                             std::vector<Addition> Found) {
  const Argument *A = F.bufferOf(K, Bins);
  std::optional<int64_t> Count =
      A && A->Before.empty() ? elementsOf(*A, F.In.Given->Load) : std::nullopt;
  if (!Count)
    return Reason(BinsUnknown, nameOf(Bins));
  std::set<const Stmt *> Calls;
  for (const Addition &Each : Found)
    Calls.insert(Each.Call);
  WhyNot Why = whyNotOwn(F, K, Bins, Calls);
  if (!Why)
    Why = whyNotRepeated(F, K, Calls);
  for (const Addition &Each : Found)
    for (const Expr *E : {Each.Index, Each.Call->getArg(1)})
      if (!Why && E && !isPure(E, F.context()))
        Why = Reason(CallOf, F.lineOf(E));
  if (Why)
    return *Why;
  return Plan{&K, Bins, *Count, std::move(Found)};
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    std::vector<std::pair<const ParmVarDecl *, std::vector<Addition>>> All;
    forEach(K->body(), [&](const Stmt *N) {
      auto A = additionOf(N, *K);
      if (!A)
        return;
      auto Known = llvm::find_if(
          All, [&](const auto &Each) { return Each.first == A->first; });
      if (Known == All.end())
        All.push_back({A->first, {A->second}});
      else
        Known->second.push_back(A->second);
    });
    for (auto &[Bins, Found] : All) {
      OrReason<Plan> P = planOf(F, *K, Bins, std::move(Found));
      if (P)
        Out.fits(*P);
      else
        Out.refuse(*K->At, P.why());
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  Match M = matchAt(
      *P.K->At, {P.K->name()}, 85, "Count in shared memory first",
      "All blocks of '" + P.K->name() + "' add to the " +
          std::to_string(P.Count) + " elements of `" + nameOf(P.Bins) +
          "` in memory. Let each block add in shared memory, and then once to "
          "each element; the first 1024 blocks do the work of all. Integers "
          "come to the same in any order.");
  M.Variant = nameOf(P.Bins);
  M.Alone = true;
  return M;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::string Type = integerOf(P.Bins->getType());
  auto Names = Body.names([&](llvm::StringRef N) { return F.freshName(N); });
  std::optional<Range> Whole = F.range(P.K->body());
  // Blocks and ends within the additions are replaced with them.
  std::vector<Instead> Blocks, All;
  std::set<const Stmt *> Inside;
  forEach(P.K->body(), [&](const Stmt *N) {
    if (std::optional<BuiltinIndex> B = builtinNode(N);
        B && B->Name == "blockIdx" && B->Axis == 'x')
      Blocks.push_back({N, Names.lookup("block")});
  });
  std::string Count = std::to_string(P.Count);
  auto Text = [&](const Expr *E) {
    std::set<const Stmt *> Nodes = nodesOf(E);
    std::vector<Instead> Here;
    llvm::copy_if(Blocks, std::back_inserter(Here),
                  [&](const Instead &B) { return Nodes.count(B.first); });
    Inside.insert(Nodes.begin(), Nodes.end());
    return F.textWith(E, Here);
  };
  for (const Addition &A : P.Additions) {
    std::optional<std::string> Index = A.Index ? Text(A.Index) : "0",
                               Added = Text(A.Call->getArg(1));
    if (!Index || !Added)
      return Reason(why::InMacro, "part of it");
    All.push_back({A.Call, "add_to_bin_" + Type + "(" + Names.lookup("own") +
                               ", " + Count + ", " + nameOf(P.Bins) + ", " +
                               *Index + ", " + *Added + ")"});
  }
  for (const Instead &B : Blocks)
    if (!Inside.count(B.first))
      All.push_back(B);
  forEach(P.K->body(), [&](const Stmt *N) {
    if (llvm::isa<ReturnStmt>(N))
      All.push_back({N, "continue"});
  });
  std::optional<std::string> Inner = F.textWith(P.K->body(), All);
  if (!Whole || !Inner)
    return Reason(why::InMacro, "part of it");
  std::string Written = llvm::cantFail(Body.fill({{"type", Type},
                                                  {"count", Count},
                                                  {"bins", nameOf(P.Bins)},
                                                  {"body", *Inner}},
                                                 Names));
  OrReason<Changes> Made = F.declare(
      *P.K, "add_to_bin_" + Type,
      llvm::StringRef(
          llvm::cantFail(Function.fill({{"tag", Type}, {"type", Type}})))
          .ltrim());
  if (Made)
    Made->write(*Whole, llvm::StringRef(Written).trim());
  return Made;
}

STARK_REWRITE(SharedBins, "shared-bins")
