//===- Lambdas.cpp - Calls of lambdas in a dry run ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   time([&] { kernel<<<grid, block>>>(x, n); }): who calls it, and as whom
/// A lambda is followed on top of the frames that it was made in, so that what
/// it captures is found there. What outlives them has lost it.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace stark::draft;
using namespace clang;

/// The call operator of a lambda of type \p Type; null where it is none.
static const CXXMethodDecl *bodyOf(QualType Type) {
  const CXXRecordDecl *R = Type.getNonReferenceType()->getAsCXXRecordDecl();
  return R && R->isLambda() && !R->isDependentContext()
             ? R->getLambdaCallOperator()
             : nullptr;
}

static bool isStdFunction(QualType Type) {
  const CXXRecordDecl *R = Type.getNonReferenceType()->getAsCXXRecordDecl();
  return R && R->getIdentifier() && R->getName() == "function" &&
         R->isInStdNamespace();
}

/// In a lambda the object of the method that it was made in.
Value Machine::thisOf(const CXXThisExpr *E) const {
  const CXXRecordDecl *Wanted = E->getType()->getPointeeCXXRecordDecl();
  for (const Frame *Each = Top; Each; Each = Each->Outer)
    if (const auto *M = dyn_cast_or_null<CXXMethodDecl>(Each->Of);
        M && Wanted &&
        M->getParent()->getCanonicalDecl() == Wanted->getCanonicalDecl())
      return Each->This;
  return Top ? Top->This : Value();
}

/// \p C makes a std::function of a lambda, or of another std::function: what
/// it calls is put at \p P.
bool Machine::wrapLambda(const Place &P, const CXXConstructExpr *C) {
  if (!P || !isStdFunction(C->getType()) || C->getNumArgs() == 0)
    return false;
  const Expr *From = C->getArg(0);
  Value Callee;
  if (const CXXMethodDecl *Body = bodyOf(From->getType())) {
    Callee = functionValue(Body);
  } else if (Place Other =
                 isStdFunction(From->getType()) ? place(From) : Place()) {
    if (auto Cell = Other.To->Cells.find(Other.Offset);
        Cell != Other.To->Cells.end())
      Callee = Cell->second;
  } else if (From->getType()->isFunctionType() ||
             From->getType()->isFunctionPointerType()) {
    Callee = eval(From);
  }
  P.To->Cells[P.Offset] = std::move(Callee);
  return true;
}

/// A call \p C of \p F, std::function's own operator.
std::optional<Value> Machine::callWrapped(const CallExpr *C,
                                          const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method || !isa<CXXOperatorCallExpr>(C) || C->getNumArgs() == 0 ||
      !isStdFunction(C->getArg(0)->getType()))
    return std::nullopt;
  std::vector<const Expr *> Arguments(C->arg_begin() + 1, C->arg_end());
  if (Place P = place(C->getArg(0)))
    if (auto Cell = P.To->Cells.find(P.Offset);
        Cell != P.To->Cells.end() && Cell->second.Kind == Value::Function)
      return enter(Cell->second.Callee, Value(), Arguments);
  return callThrough(C->getArg(0)->getType(), Arguments);
}

/// A function that is not known calls the lambdas that it is given once.
void Machine::callLambdas(llvm::ArrayRef<const Expr *> Arguments) {
  for (const Expr *E : Arguments) {
    const CXXMethodDecl *Body = As ? nullptr : bodyOf(E->getType());
    if (Body && !Body->getDescribedFunctionTemplate() &&
        Body->getNumParams() == 0)
      enter(Body, Value(), {});
  }
}
