//===- WarpAtomics.cpp - One atomic addition a warp -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to an atomic addition of floating-point numbers, whose result is
/// not used, to an address that all threads of a warp have in common: the warp
/// adds up in registers first, and one lane adds to memory.
///
///     atomicAdd(sum, x[i]);  ->  warp_add_float(sum, x[i]);
///
/// Faster, because atomics on one address come one after the other, and there
/// are up to 32 times fewer of them. (For integers the compiler does so.)
///
/// Kept: what is added, but for the order, which atomics leave open anyway; the
/// rounding may differ. Where not all 32 lanes are there, as under a condition,
/// each adds for itself. Refused where the address may differ within a warp;
/// not looked at is what stands in macros.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Facts.h"
#include "Analysis/Purity.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr unsigned MostNested = 6;

static constexpr ReasonKind
    AddressDiffers("the address may differ within a warp (line %0)");

static constexpr CodeTemplate Function(R"cuda(
/// Adds what each thread brings to *sum, with one atomic for a whole warp.
static __device__ __forceinline__ void warp_add_$type($type *sum, $type value) {
  if (__activemask() != 0xffffffffu) {
    atomicAdd(sum, value);
    return;
  }
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  if (thread % 32 == 0)
    atomicAdd(sum, value);
}
)cuda");

namespace {
struct Plan {
  const Kernel *K;
  std::string Type;
  std::vector<Range> Calls; ///< the name alone
  unsigned Line = 0;
};
} // namespace

/// What \p Call adds to: "float", "double", or another type's, which is empty.
static std::string typeOf(const CallExpr *Call) {
  if (calleeOf(Call) != "atomicAdd" || Call->getNumArgs() != 2)
    return "";
  QualType T = Call->getArg(0)->getType()->getPointeeType();
  if (T.isNull() || T.isVolatileQualified())
    return "";
  T = T.getUnqualifiedType().getCanonicalType();
  const auto *B = llvm::dyn_cast<BuiltinType>(T.getTypePtr());
  if (B && B->getKind() == BuiltinType::Float)
    return "float";
  return B && B->getKind() == BuiltinType::Double ? "double" : "";
}

/// \p E is the same in all threads of a warp, whenever they compute it.
static bool isOfWarp(const Expr *E, const Facts &F, const Kernel &K,
                     unsigned Depth) {
  if (Depth > MostNested || !isPure(E, F.context()) || readsMemory(E))
    return false;
  OrReason<std::array<uint64_t, 3>> Block = F.block(K);
  bool Rows = Block && (*Block)[0] % 32 == 0;
  bool Same = true;
  forEach(E, [&](const Stmt *N) {
    if (std::optional<BuiltinIndex> B = builtinNode(N)) {
      Same &= B->Name != "threadIdx" || (B->Axis != 'x' && Rows);
      return;
    }
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || !V->hasLocalStorage() || !Same)
      return;
    Same = K.keeps(V) && !V->getType()->isReferenceType() &&
           (llvm::isa<ParmVarDecl>(V) ||
            (V->getInit() && isOfWarp(V->getInit(), F, K, Depth + 1)));
  });
  return Same;
}

/// p, &p[i], &variable
static bool isPlaceOfWarp(const Expr *E, const Facts &F, const Kernel &K) {
  E = strip(E);
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_AddrOf)
    E = strip(U->getSubExpr());
  while (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(E)) {
    if (!isOfWarp(Sub->getIdx(), F, K, 0))
      return false;
    E = strip(Sub->getBase());
  }
  return isOfWarp(E, F, K, 0);
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    std::vector<Plan> Found;
    WhyNot Why;
    forEach(K->body(), [&](const Stmt *N) {
      const auto *Call = llvm::dyn_cast<CallExpr>(N);
      std::string Type = Call ? typeOf(Call) : "";
      const Stmt *Up = K->parent(N);
      bool Statement =
          llvm::isa_and_nonnull<CompoundStmt>(Up) ||
          (llvm::isa_and_nonnull<IfStmt, ForStmt, WhileStmt, DoStmt>(Up));
      std::optional<Range> Name =
          Call ? F.range(Call->getCallee()) : std::nullopt;
      if (Type.empty() || !Statement || !Name || F.text(*Name) != "atomicAdd")
        return;
      if (!isPlaceOfWarp(Call->getArg(0), F, *K)) {
        Why = Reason(AddressDiffers, F.lineOf(N));
        return;
      }
      auto Known =
          llvm::find_if(Found, [&](const Plan &P) { return P.Type == Type; });
      if (Known == Found.end()) {
        Found.push_back({K, Type, {}, F.lineOf(N)});
        Known = std::prev(Found.end());
      }
      Known->Calls.push_back(*Name);
    });
    for (const Plan &P : Found)
      Out.fits(P);
    if (Found.empty() && Why)
      Out.refuse(*K->At, *Why);
  }
}

static Match describe(const Facts &, const Plan &P) {
  Match M = matchAt(
      *P.K->At, {P.K->name()}, 80, "Add once a warp",
      "All threads of a warp add to one address in '" + P.K->name() +
          "' (line " + std::to_string(P.Line) +
          "), one after the other. Let the lanes add up with __shfl_xor_sync "
          "where all of them are there, and one lane add to memory. The "
          "numbers are added in another order, which atomics leave open.");
  M.Variant = P.Type;
  M.Line = P.Line;
  return M;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::string Text = llvm::cantFail(Function.fill({{"type", P.Type}}));
  OrReason<Changes> Made =
      F.declare(*P.K, "warp_add_" + P.Type, llvm::StringRef(Text).ltrim());
  if (Made)
    for (Range Call : P.Calls)
      Made->replace(Call, "warp_add_" + P.Type);
  return Made;
}

STARK_REWRITE(WarpAtomics, "warp-atomics")
