//===- ContractPlaces.cpp - Where a pointer comes from --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractPlaces.h"
#include "TypeSteps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

const Expr *PlaceReader::plain(const Expr *E) {
  for (;;) {
    E = E->IgnoreParens();
    if (auto *Whole = dyn_cast<FullExpr>(E))
      E = Whole->getSubExpr();
    else if (auto *Kept = dyn_cast<MaterializeTemporaryExpr>(E))
      E = Kept->getSubExpr();
    else if (auto *Bound = dyn_cast<CXXBindTemporaryExpr>(E))
      E = Bound->getSubExpr();
    else if (auto *Made = dyn_cast<CXXConstructExpr>(E);
             Made && Made->getNumArgs() == 1 &&
             Made->getConstructor()->isCopyOrMoveConstructor())
      E = Made->getArg(0);
    else if (auto *List = dyn_cast<InitListExpr>(E);
             List && List->getNumInits() == 1 && !List->getType().isNull() &&
             List->getType()->isScalarType())
      E = List->getInit(0);
    else
      return E;
  }
}

const VarDecl *PlaceReader::variableOf(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(plain(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

const Expr *PlaceReader::addressed(const Expr *E) {
  E = plain(E);
  while (const auto *Cast = dyn_cast<CastExpr>(E))
    E = plain(Cast->getSubExpr());
  const auto *Unary = dyn_cast<UnaryOperator>(E);
  return Unary && Unary->getOpcode() == UO_AddrOf ? plain(Unary->getSubExpr())
                                                  : nullptr;
}

bool PlaceReader::mayBeAddress(QualType Type) {
  return Type->isPointerType() ||
         (!Type->isDependentType() && Type->isIntegerType() &&
          !Type->isBooleanType() && !Type->isEnumeralType() &&
          (Type->isSpecificBuiltinType(BuiltinType::Long) ||
           Type->isSpecificBuiltinType(BuiltinType::ULong) ||
           Type->isSpecificBuiltinType(BuiltinType::LongLong) ||
           Type->isSpecificBuiltinType(BuiltinType::ULongLong)));
}

const FieldDecl *PlaceReader::fieldOf(const Expr *E) {
  const auto *Member = dyn_cast<MemberExpr>(E);
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  if (!Field || !mayBeAddress(Field->getType()))
    return nullptr;
  return Field->getParent()->isUnion() ? *Field->getParent()->field_begin()
                                       : Field;
}

const VarDecl *PlaceReader::sharedBy(const VarDecl *V) {
  const auto *P = dyn_cast<ParmVarDecl>(V);
  const auto *F = P ? dyn_cast<FunctionDecl>(P->getDeclContext()) : nullptr;
  return F ? parameter(F, P->getFunctionScopeIndex()) : V;
}

const VarDecl *PlaceReader::parameter(const FunctionDecl *F, unsigned I) {
  const FunctionDecl *Pattern = patternOf(F), *Body = nullptr;
  if (Pattern->hasBody(Body))
    Pattern = Body;
  return I < Pattern->getNumParams() ? Pattern->getParamDecl(I) : nullptr;
}

const FunctionDecl *PlaceReader::calleeOf(const CallExpr *Call) {
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

bool PlaceReader::leadsSomewhere(const Expr *E) {
  QualType Type = E->getType(); // a list as it is written has none
  return !Type.isNull() && (leadsOn(Type) || Type->isDependentType());
}

/// Of two types that lead somewhere: is something const at the end of the one,
/// or on the way there, that is not at the same step of the other?
static bool losesConst(QualType From, QualType To) {
  while (From->isPointerType() && To->isPointerType()) {
    From = From->getPointeeType();
    To = To->getPointeeType();
    if (From.isConstQualified() && !To.isConstQualified())
      return true;
  }
  return false;
}

/// Does \p E lead to what its operand may not change?
static bool dropsConst(const CastExpr *E) {
  QualType To = E->getType(), From = E->getSubExpr()->getType();
  if (E->isTypeDependent() || To.isNull() || From.isNull())
    return To->isPointerType() && From->isPointerType() && losesConst(From, To);
  // A number has no const.
  if (From->isPointerType() && To->isIntegerType() && !To->isBooleanType())
    return From->getPointeeType().isConstQualified();
  if (From->isPointerType() && To->isPointerType())
    return losesConst(From, To);
  return isa<ExplicitCastExpr>(E) && E->isGLValue() &&
         E->getSubExpr()->isGLValue() &&
         ((From.isConstQualified() && !To.isConstQualified()) ||
          losesConst(From, To));
}

/// A pointer whose type lets all be written that it leads to.
static bool isPlainPointer(QualType Type) {
  if (Type.isNull() || Type->isDependentType() || !Type->isPointerType())
    return false;
  for (; Type->isPointerType(); Type = Type->getPointeeType())
    if (Type->getPointeeType().isConstQualified())
      return false;
  return true;
}

bool PlaceReader::onlyCalledConst(const Expr *E) {
  for (E = plain(E); const auto *Cast = dyn_cast<CastExpr>(E);
       E = plain(Cast->getSubExpr()))
    if (isPlainPointer(Cast->getSubExpr()->getType()))
      return true;
  return false;
}

/// Of a library: gives what it was given, as another type perhaps.
static bool handsOn(const FunctionDecl *F) {
  return F->getDeclName().isIdentifier() &&
         llvm::StringSwitch<bool>(F->getName())
             .Cases("bit_cast", "launder", "move", "forward", "addressof",
                    "assume_aligned", "__builtin_assume_aligned",
                    "__builtin_launder", "__builtin_addressof", true)
             .Cases("__cvta_generic_to_global", "__cvta_global_to_generic",
                    "to_address", true)
             .Default(false);
}

/// Of the operand that leads where \p E does.
Origin PlaceReader::ofBinary(const BinaryOperator *E) const {
  const Expr *L = E->getLHS(), *R = E->getRHS();
  if (E->getOpcode() == BO_Comma)
    return originOf(R);
  if (E->isAssignmentOp())
    return originOf(L);
  if (leadsSomewhere(E))
    return originOf(leadsSomewhere(L) ? L : R);
  switch (E->getOpcode()) {
  case BO_Add:
  case BO_Or:
  case BO_Xor:
    if (Origin O = originOf(L); O.From.Root || O.Dropped)
      return O;
    return originOf(R);
  case BO_Sub:
    // What lies between two places is no place.
    return leadsSomewhere(L) ? Origin() : originOf(L);
  case BO_And: { // up or down to a multiple
    const auto *Mask = dyn_cast<UnaryOperator>(R->IgnoreParenImpCasts());
    return Mask && (Mask->getOpcode() == UO_Not ||
                    Mask->getOpcode() == UO_Minus)
               ? originOf(L)
               : Origin();
  }
  default:
    return {};
  }
}

static bool keepsPlace(UnaryOperatorKind Kind) {
  return Kind != UO_Not && Kind != UO_Minus && Kind != UO_LNot;
}

/// \p Found, on the way that \p Way has come.
static Origin ofEither(const Origin &Way, Origin Found) {
  Found.Dropped |= Way.Dropped;
  if (Way.From.Field)
    Found.From.Field = Way.From.Field;
  return Found;
}

Origin PlaceReader::originOf(const Expr *E) const {
  Origin O;
  while (E) {
    E = plain(E);
    // What was const only after this was never so.
    if (isPlainPointer(E->getType()))
      O.Dropped = false;
    if (auto *Cast = dyn_cast<CastExpr>(E)) {
      O.Dropped |= dropsConst(Cast);
      E = Cast->getSubExpr();
      if (!O.From.Field && Cast->getCastKind() == CK_LValueToRValue)
        O.From.Field = fieldOf(plain(E));
    } else if (auto *At = dyn_cast<ArraySubscriptExpr>(E))
      E = At->getBase();
    else if (auto *Member = dyn_cast<MemberExpr>(E))
      E = Member->getBase();
    else if (auto *Unary = dyn_cast<UnaryOperator>(E))
      E = keepsPlace(Unary->getOpcode()) ? Unary->getSubExpr() : nullptr;
    else if (auto *Binary = dyn_cast<BinaryOperator>(E))
      return ofEither(O, ofBinary(Binary));
    else if (auto *Either = dyn_cast<ConditionalOperator>(E)) {
      if (Origin First = originOf(Either->getTrueExpr()); First.Dropped)
        return ofEither(O, First);
      E = Either->getFalseExpr();
    } else if (auto *Call = dyn_cast<CallExpr>(E)) {
      const FunctionDecl *F = calleeOf(Call);
      if (F && isOwn(F->getLocation()) && !isa<CXXOperatorCallExpr>(Call))
        O.From.Root = patternOf(F);
      if (O.From.Root || !F || !handsOn(F) || !Call->getNumArgs())
        return O;
      E = Call->getArg(0);
      O.Dropped |= leadsToConst(E->getType()) &&
                   mayBeAddress(Call->getType()) &&
                   !leadsToConst(Call->getType());
    } else {
      if (const VarDecl *V = variableOf(E))
        O.From.Root = sharedBy(V);
      return O;
    }
  }
  return O;
}
