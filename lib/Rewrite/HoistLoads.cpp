//===- HoistLoads.cpp - Load once what stays the same ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a counting loop that loads the same element of global or shared
/// memory in each iteration, and also stores, or waits for other threads: the
/// element is loaded once, before the loop.
///
///     for (int i = ...; i < n; ...)         float s_once = ... ? s[row] : 0;
///       y[i] = x[i] * s[row];         ->    for (int i = ...; i < n; ...)
///                                             y[i] = x[i] * s_once;
///
/// Faster, because the compiler must take a store to change what is loaded
/// unless it knows that they lie apart, and so loads again each time.
///
/// Kept: nothing in the loop stores to the element, and where the loop waits
/// for other threads nothing in the whole kernel does. Where the loop may run
/// not at all the load is made only when it runs, for the element may not
/// exist. Refused where memory that is stored to may be the same (only the
/// workload can say it is not), where the load is made under a condition, or
/// after the loop may have ended, and where something is called.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "CountedLoop.h"
#include "Linear.h"
#include "stark/Support/Error.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

namespace {
class HoistLoads : public Rewrite {
public:
  llvm::StringRef name() const override { return "hoist-loads"; }
  llvm::StringRef summary() const override {
    return "load before a loop what stays the same in it";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};

/// When a load in a loop is made.
enum class Made {
  Always,     ///< also when no iteration runs
  WhenItRuns, ///< in the first iteration, whatever it does
  Perhaps
};

struct Hoisted {
  std::string Text, Name, Type;
  Made When = Made::WhenItRuns;
  std::vector<Range> Places;
};

class Hoist {
public:
  Hoist(const Facts &F, const Kernel &K, const Accesses &A, CountedLoop L)
      : F(F), K(K), A(A), L(L) {}
  /// Empty when there is something to hoist; "-" when nothing comes near.
  std::string read();
  llvm::Expected<std::vector<Edit>> write() const;
  size_t count() const { return Loads.size(); }
  std::string names() const;

private:
  bool isInvariant(const Access &Load) const;
  Made madeAt(const Access &Load) const;
  std::string whyChanged(const Access &Load) const;
  std::string typeOf(const Access &Load) const;
  std::string replaced(const Expr *E) const;
  std::optional<size_t> lineBefore() const;

  const Facts &F;
  const Kernel &K;
  const Accesses &A;
  const CountedLoop L;
  std::vector<Hoisted> Loads;
};
} // namespace

/// Something that other threads take part in, or wait at.
static bool isMeeting(const Stmt *N) {
  llvm::StringRef Name = calleeOf(N);
  return Name.starts_with("__sync") || Name.starts_with("__shfl") ||
         Name.starts_with("__threadfence");
}

bool Hoist::isInvariant(const Access &Load) const {
  const Expr *Address = Load.Index;
  if (!Load.Root || !Load.Load || Load.Store || Load.Unclear || !Load.Whole ||
      (!Address && !llvm::isa<UnaryOperator>(Load.E)) ||
      !isPure(Load.Whole, F.context()))
    return false;
  // Nothing that is loaded gives the place.
  bool Same = true;
  forEach(Load.E, [&](const Stmt *N) {
    if (N == Load.E)
      return;
    if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
      Same &= U->getOpcode() != UO_Deref;
    // Rows of a shared array are no loads.
    if (const auto *Sub = llvm::dyn_cast<ArraySubscriptExpr>(N))
      Same &= Sub->getType()->isArrayType();
    if (const auto *M = llvm::dyn_cast<MemberExpr>(N))
      Same &= !M->isArrow() || builtinIndex(M);
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V)
      return;
    if (V == Load.Root && V->getType()->isArrayType())
      return;
    if (!V->hasLocalStorage()) {
      Same &=
          V->isConstexpr() || builtinIndex(llvm::dyn_cast_or_null<Expr>(
                                  K.Parents->getParent(const_cast<Stmt *>(N))));
      return;
    }
    bool Outside = true;
    forEach(L.S, [&](const Stmt *In) {
      if (const auto *D = llvm::dyn_cast<DeclStmt>(In))
        for (const Decl *Each : D->decls())
          Outside &= Each != V;
    });
    Same &= Outside && isUnchangedIn(V, L.S, K.body(), *K.Parents);
  });
  return Same;
}

Made Hoist::madeAt(const Access &Load) const {
  const Stmt *At = Load.Whole;
  Made When = Made::WhenItRuns;
  for (const Stmt *Up = K.Parents->getParent(const_cast<Stmt *>(At)); Up;
       At = Up, Up = K.Parents->getParent(const_cast<Stmt *>(Up))) {
    if (Up == L.S) {
      if (At == L.S->getCond())
        return Made::Always;
      if (At != L.S->getBody())
        return Made::Perhaps;
      break;
    }
    bool First = true;
    if (const auto *If = llvm::dyn_cast<IfStmt>(Up))
      First = At == If->getCond() && !If->getInit();
    else if (const auto *Two = llvm::dyn_cast<AbstractConditionalOperator>(Up))
      First = At == Two->getCond();
    else if (const auto *B = llvm::dyn_cast<BinaryOperator>(Up))
      First = !B->isLogicalOp() || At == B->getLHS();
    else if (const auto *For = llvm::dyn_cast<ForStmt>(Up))
      First = At == For->getInit() || At == For->getCond();
    else if (const auto *While = llvm::dyn_cast<WhileStmt>(Up))
      First = At == While->getCond();
    else if (llvm::isa<SwitchStmt, SwitchCase, DoStmt, CXXForRangeStmt,
                       LambdaExpr, UnaryExprOrTypeTraitExpr>(Up))
      First = false;
    if (!First)
      When = Made::Perhaps;
  }
  // Something before it may end the iteration.
  const SourceManager &SM = F.context().getSourceManager();
  forEach(L.S->getBody(), [&](const Stmt *N) {
    if (llvm::isa<ReturnStmt, BreakStmt, ContinueStmt>(N) &&
        SM.isBeforeInTranslationUnit(N->getBeginLoc(), Load.E->getBeginLoc()))
      When = Made::Perhaps;
  });
  return When;
}

std::string Hoist::whyChanged(const Access &Load) const {
  bool Meets = false;
  forEach(L.S, [&](const Stmt *N) { Meets |= isMeeting(N); });
  std::vector<const Access *> Others = A.in(L.S);
  if (Meets) {
    Others.clear();
    for (const Access &Each : A.all())
      Others.push_back(&Each);
  }
  std::string Name = "'" + Load.Root->getNameAsString() + "'";
  for (const Access *Other : Others) {
    if (!A.conflict(Load, *Other))
      continue;
    std::string Line = "line " + std::to_string(F.lineOf(Other->E));
    if (Other->Unclear || !Other->Root)
      return "what " + Line + " writes is not known";
    const auto *P = llvm::dyn_cast<ParmVarDecl>(Load.Root),
               *Q = llvm::dyn_cast<ParmVarDecl>(Other->Root);
    if (P && Q && P != Q)
      return F.whyNotApart(K, P, Q) + " (line " +
             std::to_string(F.lineOf(Load.E)) + " loads, " + Line + " stores)";
    return Name + " is stored to at " + Line;
  }
  return "";
}

std::string Hoist::typeOf(const Access &Load) const {
  QualType T = Load.E->getType().getNonReferenceType().getUnqualifiedType();
  if (T->isArithmeticType() || T->isEnumeralType())
    return T.getAsString(F.context().getPrintingPolicy());
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || !R->getIdentifier() || R->isUnion() ||
      !T.isTriviallyCopyableType(F.context()) || !R->hasDefaultConstructor())
    return "";
  return T.getAsString(F.context().getPrintingPolicy());
}

std::string Hoist::read() {
  std::string Why;
  // What keeps the compiler from doing it.
  bool Stores = false;
  forEach(L.S, [&](const Stmt *N) { Stores |= isMeeting(N); });
  std::vector<const Access *> Mine = A.in(L.S);
  for (const Access *Each : Mine)
    Stores |= Each->Store;
  if (!Stores)
    return "-";
  for (const Access *Each : Mine) {
    if (!isInvariant(*Each))
      continue;
    // A constant cache serves what all threads have in common.
    if (Each->Root->hasAttr<CUDAConstantAttr>())
      continue;
    // Of an inner loop, when it stays the same there already.
    bool Inner = false;
    for (const Stmt *Up = Each->E; Up && Up != L.S;
         Up = K.Parents->getParent(const_cast<Stmt *>(Up)))
      Inner |= llvm::isa<ForStmt, WhileStmt, DoStmt>(Up);
    Made When = madeAt(*Each);
    std::string Name = "'" + Each->Root->getNameAsString() + "'",
                Line = " (line " + std::to_string(F.lineOf(Each->E)) + ")";
    if (When == Made::Perhaps) {
      if (Why.empty() && !Inner)
        Why = "an element of " + Name +
              " is loaded under a condition, and need not exist" + Line;
      continue;
    }
    if (std::string Changed = whyChanged(*Each); !Changed.empty()) {
      Why = Changed;
      continue;
    }
    std::optional<Range> R = F.range(Each->Whole);
    std::string Type = typeOf(*Each);
    if (!R || Type.empty()) {
      Why = "what is loaded from " + Name +
            " stands in a macro or is of no plain type" + Line;
      continue;
    }
    std::string Text = F.text(*R);
    Hoisted *Known = nullptr;
    for (Hoisted &H : Loads)
      if (H.Text == Text && H.Type == Type)
        Known = &H;
    if (!Known) {
      Hoisted H;
      H.Text = Text;
      H.Type = Type;
      std::string Base = Each->Root->getNameAsString() + "_once";
      H.Name = F.freshName(Base);
      for (unsigned I = 2; llvm::any_of(
               Loads,
               [&](const Hoisted &Other) { return Other.Name == H.Name; });
           ++I)
        H.Name = F.freshName(Base + std::to_string(I));
      H.When = When;
      Loads.push_back(std::move(H));
      Known = &Loads.back();
    }
    if (When == Made::Always)
      Known->When = When;
    Known->Places.push_back(*R);
  }
  if (Loads.empty())
    return Why.empty() ? "-" : Why;
  return "";
}

std::string Hoist::names() const {
  std::string Names;
  for (const Hoisted &H : Loads)
    Names += (Names.empty() ? "`" : ", `") + H.Text + "`";
  return Names;
}

/// \p E with the loads that are made in any case replaced.
std::string Hoist::replaced(const Expr *E) const {
  std::optional<Range> R = F.range(E);
  if (!R)
    return "";
  std::vector<Edit> Edits;
  for (const Hoisted &H : Loads)
    for (Range Place : H.Places)
      if (H.When == Made::Always && R->contains(Place))
        Edits.push_back(
            {{Place.Begin - R->Begin, Place.End - R->Begin}, H.Name});
  llvm::Expected<std::string> Text = applyEdits(F.text(*R), Edits);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return "";
  }
  return *Text;
}

/// Where a statement before the loop can be put, with its pragmas.
std::optional<size_t> Hoist::lineBefore() const {
  std::optional<Range> R = F.range(L.S);
  const Stmt *Up = K.Parents->getParent(const_cast<ForStmt *>(L.S));
  // With a pragma.
  if (llvm::isa_and_nonnull<AttributedStmt>(Up))
    Up = K.Parents->getParent(const_cast<Stmt *>(Up));
  if (!R || !llvm::isa_and_nonnull<CompoundStmt>(Up))
    return std::nullopt;
  llvm::StringRef Text = F.text();
  size_t At = R->Begin;
  while (true) {
    size_t Line = Text.rfind('\n', At ? At - 1 : 0);
    if (Line == llvm::StringRef::npos ||
        !Text.slice(Line + 1, At).trim().empty())
      break;
    size_t Above = Text.rfind('\n', Line ? Line - 1 : 0);
    Above = Above == llvm::StringRef::npos ? 0 : Above + 1;
    llvm::StringRef Before = Text.slice(Above, Line).trim();
    if (Before.ends_with("\\"))
      return std::nullopt;
    if (!Before.starts_with("#pragma"))
      break;
    At = Above + (Text.slice(Above, Line).size() -
                  Text.slice(Above, Line).ltrim().size());
  }
  // #pragma begins its line, so what comes before it is blank.
  if (At != R->Begin &&
      !Text.slice(Text.rfind('\n', At) + 1, At).trim().empty())
    return std::nullopt;
  return At;
}

static bool isWord(llvm::StringRef Text) {
  return llvm::all_of(Text,
                      [](char C) { return llvm::isAlnum(C) || C == '_'; });
}

llvm::Expected<std::vector<Edit>> Hoist::write() const {
  std::optional<size_t> At = lineBefore();
  if (!At)
    return failed("no line can be put right before it");
  std::string Guard;
  if (!surelyRuns(F, K, L)) {
    std::string Start = replaced(L.Start), Bound = replaced(L.Bound);
    std::string Type = L.I->getType().getUnqualifiedType().getAsString(
        F.context().getPrintingPolicy());
    if (Start.empty() || Bound.empty())
      return failed("a bound stands in a macro");
    if (!F.context().hasSameUnqualifiedType(L.Start->getType(), L.I->getType()))
      Start = "static_cast<" + Type + ">(" + Start + ")";
    else if (!isWord(Start))
      Start = "(" + Start + ")";
    if (!isWord(Bound))
      Bound = "(" + Bound + ")";
    Guard = Start + " " + BinaryOperator::getOpcodeStr(L.Compare).str() + " " +
            Bound + " ? ";
  }
  std::string In = F.indentAt(*At), Text;
  std::vector<Edit> Edits;
  // Those of the condition first: the others' guards use them.
  for (bool Always : {true, false})
    for (const Hoisted &H : Loads) {
      if ((H.When == Made::Always) != Always)
        continue;
      Text += "const " + H.Type + " " + H.Name + " = ";
      Text += Always || Guard.empty() ? H.Text
                                      : Guard + H.Text + " : " + H.Type + "{}";
      Text += ";\n" + In;
      for (Range Place : H.Places)
        Edits.push_back({Place, H.Name});
    }
  Edits.push_back({{*At, *At}, Text});
  return Edits;
}

void HoistLoads::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    Accesses A(F, K);
    forEach(K.body(), [&](const Stmt *N) {
      const auto *S = llvm::dyn_cast<ForStmt>(N);
      const Site *At = S ? F.siteAt(SiteKind::Loop, S) : nullptr;
      std::optional<CountedLoop> L =
          At ? readCountedLoop(F, K, S) : std::nullopt;
      if (!L)
        return;
      Hoist H(F, K, A, *L);
      std::string Why = H.read();
      if (Why == "-")
        return;
      if (!Why.empty()) {
        Out.refuse(At->Id, At->Line, Why);
        return;
      }
      Match M;
      M.Site = At->Id;
      M.Line = At->Line;
      M.Sites = {K.name()};
      M.Alone = true;
      M.Promise = 45;
      M.Title = "Load before the loop what stays the same";
      M.Advice = "Each iteration of the loop at line " +
                 std::to_string(At->Line) + " loads " + H.names() +
                 " again, because the compiler must expect a store of the loop "
                 "to change it. None does: load once, before the loop.";
      // The accesses live only as long as this function.
      llvm::Expected<std::vector<Edit>> Edits = H.write();
      if (!Edits) {
        Out.refuse(At->Id, At->Line, llvm::toString(Edits.takeError()));
        return;
      }
      Out.offer(std::move(M), std::move(*Edits));
    });
  }
}

std::unique_ptr<const Rewrite> stark::makeHoistLoads() {
  return std::make_unique<HoistLoads>();
}
