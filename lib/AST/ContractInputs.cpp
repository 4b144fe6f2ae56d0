//===- ContractInputs.cpp - What is written through const -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   casts that drop const -> variables and parameters that hold their results
/// -> what is stored through these
/// An input that is changed and put back is one that was changed: who reads it
/// meanwhile has another. A cast alone is none: vectors are read through it.
///
//===----------------------------------------------------------------------===//

#include "ContractReader.h"
#include "TypeSteps.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// Does \p E lead to what its operand may not change?
static bool dropsConst(const CastExpr *E) {
  QualType To = E->getType(), From = E->getSubExpr()->getType();
  if (To->isPointerType() && From->isPointerType())
    return From->getPointeeType().isConstQualified() &&
           !To->getPointeeType().isConstQualified();
  return isa<ExplicitCastExpr>(E) && E->isGLValue() &&
         E->getSubExpr()->isGLValue() && From.isConstQualified() &&
         !To.isConstQualified();
}

/// What the first argument of is written to.
static bool writesFirst(const FunctionDecl *F) {
  if (!F->getDeclName().isIdentifier())
    return false;
  StringRef Name = F->getName();
  for (StringRef Prefix :
       {"atomic", "cudaMemcpy", "cudaMemset", "memcpy", "memset", "memmove",
        "__stcg", "__stcs", "__stwb", "__stwt"})
    if (Name.starts_with(Prefix))
      return true;
  return false;
}

/// "st.global" and its like.
static bool storesInPtx(StringRef Ptx) {
  for (StringRef Word : {"st.", "red.", "atom."})
    for (size_t At = Ptx.find(Word); At != StringRef::npos;
         At = Ptx.find(Word, At + 1))
      if (At == 0 || !(llvm::isAlnum(Ptx[At - 1]) || Ptx[At - 1] == '_' ||
                       Ptx[At - 1] == '.'))
        return true;
  return false;
}

namespace {
class InputReader : public ContractReader {
public:
  explicit InputReader(const ContractText &Text) : ContractReader(Text) {}

  std::vector<Finding> run() {
    walk(Source);
    spread();
    for (const auto &[Variable, L] : Stores)
      if (Loose.count(Variable))
        found(L);
    return std::move(Findings);
  }

  bool onDecl(Decl *D) override {
    if (auto *V = dyn_cast<VarDecl>(D);
        V && V->hasInit() && isOwn(D->getLocation()))
      gives(V, V->getInit());
    return true;
  }

  bool onStmt(Stmt *S) override {
    if (!isOwn(S->getBeginLoc()))
      return true;
    if (auto *Binary = dyn_cast<BinaryOperator>(S);
        Binary && Binary->isAssignmentOp()) {
      store(Binary->getLHS());
      if (const VarDecl *V = variableOf(Binary->getLHS()))
        gives(V, Binary->getRHS());
    } else if (auto *Unary = dyn_cast<UnaryOperator>(S);
               Unary && Unary->isIncrementDecrementOp())
      store(Unary->getSubExpr());
    else if (auto *Call = dyn_cast<CallExpr>(S))
      call(Call);
    else if (auto *Asm = dyn_cast<GCCAsmStmt>(S);
             Asm && storesInPtx(Asm->getAsmString()->getString()))
      for (const Expr *E : Asm->inputs())
        if (!E->isTypeDependent() && E->getType()->isPointerType())
          storeTo(E, S->getBeginLoc());
    return true;
  }

private:
  /// A pointer's or reference's origin: a variable, or a cast that drops const.
  struct Origin {
    const VarDecl *Variable = nullptr;
    bool Dropped = false;
  };

  static const VarDecl *variableOf(const Expr *E) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParens());
    return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  }

  /// One that all instances of a template share.
  const VarDecl *sharedBy(const VarDecl *V) const {
    const auto *P = dyn_cast<ParmVarDecl>(V);
    const auto *F = P ? dyn_cast<FunctionDecl>(P->getDeclContext()) : nullptr;
    return F ? parameter(F, P->getFunctionScopeIndex()) : V;
  }
  static const VarDecl *parameter(const FunctionDecl *F, unsigned I) {
    const FunctionDecl *Pattern = patternOf(F), *Body = nullptr;
    if (Pattern->hasBody(Body))
      Pattern = Body;
    return I < Pattern->getNumParams() ? Pattern->getParamDecl(I) : nullptr;
  }

  /// \p E: a pointer, or what is at it.
  Origin originOf(const Expr *E) const {
    for (;;) {
      E = E->IgnoreParens();
      if (auto *Cast = dyn_cast<CastExpr>(E)) {
        if (dropsConst(Cast))
          return {nullptr, true};
        E = Cast->getSubExpr();
      } else if (auto *At = dyn_cast<ArraySubscriptExpr>(E))
        E = At->getBase();
      else if (auto *Member = dyn_cast<MemberExpr>(E))
        E = Member->getBase();
      else if (auto *Unary = dyn_cast<UnaryOperator>(E))
        E = Unary->getSubExpr();
      else if (auto *Binary = dyn_cast<BinaryOperator>(E))
        E = Binary->getOpcode() == BO_Comma || !leadsSomewhere(Binary->getLHS())
                ? Binary->getRHS()
                : Binary->getLHS();
      else if (auto *Either = dyn_cast<ConditionalOperator>(E)) {
        if (Origin O = originOf(Either->getTrueExpr()); O.Dropped)
          return O;
        E = Either->getFalseExpr();
      } else if (const VarDecl *V = variableOf(E))
        return {sharedBy(V), false};
      else
        return {};
    }
  }
  static bool leadsSomewhere(const Expr *E) {
    QualType Type = E->getType(); // a list as it is written has none
    return !Type.isNull() && (leadsOn(Type) || Type->isDependentType());
  }

  /// What lies at a pointer is another thing than where that leads.
  static bool isLoaded(const Expr *E) {
    E = E->IgnoreParenImpCasts();
    const auto *Unary = dyn_cast<UnaryOperator>(E);
    return (isa<ArraySubscriptExpr, MemberExpr>(E) ||
            (Unary && Unary->getOpcode() == UO_Deref)) &&
           !E->getType()->isArrayType();
  }

  /// \p To then leads where \p From does.
  void gives(const VarDecl *To, const Expr *From) {
    QualType Type = To->getType();
    bool Reference = Type->isReferenceType();
    if (!Reference && (isLoaded(From) || !leadsSomewhere(From)))
      return;
    if (Type->isPointerType() && Type->getPointeeType().isConstQualified())
      return; // what drops that again is seen there
    if (Reference && Type.getNonReferenceType().isConstQualified())
      return;
    Origin O = originOf(From);
    if (O.Dropped)
      Loose.insert(sharedBy(To));
    else if (O.Variable)
      Given[O.Variable].push_back(sharedBy(To));
  }

  /// \p Place is assigned to: is it at a pointer?
  void store(const Expr *Place) {
    const VarDecl *V = variableOf(Place);
    if (!V || V->getType()->isReferenceType())
      storeTo(Place, Place->getBeginLoc());
  }

  void storeTo(const Expr *Pointer, SourceLocation L) {
    Origin O = originOf(Pointer);
    if (O.Dropped)
      found(L);
    else if (O.Variable)
      Stores.push_back({O.Variable, L});
  }

  void call(const CallExpr *Call) {
    const FunctionDecl *F = calleeOf(Call);
    if (!F)
      return;
    if (!isOwn(F->getLocation())) {
      if (Call->getNumArgs() && writesFirst(F))
        storeTo(Call->getArg(0), Call->getBeginLoc());
      // cudaLaunchKernelEx(&config, kernel, arguments...)
      bool Launches = F->getDeclName().isIdentifier() &&
                      F->getName().starts_with("cudaLaunchKernelEx");
      const auto *Kernel = Launches && Call->getNumArgs() > 1
                               ? dyn_cast_or_null<FunctionDecl>(
                                     Call->getArg(1)
                                         ->IgnoreParenCasts()
                                         ->getReferencedDeclOfCallee())
                               : nullptr;
      for (unsigned I = 2; Kernel && I < Call->getNumArgs(); ++I)
        if (const VarDecl *P = parameter(Kernel, I - 2))
          gives(P, Call->getArg(I));
      return;
    }
    unsigned Skipped = isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(F);
    for (unsigned I = Skipped; I < Call->getNumArgs(); ++I)
      if (const VarDecl *P = parameter(F, I - Skipped))
        gives(P, Call->getArg(I));
  }

  static const FunctionDecl *calleeOf(const CallExpr *Call) {
    if (const FunctionDecl *F = Call->getDirectCallee())
      return F;
    // Of a template's own arguments it is not known yet which is called.
    const auto *Named =
        dyn_cast<OverloadExpr>(Call->getCallee()->IgnoreParenImpCasts());
    if (!Named || Named->getNumDecls() != 1)
      return nullptr;
    const NamedDecl *D = (*Named->decls_begin())->getUnderlyingDecl();
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      D = Template->getTemplatedDecl();
    return dyn_cast<FunctionDecl>(D);
  }

  void spread() {
    std::vector<const VarDecl *> Left(Loose.begin(), Loose.end());
    while (!Left.empty()) {
      const VarDecl *From = Left.back();
      Left.pop_back();
      for (const VarDecl *To : Given[From])
        if (Loose.insert(To).second)
          Left.push_back(To);
    }
  }

  void found(SourceLocation L) { add(L, ViolationKind::WritesConst, "", ""); }

  std::set<const VarDecl *> Loose; ///< lead to what was const
  std::map<const VarDecl *, std::vector<const VarDecl *>> Given;
  std::vector<std::pair<const VarDecl *, SourceLocation>> Stores;
};
} // namespace

std::vector<Finding> stark::inputFindings(const ContractText &Text) {
  return InputReader(Text).run();
}
