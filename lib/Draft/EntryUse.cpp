//===- EntryUse.cpp - What an entry does with its arguments --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryUse.h"
#include "Tiles.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

namespace {
class UseFinder {
public:
  UseFinder(ASTContext &Context, EntryUse &Use, const Machine *Host,
            const Launch *Launched, const Bindings *Instead)
      : Context(Context), Use(Use), Host(Host), Launched(Launched),
        Instead(Instead), M(*Use.Run),
        Blocks(Host ? Host->Blocks : BlockNumbers()),
        Invented(Host ? int(Host->MadeUpNames.size()) : 0) {}

  void arguments(const std::vector<Value> *Given);
  void follow(const Launch *L);

private:
  Value instead(const Value &V) const;
  Value leaf(const Parameter &P, QualType Type, const Value *Given);
  Value structValue(const Parameter &P, QualType Type, const Value *Given);
  void fields(const Parameter &P, QualType Type, std::string Name,
              const Place &At, size_t &Next, const Value *Given);
  void guessLaunch();
  Formula limitOf(int Axis) const;
  bool countsAllBlocks() const;
  bool isOneOfParts(size_t I, const Value &V) const;
  bool hasFilter() const {
    return llvm::any_of(Use.Entry.Parameters,
                        [](const Parameter &P) { return isHandful(P.Name); });
  }
  bool hasRank() const {
    return llvm::any_of(Use.Entry.Parameters,
                        [](const Parameter &P) { return isRank(P.Name); });
  }
  void runWith(Launch &L);

  ASTContext &Context;
  EntryUse &Use;
  const Machine *Host;
  const Launch *Launched;
  const Bindings *Instead; ///< other numbers for sizes; may be null
  Machine &M;
  std::vector<Value> Arguments;
  const BlockNumbers Blocks;
  int Invented; ///< others than those that the host has
};
} // namespace

/// \p V with other numbers for sizes.
Value UseFinder::instead(const Value &V) const {
  if (!Instead || !V.isInteger())
    return V;
  return Value::integer(evaluate(V.How, *Instead).value_or(V.Number), V.How);
}

Value UseFinder::leaf(const Parameter &P, QualType Type, const Value *Given) {
  LeafUse L;
  L.P = &P;
  L.Type = Type;
  if (Given)
    L.Given = instead(*Given);
  if (auto Forced = Use.Forced.find(P.Name); Forced != Use.Forced.end()) {
    L.Given = Value::integer(Forced->second);
    L.TurnsOn = Forced->second != 0;
  } else if (P.Kind == ParameterKind::Pointer) {
    const Object *Of = Given && Given->isAddress() ? Given->To : nullptr;
    bool Sized = Of && Of->Size >= 0 && Of->SizeHow;
    if (Sized) {
      L.Bytes = Of->SizeHow;
      if (Given->Exact && Given->Offset > 0)
        L.Ahead = Given->OffsetHow;
    }
    int64_t Size = Sized ? Of->Size : -1;
    if (Sized && Instead)
      Size = evaluate(L.Bytes, *Instead).value_or(Size);
    L.Array = M.create(P.Name, Space::Device,
                       Sized ? Size - (Given->Exact ? Given->Offset : 0) : -1,
                       L.Bytes, QualType());
    L.Array->IsParameter = true;
    if (Of)
      holdWhat(M, L, *Of, Instead);
    L.MadeUp = !Sized;
    L.Given = Value::address(L.Array);
  } else if (P.Kind == ParameterKind::Scalar && isWhole(P)) {
    // A count of what nobody gave a value is none.
    bool Counted = Use.MadeUp && L.Given.isInteger() && L.Given.Number == 0 &&
                   isOneOf(P.Name, {"count", "size"}, {"n_", "num"});
    // Nothing that can be said of it.
    bool Unsaid = Use.MadeUp && L.Given.isInteger() && L.Given.How &&
                  L.Given.How->Kind == Op::Opaque;
    if (!L.Given.isInteger() || Counted || Unsaid) {
      L.MadeUp = true;
      auto Block = Blocks.find(P.Name);
      auto Known = Use.Settled.find(sizeName(P.Name));
      bool OfBlock = Block != Blocks.end();
      if (Known != Use.Settled.end() && Instead) {
        L.MadeUp = false;
        L.Given = Value::integer(evaluate(Known->second, *Instead).value_or(1),
                                 Known->second);
      } else if ((OfBlock && Block->second.Fixed) || isBlockSize(P.Name)) {
        L.MadeUp = false;
        L.Given = Value::integer(OfBlock ? Block->second.Number : 256);
      } else if (isChannels(P.Name) || isRank(P.Name)) {
        L.MadeUp = false;
        L.Given = Value::integer(isRank(P.Name) ? 1 : 3);
      } else if (isStride(P.Name) && hasFilter()) {
        L.MadeUp = false;
        L.Given = Value::integer(1);
      } else if (isSetting(P.Name) || (isSide(P.Name) && hasRank())) {
        L.Given = Value::integer(0);
      } else {
        std::string Name = sizeName(P.Name);
        int64_t Number = inventedSize(Invented++, P.Name);
        if (Instead && Instead->count(Name))
          Number = Instead->at(Name);
        Use.Names[Name] = Number;
        L.Given = Value::integer(Number, named(Name));
      }
    }
  } else if (P.Kind == ParameterKind::Scalar &&
             L.Given.Kind == Value::Unknown) {
    L.MadeUp = true;
  }
  Use.Leaves.push_back(L);
  return L.Given;
}

/// The fields in the order, and with the names, of lib/AST/ParameterTypes.cpp.
void UseFinder::fields(const Parameter &P, QualType Type, std::string Name,
                       const Place &At, size_t &Next, const Value *Given) {
  if (const ConstantArrayType *A =
          Context.getAsConstantArrayType(Type.getCanonicalType())) {
    int64_t Bytes = M.sizeOf(A->getElementType());
    for (uint64_t I = 0; I < A->getSize().getLimitedValue(256); ++I) {
      Place Element = At;
      Element.Offset += int64_t(I) * Bytes;
      Element.Type = A->getElementType();
      fields(P, A->getElementType(), Name, Element, Next, Given);
    }
    return;
  }
  if (Next >= P.Fields.size())
    return;
  const RecordDecl *R = Type->getAsRecordDecl();
  bool IsScalarClass = R && R->getName().starts_with("__half");
  if (Machine::hasLayout(R) && !IsScalarClass) {
    R = R->getDefinition();
    const ASTRecordLayout &Layout = Context.getASTRecordLayout(R);
    for (const FieldDecl *F : R->fields()) {
      Place Field = At;
      Field.Offset += int64_t(Layout.getFieldOffset(F->getFieldIndex()) / 8);
      Field.Type = F->getType();
      fields(P, F->getType(), Name, Field, Next, Given);
    }
    return;
  }
  Value Was;
  bool Known = false;
  if (Given && Given->isAddress()) {
    auto Cell = Given->To->Cells.find(Given->Offset + At.Offset);
    Known = Cell != Given->To->Cells.end();
    if (Known)
      Was = Cell->second;
  }
  Value V = leaf(P.Fields[Next], Type, Known ? &Was : nullptr);
  ++Next;
  At.To->Cells[At.Offset] = V;
}

Value UseFinder::structValue(const Parameter &P, QualType Type,
                             const Value *Given) {
  if (Type.isNull()) {
    for (const Parameter &Field : P.Fields)
      leaf(Field, QualType(), nullptr);
    return Value();
  }
  Place At;
  At.Type = Type.getNonReferenceType();
  At.To = M.create(P.Name, Space::Host, M.sizeOf(At.Type), nullptr, At.Type);
  size_t Next = 0;
  fields(P, At.Type, P.Name, At, Next, Given);
  // What no field of the type was found for.
  for (; Next < P.Fields.size(); ++Next)
    leaf(P.Fields[Next], QualType(), nullptr);
  return Value::address(At.To);
}

void UseFinder::arguments(const std::vector<Value> *Given) {
  for (size_t I = 0; I < Use.Entry.Parameters.size(); ++I) {
    const Parameter &P = Use.Entry.Parameters[I];
    QualType Type = Use.F && I < Use.F->getNumParams()
                        ? Use.F->getParamDecl(I)->getType()
                        : QualType();
    const Value *V = Given && I < Given->size() ? &(*Given)[I] : nullptr;
    bool Reference = !Type.isNull() && Type->isReferenceType();
    Value Loaded;
    if (V && Reference && P.Kind == ParameterKind::Scalar && V->isAddress()) {
      auto Cell = V->To->Cells.find(V->Offset);
      Loaded = Cell == V->To->Cells.end() ? Value() : Cell->second;
      V = &Loaded;
    }
    Value Out;
    if (P.Kind == ParameterKind::Struct)
      Out = structValue(P, Type, V);
    else
      Out = leaf(P, Type, V);
    if (P.Kind == ParameterKind::Pointer && V)
      Use.Leaves.back().OneOfParts = isOneOfParts(I, *V);
    if (Reference && P.Kind == ParameterKind::Scalar) {
      Object *O = M.create(P.Name, Space::Host,
                           M.sizeOf(Type.getNonReferenceType()), nullptr, Type);
      O->Cells[0] = Out;
      Out = Value::address(O);
    }
    Arguments.push_back(std::move(Out));
  }
}

/// Whether the program launches the kernel on several places of the array that
/// argument \p I points into.
bool UseFinder::isOneOfParts(size_t I, const Value &V) const {
  if (!Host || !Launched || !V.isAddress())
    return false;
  return llvm::any_of(Host->Launches, [&](const Launch &Other) {
    if (Other.Kernel != Launched->Kernel || I >= Other.Arguments.size())
      return false;
    const Value &At = Other.Arguments[I];
    return At.isAddress() && At.To == V.To && At.Exact && At.Offset != V.Offset;
  });
}

void UseFinder::runWith(Launch &L) {
  for (int I = 0; I < 3; ++I) {
    L.Grid[I] = Value::integer(1);
    L.Block[I] = Value::integer(1);
    for (auto [From, Into] : {std::pair(Use.Grid[I], &L.Grid[I]),
                              std::pair(Use.Block[I], &L.Block[I])})
      if (auto Number = evaluate(From, Use.Names); Number && *Number > 0)
        *Into = Value::integer(*Number, From);
  }
  M.runKernel(L);
}

/// Where nothing says how the kernel is launched: the axes that it uses have
/// blocks of the usual shape, and as many as its guards ask for.
void UseFinder::guessLaunch() {
  Launch L;
  L.Kernel = Use.F;
  L.Arguments = Arguments;
  Use.GridGuessed = true;
  Use.BlockGuessed = !Use.Block[0];
  M.WatchBlocks = true;
  if (Use.Names.empty())
    Use.Names["n"] = inventedSize(0);
  for (int I = 0; I < 3; ++I)
    if (!Use.Block[I])
      Use.Block[I] = constant(I || !Use.BlockGuessed ? 1 : 256);
  for (int I = 0; I < 3; ++I)
    Use.Grid[I] = constant(I ? 1 : 2);
  runWith(L);
  if (M.ThreadUsed[1] && Use.BlockGuessed) {
    Use.Block[0] = Use.Block[1] = constant(16);
    Use.Grid[1] = constant(2);
    runWith(L);
  } else if (M.BlockUsed[1]) {
    Use.Grid[1] = constant(2);
    runWith(L);
  }
  if (Use.BlockGuessed && takeBlockOf(M, Use.F, Use.Block))
    runWith(L);
  // What lies within a border has neighbours in all directions.
  if (M.BlockUsed[2] || M.ThreadUsed[2]) {
    Use.Grid[2] = constant(2);
    runWith(L);
  }
  bool Rows = false, Whole = countsAllBlocks();
  for (int I = 0; I < 3; ++I)
    if (Whole && I > 0) {
      Use.Grid[I] = constant(1);
    } else if (M.AxisUsed[I]) {
      if (Formula Limit = limitOf(I)) {
        Use.Grid[I] = combine(Op::CeilDiv, Limit, Use.Block[I]);
        Use.GridGuessed = false;
      } else if (Formula Only = onlySize(Use); Only && M.TileSide[I]) {
        Use.Grid[I] = combine(Op::CeilDiv, Only, Use.Block[I]);
        Use.GridGuessed = false;
      } else if (M.BlockIsRow[I]) {
        // A block for each of as many rows as there may be.
        static constexpr const char *Called[] = {"blocks", "blocks_y",
                                                 "blocks_z"};
        Use.Names.try_emplace(Called[I], inventedSize(Invented++));
        Use.Grid[I] = named(Called[I]);
        Rows = true;
      } else if (!M.BlockUsed[I]) {
        Use.Grid[I] = constant(1);
      }
    }
  if (Use.GridGuessed && !Rows && M.BlockUsed[0]) {
    std::string First = Use.Names.begin()->first;
    for (const LeafUse &Each : llvm::reverse(Use.Leaves))
      if (isName(Each.Given.How))
        First = Each.Given.How->Name;
    Use.Grid[0] = combine(Op::CeilDiv, named(First), Use.Block[0]);
  }
  // Once more, from fresh.
  for (LeafUse &Each : Use.Leaves)
    for (Object *O : objectsOf(Each)) {
      O->Used = draft::Use();
      O->WrittenIn = 0;
      O->SetBefore = false;
    }
  runWith(L);
}

/// Whether a guard is of an index that counts the blocks of all axes through.
bool UseFinder::countsAllBlocks() const {
  return llvm::any_of(M.Guards, [](const AxisGuard &G) { return G.Whole; }) &&
         limitOf(0);
}

/// What guards of the whole index ask for along an axis, by what the entry is
/// given, else by a constant.
Formula UseFinder::limitOf(int Axis) const {
  Formula Constant;
  for (const AxisGuard &G : M.Guards) {
    std::set<std::string> All;
    collectNames(G.Limit, All);
    if (G.Axis != Axis || !G.Limit)
      continue;
    if (All.empty()) {
      if (G.Limit->Number > 1 &&
          (!Constant || Constant->Number < G.Limit->Number))
        Constant = G.Limit;
    } else if (llvm::all_of(All, [&](const std::string &N) {
                 return Use.Names.count(N);
               })) {
      return G.Limit;
    }
  }
  return Constant;
}

void UseFinder::follow(const Launch *L) {
  M.giveNames(Use.Names, Host);
  if (Instead)
    for (const auto &[Name, Number] : *Instead)
      Use.Names.try_emplace(Name, Number);
  if (Host) {
    for (const auto &[Name, Number] : Host->Names)
      Use.Names.try_emplace(Name, Number);
    Use.ReadNames = Host->ReadNames;
    Use.MadeUpNames = Host->MadeUpNames;
    Use.Powers = Host->Powers;
  }
  M.MakesNames = false;
  if (!Use.F || !Use.F->hasBody() || Use.F->isDependentContext())
    return;
  if (!Use.Entry.IsKernel) {
    M.FollowLaunches = true;
    M.run(Use.F, Arguments);
  } else if (L) {
    Launch Own = *L;
    Own.Kernel = Use.F; // a caller in another file sees its declaration
    Own.Arguments = Arguments;
    for (int I = 0; I < 3; ++I) {
      Use.Grid[I] = L->Grid[I].isInteger() && !isOnlyOurs(Use, L->Grid[I].How)
                        ? L->Grid[I].How
                        : nullptr;
      Use.Block[I] = L->Block[I].isInteger() ? L->Block[I].How : nullptr;
      Own.Grid[I] = instead(L->Grid[I]);
      Own.Block[I] = instead(L->Block[I]);
    }
    if (L->Shared.isInteger())
      Use.Shared = L->Shared.How;
    if (!Use.Grid[0] || !Use.Grid[1] || !Use.Grid[2] || !Use.Block[0])
      guessLaunch();
    else
      M.runKernel(Own);
  } else {
    guessLaunch();
  }
  for (int I = 0; I < 3; ++I)
    Use.Limits[I] = limitOf(I);
  addFieldUse(Use);
  Use.Followed |= llvm::any_of(Use.Leaves, isUsed);
  for (const VarDecl *V : M.SymbolsUsed)
    Use.Symbols.push_back(symbolUse(V, M, Host));
  llvm::sort(Use.Symbols, [](const SymbolUse &L, const SymbolUse &R) {
    return L.V->getQualifiedNameAsString() < R.V->getQualifiedNameAsString();
  });
}

std::unique_ptr<EntryUse> draft::useOf(ASTContext &Context,
                                       const std::set<std::string> &Fixed,
                                       Signature Entry, const FunctionDecl *F,
                                       const HostCall *Call, const Launch *L,
                                       const Machine *Host, bool Twice) {
  std::map<std::string, Formula> Settled;
  auto Once = [=, &Context,
               &Fixed](const Bindings *Instead,
                       const std::map<std::string, Formula> &Settled,
                       const Bindings &Forced = {}) {
    auto Use = std::make_unique<EntryUse>();
    Use->Forced = Forced;
    Use->F = F;
    Use->Entry = Entry;
    Use->Recorded = Call || L;
    Use->MadeUp = L && L->MadeUp;
    Use->Settled = Settled;
    Use->Run = std::make_unique<Machine>(Context, Fixed);
    UseFinder Finder(Context, *Use, Host, L, Instead);
    Finder.arguments(Call ? &Call->Arguments : L ? &L->Arguments : nullptr);
    Finder.follow(L);
    return Use;
  };
  std::unique_ptr<EntryUse> Use = Once(nullptr, Settled);
  // What a switch chooses by is one of what it knows.
  Bindings Chosen = Use->Names;
  for (const auto &[Name, Number] : Use->Run->Choices)
    if (Use->Names.count(Name))
      Chosen[Name] = Number;
  settleDimensions(*Use, Settled);
  if (Chosen != Use->Names || !Settled.empty())
    Use = Once(&Chosen, Settled);
  auto With = [&](const Bindings &Forced) {
    return Once(&Chosen, Settled, Forced);
  };
  Bindings On = Twice ? turnedOn(*Use, With) : Bindings();
  if (!On.empty())
    Use = Once(&Chosen, Settled, On);
  Use->Repeat = [=](const Bindings &Numbers) {
    return Once(&Numbers, Settled, On);
  };
  if (Bindings Others = otherSizes(*Use); Twice && !Others.empty())
    Use->Again = Use->Repeat(Others);
  return Use;
}
