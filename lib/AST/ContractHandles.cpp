//===- ContractHandles.cpp - Handles of textures and surfaces -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A texture or surface object is made, handed on, and given back on each way
/// on which it was made. One that is kept is no memory that anybody counts, and
/// the number of the next one tells how many are: so it is nothing but a
/// handle.
///
//===----------------------------------------------------------------------===//

#include "ContractNames.h"
#include "ContractReader.h"
#include "TypeSteps.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/Lex/Lexer.h"
#include <map>

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// By the name that it is given: the type itself is a number's.
static bool isHandle(QualType Type) {
  if (Type.isNull()) // of a list as it is written
    return false;
  Type = Type.getNonReferenceType();
  while (const auto *Alias = Type->getAs<TypedefType>()) {
    StringRef Name = Alias->getDecl()->getName();
    if (Name == "cudaTextureObject_t" || Name == "cudaSurfaceObject_t")
      return true;
    Type = Alias->desugar();
  }
  return false;
}

static bool isHandle(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Either = dyn_cast<ConditionalOperator>(E))
    return isHandle(Either->getTrueExpr()) || isHandle(Either->getFalseExpr());
  return isHandle(E->getType());
}

/// Does \p Name make such an object?
static bool makes(StringRef Name) {
  return Name == "cudaCreateTextureObject" || Name == "cudaCreateSurfaceObject";
}

namespace {
class HandleReader : public ContractReader {
public:
  explicit HandleReader(const ContractText &Text) : ContractReader(Text) {}

  std::vector<Finding> run() {
    walk(Source);
    for (const CallExpr *Made : Makers)
      if (!isGivenBack(Made))
        add(Made->getBeginLoc(), ViolationKind::CallsFunction,
            nameOf(Made) + " with " + givesBack(nameOf(Made)).str() +
                " on some ways only",
            nameOf(Made), Harm::State);
    return std::move(Findings);
  }

  bool onDecl(Decl *D) override {
    if (auto *V = dyn_cast<VarDecl>(D); V && V->hasInit())
      passed(V->getType(), V->getInit());
    else if (auto *Field = dyn_cast<FieldDecl>(D);
             Field && Field->hasInClassInitializer() &&
             Field->getInClassInitializer())
      passed(Field->getType(), Field->getInClassInitializer());
    return true;
  }

  bool onStmt(Stmt *S) override {
    if (auto *Call = dyn_cast<CallExpr>(S))
      call(Call);
    else if (auto *Made = dyn_cast<CXXConstructExpr>(S))
      arguments(Made->getConstructor(), Made->arguments());
    else if (auto *Binary = dyn_cast<BinaryOperator>(S))
      binary(Binary);
    else if (auto *Unary = dyn_cast<UnaryOperator>(S)) {
      if (isHandle(Unary->getSubExpr()) && Unary->getOpcode() != UO_AddrOf &&
          Unary->getOpcode() != UO_LNot)
        asNumber(Unary);
    } else if (auto *Cast = dyn_cast<ExplicitCastExpr>(S))
      cast(Cast);
    else if (auto *At = dyn_cast<ArraySubscriptExpr>(S)) {
      if (isHandle(At->getIdx()))
        asNumber(At);
    } else if (auto *Switch = dyn_cast<SwitchStmt>(S)) {
      if (isHandle(Switch->getCond()))
        asNumber(Switch->getCond());
    } else if (auto *Return = dyn_cast<ReturnStmt>(S)) {
      if (Return->getRetValue() && !Functions.empty())
        passed(Functions.back()->getReturnType(), Return->getRetValue());
    } else if (auto *List = dyn_cast<InitListExpr>(S))
      list(List);
    return true;
  }

private:
  void asNumber(const Expr *E) {
    if (isOwn(E->getExprLoc()))
      add(E->getExprLoc(), ViolationKind::HandleAsNumber, "", "");
  }

  bool isZero(const Expr *E) const {
    if (E->isValueDependent())
      return false;
    auto Value = E->getIntegerConstantExpr(Context);
    return (Value && Value->isZero()) || isNull(E);
  }

  /// \p From is put into what is of type \p To.
  void passed(QualType To, const Expr *From) {
    if (!From || To.isNull()) // a hole of a list, or one as it is written
      return;
    const Expr *Plain = From->IgnoreParenImpCasts();
    // What such a list holds is looked at by itself.
    if (From->getType().isNull() ||
        isa<InitListExpr, CXXDefaultInitExpr, CXXDefaultArgExpr,
            CXXScalarValueInitExpr>(Plain) ||
        To->isDependentType() || From->isTypeDependent())
      return;
    bool Number = To.getNonReferenceType()->isIntegralOrEnumerationType() ||
                  To.getNonReferenceType()->isRealFloatingType();
    bool Test = To->isBooleanType();
    if (Number && !Test && !isHandle(To) && isHandle(From))
      asNumber(From);
    else if (isHandle(To) && !isHandle(From) && !isZero(From))
      asNumber(From);
  }

  void binary(const BinaryOperator *E) {
    const Expr *L = E->getLHS(), *R = E->getRHS();
    if (E->isLogicalOp() || E->getOpcode() == BO_Comma ||
        !(isHandle(L) || isHandle(R)))
      return;
    if (E->getOpcode() == BO_Assign)
      return passed(L->getType(), R);
    bool Test = E->isEqualityOp() && (isZero(L) || isZero(R));
    if (!Test)
      asNumber(E);
  }

  void cast(const ExplicitCastExpr *E) {
    QualType To = E->getTypeAsWritten(), From = E->getSubExpr()->getType();
    if (To->isVoidType() || To->isVoidPointerType())
      return;
    if (To->isPointerType() && From->isPointerType()) {
      if (isHandle(To->getPointeeType()) != isHandle(From->getPointeeType()))
        asNumber(E);
      return;
    }
    if (To->isReferenceType() || !To->isPointerType())
      passed(To, E->getSubExpr());
  }

  void list(const InitListExpr *List) {
    // As written it has no type.
    if (!List->isSemanticForm())
      List = List->getSemanticForm();
    if (!List)
      return;
    const RecordDecl *Record = List->getType()->getAsRecordDecl();
    if (!Record) {
      const ArrayType *Array = Context.getAsArrayType(List->getType());
      QualType Type = Array ? Array->getElementType() : List->getType();
      for (const Expr *E : List->inits())
        passed(Type, E);
      return;
    }
    if (Record->isUnion() || (isa<CXXRecordDecl>(Record) &&
                              llvm::cast<CXXRecordDecl>(Record)->getNumBases()))
      return;
    unsigned I = 0;
    for (const FieldDecl *Field : Record->fields())
      if (!Field->isUnnamedBitField() && I < List->getNumInits())
        passed(Field->getType(), List->getInit(I++));
  }

  template <class Range>
  void arguments(const FunctionDecl *F, const Range &Given) {
    // Its own parameters say what they are: of a template the deduced ones no
    // longer do.
    F = patternOf(F);
    unsigned I = 0;
    for (const Expr *E : Given) {
      const ParmVarDecl *P =
          I < F->getNumParams() ? F->getParamDecl(I) : nullptr;
      ++I;
      if (!P || P->getType()->isPointerType())
        continue;
      if (P->getType()->isDependentType() && isHandle(E))
        asNumber(E);
      else
        passed(P->getType(), E);
    }
  }

  void call(const CallExpr *Call) {
    const FunctionDecl *F = Call->getDirectCallee();
    if (!F || isa<CXXOperatorCallExpr>(Call))
      return;
    StringRef Name = F->getDeclName().isIdentifier() ? F->getName() : "";
    if (Name.starts_with("cudaLaunchKernel") || Name.starts_with("__"))
      return;
    // Its bytes are a number, and become one in what is none.
    bool Copies = Name.starts_with("mem") || Name.starts_with("cudaMemcpy");
    if (Copies && Call->getNumArgs() > 2 &&
        pointsAtHandle(Call->getArg(0)) != pointsAtHandle(Call->getArg(1)) &&
        Name != "memset")
      asNumber(Call);
    if (makes(Name) && isOwn(Call->getExprLoc()))
      Makers.push_back(Call);
    else if (Name.starts_with("cudaDestroy"))
      Givers.push_back(Call);
    arguments(F, Call->arguments());
  }

  static bool pointsAtHandle(const Expr *E) {
    QualType Type = E->IgnoreParenCasts()->getType();
    return leadsOn(Type) && isHandle(stepOf(Type));
  }

  static std::string nameOf(const CallExpr *Call) {
    return Call->getDirectCallee()->getName().str();
  }

  /// A branch on the way to a call, and its side.
  struct Branch {
    const Stmt *At;
    std::string Condition;
    bool operator==(const Branch &O) const {
      return At == O.At || (!Condition.empty() && Condition == O.Condition);
    }
  };

  /// Of \p Call in its function, from the inside. What is only done where the
  /// handle is not 0 is no branch, nor is a loop.
  std::vector<Branch> branchesTo(const CallExpr *Call) const {
    std::vector<Branch> All;
    const Stmt *Child = Call;
    DynTypedNodeList Parents = Context.getParents(*Child);
    while (!Parents.empty() && !Parents[0].get<Decl>()) {
      const Stmt *S = Parents[0].get<Stmt>();
      if (!S)
        break;
      if (auto *If = dyn_cast<IfStmt>(S); If && Child != If->getCond())
        branch(If->getCond(), Child == If->getElse(), Child, All);
      else if (auto *Either = dyn_cast<ConditionalOperator>(S);
               Either && Child != Either->getCond())
        branch(Either->getCond(), Child == Either->getFalseExpr(), Child, All);
      else if (auto *Binary = dyn_cast<BinaryOperator>(S);
               Binary && Binary->isLogicalOp() && Child == Binary->getRHS())
        branch(Binary->getLHS(), Binary->getOpcode() == BO_LOr, Child, All);
      else if (isa<SwitchCase, CXXCatchStmt>(S))
        All.push_back({Child, ""});
      Child = S;
      Parents = Context.getParents(*Child);
    }
    return All;
  }

  void branch(const Expr *Condition, bool Otherwise, const Stmt *Side,
              std::vector<Branch> &All) const {
    const Expr *Plain = Condition->IgnoreParenImpCasts();
    if (isHandle(Plain) || asksForError(Plain))
      return;
    if (const auto *Test = dyn_cast<BinaryOperator>(Plain);
        Test && Test->isEqualityOp() &&
        (isHandle(Test->getLHS()) || isHandle(Test->getRHS())))
      return;
    StringRef Words = Lexer::getSourceText(
        CharSourceRange::getTokenRange(Condition->getSourceRange()), SM,
        Context.getLangOpts());
    All.push_back(
        {Side, isFixed(Condition) ? (Otherwise ? "!" : "") + Words.str() : ""});
  }

  /// Whether the object could be made at all.
  static bool asksForError(const Expr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E);
        Ref && Ref->getDecl()->getName() == "cudaSuccess")
      return true;
    if (const auto *Call = dyn_cast<CallExpr>(E);
        Call && Call->getDirectCallee() &&
        Call->getDirectCallee()->getDeclName().isIdentifier() &&
        makes(Call->getDirectCallee()->getName()))
      return true;
    return llvm::any_of(E->children(), [](const Stmt *S) {
      const auto *Part = dyn_cast_or_null<Expr>(S);
      return Part && asksForError(Part);
    });
  }

  /// Made of constants and of parameters and const variables, which say the
  /// same later.
  static bool isFixed(const Expr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      return !V || V->getType().isConstQualified() || isa<ParmVarDecl>(V);
    }
    if (isa<CallExpr>(E))
      return false;
    return llvm::all_of(E->children(), [](const Stmt *S) {
      const auto *Part = dyn_cast_or_null<Expr>(S);
      return Part && isFixed(Part);
    });
  }

  /// Is there one that is called wherever \p Made is?
  bool isGivenBack(const CallExpr *Made) const {
    std::vector<Branch> Ways = branchesTo(Made);
    StringRef Back = givesBack(nameOf(Made));
    bool Any = false;
    for (const CallExpr *Giver : Givers) {
      if (nameOf(Giver) != Back)
        continue;
      Any = true;
      if (llvm::all_of(branchesTo(Giver), [&](const Branch &B) {
            return llvm::is_contained(Ways, B);
          }))
        return true;
    }
    // Where there is none at all that is said by itself.
    return !Any;
  }

  std::vector<const CallExpr *> Makers, Givers;
};
} // namespace

std::vector<Finding> stark::handleFindings(const ContractText &Text) {
  return HandleReader(Text).run();
}
