//===- Calls.cpp - Functions that a dry run enters -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

/// Of the project, not of the system or the toolkit.
bool Machine::isOwn(const FunctionDecl *F) const {
  const SourceManager &SM = Context.getSourceManager();
  SourceLocation Loc = SM.getExpansionLoc(F->getLocation());
  return Loc.isValid() && !SM.isInSystemHeader(Loc);
}

void Machine::bind(const ParmVarDecl *P, const Value &V) {
  QualType Type = P->getType();
  QualType Held = Type.getNonReferenceType();
  Object *O =
      create(P->getNameAsString(), Space::Host, sizeOf(Held), nullptr, Type);
  Top->Locals[P] = O;
  if (Type->isReferenceType()) {
    O->Cells[0] = V;
    return;
  }
  if (Held->isRecordType()) {
    Place To;
    To.To = O;
    To.Type = Held;
    To.OffsetHow = constant(0);
    copy(To, placeAt(V, Held));
    return;
  }
  O->Cells[0] = V;
}

Value Machine::finish(const FunctionDecl *F, std::unique_ptr<Frame> Made) {
  Made->Of = F;
  Made->Outer = Top;
  Frame *Was = std::exchange(Top, Made.get());
  const unsigned Doubted = Doubts, Left = MayHaveLeft;
  ++Depth;
  follow(F->getBody());
  --Depth;
  Doubts = Doubted;
  MayHaveLeft = Left;
  Top = Was;
  return Made->Returned;
}

Value Machine::run(const FunctionDecl *F, std::vector<Value> Arguments,
                   const Value &This) {
  F = F->getDefinition() ? F->getDefinition() : F;
  if (!F->getBody())
    return Value();
  auto Made = std::make_unique<Frame>();
  Made->This = This;
  Frame *Was = std::exchange(Top, Made.get());
  for (size_t I = 0; I < F->getNumParams(); ++I)
    bind(F->getParamDecl(I), I < Arguments.size() ? Arguments[I] : Value());
  Top = Was;
  return finish(F, std::move(Made));
}

void Machine::noteCall(const FunctionDecl *F,
                       const std::vector<Value> &Arguments) {
  if (!As && !isa<CXXMethodDecl>(F) && isOwn(F) && Calls.size() < 1000)
    Calls.push_back({F, Arguments});
}

/// What a function that is not followed does with a \p E of the device that it
/// is given by reference, as the operators of __half are: it reads it, and
/// writes it where it may.
void Machine::touch(QualType Parameter, const Expr *E) {
  if (!As || !Parameter->isReferenceType() || !E->isGLValue())
    return;
  Place P = place(E);
  if (!P || (P.To->Where != Space::Device && P.To->Where != Space::Variable))
    return;
  QualType Held = Parameter.getNonReferenceType();
  int64_t Bytes = sizeOf(P.Type);
  use(P.To, P, Bytes, /*Write=*/false, /*Atomic=*/false);
  if (!Held.isConstQualified())
    use(P.To, P, Bytes, /*Write=*/true, /*Atomic=*/false);
  if (P.To->Var)
    SymbolsUsed.insert(P.To->Var);
}

void Machine::touchArguments(const CallExpr *C, const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  auto TouchObject = [&](const Expr *Object) {
    if (Method->isInstance())
      touch(Context.getLValueReferenceType(
                Method->getFunctionObjectParameterType()),
            Object);
  };
  if (const auto *M = dyn_cast<CXXMemberCallExpr>(C); M && Method)
    TouchObject(M->getImplicitObjectArgument());
  // An operator that is a method has its object first.
  unsigned Skipped = Method && isa<CXXOperatorCallExpr>(C) ? 1 : 0;
  for (unsigned I = 0; I < C->getNumArgs(); ++I)
    if (I < Skipped)
      TouchObject(C->getArg(I));
    else if (I - Skipped < F->getNumParams())
      touch(F->getParamDecl(I - Skipped)->getType(), C->getArg(I));
}

/// A call of \p F of the file's own, whose arguments the caller computes.
Value Machine::enter(const FunctionDecl *F, const Value &This,
                     llvm::ArrayRef<const Expr *> Arguments) {
  const FunctionDecl *Def = nullptr;
  if (!F->hasBody(Def) || Depth > MostDepth || Def->isDependentContext())
    return Value();
  auto Made = std::make_unique<Frame>();
  Made->This = This;
  std::vector<Value> Given;
  for (size_t I = 0; I < Def->getNumParams() && I < Arguments.size(); ++I) {
    const ParmVarDecl *P = Def->getParamDecl(I);
    Value V;
    if (P->getType()->isReferenceType()) {
      Place At = place(Arguments[I]);
      if (At) {
        V = Value::address(At.To, At.Offset, At.OffsetHow);
        V.Exact = At.Exact;
      }
      V.takeLoaded(At.Index);
    } else {
      V = convert(eval(Arguments[I]), P->getType());
      if (P->getType()->isIntegerType() && !P->getType()->isBooleanType())
        V = named(V, P->getNameAsString());
    }
    Given.push_back(std::move(V));
  }
  noteCall(Def, Given);
  Frame *Was = std::exchange(Top, Made.get());
  for (size_t I = 0; I < Given.size(); ++I)
    bind(Def->getParamDecl(I), Given[I]);
  Top = Was;
  Value Out = finish(Def, std::move(Made));
  if (Out.isAddress() && Def->getReturnType()->isReferenceType())
    return Out;
  return Out;
}

Value Machine::construct(const Place &P, const CXXConstructExpr *C) {
  const CXXConstructorDecl *Made = C->getConstructor();
  QualType Type = C->getType();
  Value This = Value::address(P.To, P.Offset, P.OffsetHow);
  std::vector<const Expr *> Arguments(C->arg_begin(), C->arg_end());
  if (const CXXRecordDecl *R = Type->getAsCXXRecordDecl();
      R && R->getIdentifier() && R->getName() == "dim3") {
    for (unsigned I = 0; I < 3; ++I) {
      Place Field = P;
      Field.Offset += 4 * I;
      Field.Type = Context.UnsignedIntTy;
      if (I == 0 && C->getNumArgs() == 1 &&
          Arguments[0]->getType()->isRecordType()) {
        copy(P, placeAt(eval(Arguments[0]), Type));
        return This;
      }
      Value V = I < Arguments.size() ? eval(Arguments[I]) : Value::integer(1);
      store(Field, convert(V, Field.Type));
    }
    return This;
  }
  if (isVectorType(Type)) {
    makeVector(P, Arguments, Type);
    return This;
  }
  if (wrapLambda(P, C))
    return This;
  if (Made->isCopyOrMoveConstructor() && !Arguments.empty() &&
      (Made->isImplicit() || Made->isDefaulted() || !Made->hasBody())) {
    copy(P, placeAt(eval(Arguments[0]), Type));
    return This;
  }
  const FunctionDecl *Def = nullptr;
  if (!Made->hasBody(Def) || Depth > MostDepth || !isOwn(Made)) {
    for (const Expr *A : Arguments)
      eval(A);
    return This;
  }
  auto Inside = std::make_unique<Frame>();
  Inside->This = This;
  std::vector<Value> Given;
  for (size_t I = 0; I < Def->getNumParams() && I < Arguments.size(); ++I) {
    bool Reference = Def->getParamDecl(I)->getType()->isReferenceType();
    if (!Reference) {
      const ParmVarDecl *Parameter = Def->getParamDecl(I);
      Value V = convert(eval(Arguments[I]), Parameter->getType());
      if (Parameter->getType()->isIntegerType() &&
          !Parameter->getType()->isBooleanType())
        V = named(V, Parameter->getNameAsString());
      Given.push_back(std::move(V));
      continue;
    }
    Place At = place(Arguments[I]);
    Given.push_back(At ? Value::address(At.To, At.Offset, At.OffsetHow)
                       : Value());
  }
  Frame *Was = std::exchange(Top, Inside.get());
  for (size_t I = 0; I < Given.size(); ++I)
    bind(Def->getParamDecl(I), Given[I]);
  for (const CXXCtorInitializer *Init :
       cast<CXXConstructorDecl>(Def)->inits()) {
    if (!Init->isMemberInitializer())
      continue;
    const FieldDecl *F = Init->getMember();
    if (!hasLayout(F->getParent()))
      continue;
    Place Field = P;
    Field.Offset += Context.getASTRecordLayout(F->getParent())
                        .getFieldOffset(F->getFieldIndex()) /
                    8;
    Field.Type = F->getType();
    if (!F->getType()->isReferenceType())
      initializeField(Field, F, Init->getInit());
  }
  Top = Was;
  finish(Def, std::move(Inside));
  return This;
}

Value Machine::evalCall(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  if (!F) {
    Value Callee = eval(C->getCallee());
    if (Callee.Kind == Value::Function)
      F = Callee.Callee;
  }
  std::vector<const Expr *> Arguments(C->arg_begin(), C->arg_end());
  if (isPassedOn(C))
    return eval(Arguments[0]);
  if (!F)
    return callThrough(C->getCallee()->getType(), Arguments);
  if (const auto *M = dyn_cast<CXXMemberCallExpr>(C))
    if (std::optional<Value> V = callMember(M))
      return *V;
  if (const auto *O = dyn_cast<CXXOperatorCallExpr>(C)) {
    if (std::optional<Value> V = readFromStream(O))
      return *V;
    if (std::optional<Place> P = elementOfVector(O))
      return load(*P);
    if (O->getOperator() == OO_Equal && Arguments.size() == 2) {
      Place To = place(Arguments[0]);
      const auto *M = dyn_cast<CXXMethodDecl>(F);
      if (!M || M->isImplicit() || M->isDefaulted() || !M->hasBody() ||
          !isOwn(M)) {
        Value V = eval(Arguments[1]);
        if (To && To.Type->isRecordType())
          copy(To, placeAt(V, To.Type));
        return load(To);
      }
    }
  }
  llvm::StringRef Name =
      F->getDeclName().isIdentifier() ? F->getName() : llvm::StringRef();
  if (std::optional<Value> V = As ? callDevice(Name, C) : callCuda(Name, C))
    return *V;
  if (std::optional<Value> V = callLibrary(Name, C))
    return *V;
  if (std::optional<Value> V = callWrapped(C, F))
    return *V;
  const FunctionDecl *Def = nullptr;
  bool Enters = F->hasBody(Def) && (isOwn(F) || F->isConstexpr());
  if (!Enters) {
    touchArguments(C, F);
    // What a function that is not known does with pointers is not known.
    std::vector<Value> Given;
    for (unsigned I = 0; I < Arguments.size(); ++I) {
      Given.push_back(eval(Arguments[I]));
      readInto(F, I, Arguments[I]);
    }
    callLambdas(Arguments);
    noteCall(F, Given);
    if (F->isNoReturn() && !As)
      Exited = true;
    return returned(F);
  }
  Value This;
  if (const auto *M = dyn_cast<CXXMemberCallExpr>(C)) {
    const Expr *Object = M->getImplicitObjectArgument();
    if (Object->getType()->isPointerType()) {
      This = eval(Object);
    } else if (Place P = place(Object)) {
      This = Value::address(P.To, P.Offset, P.OffsetHow);
    }
  } else if (isa<CXXOperatorCallExpr>(C) && isa<CXXMethodDecl>(F) &&
             cast<CXXMethodDecl>(F)->isInstance() && !Arguments.empty()) {
    if (Place P = place(Arguments[0]))
      This = Value::address(P.To, P.Offset, P.OffsetHow);
    Arguments.erase(Arguments.begin());
  }
  return enter(F, This, Arguments);
}
