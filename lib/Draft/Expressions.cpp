//===- Expressions.cpp - What expressions come to in a dry run -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include <cmath>

using namespace stark;
using namespace stark::draft;
using namespace clang;

std::optional<bool> Machine::truth(const Value &V) {
  switch (V.Kind) {
  case Value::Integer:
    return V.Number != 0;
  case Value::Real:
    return V.Floating != 0;
  case Value::Address:
    return V.To != nullptr;
  case Value::Function:
    return true;
  case Value::Unknown:
    noteCompared(V, 0);
    break;
  }
  return std::nullopt;
}

/// threadIdx.x and its kin.
Value Machine::evalBuiltin(const Expr *E) {
  llvm::StringRef Base, Field;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    bool Warp = V && V->getName() == "warpSize" && V->isFileVarDecl();
    return Warp ? Value::integer(32) : Value();
  }
  if (const auto *P = dyn_cast<PseudoObjectExpr>(E))
    E = P->getSyntacticForm();
  E = E->IgnoreParenImpCasts();
  if (const auto *P = dyn_cast<MSPropertyRefExpr>(E)) {
    const Expr *Of = P->getBaseExpr()->IgnoreParenImpCasts();
    if (const auto *Seen = dyn_cast<OpaqueValueExpr>(Of))
      Of = Seen->getSourceExpr()->IgnoreParenImpCasts();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Of);
        Ref && Ref->getDecl()->getIdentifier())
      Base = Ref->getDecl()->getName();
    Field = P->getPropertyDecl()->getName();
  } else if (const auto *M = dyn_cast<MemberExpr>(E)) {
    if (const auto *Ref =
            dyn_cast<DeclRefExpr>(M->getBase()->IgnoreParenImpCasts());
        Ref && Ref->getDecl()->getIdentifier())
      Base = Ref->getDecl()->getName();
    if (M->getMemberDecl()->getIdentifier())
      Field = M->getMemberDecl()->getName();
  }
  if (!As || Field.size() != 1 || Field[0] < 'x' || Field[0] > 'z')
    return Value();
  int Axis = Field[0] - 'x';
  std::string Name = (Base + "." + Field).str();
  if (Base == "threadIdx" || Base == "blockIdx")
    AxisUsed[Axis] = true;
  BlockUsed[Axis] |= Base == "blockIdx";
  ThreadUsed[Axis] |= Base == "threadIdx";
  if (Base == "threadIdx")
    return Value::integer(As->Index[Axis], draft::named(Name));
  if (Base == "blockIdx")
    return Value::integer(As->Block[Axis], draft::named(Name));
  if (Base == "blockDim")
    return Value::integer(As->BlockDim[Axis], draft::named(Name));
  if (Base == "gridDim")
    return Value::integer(As->GridDim[Axis], draft::named(Name));
  return Value();
}

static bool isThreadBuiltin(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  if (!Ref || !Ref->getDecl()->getIdentifier())
    return false;
  const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
  if (!V || !V->hasGlobalStorage())
    return false; // a variable of the host's that is called so
  llvm::StringRef Name = Ref->getDecl()->getName();
  return Name == "threadIdx" || Name == "blockIdx" || Name == "blockDim" ||
         Name == "gridDim";
}

Value Machine::evalNew(const CXXNewExpr *N) {
  Value Count = Value::integer(1);
  if (N->isArray() && N->getArraySize() && *N->getArraySize())
    Count = eval(*N->getArraySize());
  Value Bytes =
      arithmetic(BO_Mul, Count, Value::integer(sizeOf(N->getAllocatedType())),
                 Context.getSizeType());
  Object *O = create("new", Space::Host, Bytes.isInteger() ? Bytes.Number : -1,
                     Bytes.How, N->getAllocatedType());
  if (!N->isArray() && N->getInitializer()) {
    Place P = placeAt(Value::address(O), N->getAllocatedType());
    initialize(P, N->getInitializer());
  }
  return Value::address(O);
}

/// What only stands around another expression, or is known without any.
std::optional<Value> Machine::evalWrapped(const Expr *E) {
  if (const auto *D = dyn_cast<CXXDefaultArgExpr>(E))
    return eval(D->getExpr());
  if (const auto *D = dyn_cast<CXXDefaultInitExpr>(E))
    return eval(D->getExpr());
  if (const auto *W = dyn_cast<FullExpr>(E))
    return eval(W->getSubExpr());
  if (const auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
    return E->getType()->isRecordType() ? load(place(M))
                                        : eval(M->getSubExpr());
  if (const auto *B = dyn_cast<CXXBindTemporaryExpr>(E))
    return eval(B->getSubExpr());
  if (const auto *S = dyn_cast<SubstNonTypeTemplateParmExpr>(E)) {
    Expr::EvalResult R;
    if (S->getReplacement()->EvaluateAsInt(R, Context))
      return Value::integer(R.Val.getInt().getExtValue());
    return eval(S->getReplacement());
  }
  if (const auto *S = dyn_cast<UnaryExprOrTypeTraitExpr>(E)) {
    if (S->getKind() == UETT_SizeOf &&
        !S->getTypeOfArgument()->isDependentType()) {
      // Of an array whose length is a variable's.
      int64_t Bytes = sizeOf(S->getTypeOfArgument());
      if (Bytes >= 0)
        return Value::integer(Bytes);
    }
    return Value();
  }
  if (isa<CXXThisExpr>(E))
    return thisOf(cast<CXXThisExpr>(E));
  return std::nullopt;
}

Value Machine::eval(const Expr *E) {
  if (!E || spent() || E->isValueDependent() || E->containsErrors())
    return Value();
  E = E->IgnoreParens();
  if (const auto *C = dyn_cast<CastExpr>(E))
    return evalCast(C);
  if (const auto *L = dyn_cast<IntegerLiteral>(E))
    return evalLiteral(L);
  if (const auto *B = dyn_cast<BinaryOperator>(E))
    return nameMacro(B, evalBinary(B));
  if (const auto *U = dyn_cast<UnaryOperator>(E))
    return evalUnary(U);
  if (const auto *L = dyn_cast<FloatingLiteral>(E)) {
    double D = L->getValueAsApproximateDouble();
    bool Whole = std::fabs(D) < 1e15 && D == std::floor(D);
    return Value::real(D, Whole ? constant(int64_t(D)) : nullptr);
  }
  if (const auto *L = dyn_cast<CharacterLiteral>(E))
    return Value::integer(L->getValue());
  if (const auto *L = dyn_cast<CXXBoolLiteralExpr>(E))
    return Value::integer(L->getValue());
  if (isa<CXXNullPtrLiteralExpr, GNUNullExpr>(E))
    return Value::integer(0);
  if (isa<PseudoObjectExpr, MSPropertyRefExpr>(E))
    return evalBuiltin(E);
  if (const auto *K = dyn_cast<CUDAKernelCallExpr>(E)) {
    launch(K);
    return Value();
  }
  if (const auto *C = dyn_cast<CallExpr>(E))
    return evalCall(C);
  if (const auto *C = dyn_cast<ConditionalOperator>(E))
    return evalConditional(C);
  if (std::optional<Value> V = evalWrapped(E))
    return *V;
  if (isa<CXXConstructExpr, InitListExpr, CXXScalarValueInitExpr>(E)) {
    if (E->getType()->isRecordType())
      return load(temporary(E));
    if (const auto *L = dyn_cast<InitListExpr>(E); L && L->getNumInits() == 1)
      return eval(L->getInit(0));
    return isa<CXXScalarValueInitExpr>(E) ? Value::integer(0) : Value();
  }
  if (const auto *N = dyn_cast<CXXNewExpr>(E))
    return evalNew(N);
  if (const auto *L = dyn_cast<StmtExpr>(E)) {
    follow(L->getSubStmt());
    return Value();
  }
  if (E->isGLValue()) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl()))
        return functionValue(F);
    return load(place(E));
  }
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    if (const auto *C = dyn_cast<EnumConstantDecl>(Ref->getDecl()))
      return Value::integer(C->getInitVal().getExtValue());
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return load(place(M));
  return Value();
}

Place Machine::temporary(const Expr *E) {
  Place P;
  P.Type = E->getType();
  P.To = create("temporary", Space::Host, sizeOf(P.Type), nullptr, P.Type);
  P.OffsetHow = constant(0);
  initialize(P, E);
  return P;
}

Place Machine::placeOfMember(const MemberExpr *M) {
  Place None;
  const auto *Field = dyn_cast<FieldDecl>(M->getMemberDecl());
  if (!Field) {
    if (const auto *V = dyn_cast<VarDecl>(M->getMemberDecl()))
      return placeOfVariable(V);
    return None;
  }
  if (isThreadBuiltin(M->getBase()))
    return None;
  Place P = M->isArrow() ? placeAt(eval(M->getBase()),
                                   M->getBase()->getType()->getPointeeType())
                         : place(M->getBase());
  const RecordDecl *R = Field->getParent();
  if (!P || !hasLayout(R))
    return None;
  int64_t Bytes =
      Context.getASTRecordLayout(R).getFieldOffset(Field->getFieldIndex()) / 8;
  P.Offset += Bytes;
  P.OffsetHow = combine(Op::Add, P.OffsetHow, constant(Bytes));
  if (P.Record || isOfSeveralTypes(Context.getRecordType(R))) {
    P.Record = P.Record ? P.Record : sizeOf(Context.getRecordType(R));
    P.InRecord += Bytes;
  }
  P.Type = M->getType();
  if (P.To->MadeUp && P.Exact && !Field->getType()->isRecordType() &&
      !P.To->Cells.count(P.Offset))
    P.To->Cells[P.Offset] = makeUp(Field->getType(), Field->getNameAsString());
  if (Field->getType()->isReferenceType()) {
    P.Type = Field->getType();
    auto Cell = P.To->Cells.find(P.Offset);
    return Cell == P.To->Cells.end() ? None
                                     : placeAt(Cell->second, M->getType());
  }
  return P;
}

bool Machine::isPassedOn(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  return F && F->getIdentifier() && C->getNumArgs() == 1 &&
         F->isInStdNamespace() &&
         (F->getName() == "forward" || F->getName() == "move");
}

Place Machine::place(const Expr *E) {
  Place None;
  if (!E || spent() || E->isTypeDependent() || E->containsErrors())
    return None;
  E = E->IgnoreParens();
  None.Type = E->getType();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
      return placeOfVariable(V);
    return None;
  }
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return placeOfMember(M);
  if (isa<StringLiteral>(E))
    return placeAt(
        Value::address(create("text", Space::Host, -1, nullptr, QualType())),
        E->getType());
  if (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    Value Base = eval(A->getBase()), Index = eval(A->getIdx());
    noteSharedSide(Base, Index, A->getBase()->IgnoreImpCasts()->getType());
    Value At = addToPointer(Base, Index, sizeOf(E->getType()), false);
    Place P = placeAt(At, E->getType());
    P.Index.addLoaded(Index);
    return P;
  }
  if (const auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Deref)
      return placeAt(eval(U->getSubExpr()), E->getType());
    if (U->isPrefix() && U->isIncrementDecrementOp()) {
      evalUnary(U);
      return place(U->getSubExpr());
    }
    if (U->getOpcode() == UO_Extension || U->getOpcode() == UO_Real)
      return place(U->getSubExpr());
    return None;
  }
  if (const auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->isAssignmentOp()) {
      assign(B);
      return place(B->getLHS());
    }
    if (B->getOpcode() == BO_Comma) {
      eval(B->getLHS());
      return place(B->getRHS());
    }
    return None;
  }
  if (const auto *C = dyn_cast<CastExpr>(E)) {
    if (C->getCastKind() == CK_LValueToRValue)
      return placeAt(eval(C), C->getType());
    Place P = C->getSubExpr()->isGLValue()
                  ? place(C->getSubExpr())
                  : placeAt(eval(C->getSubExpr()), C->getType());
    P.Type = E->getType();
    return P;
  }
  if (const auto *M = dyn_cast<MaterializeTemporaryExpr>(E)) {
    if (E->getType()->isRecordType()) {
      Place P = placeAt(eval(M->getSubExpr()), E->getType());
      return P ? P : temporary(M->getSubExpr());
    }
    return temporary(M->getSubExpr());
  }
  if (const auto *C = dyn_cast<ConditionalOperator>(E)) {
    std::optional<bool> Taken = truth(eval(C->getCond()));
    return place(Taken.value_or(true) ? C->getTrueExpr() : C->getFalseExpr());
  }
  if (const auto *O = dyn_cast<CXXOperatorCallExpr>(E))
    if (std::optional<Place> P = elementOfVector(O))
      return *P;
  if (isa<CXXThisExpr>(E))
    return None;
  if (const auto *W = dyn_cast<FullExpr>(E))
    return place(W->getSubExpr());
  if (const auto *C = dyn_cast<CallExpr>(E); C && isPassedOn(C))
    return place(C->getArg(0));
  if (isa<CallExpr>(E) || E->isPRValue())
    return placeAt(eval(E), E->getType());
  return None;
}

/// Of a field \p F of the project's own struct: a constant in it is a size that
/// may be another, as one in a variable is.
void Machine::initializeField(const Place &P, const FieldDecl *F,
                              const Expr *Init) {
  initialize(P, Init);
  QualType Type = F->getType();
  auto Cell = P.To->Cells.find(P.Offset);
  if (Cell == P.To->Cells.end() || !Type->isIntegerType() ||
      Type->isBooleanType() || Type->isCharType() || Type->isEnumeralType() ||
      Context.getSourceManager().isInSystemHeader(F->getLocation()))
    return;
  Cell->second =
      named(readResult(Cell->second, F->getName()), F->getNameAsString());
}

void Machine::initialize(const Place &P, const Expr *Init) {
  if (!P || !Init || Init->isValueDependent())
    return;
  Init = Init->IgnoreParens();
  while (true) {
    if (const auto *W = dyn_cast<FullExpr>(Init))
      Init = W->getSubExpr();
    else if (const auto *B = dyn_cast<CXXBindTemporaryExpr>(Init))
      Init = B->getSubExpr();
    else if (const auto *F = dyn_cast<CXXFunctionalCastExpr>(Init);
             F && P.Type->isRecordType())
      Init = F->getSubExpr();
    else if (const auto *D = dyn_cast<CXXDefaultInitExpr>(Init))
      Init = D->getExpr();
    else if (const auto *M = dyn_cast<MaterializeTemporaryExpr>(Init))
      Init = M->getSubExpr();
    else if (const auto *C = dyn_cast<ImplicitCastExpr>(Init);
             C && P.Type->isRecordType())
      Init = C->getSubExpr();
    else
      break;
  }
  if (const auto *L = dyn_cast<InitListExpr>(Init)) {
    if (P.Type->isRecordType()) {
      const RecordDecl *R = P.Type->getAsRecordDecl()->getDefinition();
      if (!hasLayout(R) || R->isUnion())
        return;
      const ASTRecordLayout &Layout = Context.getASTRecordLayout(R);
      unsigned I = 0;
      for (const FieldDecl *F : R->fields()) {
        if (I >= L->getNumInits())
          break;
        Place Field = P;
        Field.Offset += Layout.getFieldOffset(F->getFieldIndex()) / 8;
        Field.Type = F->getType();
        initializeField(Field, F, L->getInit(I++));
      }
      return;
    }
    if (const ConstantArrayType *A = Context.getAsConstantArrayType(P.Type)) {
      int64_t Bytes = sizeOf(A->getElementType());
      for (unsigned I = 0; I < L->getNumInits() && I < 256; ++I) {
        Place Element = P;
        Element.Offset += I * Bytes;
        Element.Type = A->getElementType();
        initialize(Element, L->getInit(I));
      }
      return;
    }
    if (L->getNumInits() == 1)
      return initialize(P, L->getInit(0));
    if (L->getNumInits() == 0)
      store(P, Value::integer(0));
    return;
  }
  if (const auto *C = dyn_cast<CXXConstructExpr>(Init)) {
    construct(P, C);
    return;
  }
  Value V = eval(Init);
  if (P.Type->isRecordType())
    copy(P, placeAt(V, P.Type));
  else if (!P.Type->isArrayType())
    store(P, convert(V, P.Type));
}
