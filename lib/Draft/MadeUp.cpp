//===- MadeUp.cpp - What nobody gives a dry run ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryUse.h"
#include "Machine.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

Value Machine::makeUp(QualType Type, const std::string &Name) {
  QualType Held = Type.getNonReferenceType();
  auto Object = [&](QualType Of, Space Where) {
    draft::Object *O = create(Name, Where, -1, nullptr, Of);
    O->MadeUp = true;
    return O;
  };
  if (Type->isReferenceType() || Held->isRecordType()) {
    draft::Object *O = Object(Held, Space::Host);
    // A grid or a block that nobody gives is not known.
    const RecordDecl *R = Held->getAsRecordDecl();
    if (R && R->getIdentifier() && R->getName() == "dim3")
      O->MadeUp = false;
    if (!Held->isRecordType())
      O->Cells[0] = makeUp(Held, Name);
    return Value::address(O);
  }
  if (Held->isPointerType()) {
    QualType To = Held->getPointeeType();
    return Value::address(To->isRecordType() ? Object(To, Space::Device)
                                             : create(Name, Space::Device, -1,
                                                      nullptr, QualType()));
  }
  if (!Held->isIntegerType() || Held->isBooleanType() || Held->isCharType() ||
      Held->isEnumeralType() || Name.empty() || isSetting(Name) ||
      (isSide(Name) && HasRank))
    return Value();
  if (isChannels(Name) || isRank(Name))
    return Value::integer(isRank(Name) ? 1 : 3);
  auto Block = Blocks.find(Name);
  if (Block != Blocks.end() && Block->second.Fixed)
    return Value::integer(Block->second.Number);
  // As a name, until it is known what it is the block of.
  if (bool Known = Block != Blocks.end(); Known || isBlockSize(Name)) {
    int64_t Number = Known ? Block->second.Number : 256;
    Names.try_emplace(Name, Number);
    MadeUpNames.insert(Name);
    return Value::integer(Number, draft::named(Name));
  }
  if (isStride(Name) && HasFilter)
    return Value::integer(1);
  auto [At, New] = Names.try_emplace(Name, inventedSize(MadeUpSizes, Name));
  MadeUpSizes += New;
  if (New)
    MadeUpNames.insert(Name);
  return Value::integer(At->second, draft::named(Name));
}

/// For a number that the program reads into \p Name. Several are told apart.
int64_t Machine::sizeRead(llvm::StringRef Name) {
  static constexpr int64_t Sizes[] = {1024, 1280, 1792, 2816, 3328, 4352};
  if (isBlockSize(Name))
    return 256;
  if (isHandful(Name))
    return 3;
  if (auto Known = Names.find(Name.str());
      Known != Names.end() && ReadNames.count(Name.str()))
    return Known->second;
  return Sizes[SizesRead++ % std::size(Sizes)];
}

bool Machine::isExponentRead(const Value &V) const {
  bool Large = V.isInteger() ? V.Number >= 63
                             : V.Kind == Value::Real && V.Floating >= 63;
  return !As && Large &&
         (V.WasRead || (isName(V.How) && ReadNames.count(V.How->Name)));
}

/// What a function of the project that is defined elsewhere may have put into
/// its argument \p E: a size that it read, for one.
void Machine::readInto(const FunctionDecl *F, unsigned I, const Expr *E) {
  if (As || !isOwn(F) || I >= F->getNumParams())
    return;
  QualType Type = F->getParamDecl(I)->getType();
  QualType Held = Type->isReferenceType() || Type->isPointerType()
                      ? Type->getPointeeType()
                      : QualType();
  if (Held.isNull() || Held.isConstQualified() || !Held->isIntegerType() ||
      Held->isCharType() || Held->isBooleanType())
    return;
  Place At = Type->isReferenceType() ? place(E) : placeAt(eval(E), Held);
  bool Variable = At && At.To->Where == Space::Host && !At.To->Type.isNull() &&
                  At.To->Type->isIntegerType();
  if (!Variable || !At.Exact)
    return;
  Value &Cell = At.To->Cells[At.Offset];
  if (!Cell.isInteger() || Cell.Number < 2)
    Cell = named(Value::wasRead(), At.To->Name);
}

/// What the size is called that is read into \p In, where \p Into points to, or
/// is: &image->width is a width. Of two that are called so the second has its
/// struct's name as well.
std::string Machine::nameOfRead(const Expr *Into, const Object &In) const {
  Into = Into->IgnoreParenImpCasts();
  if (const auto *Of = dyn_cast<UnaryOperator>(Into);
      Of && Of->getOpcode() == UO_AddrOf)
    Into = Of->getSubExpr()->IgnoreParenImpCasts();
  const auto *Member = dyn_cast<MemberExpr>(Into);
  if (!Member)
    return In.Name;
  std::string Name = Member->getMemberDecl()->getNameAsString();
  const auto *Base =
      dyn_cast<DeclRefExpr>(Member->getBase()->IgnoreParenImpCasts());
  return Base && ReadNames.count(Name)
             ? Base->getDecl()->getNameAsString() + "_" + Name
             : Name;
}

/// std::cin >> n
std::optional<Value> Machine::readFromStream(const CXXOperatorCallExpr *C) {
  const CXXRecordDecl *R =
      C->getNumArgs() == 2 && C->getOperator() == OO_GreaterGreater && !As
          ? C->getArg(0)->getType()->getAsCXXRecordDecl()
          : nullptr;
  if (!R || !R->getIdentifier() || !R->getName().contains("stream"))
    return std::nullopt;
  Value Stream = eval(C->getArg(0));
  const Expr *Into = C->getArg(1);
  QualType Type = Into->getType();
  if (!Type->isIntegerType() || Type->isCharType() || Type->isBooleanType())
    return Stream;
  if (Place At = place(Into); At && At.Exact)
    At.To->Cells[At.Offset] = named(Value::wasRead(), nameOfRead(Into, *At.To));
  return Stream;
}

/// What a function of the project that is defined elsewhere returns: it may be
/// a size that it read, or have some.
Value Machine::returned(const FunctionDecl *F) {
  Value V;
  QualType Type = F->getReturnType();
  if (!As && isOwn(F) && Type->isRecordType() &&
      hasLayout(Type->getAsRecordDecl()) && !isVectorType(Type))
    return makeUp(Type, F->getNameAsString());
  V.WasRead = !As && isOwn(F) && Type->isIntegerType() &&
              !Type->isBooleanType() && !Type->isCharType();
  return V;
}

/// \p V as \p Into is given it: a size, unless that says that it is a code of
/// errors.
Value Machine::readResult(const Value &V, llvm::StringRef Into) {
  if (V.Kind != Value::Unknown || !V.WasRead ||
      isOneOf(Into, {"ret", "rc", "r", "ok", "success"},
              {"err", "status", "res"}))
    return V;
  return Value::wasRead();
}
