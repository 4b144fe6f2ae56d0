//===- Memory.cpp - Values and where they lie ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

void Value::addLoaded(const Value &Other) {
  Ticket |= Other.Ticket;
  for (Object *O : Other.Loaded)
    if (!llvm::is_contained(Loaded, O)) {
      Loaded.push_back(O);
      if (auto Known = Other.Strides.find(O); Known != Other.Strides.end())
        Strides.insert(*Known);
    }
}

void Value::addUp(const Value &L, const Value &R) {
  auto IsNothing = [](const Value &V) { return V.isInteger() && !V.Number; };
  auto Terms = [](const Value &V) { return V.Sum ? V.Number : V.Element; };
  if (Loaded.size() != 1)
    return;
  Element = IsNothing(L) && R.Element;
  Sum = (Terms(L) && Terms(R)) || (IsNothing(L) && R.Sum);
  Number = Sum ? Terms(L) + Terms(R) : 0;
}

void Value::scaleLoaded(const Formula &Factor) {
  for (Object *O : Loaded) {
    Formula &Stride = Strides[O];
    Stride = Factor ? combine(Op::Mul, Stride ? Stride : constant(1), Factor)
                    : nullptr;
  }
}

Value draft::addressOf(const Place &P) {
  Value V = Value::address(P.To, P.Offset, P.OffsetHow);
  V.Exact = P.Exact;
  V.Record = P.Record;
  V.InRecord = P.InRecord;
  V.takeLoaded(P.Index);
  return V;
}

Object *Machine::create(std::string Name, Space Where, int64_t Size,
                        Formula SizeHow, QualType Type) {
  auto Made = std::make_unique<Object>();
  Made->Name = std::move(Name);
  Made->Where = Where;
  Made->Size = Size;
  Made->SizeHow = SizeHow     ? std::move(SizeHow)
                  : Size >= 0 ? constant(Size)
                              : nullptr;
  Made->Type = Type;
  Heap.push_back(std::move(Made));
  return Heap.back().get();
}

bool Machine::hasLayout(const RecordDecl *R) {
  R = R ? R->getDefinition() : nullptr;
  return R && R->isCompleteDefinition() && !R->isInvalidDecl() &&
         !R->isDependentType();
}

int64_t Machine::sizeOf(QualType Type) const {
  // A file with errors has types that are none.
  if (Type.isNull() || Type->isDependentType() || Type->isIncompleteType() ||
      Type->isFunctionType() || Type->isUndeducedType() ||
      Type->isPlaceholderType())
    return -1;
  if (const RecordDecl *R = Type->getBaseElementTypeUnsafe()->getAsRecordDecl();
      R && !hasLayout(R))
    return -1;
  return Context.getTypeSizeInChars(Type).getQuantity();
}

static bool inDevice(const Object &O) {
  return O.Where == Space::Device || O.Where == Space::Variable;
}

/// in[blockIdx.x * columns + i]: a row for each block.
void Machine::noteRows(const Formula &Offset) {
  constexpr unsigned Most = 2000; // a kernel says it at once
  if (!WatchBlocks || !As || ++RowsLookedFor > Most)
    return;
  std::set<std::string> All;
  collectNames(Offset, All);
  for (int I = 0; I < 3; ++I) {
    std::string Wanted = std::string("blockIdx.") + char('x' + I);
    if (BlockIsRow[I] || !All.count(Wanted))
      continue;
    auto With = [&](int64_t Block) {
      return substitute(Offset, [&](const std::string &Name) -> Formula {
        if (Name == Wanted)
          return constant(Block);
        return llvm::StringRef(Name).starts_with("blockIdx.") ||
                       llvm::StringRef(Name).starts_with("threadIdx.")
                   ? constant(0)
                   : nullptr;
      });
    };
    std::set<std::string> Sizes;
    collectNames(With(1), Sizes);
    BlockIsRow[I] = llvm::any_of(Sizes, [](llvm::StringRef Name) {
      return !Name.starts_with("blockDim.") && !Name.starts_with("gridDim.");
    });
  }
}

/// float4 at in + row * columns asks something of columns.
void Machine::noteAligned(const Place &P) {
  constexpr unsigned Most = 4000, MostKept = 200;
  if (!As || P.Type.isNull() || sizeOf(P.Type) < 2 ||
      Aligned.size() >= MostKept || ++AlignedLookedFor > Most)
    return;
  int64_t Bytes = Context.getTypeAlignInChars(P.Type).getQuantity();
  std::set<std::string> All;
  collectNames(P.OffsetHow, All);
  bool Sizes = llvm::any_of(All, [](const std::string &Name) {
    return !llvm::is_contained(Name, '.');
  });
  if (Bytes > 1 && Sizes &&
      AlignedSeen.insert(print(P.OffsetHow) + "%" + std::to_string(Bytes))
          .second)
    Aligned.push_back({P.OffsetHow, Bytes});
}

void Machine::use(Object *O, const Place &P, int64_t Bytes, bool Write,
                  bool Atomic) {
  Use &U = O->Used;
  if (P.Exact)
    noteRows(P.OffsetHow);
  if (P.Exact)
    noteAligned(P);
  if (P.Exact) {
    U.Least = std::min(U.Least, P.Offset);
    U.Most = std::max(U.Most, P.Offset + std::max<int64_t>(Bytes, 1));
  } else {
    U.Inexact = true;
    U.Unordered |= Write && !Atomic && P.Index.Ticket;
    U.InexactBytes = std::max(U.InexactBytes, Bytes);
    for (Object *By : P.Index.Loaded)
      if (By != O && !llvm::is_contained(By->Used.Indexes, O)) {
        By->Used.Indexes.push_back(O);
        auto Known = P.Index.Strides.find(By);
        if (Known != P.Index.Strides.end() && Known->second)
          By->Used.Strides[O] = Known->second;
        By->Used.Scaled |= Known != P.Index.Strides.end() && !Known->second;
      }
  }
  if (!Write || Atomic) {
    bool Own = P.Exact ? WrittenByThread.count({O, P.Offset})
                       : O->WrittenIn == LaunchCount && U.Written;
    bool Earlier = O->SetBefore || (O->WrittenIn && O->WrittenIn < LaunchCount);
    U.Read = true;
    U.ReadFirst |= !Own && !Earlier;
  }
  if (Write) {
    U.Surely |= !Doubts || (Doubts == MayHaveLeft && WrittenBefore.count(O));
    if (Doubts)
      WrittenInDoubt.insert(O);
    U.Written = true;
    if (!O->WrittenIn)
      O->WrittenIn = LaunchCount;
    if (P.Exact)
      WrittenByThread.insert({O, P.Offset});
  }
  U.Atomic |= Atomic;
}

/// A thread's own arrays and those of its block are as long as they are: what
/// chooses an element is below that. extern __shared__ arrays are as long as
/// the launch says.
void Machine::noteShared(const Place &P) {
  if (P && !P.Exact && As && P.To->Where == Space::Shared)
    for (Object *By : P.Index.Loaded)
      By->Used.Chooses = true;
  int64_t Bytes = P && !P.Exact && As ? sizeOf(P.Type) : 0;
  if (Bytes > 0 && P.To->Size >= Bytes && !inDevice(*P.To))
    for (Object *By : P.Index.Loaded) {
      int64_t &Within = By->Used.Within;
      int64_t Count = P.To->Size / Bytes;
      if (inDevice(*By) && !P.Index.Strides.count(By))
        Within = Within ? std::min(Within, Count) : Count;
    }
  if (P && P.Exact && P.To->Where == Space::Shared && P.To->Size < 0)
    SharedBytes =
        std::max(SharedBytes, P.Offset + std::max<int64_t>(sizeOf(P.Type), 1));
}

Value Machine::load(const Place &P) {
  Value V;
  noteShared(P);
  if (!P) {
    V.addLoaded(P.Index);
    return V;
  }
  if (P.Type->isRecordType() || P.Type->isArrayType()) {
    return addressOf(P);
  }
  Object &O = *P.To;
  if (!As && inDevice(O)) {
    O.Used.OnHost = true;
    if (O.Var)
      SymbolsGot.insert(O.Var);
  }
  if (As && inDevice(O)) {
    use(&O, P, sizeOf(P.Type), /*Write=*/false, /*Atomic=*/false);
    if (O.Where == Space::Variable && O.Var)
      SymbolsUsed.insert(O.Var);
  }
  if (P.Exact)
    if (auto Found = O.Cells.find(P.Offset); Found != O.Cells.end())
      return Found->second;
  if (As && inDevice(O)) {
    V = loadedFrom(O, P);
  } else if (As && O.CopyOf && P.Record) {
    V = loadedFrom(*O.CopyOf, P);
  } else {
    V.addLoaded(P.Index);
    V.addLoaded(O.Carried);
    V.Element = O.Carried.Element && V.Loaded.size() == 1;
  }
  return V;
}

void Machine::store(const Place &P, const Value &V) {
  if (!P)
    return;
  noteShared(P);
  Object &O = *P.To;
  if (As && inDevice(O)) {
    use(&O, P, sizeOf(P.Type), /*Write=*/true, /*Atomic=*/false);
    if (O.Where == Space::Variable && O.Var)
      SymbolsUsed.insert(O.Var);
  }
  if (!As) {
    if (inDevice(O)) {
      O.Used.OnHost = true;
      if (O.Var)
        SymbolsSet.insert(O.Var);
    }
    int64_t Bytes = sizeOf(P.Type);
    O.Held.add(V, P.Exact && Bytes > 0 ? P.Offset / Bytes : -1);
    O.Held.Sparse |= !P.Exact;
    if (P.Record)
      fieldOf(O, P.InRecord).Held.add(V, P.Exact ? P.Offset / P.Record : -1);
  }
  // Places may be handed on from thread to thread.
  if (As && O.Where == Space::Shared && P.Type->isIntegerType()) {
    if (V.Kind == Value::Unknown)
      O.Carried.Element =
          V.Element && (O.Carried.Element || O.Carried.Loaded.empty());
    O.Carried.addLoaded(V);
  }
  constexpr size_t MostCells = 4096;
  // What a kernel wrote, other threads may have written as well.
  bool Keeps = !As || O.Where == Space::Host;
  if (P.Exact && Keeps && O.Cells.size() < MostCells)
    O.Cells[P.Offset] = V;
  else if (P.Exact)
    O.Cells.erase(P.Offset);
}

void Machine::copy(const Place &To, const Place &From) {
  if (!To)
    return;
  int64_t Bytes = sizeOf(To.Type);
  for (const Place *P : {&To, &From}) {
    if (!As && P->To && inDevice(*P->To))
      P->To->Used.OnHost = true;
    if (As && P->To && P->To->Where == Space::Variable && P->To->Var)
      SymbolsUsed.insert(P->To->Var);
  }
  holdFields(To, From);
  if (As && From && isOfSeveralTypes(To.Type))
    To.To->CopyOf = inDevice(*From.To) ? From.To : From.To->CopyOf;
  if (!From || !From.Exact || !To.Exact || Bytes < 0) {
    if (As && From && inDevice(*From.To))
      use(From.To, From, Bytes, /*Write=*/false, /*Atomic=*/false);
    if (As && inDevice(*To.To))
      use(To.To, To, Bytes, /*Write=*/true, /*Atomic=*/false);
    return;
  }
  if (As && inDevice(*From.To))
    use(From.To, From, Bytes, /*Write=*/false, /*Atomic=*/false);
  if (As && inDevice(*To.To))
    use(To.To, To, Bytes, /*Write=*/true, /*Atomic=*/false);
  std::map<int64_t, Value> Moved;
  for (auto At = From.To->Cells.lower_bound(From.Offset);
       At != From.To->Cells.end() && At->first < From.Offset + Bytes; ++At)
    Moved[At->first - From.Offset + To.Offset] = At->second;
  for (auto &[Offset, V] : Moved)
    To.To->Cells[Offset] = V;
  To.To->MadeUp |= From.To->MadeUp;
  if (From.To->Buffer)
    To.To->Buffer = From.To->Buffer;
}

Place Machine::placeAt(const Value &Pointer, QualType Type) {
  Place P;
  P.Type = Type;
  P.Index.takeLoaded(Pointer);
  if (!Pointer.isAddress())
    return P;
  P.To = Pointer.To;
  P.Offset = Pointer.Offset;
  P.Exact = Pointer.Exact;
  P.OffsetHow = Pointer.OffsetHow;
  P.Record = Pointer.Record;
  P.InRecord = Pointer.InRecord;
  return P;
}

Place Machine::placeOfVariable(const VarDecl *V) {
  Place P;
  P.Type = V->getType().getNonReferenceType();
  Object *O = nullptr;
  // A lambda has the variables of those who call it as well.
  for (const Frame *Each = Top; Each && !O && !V->hasGlobalStorage();
       Each = Each->Outer)
    O = Each->Locals.lookup(V);
  if (!O && V->hasGlobalStorage()) {
    const VarDecl *Canonical = V->getCanonicalDecl();
    O = Globals.lookup(Canonical);
    if (!O) {
      // Clang makes constants that kernels read __constant__ by itself.
      const auto *Constant = V->getAttr<CUDAConstantAttr>();
      const auto *Global = V->getAttr<CUDADeviceAttr>();
      bool Device = (Constant && !Constant->isImplicit()) ||
                    (Global && !Global->isImplicit());
      Space Where = V->hasAttr<CUDASharedAttr>() ? Space::Shared
                    : Device                     ? Space::Variable
                                                 : Space::Host;
      O = create(V->getNameAsString(), Where, sizeOf(P.Type), nullptr, P.Type);
      O->Var = Canonical;
      Globals[Canonical] = O;
      const VarDecl *Def = V->getInitializingDeclaration();
      if (Def && Def->getInit() && Where == Space::Host &&
          !Def->getInit()->isValueDependent()) {
        const Thread *Was = std::exchange(As, nullptr);
        Place Whole;
        Whole.To = O;
        Whole.OffsetHow = constant(0);
        Whole.Type = P.Type;
        initialize(Whole, Def->getInit());
        As = Was;
        // A variable that kernels read as well is no size to choose.
        auto Cell = O->Cells.find(0);
        if (Cell != O->Cells.end() && !P.Type->isRecordType())
          Cell->second = named(Cell->second, V->getNameAsString());
      }
    }
  }
  if (!O)
    return P;
  P.OffsetHow = constant(0);
  if (V->getType()->isReferenceType()) {
    auto Cell = O->Cells.find(0);
    return Cell == O->Cells.end() ? P : placeAt(Cell->second, P.Type);
  }
  P.To = O;
  return P;
}

std::string Machine::freshName(const std::string &Wanted, int64_t Number) {
  std::string Name = Wanted;
  for (int I = 2;; ++I) {
    auto [At, New] = Names.try_emplace(Name, Number);
    if (New || At->second == Number)
      return Name;
    Name = Wanted + std::to_string(I);
  }
}

/// A constant that the host keeps in a variable is a size that may be another.
Value Machine::named(const Value &V, const std::string &Name) {
  bool Power = !V.Exponent.empty();
  if (As || !MakesNames || InLoopHead || !V.isInteger() ||
      !(isConstant(V.How) || Power) || V.Number < 2 || V.Fixed || V.Wraps ||
      FixedNames.count(Name) || Name.empty())
    return V;
  auto Block = Blocks.find(Name);
  bool OfBlock = V.WasRead && Block != Blocks.end();
  if (OfBlock && Block->second.Fixed) {
    Value Side = Value::integer(Block->second.Number);
    Side.Fixed = true;
    return Side;
  }
  int64_t Number = OfBlock     ? Block->second.Number
                   : V.WasRead ? sizeRead(Name)
                               : V.Number;
  std::string Fresh = freshName(Name, Number);
  if (Power)
    Powers[Fresh] = V.Exponent;
  if (V.WasRead)
    ReadNames.insert(Fresh);
  return Value::integer(Number, draft::named(Fresh));
}
