//===- Streams.cpp - What a loop moves element by element -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Streams.h"

using namespace stark;
using namespace clang;

std::optional<std::string> stark::withIndex(const Facts &F, const Kernel &K,
                                            const ThreadLoop &L, const Expr *E,
                                            llvm::StringRef As) {
  std::vector<Instead> Uses;
  bool Whole = true;
  forEachUse(E, [&](const DeclRefExpr *Ref, const VarDecl *V) {
    if (isLoopIndex(K, L, Ref)) {
      Uses.emplace_back(Ref, As.str());
    } else if (namedIndex(K, L, Ref)) {
      // What it stands for, as it is declared in the body alone.
      std::optional<std::string> Init = withIndex(F, K, L, V->getInit(), As);
      Whole &= Init.has_value();
      Uses.emplace_back(Ref, "static_cast<" + F.writtenType(V->getType()) +
                                 ">(" + Init.value_or("") + ")");
    }
  });
  return Whole ? F.textWith(E, Uses) : std::nullopt;
}

/// Whether each iteration evaluates \p E exactly once.
static bool isUnconditional(const Expr *E, const Stmt *Body, const Kernel &K) {
  const Stmt *Child = E;
  for (const Stmt *Up = K.parent(E); Up && Child != Body;
       Child = Up, Up = K.parent(Up)) {
    if (const auto *C = llvm::dyn_cast<ConditionalOperator>(Up);
        C && C->getCond() != Child)
      return false;
    if (const auto *B = llvm::dyn_cast<BinaryOperator>(Up);
        B && B->isLogicalOp() && B->getLHS() != Child)
      return false;
    if (llvm::isa<IfStmt, ForStmt, WhileStmt, DoStmt, SwitchStmt,
                  BinaryConditionalOperator>(Up))
      return false;
    if (Up == Body)
      return true;
  }
  return true;
}

unsigned stark::elementBytes(QualType T, const ASTContext &Context) {
  if (T.isVolatileQualified() || T->isDependentType() || T->isIncompleteType())
    return 0;
  T = T.getCanonicalType().getUnqualifiedType();
  std::string Name = T.getAsString();
  bool Small = llvm::StringRef(Name).ends_with("__half") ||
               llvm::StringRef(Name).ends_with("__nv_bfloat16");
  if (!(T->isArithmeticType() && !T->isBooleanType()) && !Small)
    return 0;
  auto Bytes = unsigned(Context.getTypeSizeInChars(T).getQuantity());
  return Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8 ? Bytes : 0;
}

namespace {
class Reader {
public:
  Reader(const Facts &F, const Kernel &K, const Accesses &A,
         const ThreadLoop &L)
      : F(F), K(K), A(A), L(L), Mine(A.in(L.S)) {}
  OrReason<Streams> read();

private:
  WhyNot add(const Access &Each);
  WhyNot whyNotAll() const;
  bool readsAfterStore() const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const ThreadLoop &L;
  const std::vector<const Access *> Mine;
  Streams Found;
};
} // namespace

WhyNot Reader::add(const Access &Each) {
  if (Each.E->getType().isVolatileQualified())
    return Reason(why::Volatile);
  if (!Each.Index || !Each.Base || !Each.Base->getType()->isPointerType() ||
      Each.Shared || !K.keeps(Each.Base) ||
      !isShiftedIndex(F, K, L, Each.Index))
    return std::nullopt;
  unsigned Bytes = elementBytes(Each.E->getType(), F.context());
  if (!Bytes)
    return std::nullopt;
  bool Always = isUnconditional(Each.E, L.Body, K);
  if (Each.Store && !Always)
    return Reason(why::StoresConditionally, nameOf(Each.Base));
  if (!withIndex(F, K, L, Each.Index, "i") || !F.range(Each.Whole))
    return Reason(why::AccessInMacro, nameOf(Each.Base));
  auto Into = llvm::find_if(Found.All, [&](const Stream &S) {
    return S.Base == Each.Base && isSameShift(F, K, L, S.Index, Each.Index);
  });
  if (Into == Found.All.end()) {
    Stream New;
    New.Base = Each.Base;
    New.Root = Each.Root;
    New.Index = Each.Index;
    New.Bytes = Bytes;
    New.Type = F.typeName(Each.E->getType());
    Into = Found.All.insert(Into, std::move(New));
  }
  Into->Load |= Each.Load;
  Into->Store |= Each.Store;
  Into->Always |= Always;
  Into->Members.push_back(Each);
  return std::nullopt;
}

/// What else the loop touches does not get in the way.
WhyNot Reader::whyNotAll() const {
  for (const Access *Each : Mine) {
    bool InStream = llvm::any_of(Found.All, [&](const Stream &S) {
      return llvm::any_of(
          S.Members, [&](const Access &Member) { return Member.E == Each->E; });
    });
    if (InStream || Each->Shared)
      continue;
    if (Each->Store)
      return Reason(why::StoresSingly);
    if (Each->Load && llvm::any_of(Mine, [&](const Access *Other) {
          return Other->Store && A.conflict(*Each, *Other);
        }))
      return Reason(why::ReadsStored);
  }
  return std::nullopt;
}

bool Reader::readsAfterStore() const {
  const Stmt *Body = L.Body;
  if (anyOf(Body, [](const Stmt *N) {
        const auto *B = llvm::dyn_cast<BinaryOperator>(N);
        return B && B->getOpcode() == BO_Comma;
      }))
    return true;
  for (const Access *Store : Mine) {
    if (!Store->Store)
      continue;
    const Stmt *Whole = Store->E;
    for (const Stmt *Up = Whole; Up; Up = K.parent(Up)) {
      if (llvm::isa<Expr, DeclStmt>(Up))
        Whole = Up;
      if (Up == Body)
        break;
    }
    std::optional<Range> R = F.range(Whole);
    for (const Access *Load : Mine) {
      std::optional<Range> At = F.range(Load->E);
      if (Load->Load && Load->Base != Store->Base &&
          (!R || !At || At->Begin >= R->End))
        return true;
    }
  }
  return false;
}

OrReason<Streams> Reader::read() {
  for (const Access *Each : Mine)
    if (WhyNot Why = add(*Each))
      return *Why;
  llvm::erase_if(Found.All, [](const Stream &S) { return !S.Always; });
  if (Found.All.empty())
    return Reason(why::NoStream);
  Found.Least = Found.All.front().Bytes;
  for (const Stream &S : Found.All)
    Found.Least = std::min(Found.Least, S.Bytes);
  if (WhyNot Why = whyNotAll())
    return *Why;
  Found.LoadAfterStore = readsAfterStore();
  return std::move(Found);
}

OrReason<Streams> stark::readStreams(const Facts &F, const Kernel &K,
                                     const Accesses &A,
                                     const std::vector<Reduction> &Reductions,
                                     const ThreadLoop &L) {
  if (WhyNot Why = whyNotRemap(F, K, A, Reductions, L))
    return *Why;
  return Reader(F, K, A, L).read();
}
