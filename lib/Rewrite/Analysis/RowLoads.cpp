//===- RowLoads.cpp - Loops that read along memory ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLoads.h"
#include "CodeTemplate.h"
#include "Linear.h"
#include "LoopElement.h"
#include "ProductIndex.h"
#include "Streams.h"
#include "WideVectors.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind Waits("it waits for other threads");
static constexpr ReasonKind TooShort("it runs too seldom to be worth it");
static constexpr ReasonKind
    OddBegin("whether it begins at a multiple of %0 is not the same for all "
             "threads of a block");
static constexpr ReasonKind
    OddRows("rows of '%0' do not begin at multiples of %1 elements, or for "
            "some threads alone");
static constexpr ReasonKind
    SideBySide("threads side by side read '%0' side by side already");
static constexpr ReasonKind
    Perhaps("an element of '%0' is read under a condition (line %1)");

static constexpr ReasonKind
    LoadsAndStores("line %0 loads and stores '%1' in each iteration");

namespace {
/// Vectors that a loop takes at least to be worth a second one for the rest.
constexpr uint64_t FewVectors = 16;

class Reader {
public:
  Reader(const Facts &F, const Kernel &K, const Accesses &A,
         const CountedLoop &L)
      : F(F), K(K), A(A), Terms(F, K), Common(F, K), Mine(A.in(L.S)) {
    Found.L = L;
  }
  std::optional<OrReason<RowLoads>> read();

private:
  void gather();
  WhyNot whyNotLoop() const;
  WhyNot whyNotStores() const;
  WhyNot whyNotLong();
  const IfStmt *ownSkip(const VarDecl *&Own) const;
  bool isReadBefore(const RowLoad &R, const VarDecl *At) const;
  bool isReadAlways(const RowLoad &R) const;
  WhyNot whyNotRead(const RowLoad &R) const;
  WhyNot whyNotAligned(const RowLoad &R);
  bool addTest(const std::vector<const Expr *> &Factors);
  void add(std::string Test);

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const Linear Terms;
  const ProductIndex Common;
  const std::vector<const Access *> Mine;
  RowLoads Found;
};
} // namespace

/// Loads at the index plus something that stays the same.
void Reader::gather() {
  ThreadLoop Index = Found.index();
  for (const Access *Each : Mine) {
    unsigned Bytes = elementBytes(Each->E->getType(), F.context());
    if (!Each->Load || Each->Store || Each->Shared || Bytes < 2 ||
        !Each->Index || !Each->Base || !Each->Whole ||
        !llvm::isa_and_nonnull<ParmVarDecl>(Each->Root) ||
        !Each->Base->getType()->isPointerType() || !K.keeps(Each->Base) ||
        !isShiftedIndex(F, K, Index, Each->Index) || !F.range(Each->Whole) ||
        !withIndex(F, K, Index, Each->Index, "i"))
      continue;
    auto Into = llvm::find_if(Found.All, [&](const RowLoad &R) {
      return R.Base == Each->Base &&
             isSameShift(F, K, Index, R.Index, Each->Index);
    });
    if (Into == Found.All.end())
      Into = Found.All.insert(
          Into,
          {Each->Base, Each->Index, F.typeName(Each->E->getType()), Bytes, {}});
    Into->Members.push_back(*Each);
  }
}

WhyNot Reader::whyNotLoop() const {
  if (meetsThreads(Found.L.S) || anyOf(Found.L.S, isWarpOperation))
    return Reason(Waits);
  if (anyOf(Found.L.S->getBody(),
            [](const Stmt *N) { return llvm::isa<ReturnStmt, BreakStmt>(N); }))
    return Reason(why::EndsEarly);
  return std::nullopt;
}

/// What is loaded and stored in each iteration is waited for, however wide the
/// other loads are; so it has to stay in a register.
WhyNot Reader::whyNotStores() const {
  auto IsKept = [&](const Access *Each) {
    return llvm::any_of(Found.Kept, [&](const KeptElement &E) {
      return llvm::is_contained(E.Uses, Each->E);
    });
  };
  for (const Access *Each : Mine) {
    if (!Each->Store || Each->Shared || !Each->Root || IsKept(Each))
      continue;
    if (llvm::any_of(Mine, [&](const Access *Other) {
          return Other->Load && Other->Root == Each->Root;
        }))
      return Reason(LoadsAndStores, F.lineOf(Each->E), nameOf(Each->Root));
  }
  return std::nullopt;
}

/// if (i == own) continue; of a variable \p Own that the loop keeps.
const IfStmt *Reader::ownSkip(const VarDecl *&Own) const {
  const auto *Body = llvm::dyn_cast<CompoundStmt>(Found.L.S->getBody());
  if (!Body)
    return nullptr;
  for (const Stmt *S : Body->body()) {
    const auto *If = llvm::dyn_cast<IfStmt>(S);
    const BinaryOperator *B = If ? binary(If->getCond()) : nullptr;
    if (!B || B->getOpcode() != BO_EQ || If->getElse() ||
        !llvm::isa_and_nonnull<ContinueStmt>(onlyStatement(If->getThen())))
      continue;
    const VarDecl *L = variableOf(B->getLHS()), *R = variableOf(B->getRHS());
    Own = L == Found.L.I ? R : L;
    if ((L == Found.L.I) != (R == Found.L.I) && Own && K.keeps(Own))
      return If;
  }
  return nullptr;
}

/// A statement before the loop, which runs whenever the loop does, reads the
/// element of \p R whose index is \p At.
bool Reader::isReadBefore(const RowLoad &R, const VarDecl *At) const {
  if (variableOf(R.Index) != Found.L.I)
    return false;
  const Stmt *Loop = Found.L.S;
  for (const Stmt *Up = K.parent(Loop); Up; Loop = Up, Up = K.parent(Up)) {
    const auto *Block = llvm::dyn_cast<CompoundStmt>(Up);
    if (!Block)
      continue;
    for (const Stmt *S : Block->body()) {
      if (S == Loop)
        break;
      if (!llvm::isa<DeclStmt, Expr>(S) || anyOf(S, [](const Stmt *N) {
            const auto *B = llvm::dyn_cast<BinaryOperator>(N);
            return llvm::isa<AbstractConditionalOperator>(N) ||
                   (B && B->isLogicalOp());
          }))
        continue;
      for (const Access *Each : A.in(S))
        if (Each->Load && Each->Base == R.Base && variableOf(Each->Index) == At)
          return true;
    }
  }
  return false;
}

/// Each element is one that the source reads.
bool Reader::isReadAlways(const RowLoad &R) const {
  const VarDecl *Own = nullptr;
  const IfStmt *Skip = ownSkip(Own);
  return llvm::any_of(R.Members, [&](const Access &Each) {
    return madeIn(F, K, Found.L, Each) != Made::Perhaps ||
           (Skip && madeIn(F, K, Found.L, Each, Skip) != Made::Perhaps &&
            isReadBefore(R, Own));
  });
}

/// Each element is read by the source, and nothing changes it meanwhile.
WhyNot Reader::whyNotRead(const RowLoad &R) const {
  const Access &First = R.Members.front();
  if (!isReadAlways(R))
    return Reason(Perhaps, nameOf(R.Base), F.lineOf(First.E));
  for (const Access *Other : Mine) {
    if (!A.conflict(First, *Other))
      continue;
    unsigned Line = F.lineOf(Other->E);
    const auto *P = llvm::dyn_cast<ParmVarDecl>(First.Root),
               *Q = llvm::dyn_cast_or_null<ParmVarDecl>(Other->Root);
    if (Other->Unclear || !Q || P == Q)
      return Reason(why::LineWrites, Line);
    if (WhyNot Why = F.whyNotApart(K, P, Q))
      return Reason(why::LoadMayOverlap, *Why, F.lineOf(First.E), Line);
  }
  return std::nullopt;
}

void Reader::add(std::string Test) {
  if (!llvm::is_contained(Found.Tests, Test))
    Found.Tests.push_back(std::move(Test));
}

/// The product of \p Factors is a multiple of the width, seen or tested for.
bool Reader::addTest(const std::vector<const Expr *> &Factors) {
  std::string Zero = " % " + std::to_string(Found.Width) + " == 0", Any, All;
  bool OfBlock = true;
  for (const Expr *Factor : Factors) {
    if (std::optional<uint64_t> C = F.constantOf(Factor, K);
        C && *C % Found.Width == 0)
      return true;
    OfBlock &= Common.isOfBlock(Factor);
    std::string Text = F.text(Factor);
    if (Text.empty())
      OfBlock = false;
    else if (parameterOf(Factor, K))
      Any += (Any.empty() ? "" : " || ") + asOperand(Text) + Zero;
    All += (All.empty() ? "" : " * ") + asOperand(Text);
  }
  if (!Any.empty())
    add(llvm::StringRef(Any).contains("||") ? "(" + Any + ")" : Any);
  else if (OfBlock && !All.empty())
    add("(" + All + ")" + Zero);
  else
    return false;
  return true;
}

WhyNot Reader::whyNotAligned(const RowLoad &R) {
  std::optional<std::vector<LinearTerm>> Offset =
      Terms.offsetOf(R.Members.front());
  Reason Odd(OddRows, nameOf(R.Base), Found.Width);
  if (!Offset)
    return Odd;
  Growth By = Terms.growth(*Offset, Found.L.I);
  if (By.Is != Growth::Linear || By.Negative || !By.Coefficient.empty())
    return Odd;
  for (const LinearTerm &T : *Offset) {
    bool Counts = llvm::any_of(T.Factors, [&](const Expr *Factor) {
      return variableOf(Factor) == Found.L.I;
    });
    if (Counts)
      continue;
    if (T.Factors.size() == 1 && isBuiltin(T.Factors[0], "threadIdx", 'x'))
      return Reason(SideBySide, nameOf(R.Base));
    if (!addTest(T.Factors))
      return Odd;
  }
  add("is_wide_aligned(" + nameOf(R.Members.front().Root) + ")");
  return std::nullopt;
}

/// Each row is long enough, and begins alike.
WhyNot Reader::whyNotLong() {
  std::optional<uint64_t> From = F.leastOf(Found.L.Start, K),
                          To = F.leastOf(Found.L.Bound, K);
  if (From && To && *To < *From + FewVectors * Found.Width)
    return Reason(TooShort);
  if (F.constantOf(Found.L.Start, K) != 0u && !addTest({Found.L.Start}))
    return Reason(OddBegin, Found.Width);
  return std::nullopt;
}

std::optional<OrReason<RowLoads>> Reader::read() {
  gather();
  if (Found.All.empty())
    return std::nullopt;
  if (WhyNot Why = whyNotLoop())
    return *Why;
  WhyNot Lacks;
  llvm::erase_if(Found.All, [&](const RowLoad &R) {
    WhyNot Why = whyNotRead(R);
    if (Why)
      Lacks = Why;
    return Why.has_value();
  });
  unsigned Least = VectorBytes;
  for (const RowLoad &R : Found.All)
    Least = std::min(Least, R.Bytes);
  Found.Width = VectorBytes / Least;
  llvm::erase_if(Found.All, [&](const RowLoad &R) {
    std::vector<std::string> Before = Found.Tests;
    WhyNot Why = whyNotAligned(R);
    if (Why) {
      Lacks = Why;
      Found.Tests = std::move(Before);
    }
    return Why.has_value();
  });
  if (Found.All.empty())
    return *Lacks;
  if (WhyNot Why = whyNotLong())
    return *Why;
  Found.Kept = findKeptElements(F, K, A, Found.L).All;
  if (WhyNot Why = whyNotStores())
    return *Why;
  return std::move(Found);
}

std::optional<OrReason<RowLoads>> stark::readRowLoads(const Facts &F,
                                                      const Kernel &K,
                                                      const Accesses &A,
                                                      const ForStmt *S) {
  bool Inner = anyOf(S->getBody(), [](const Stmt *N) {
    return llvm::isa<ForStmt, WhileStmt, DoStmt>(N);
  });
  std::optional<CountedLoop> L =
      Inner ? std::nullopt : readCountedLoop(F, K, S);
  if (!L || L->Down || (L->Step && F.constantOf(L->Step, K) != 1u) ||
      (L->Compare != BO_LT && L->Compare != BO_LE) || readsMemory(L->Start) ||
      readsMemory(L->Bound))
    return std::nullopt;
  return Reader(F, K, A, *L).read();
}
