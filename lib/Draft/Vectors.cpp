//===- Vectors.cpp - std::vector and thrust's in a dry run ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

bool draft::isVectorType(QualType Type, QualType *Element, Space *Where) {
  const auto *R = llvm::dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Type.isNull() ? nullptr : Type.getCanonicalType()->getAsCXXRecordDecl());
  if (!R || !R->getIdentifier() || R->getTemplateArgs().size() == 0 ||
      R->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return false;
  std::optional<Space> Known =
      llvm::StringSwitch<std::optional<Space>>(R->getName())
          .Cases("vector", "host_vector", Space::Host)
          .Cases("device_vector", "universal_vector", Space::Device)
          .Default(std::nullopt);
  if (!Known)
    return false;
  if (Element)
    *Element = R->getTemplateArgs()[0].getAsType();
  if (Where)
    *Where = *Known;
  return true;
}

/// The elements that stand in braces; null when \p E is none of those.
static const InitListExpr *inBraces(const Expr *E) {
  const auto *List =
      dyn_cast<CXXStdInitializerListExpr>(E->IgnoreParens()->IgnoreImplicit());
  return List ? dyn_cast<InitListExpr>(List->getSubExpr()->IgnoreImplicit())
              : nullptr;
}

void Machine::makeVector(const Place &P, llvm::ArrayRef<const Expr *> Args,
                         QualType Type) {
  QualType Element;
  Space Where = Space::Host;
  if (!P || !isVectorType(Type, &Element, &Where))
    return;
  Object *O = create(P.To->Name, Where, 0, nullptr, Element);
  P.To->Buffer = O;
  if (Args.empty() || isa<CXXDefaultArgExpr>(Args[0]))
    return;
  if (const InitListExpr *List = inBraces(Args[0])) {
    O->Size = int64_t(List->getNumInits()) * sizeOf(Element);
    O->SizeHow = constant(O->Size);
    for (unsigned I = 0; I < List->getNumInits() && I < 256; ++I) {
      Value V = eval(List->getInit(I));
      O->Held.add(V, I);
      holdFields(placeAt(Value::address(O, I * sizeOf(Element)), Element),
                 placeAt(V, Element));
    }
    return;
  }
  QualType First = Args[0]->getType().getNonReferenceType();
  if (First->isRecordType()) {
    // Of another vector, or of its ends.
    Value From = eval(Args[0]);
    Object *Other = From.isAddress() ? From.To->Buffer : nullptr;
    if (Other && Other->Size >= 0) {
      O->Size = Other->Size;
      O->SizeHow = Other->SizeHow;
      O->Held = Other->Held;
      O->Cells = Other->Cells;
      O->Fields = Other->Fields;
    } else {
      O->Size = -1;
      O->SizeHow = nullptr;
    }
    return;
  }
  Value Count = eval(Args[0]);
  Value Bytes = arithmetic(BO_Mul, Count, Value::integer(sizeOf(Element)),
                           Context.getSizeType());
  O->Size = Bytes.isInteger() ? Bytes.Number : -1;
  O->SizeHow = Bytes.isInteger() ? Bytes.How : nullptr;
  if (Args.size() > 1 && Args[1]->getType()->isArithmeticType())
    O->Held.add(eval(Args[1]), -1);
  else
    O->Held.add(Value::integer(0), -1);
}

std::optional<Place> Machine::elementOfVector(const CXXOperatorCallExpr *C) {
  if (C->getOperator() != OO_Subscript || C->getNumArgs() != 2)
    return std::nullopt;
  QualType Element;
  if (!isVectorType(C->getArg(0)->getType().getNonReferenceType(), &Element))
    return std::nullopt;
  Place Of = place(C->getArg(0));
  Value Index = eval(C->getArg(1));
  if (!Of || !Of.To->Buffer)
    return Place();
  Place P = placeAt(addToPointer(Value::address(Of.To->Buffer), Index,
                                 sizeOf(Element), false),
                    Element);
  return P;
}

std::optional<Value> Machine::callMember(const CXXMemberCallExpr *C) {
  const CXXMethodDecl *M = C->getMethodDecl();
  if (!M || !M->getDeclName().isIdentifier())
    return std::nullopt;
  const Expr *Of = C->getImplicitObjectArgument();
  QualType Type = Of->getType();
  if (Type->isPointerType())
    Type = Type->getPointeeType();
  QualType Element;
  Space Where = Space::Host;
  if (!isVectorType(Type, &Element, &Where))
    return std::nullopt;
  Place P =
      Of->getType()->isPointerType() ? placeAt(eval(Of), Type) : place(Of);
  if (!P)
    return Value();
  Object *&Buffer = P.To->Buffer;
  if (!Buffer)
    Buffer = create(P.To->Name, Where, P.To->MadeUp ? -1 : 0, nullptr, Element);
  llvm::StringRef Name = M->getName();
  int64_t Bytes = sizeOf(Element);
  if (Name == "data" || Name == "begin" || Name == "cbegin" || Name == "front")
    return Value::address(Buffer);
  if (Name == "size" && Buffer->Size >= 0 && Bytes > 0)
    return Value::integer(Buffer->Size / Bytes,
                          combine(Op::Div, Buffer->SizeHow, constant(Bytes)));
  if ((Name == "resize" || Name == "assign") && C->getNumArgs() >= 1) {
    Value Count = eval(C->getArg(0));
    Value Size =
        arithmetic(BO_Mul, Count, Value::integer(Bytes), Context.getSizeType());
    Buffer->Size = Size.isInteger() ? Size.Number : -1;
    Buffer->SizeHow = Size.isInteger() ? Size.How : nullptr;
    if (C->getNumArgs() > 1 && C->getArg(1)->getType()->isArithmeticType())
      Buffer->Held.add(eval(C->getArg(1)), -1);
    return Value();
  }
  if ((Name == "push_back" || Name == "emplace_back") && C->getNumArgs() == 1) {
    Value V = eval(C->getArg(0));
    Buffer->Held.add(V, Bytes > 0 ? Buffer->Size / Bytes : -1);
    holdFields(placeAt(Value::address(Buffer, Buffer->Size), Element),
               placeAt(V, Element));
    if (Buffer->Size >= 0)
      Buffer->Size += Bytes;
    Buffer->SizeHow = constant(Buffer->Size);
    return Value();
  }
  for (const Expr *A : C->arguments())
    eval(A);
  return Value();
}
