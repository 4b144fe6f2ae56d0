//===- GridStride.cpp - Several elements a thread -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of one element a thread,
///
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) ...              (or: if (i >= n) return; ...)
///
/// and one launch of it: the kernel gets a loop over the grid, and the launch a
/// quarter of the blocks.
///
/// Faster, because indices and constants are computed once for four elements,
/// fewer blocks come and go, and vector-access can follow.
///
/// Kept: each element is computed once, by the same statements. The loop counts
/// in 64 bits, so it cannot run over. Refused where the kernel has barriers,
/// shared memory, or any other use of the thread's number, and where the grid
/// is not one number.
///
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "Catalogue.h"
#include "ThreadLoop.h"
#include "stark/Support/Error.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

namespace {
struct Shape {
  const DeclStmt *Declared = nullptr;
  const VarDecl *I = nullptr;
  const IfStmt *Guard = nullptr;
  const Expr *Bound = nullptr;
  bool Returns = false; ///< if (i >= n) return;
  std::vector<const Stmt *> Rest;
};

class GridStride : public Rewrite {
public:
  llvm::StringRef name() const override { return "grid-stride"; }
  llvm::StringRef summary() const override {
    return "let a thread compute several elements";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

static const Stmt *unwrap(const Stmt *S) {
  while (const auto *C = llvm::dyn_cast_or_null<CompoundStmt>(S)) {
    if (C->size() != 1)
      break;
    S = C->body_front();
  }
  return S;
}

/// Empty when \p K has the shape; "-" when it is another kind of kernel.
static std::string readShape(const Facts &F, const Kernel &K, Shape &S) {
  const auto *Body = llvm::dyn_cast_or_null<CompoundStmt>(K.body());
  if (!Body || Body->size() < 2)
    return "-";
  S.Declared = llvm::dyn_cast<DeclStmt>(Body->body_begin()[0]);
  S.Guard = llvm::dyn_cast<IfStmt>(Body->body_begin()[1]);
  S.I = S.Declared && S.Declared->isSingleDecl()
            ? llvm::dyn_cast<VarDecl>(S.Declared->getSingleDecl())
            : nullptr;
  if (!S.I || !S.Guard || !S.I->getInit() ||
      !isGlobalThreadNumber(S.I->getInit(), F, K))
    return "-";
  if (!S.I->getType()->isIntegerType() ||
      F.context().getTypeSize(S.I->getType()) < 32)
    return "its index is no plain number";
  if (!isNeverWritten(S.I, K.body(), *K.Parents))
    return "its index changes";
  if (S.Guard->getElse() || S.Guard->getInit() ||
      S.Guard->getConditionVariable())
    return "more than a bound decides what a thread does";
  const auto *Cond =
      llvm::dyn_cast<BinaryOperator>(S.Guard->getCond()->IgnoreParenImpCasts());
  S.Returns = llvm::isa_and_nonnull<ReturnStmt>(unwrap(S.Guard->getThen()));
  BinaryOperatorKind Wanted = S.Returns ? BO_GE : BO_LT;
  if (!Cond || Cond->getOpcode() != Wanted || variableOf(Cond->getLHS()) != S.I)
    return "its bound is not 'index < number'";
  const auto *P =
      llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(Cond->getRHS()));
  if (!P || !P->getType()->isIntegerType() ||
      !isNeverWritten(P, K.body(), *K.Parents))
    return "its bound is no parameter";
  S.Bound = Cond->getRHS();
  if (S.Returns)
    S.Rest.assign(Body->body_begin() + 2, Body->body_end());
  else if (Body->size() != 2)
    return "it does something after the bounded part";
  else
    S.Rest.push_back(S.Guard->getThen());
  if (S.Rest.empty())
    return "-";
  std::string Why;
  for (const Stmt *Part : S.Rest)
    forEach(Part, [&](const Stmt *N) {
      if (llvm::isa<ReturnStmt>(N))
        Why = "it can return early";
      if (isBlockBarrier(N) || calleeOf(N).starts_with("__shfl") ||
          calleeOf(N) == "__syncwarp")
        Why = "its threads work together";
      if (const auto *E = llvm::dyn_cast<Expr>(N);
          E && llvm::isa<PseudoObjectExpr, MemberExpr>(E) && builtinIndex(E))
        Why = "it uses " + builtinIndex(E)->Name.str() +
              " for more than its index";
      if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
        for (const Decl *Each : D->decls())
          if (const auto *V = llvm::dyn_cast<VarDecl>(Each);
              V && !V->hasLocalStorage())
            Why = "it declares shared or static memory";
    });
  if (!Why.empty())
    return Why;
  // Elements become ordered that were not: nothing may tell. A function or a
  // pointer that is not understood could.
  Accesses A(F, K);
  for (const Access &Each : A.all()) {
    if (Each.Shared)
      return "it uses shared memory";
    const auto *C = llvm::dyn_cast<CallExpr>(Each.E);
    if (C && !calleeOf(C).starts_with("atomic"))
      return "it calls " +
             (calleeOf(C).empty() ? "a function" : calleeOf(C).str()) +
             ", which may look at the thread's number";
  }
  return "";
}

static llvm::Expected<std::vector<Edit>>
write(const Facts &F, const Kernel &K, const Launch &L, const Shape &S) {
  std::optional<Range> Declared = F.statementRange(S.Declared);
  std::optional<Range> Guard = F.range(S.Guard);
  std::optional<Range> Last = F.statementRange(S.Rest.back());
  std::optional<Range> First = F.range(S.Rest.front());
  std::optional<Range> Grid = F.range(L.Grid);
  std::string Start = F.text(S.I->getInit()), Bound = F.text(S.Bound);
  if (!Declared || !Guard || !Last || !First || !Grid || Start.empty() ||
      Bound.empty())
    return failed("part of it stands in a macro");
  std::string At = F.freshName("at"), Stride = F.freshName("stride");
  std::string Type = S.I->getType().getUnqualifiedType().getAsString(
      F.context().getPrintingPolicy());
  std::string In = F.indentAt(Declared->Begin);
  std::string T =
      "const long long " + Stride + " = (long long)gridDim.x * blockDim.x;\n";
  T += In + "for (long long " + At + " = " + Start + "; " + At + " < " + Bound +
       "; " + At + " += " + Stride + ") {\n";
  T += In + "  const " + Type + " " + S.I->getNameAsString() + " = " + At +
       ";\n";
  T += In + "  " + F.text(Range{First->Begin, Last->End}) + "\n";
  T += In + "}";
  std::string G = F.text(*Grid);
  return std::vector<Edit>{{{Declared->Begin, Last->End}, T},
                           {*Grid, "((" + G + ") + 3) / 4"}};
}

void GridStride::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    Shape S;
    std::string Why = readShape(F, K, S);
    if (Why == "-")
      continue;
    if (Why.empty())
      Why = K.LaunchedElsewhere;
    if (Why.empty() && K.Launches.size() != 1)
      Why = K.Launches.empty() ? "no launch of it is in this file"
                               : "it is launched at several places";
    const Launch *L = K.Launches.empty() ? nullptr : K.Launches.front();
    const Site *Host = nullptr;
    if (L && L->At)
      for (const Site &Each : F.In.All->All)
        if (Each.Kind == SiteKind::Host && Each.Bytes.contains(L->At->Bytes))
          Host = &Each;
    if (Why.empty() && (!Host || !Host->Editable || !L->At->Editable))
      Why = "its launch cannot be edited";
    if (Why.empty() &&
        (!strip(F.dimensions(L->Grid, *L)[0] ? F.dimensions(L->Grid, *L)[0]
                                             : L->Grid)
              ->getType()
              ->isIntegerType() ||
         F.text(L->Grid) != F.text(F.dimensions(L->Grid, *L)[0])))
      Why = "the grid is not one number";
    if (Why.empty()) {
      llvm::Expected<std::vector<Edit>> Try = write(F, K, *L, S);
      if (!Try)
        Why = llvm::toString(Try.takeError());
    }
    if (!Why.empty()) {
      Out.refuse(K.name(), K.At->Line, Why);
      continue;
    }
    Match M;
    M.Site = K.name();
    M.Line = K.At->Line;
    M.Sites = {K.name(), Host->Id};
    M.Promise = 50;
    M.Title = "Let a thread compute several elements";
    M.Advice = "'" + K.name() +
               "' computes one element a thread. Give it a loop over the grid "
               "and launch a quarter of the blocks: what is common to all "
               "elements is computed once for four.";
    Out.offer(std::move(M), [&F, &K, L, S] { return write(F, K, *L, S); });
  }
}

std::unique_ptr<const Rewrite> stark::makeGridStride() {
  return std::make_unique<GridStride>();
}
