//===- ContractStreams.cpp - Where work may go ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
///   A stream is one that an entry was given: none is made of bytes, and where
/// there is one, nothing is asked of the default stream, which nothing orders
/// with it.
///
//===----------------------------------------------------------------------===//

#include "ContractReader.h"
#include "TypeSteps.h"
#include "clang/AST/ExprCXX.h"
#include <map>

using namespace stark;
using namespace clang;
using llvm::StringRef;

static bool isStream(QualType Type) {
  const CXXRecordDecl *Record =
      Type->isPointerType() ? Type->getPointeeCXXRecordDecl() : nullptr;
  return Record && Record->getName() == "CUstream_st";
}

/// Whether a value of \p Type is a stream, holds one or leads to one, within
/// \p Depth records.
static bool reachesStream(QualType Type, unsigned Depth = 4) {
  Type = Type.getCanonicalType().getNonReferenceType();
  while (!isStream(Type) && leadsOn(Type))
    Type = stepOf(Type);
  if (isStream(Type))
    return true;
  if (const auto *F = Type->getAs<FunctionType>())
    return Depth && reachesStream(F->getReturnType(), Depth - 1);
  const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
  return Record && Record->hasDefinition() && Depth &&
         llvm::any_of(Record->fields(), [&](const FieldDecl *F) {
           return reachesStream(F->getType(), Depth - 1);
         });
}

/// Of the runtime's, by name.
static bool copiesOrSets(const FunctionDecl *F) {
  StringRef Name = F->getDeclName().isIdentifier() ? F->getName() : "";
  return Name.starts_with("cudaMemcpy") || Name.starts_with("cudaMemset");
}

namespace {
class StreamReader : public ContractReader {
public:
  explicit StreamReader(const ContractText &Text) : ContractReader(Text) {}

  std::vector<Finding> run() {
    walk(Source);
    followCalls();
    for (auto &[F, What] : InDefault)
      if (Given.count(F))
        Findings.push_back(std::move(What));
    return std::move(Findings);
  }

  bool onDecl(Decl *D) override {
    if (auto *Field = dyn_cast<FieldDecl>(D);
        Field && Field->getParent()->isUnion())
      fromBytes(Field->getType(), D->getLocation());
    if (auto *F = dyn_cast<FunctionDecl>(D); F && isOwn(F->getLocation()))
      for (const ParmVarDecl *P : F->parameters())
        if (isStream(P->getType()))
          Given.insert(Functions.empty() ? patternOf(F) : outermost());
    return true;
  }

  bool onStmt(Stmt *S) override {
    if (auto *Call = dyn_cast<CallExpr>(S))
      call(Call);
    else if (auto *Unary = dyn_cast<UnaryOperator>(S);
             Unary && Unary->getOpcode() == UO_AddrOf &&
             isStream(Unary->getSubExpr()->getType()))
      fromBytes(Unary->getSubExpr()->getType(), Unary->getOperatorLoc());
    else if (auto *Cast = dyn_cast<CastExpr>(S))
      cast(Cast);
    else if (auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      byPointer(Ref);
      names(Ref->getDecl());
    } else if (auto *Member = dyn_cast<MemberExpr>(S))
      names(Member->getMemberDecl());
    else if (auto *Overload = dyn_cast<OverloadExpr>(S))
      for (const NamedDecl *D : Overload->decls())
        names(D);
    else if (auto *Made = dyn_cast<CXXConstructExpr>(S))
      names(Made->getConstructor());
    return true;
  }

private:
  /// A lambda is part of the function that it is in.
  const FunctionDecl *outermost() const { return patternOf(Functions.front()); }

  void names(const NamedDecl *D) {
    const NamedDecl *Underlying = D->getUnderlyingDecl();
    if (auto *Template = dyn_cast<FunctionTemplateDecl>(Underlying))
      Underlying = Template->getTemplatedDecl();
    if (auto *F = dyn_cast<FunctionDecl>(Underlying);
        F && !Functions.empty() && isOwn(F->getLocation()))
      Named[outermost()].insert(patternOf(F));
  }

  /// What one that is given a stream names may be called by it.
  void followCalls() {
    std::vector<const FunctionDecl *> Left(Given.begin(), Given.end());
    while (!Left.empty()) {
      const FunctionDecl *F = Left.back();
      Left.pop_back();
      for (const FunctionDecl *Next : Named[F])
        if (Given.insert(Next).second)
          Left.push_back(Next);
    }
  }

  /// A stream could be put together here, of type \p Type.
  void fromBytes(QualType Type, SourceLocation L) {
    if (isOwn(L) && !Type->isDependentType() && reachesStream(Type))
      add(L, ViolationKind::StreamFromNumber, "", "");
  }

  void cast(const CastExpr *E) {
    QualType To = E->getType(), From = E->getSubExpr()->getType();
    if (E->isTypeDependent() || Cleared.count(E))
      return;
    switch (E->getCastKind()) {
    case CK_IntegralToPointer:
      // Of a place in memory nothing is known but that it is one.
      if (isStream(To))
        fromBytes(To, E->getExprLoc());
      break;
    case CK_BitCast:
    case CK_LValueBitCast:
    case CK_LValueToRValueBitCast:
      if (Context.hasSameUnqualifiedType(To, From))
        break;
      fromBytes(To, E->getExprLoc());
      // A handle that is only handed on, as a launch does, stays what it is.
      if (E->getCastKind() != CK_BitCast || !isStream(From))
        fromBytes(From, E->getExprLoc());
      break;
    default:
      break;
    }
  }

  void inDefault(SourceLocation L, StringRef Name) {
    if (!onDevice() && isOwn(L) && !Functions.empty())
      InDefault.push_back(
          {outermost(), finding(L, ViolationKind::CallsFunction,
                                (Name + " in the default stream").str(), Name,
                                Harm::Streams)});
  }

  void call(const CallExpr *Call) {
    SourceLocation L = Call->getExprLoc();
    if (auto *Launch = dyn_cast<CUDAKernelCallExpr>(Call)) {
      if (const CallExpr *Config = Launch->getConfig();
          Config && (Config->getNumArgs() < 4 || isNull(Config->getArg(3))))
        inDefault(L, "a kernel");
      return;
    }
    const FunctionDecl *F = Call->getDirectCallee();
    if (!F || !F->getDeclName().isIdentifier() ||
        F->getName().starts_with("__"))
      return;
    Called.insert(Call->getCallee()->IgnoreParenImpCasts());
    if (qualifiedName(F) == "std::bit_cast")
      fromBytes(Call->getType(), L);
    clears(Call);
    bool Takes = false;
    for (unsigned I = 0; I < F->getNumParams() && I < Call->getNumArgs(); ++I)
      if (isStream(F->getParamDecl(I)->getType())) {
        Takes = true;
        if (isNull(Call->getArg(I)) && !F->getName().starts_with("cudaStream"))
          inDefault(L, F->getName());
      }
    if (!Takes && copiesOrSets(F))
      inDefault(L, F->getName());
  }

  /// What is called by a pointer nobody sees the stream of.
  void byPointer(const DeclRefExpr *Ref) {
    const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl());
    if (F && !Called.count(Ref) && isOwn(Ref->getLocation()) && !onDevice() &&
        F->getDeclName().isIdentifier() && !isOwn(F->getLocation()) &&
        (copiesOrSets(F) || F->getName().starts_with("cudaLaunch")))
      add(Ref->getLocation(), ViolationKind::CallsFunction,
          (F->getName() + " by a pointer").str(), F->getName(), Harm::Streams);
  }

  std::set<const FunctionDecl *> Given; ///< a stream, or by one that is
  std::map<const FunctionDecl *, std::set<const FunctionDecl *>> Named;
  std::set<const Expr *> Called;
  std::vector<std::pair<const FunctionDecl *, Finding>> InDefault;
};
} // namespace

std::vector<Finding> stark::streamFindings(const ContractText &Text) {
  return StreamReader(Text).run();
}
