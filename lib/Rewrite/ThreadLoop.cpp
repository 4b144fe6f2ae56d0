//===- ThreadLoop.cpp - Loops whose iterations the threads share ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadLoop.h"
#include "Uniform.h"

using namespace stark;
using namespace clang;

/// Follows local variables that hold what they were initialised with.
static const Expr *resolve(const Expr *E, const Kernel &K) {
  for (unsigned Depth = 0; Depth < 4; ++Depth) {
    E = strip(E);
    const VarDecl *V = variableOf(E);
    if (!V || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V) ||
        !V->getInit() || !isNeverWritten(V, K.body(), *K.Parents))
      break;
    E = V->getInit();
  }
  return E;
}

bool stark::isThreadNumber(const Expr *E, const Kernel &K) {
  return E && isBuiltin(resolve(E, K), "threadIdx", 'x');
}

static bool isBlockWidth(const Expr *E, const Facts &F, const Kernel &K) {
  if (isBuiltin(resolve(E, K), "blockDim", 'x'))
    return true;
  std::string Why;
  std::optional<uint64_t> N = F.constantOf(E, K), Size = F.blockSize(K, Why);
  return N && Size && *N == *Size;
}

bool stark::isGlobalThreadNumber(const Expr *E, const Facts &F,
                                 const Kernel &K) {
  std::vector<const Expr *> Terms = termsOf(resolve(E, K));
  if (Terms.size() != 2)
    return false;
  if (isThreadNumber(Terms[0], K))
    std::swap(Terms[0], Terms[1]);
  std::vector<const Expr *> Factors = factorsOf(Terms[0]);
  if (!isThreadNumber(Terms[1], K) || Factors.size() != 2)
    return false;
  return (isBuiltin(Factors[0], "blockIdx", 'x') &&
          isBlockWidth(Factors[1], F, K)) ||
         (isBuiltin(Factors[1], "blockIdx", 'x') &&
          isBlockWidth(Factors[0], F, K));
}

static bool isGridWidth(const Expr *E, const Facts &F, const Kernel &K) {
  std::vector<const Expr *> Factors = factorsOf(resolve(E, K));
  return Factors.size() == 2 && ((isBuiltin(Factors[0], "gridDim", 'x') &&
                                  isBlockWidth(Factors[1], F, K)) ||
                                 (isBuiltin(Factors[1], "gridDim", 'x') &&
                                  isBlockWidth(Factors[0], F, K)));
}

std::optional<ThreadLoop> stark::readThreadLoop(const Facts &F, const Kernel &K,
                                                const ForStmt *S,
                                                std::string &Why) {
  ThreadLoop L;
  L.S = S;
  const auto *Init = llvm::dyn_cast_or_null<DeclStmt>(S->getInit());
  L.I = Init && Init->isSingleDecl()
            ? llvm::dyn_cast<VarDecl>(Init->getSingleDecl())
            : nullptr;
  if (!L.I || !L.I->getInit() || !L.I->getType()->isIntegerType() ||
      F.context().getTypeSize(L.I->getType()) < 32)
    return std::nullopt;
  L.Start = L.I->getInit();
  const auto *Step = llvm::dyn_cast_or_null<BinaryOperator>(S->getInc());
  if (!Step || variableOf(Step->getLHS()) != L.I)
    return std::nullopt;
  if (Step->getOpcode() == BO_AddAssign) {
    L.Step = Step->getRHS();
  } else if (Step->getOpcode() == BO_Assign) {
    const auto *Sum = llvm::dyn_cast<BinaryOperator>(strip(Step->getRHS()));
    if (Sum && Sum->getOpcode() == BO_Add) {
      if (variableOf(Sum->getLHS()) == L.I)
        L.Step = Sum->getRHS();
      else if (variableOf(Sum->getRHS()) == L.I)
        L.Step = Sum->getLHS();
    }
  }
  if (!L.Step)
    return std::nullopt;
  if (isThreadNumber(L.Start, K) && isBlockWidth(L.Step, F, K))
    L.Grid = false;
  else if (isGlobalThreadNumber(L.Start, F, K) && isGridWidth(L.Step, F, K))
    L.Grid = true;
  else
    return std::nullopt;
  const auto *Cond =
      S->getCond()
          ? llvm::dyn_cast<BinaryOperator>(S->getCond()->IgnoreParenImpCasts())
          : nullptr;
  if (Cond && Cond->getOpcode() == BO_LT && variableOf(Cond->getLHS()) == L.I)
    L.Bound = Cond->getRHS();
  else if (Cond && Cond->getOpcode() == BO_GT &&
           variableOf(Cond->getRHS()) == L.I)
    L.Bound = Cond->getLHS();
  if (!L.Bound || S->getConditionVariable()) {
    Why = "its condition is not 'index < bound'";
    return std::nullopt;
  }
  L.Bound = L.Bound->IgnoreImpCasts();
  bool Plain = L.Bound->getType()->isIntegerType() &&
               isPure(L.Bound, F.context()) && !mentions(L.Bound, L.I);
  forEach(L.Bound, [&](const Stmt *N) {
    Plain &= !llvm::isa<ArraySubscriptExpr>(N);
    if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
      Plain &= U->getOpcode() != UO_Deref;
    if (const auto *V =
            llvm::dyn_cast<Expr>(N) ? variableOf(llvm::cast<Expr>(N)) : nullptr)
      Plain &= V->hasLocalStorage() || V->getType().isConstQualified();
  });
  if (!Plain) {
    Why = "its bound is not a plain number that stays the same";
    return std::nullopt;
  }
  return L;
}

static bool isMinMax(llvm::StringRef Name) {
  return Name == "fmaxf" || Name == "fminf" || Name == "fmax" ||
         Name == "fmin" || Name == "max" || Name == "min";
}

std::optional<Accumulation> stark::readAccumulation(const Stmt *S,
                                                    const ASTContext &Context) {
  const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(S);
  if (!B || !B->isAssignmentOp())
    return std::nullopt;
  Accumulation A;
  A.Into = variableOf(B->getLHS());
  if (!A.Into || !A.Into->hasLocalStorage() ||
      !A.Into->getType()->isArithmeticType())
    return std::nullopt;
  auto Clean = [&](const Expr *E) {
    return isPure(E, Context) && !mentions(E, A.Into);
  };
  auto Name = [](BinaryOperatorKind Kind) -> std::string {
    switch (Kind) {
    case BO_AddAssign:
    case BO_SubAssign:
    case BO_Add:
      return "+";
    case BO_MulAssign:
    case BO_Mul:
      return "*";
    case BO_AndAssign:
    case BO_And:
      return "&";
    case BO_OrAssign:
    case BO_Or:
      return "|";
    case BO_XorAssign:
    case BO_Xor:
      return "^";
    default:
      return "";
    }
  };
  if (B->isCompoundAssignmentOp()) {
    A.Operation = Name(B->getOpcode());
    if (A.Operation.empty() || !Clean(B->getRHS()))
      return std::nullopt;
    return A;
  }
  const Expr *Value = strip(B->getRHS());
  auto OneIsIt = [&](const Expr *L, const Expr *R) {
    return (variableOf(L) == A.Into && Clean(R)) ||
           (variableOf(R) == A.Into && Clean(L));
  };
  if (const auto *Two = llvm::dyn_cast<BinaryOperator>(Value)) {
    A.Operation = Name(Two->getOpcode());
    if (A.Operation.empty() || !OneIsIt(Two->getLHS(), Two->getRHS()))
      return std::nullopt;
    return A;
  }
  const auto *Call = llvm::dyn_cast<CallExpr>(Value);
  if (!Call || Call->getNumArgs() != 2 || !isMinMax(calleeOf(Call)) ||
      !isPure(Call, Context) || !OneIsIt(Call->getArg(0), Call->getArg(1)))
    return std::nullopt;
  A.Operation = calleeOf(Call).str();
  return A;
}

bool stark::isLoopIndex(const Kernel &K, const ThreadLoop &L, const Expr *E) {
  const VarDecl *V = variableOf(E);
  if (!V || V == L.I)
    return V;
  return V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) && V->getInit() &&
         V->getType()->isIntegerType() && variableOf(V->getInit()) == L.I &&
         isNeverWritten(V, K.body(), *K.Parents);
}

bool stark::isShiftedIndex(const Facts &F, const Kernel &K, const ThreadLoop &L,
                           const Expr *Index) {
  std::set<const VarDecl *> Own{L.I};
  forEach(L.S, [&](const Stmt *N) {
    if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
      for (const Decl *Each : D->decls())
        if (const auto *V = llvm::dyn_cast<VarDecl>(Each))
          Own.insert(V);
  });
  unsigned Count = 0;
  bool Fixed = true;
  for (const Expr *Term : termsOf(Index)) {
    if (isLoopIndex(K, L, Term)) {
      ++Count;
      continue;
    }
    Fixed &= isPure(Term, F.context());
    forEach(Term, [&](const Stmt *N) {
      if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N))
        if (const auto *V = llvm::dyn_cast<VarDecl>(Ref->getDecl()))
          Fixed &= !Own.count(V) && isNeverWritten(V, L.S, *K.Parents);
      Fixed &= !llvm::isa<ArraySubscriptExpr>(N);
      if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
        Fixed &= U->getOpcode() != UO_Deref;
    });
  }
  return Count == 1 && Fixed;
}

namespace {
/// Decides whether iterations may change threads.
class RemapCheck {
public:
  RemapCheck(const Facts &F, const Kernel &K, const Accesses &A,
             const std::vector<Reduction> &Reductions, const ThreadLoop &L)
      : F(F), K(K), A(A), Reductions(Reductions), L(L), Order(K),
        Same(F, K, Order, L.Grid) {
    forEach(L.S, [&](const Stmt *N) {
      Inside.insert(N);
      if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
        for (const Decl *Each : D->decls())
          if (const auto *V = llvm::dyn_cast<VarDecl>(Each))
            Own.insert(V);
    });
    if (L.I)
      Own.insert(L.I);
  }

  std::string run() {
    if (!Order.known())
      return "the order of its statements is not known";
    if (std::string Why = statements(L.S->getBody(), false); !Why.empty())
      return Why;
    if (std::string Why = reads(); !Why.empty())
      return Why;
    for (const auto &[V, Operation] : Sums)
      if (std::string Why = consumer(V, Operation); !Why.empty())
        return Why;
    return memory();
  }

private:
  std::string statements(const Stmt *S, bool InInner) {
    if (!S)
      return "";
    if (std::string Why = whyNotPlain(S, InInner); !Why.empty())
      return Why;
    bool Inner = InInner || llvm::isa<ForStmt, WhileStmt, DoStmt>(S);
    if (const auto *B = llvm::dyn_cast<BinaryOperator>(S);
        B && B->isAssignmentOp())
      return assignment(B, InInner);
    if (const auto *U = llvm::dyn_cast<UnaryOperator>(S);
        U && U->isIncrementDecrementOp()) {
      const VarDecl *V = variableOf(U->getSubExpr());
      if (V && V != L.I && Own.count(V))
        return "";
      return "it counts in a variable that outlives an iteration";
    }
    if (const auto *O = llvm::dyn_cast<CXXOperatorCallExpr>(S);
        O && O->getOperator() == OO_Equal && O->getNumArgs() == 2) {
      if (std::string Why = target(O->getArg(0)); !Why.empty())
        return Why;
      return statements(O->getArg(1), InInner);
    }
    if (llvm::isa<CallExpr, CXXConstructExpr, PseudoObjectExpr>(S)) {
      std::string Met;
      if (!isPure(S, F.context(), &Met))
        return "its body has " + Met;
      return "";
    }
    if (const auto *E = llvm::dyn_cast<Expr>(S); E && isPure(E, F.context()))
      return "";
    for (const Stmt *Child : S->children())
      if (std::string Why = statements(Child, Inner); !Why.empty())
        return Why;
    return "";
  }

  std::string assignment(const BinaryOperator *B, bool InInner) {
    const VarDecl *V = variableOf(B->getLHS());
    if (!V) {
      if (std::string Why = target(B->getLHS()); !Why.empty())
        return Why;
      return statements(B->getRHS(), InInner);
    }
    if (V == L.I)
      return "its body changes the index";
    if (Own.count(V))
      return statements(B->getRHS(), InInner);
    std::optional<Accumulation> Sum = readAccumulation(B, F.context());
    if (!Sum)
      return "'" + V->getNameAsString() +
             "' outlives an iteration and is no plain sum, product, minimum "
             "or maximum";
    auto [At, New] = Sums.emplace(V, Sum->Operation);
    if (!New && At->second != Sum->Operation)
      return "'" + V->getNameAsString() + "' is accumulated in two ways";
    ++Uses[V];
    return "";
  }

  /// What is stored to is an element that only this iteration has.
  std::string target(const Expr *E) {
    const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(strip(E));
    if (!Sub) {
      // An element of a local array, a member of a local variable.
      const Expr *Base = strip(E);
      while (const auto *M = llvm::dyn_cast<MemberExpr>(Base)) {
        if (M->isArrow())
          return "it stores through a pointer that is no plain array";
        Base = strip(M->getBase());
      }
      const VarDecl *V = variableOf(Base);
      if (V && Own.count(V))
        return "";
      return "it stores to something other than an element of an array";
    }
    if (const VarDecl *V = variableOf(Sub->getBase());
        V && Own.count(V) && V->getType()->isArrayType())
      return "";
    bool Seen = false;
    for (const Access *Each : A.in(L.S))
      Seen |= Each->E == Sub && !Each->Unclear;
    if (!Seen || !isShifted(Sub->getIdx()))
      return "it stores to an element whose index is not the loop's plus "
             "something that stays the same";
    return "";
  }

  bool isShifted(const Expr *Index) const {
    return isShiftedIndex(F, K, L, Index);
  }

  /// Everything else that an iteration reads is the same for all threads.
  std::string reads() {
    std::string Why;
    forEach(L.S->getBody(), [&](const Stmt *N) {
      if (!Why.empty())
        return;
      if (const auto *E = llvm::dyn_cast<Expr>(N)) {
        std::optional<BuiltinIndex> B =
            llvm::isa<PseudoObjectExpr, MemberExpr>(E) ? builtinIndex(E)
                                                       : std::nullopt;
        if (B && (B->Name == "threadIdx" || (L.Grid && B->Name == "blockIdx")))
          Why = "its body uses " + B->Name.str() +
                ", so which thread runs an "
                "iteration matters";
      }
      const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
      const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
      if (!V || Own.count(V) || Sums.count(V) || !V->hasLocalStorage())
        return;
      if (!Same.at(V, L.S))
        Why = "'" + V->getNameAsString() + "' may differ from thread to thread";
    });
    if (Why.empty() && !Same.expression(L.Bound, L.S))
      Why = "its bound may differ from thread to thread";
    // The sum itself is read nowhere in the loop but where it grows.
    for (const auto &[V, Operation] : Sums) {
      unsigned Count = 0;
      forEach(L.S, [&](const Stmt *N) {
        const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
        Count += Ref && Ref->getDecl() == V;
      });
      unsigned Expected = 0;
      forEach(L.S, [&](const Stmt *N) {
        std::optional<Accumulation> Sum = readAccumulation(N, F.context());
        if (Sum && Sum->Into == V)
          forEach(N, [&](const Stmt *M) {
            const auto *Ref = llvm::dyn_cast<DeclRefExpr>(M);
            Expected += Ref && Ref->getDecl() == V;
          });
      });
      if (Count != Expected)
        Why = "'" + V->getNameAsString() + "' is read while it grows";
    }
    return Why;
  }

  /// What a thread has summed up must flow into a reduction of the whole block
  /// with the same operation, and nowhere else.
  std::string consumer(const VarDecl *V, const std::string &Operation) {
    auto Kills = [&](const Stmt *S) {
      const auto *B = llvm::dyn_cast<BinaryOperator>(S);
      if (B && B->getOpcode() == BO_Assign && variableOf(B->getLHS()) == V &&
          !mentions(B->getRHS(), V))
        return true;
      const auto *D = llvm::dyn_cast<DeclStmt>(S);
      return D && D->isSingleDecl() && D->getSingleDecl() == V;
    };
    std::string Why;
    bool Consumed = false;
    for (const Stmt *S : Order.around(L.S, true, Kills)) {
      if (!mentions(S, V))
        continue;
      bool Allowed = false;
      for (const Reduction &R : Reductions) {
        bool Part = false;
        forEach(R.First, [&](const Stmt *N) { Part |= N == S; });
        if (Part && variableOf(R.Value) == V && R.Operation == Operation)
          Allowed = Consumed = true;
      }
      std::optional<Accumulation> Again = readAccumulation(S, F.context());
      Allowed |= Again && Again->Into == V && Again->Operation == Operation;
      // A part of one of these.
      for (const Stmt *Up = S; Up && !Allowed;
           Up = K.Parents->getParent(const_cast<Stmt *>(Up))) {
        std::optional<Accumulation> More = readAccumulation(Up, F.context());
        Allowed = More && More->Into == V && More->Operation == Operation;
      }
      if (!Allowed)
        Why = "what a thread collects in '" + V->getNameAsString() +
              "' goes elsewhere than into a reduction of the whole block "
              "(line " +
              std::to_string(F.lineOf(S)) + ")";
    }
    if (L.Grid && Why.empty())
      Why = "what a thread collects in '" + V->getNameAsString() +
            "' is summed up a block at a time, and elements would change "
            "blocks";
    if (Why.empty() && !Consumed)
      Why = "what a thread collects in '" + V->getNameAsString() +
            "' goes into no reduction of the block that is understood";
    return Why;
  }

  std::string nameOf(const Access &Each) const {
    return Each.Root ? "'" + Each.Root->getNameAsString() + "'"
                     : "memory that is not known";
  }

  std::string memory() {
    std::vector<const Access *> Mine = A.in(L.S);
    std::set<const Stmt *> Near;
    if (!L.Grid)
      for (bool Forward : {true, false})
        for (const Stmt *S : Order.around(L.S, Forward, isBlockBarrier))
          forEach(S, [&](const Stmt *N) { Near.insert(N); });
    for (const Access *One : Mine) {
      if (One->Unclear)
        return "what it does at line " + std::to_string(F.lineOf(One->E)) +
               " is not understood";
      if (L.Grid && One->Shared)
        return "it uses shared memory";
      for (const Access &Other : A.all()) {
        if (&Other == One || !A.conflict(*One, Other))
          continue;
        if (Inside.count(Other.E)) {
          // The same element, or of pointers that may overlap the element of
          // the same index: another one would be a race between threads.
          if (One->Index && Other.Index && One->Root && Other.Root &&
              isShifted(One->Index) && isShifted(Other.Index) &&
              F.text(One->Index) == F.text(Other.Index) &&
              !F.text(One->Index).empty() &&
              (One->Base == Other.Base || One->Root != Other.Root))
            continue;
          return nameOf(*One) + " and " + nameOf(Other) +
                 " may be the same memory, at different indices (lines " +
                 std::to_string(F.lineOf(One->E)) + " and " +
                 std::to_string(F.lineOf(Other.E)) + ")";
        }
        if (L.Grid || Near.count(Other.E))
          return nameOf(*One) + " of the loop and " + nameOf(Other) +
                 " at line " + std::to_string(F.lineOf(Other.E)) +
                 " may be the same memory, with no barrier between them";
      }
    }
    return "";
  }

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const std::vector<Reduction> &Reductions;
  const ThreadLoop &L;
  Flow Order;
  Uniform Same;
  std::set<const Stmt *> Inside;
  std::set<const VarDecl *> Own;
  std::map<const VarDecl *, std::string> Sums;
  std::map<const VarDecl *, unsigned> Uses;
};
} // namespace

std::string stark::whyNotRemap(const Facts &F, const Kernel &K,
                               const Accesses &A,
                               const std::vector<Reduction> &Reductions,
                               const ThreadLoop &L) {
  return RemapCheck(F, K, A, Reductions, L).run();
}
