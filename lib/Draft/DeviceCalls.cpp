//===- DeviceCalls.cpp - What CUDA's device functions do in a dry run -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "clang/AST/DeclTemplate.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

/// \p P is read and written at once; what it held.
Value Machine::touchAtomically(const Place &P) {
  Value Held;
  Held.Ticket = true;
  noteShared(P);
  if (!P || (P.To->Where != Space::Device && P.To->Where != Space::Variable))
    return Held;
  use(P.To, P, sizeOf(P.Type), /*Write=*/true, /*Atomic=*/true);
  if (P.To->Var)
    SymbolsUsed.insert(P.To->Var);
  Held.Loaded.push_back(P.Record ? &fieldOf(*P.To, P.InRecord) : P.To);
  return Held;
}

/// \p Bytes from \p Pointer on are read or written.
void Machine::touchBytes(const Value &Pointer, int64_t Bytes, bool Write) {
  if (!As || Bytes < 1)
    return;
  Place P = placeAt(Pointer, Context.getExtVectorType(Context.CharTy, 1));
  if (!P || P.To->Where != Space::Device)
    return;
  // Of a place that is not known no length follows.
  use(P.To, P, P.Exact ? Bytes : 1, Write, /*Atomic=*/false);
}

namespace {
/// Of nvcuda::wmma: how its elements lie in memory.
struct Fragment {
  int64_t Rows = 0, Columns = 0; ///< rows of elements that lie side by side
  QualType Element;
};
} // namespace

/// fragment<matrix_a, 16, 16, 16, __half, row_major>; \p ByColumns is what a
/// call says of an accumulator. Unset for another type.
static std::optional<Fragment> fragmentOf(QualType Type, bool ByColumns) {
  const auto *R = llvm::dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Type.getNonReferenceType().getCanonicalType()->getAsCXXRecordDecl());
  if (!R || R->getName() != "fragment" || R->getTemplateArgs().size() < 5)
    return std::nullopt;
  const TemplateArgumentList &List = R->getTemplateArgs();
  auto TypeName = [&](unsigned I) {
    const CXXRecordDecl *D = List[I].getKind() == TemplateArgument::Type
                                 ? List[I].getAsType()->getAsCXXRecordDecl()
                                 : nullptr;
    return D ? D->getName() : llvm::StringRef();
  };
  int64_t Sides[3];
  for (unsigned I = 0; I < 3; ++I) {
    if (List[I + 1].getKind() != TemplateArgument::Integral)
      return std::nullopt;
    Sides[I] = List[I + 1].getAsIntegral().getExtValue();
  }
  if (List.size() > 5 && TypeName(5) == "col_major")
    ByColumns = true;
  Fragment F;
  llvm::StringRef Use = TypeName(0);
  F.Rows = Use == "matrix_b" ? Sides[2] : Sides[0];
  F.Columns = Use == "matrix_a" ? Sides[2] : Sides[1];
  if (ByColumns)
    std::swap(F.Rows, F.Columns);
  F.Element = List[4].getKind() == TemplateArgument::Type ? List[4].getAsType()
                                                          : QualType();
  return F;
}

/// load_matrix_sync(fragment, from, leading dimension) and its kin.
void Machine::touchFragment(const CallExpr *C, bool Write) {
  unsigned Count = C->getNumArgs();
  const Expr *Of = C->getArg(Write ? 1 : 0),
             *Pointer = C->getArg(Write ? 0 : 1);
  Value Layout = Count > 3 ? eval(C->getArg(3)) : Value();
  std::optional<Fragment> F =
      fragmentOf(Of->getType(), Layout.isInteger() && Layout.Number == 1);
  Value At = eval(Pointer), Leading = eval(C->getArg(2));
  QualType Held = Pointer->getType()->getPointeeType();
  int64_t Bytes = F && !Held.isNull() ? sizeOf(Held) : -1;
  if (Bytes < 1)
    return;
  int64_t Rows = Leading.isInteger() ? (F->Rows - 1) * Leading.Number : 0;
  touchBytes(At, (Rows + F->Columns) * Bytes, Write);
}

/// memcpy_async(group, to, from, bytes, ...), __pipeline_memcpy_async(), and
/// memcpy() by one thread.
Value Machine::touchCopied(const CallExpr *C) {
  std::vector<Value> Pointers;
  std::optional<int64_t> Bytes;
  for (const Expr *A : C->arguments()) {
    if (isa<CXXDefaultArgExpr>(A))
      continue;
    Value V = eval(A);
    if (A->getType()->isPointerType())
      Pointers.push_back(V);
    else if (Pointers.size() == 2 && V.isInteger() && !Bytes)
      Bytes = V.Number;
  }
  if (Pointers.size() != 2)
    return Value();
  constexpr int64_t AsOne = 16; // where nothing tells how many bytes there are
  touchBytes(Pointers[1], Bytes.value_or(AsOne), /*Write=*/false);
  touchBytes(Pointers[0], Bytes.value_or(AsOne), /*Write=*/true);
  return Pointers[0];
}

std::optional<Value> Machine::callDevice(llvm::StringRef Name,
                                         const CallExpr *C) {
  unsigned Count = C->getNumArgs();
  auto PlaceOf = [&](unsigned I) {
    QualType Type = C->getArg(I)->getType();
    return placeAt(eval(C->getArg(I)),
                   Type->isPointerType() ? Type->getPointeeType() : Type);
  };
  WaitsForGrid |= Name == "this_grid";
  if (Name.starts_with("atomic") && Count >= 2) {
    Place P = PlaceOf(0);
    for (unsigned I = 1; I < Count; ++I)
      eval(C->getArg(I));
    if (P)
      P.To->Used.Lowered |= Name.starts_with("atomicMin");
    return touchAtomically(P);
  }
  if ((Name == "load_matrix_sync" || Name == "store_matrix_sync") &&
      Count >= 3) {
    touchFragment(C, /*Write=*/Name == "store_matrix_sync");
    return Value();
  }
  if ((Name == "memcpy_async" || Name == "__pipeline_memcpy_async" ||
       Name == "memcpy") &&
      Count >= 3)
    return touchCopied(C);
  if (Name == "memset" && Count == 3) {
    Value To = eval(C->getArg(0)), Bytes = eval(C->getArg(2));
    touchBytes(To, Bytes.isInteger() ? Bytes.Number : 1, /*Write=*/true);
    return To;
  }
  if (Name.starts_with("curand")) {
    // The state that it goes on from; what it returns is not known.
    for (const Expr *A : C->arguments())
      if (A->getType()->isPointerType()) {
        Value At = eval(A);
        int64_t Bytes = sizeOf(A->getType()->getPointeeType());
        if (Name != "curand_init")
          touchBytes(At, Bytes, /*Write=*/false);
        touchBytes(At, Bytes, /*Write=*/true);
      }
    return Value();
  }
  if ((Name == "__ldg" || Name.starts_with("__ldc") || Name == "__ldlu" ||
       Name == "__ldcv") &&
      Count == 1)
    return load(PlaceOf(0));
  if ((Name.starts_with("__stc") || Name == "__stwt" || Name == "__stwb") &&
      Count == 2) {
    store(PlaceOf(0), eval(C->getArg(1)));
    return Value();
  }
  if (Name.starts_with("__shfl") && Count >= 2) {
    // Another lane's, of which as much is known.
    Value V = eval(C->getArg(1));
    V.Kind = Value::Unknown;
    return V;
  }
  if ((Name == "__mul24" || Name == "__umul24") && Count == 2)
    return arithmetic(BO_Mul, eval(C->getArg(0)), eval(C->getArg(1)),
                      C->getType());
  if (Name == "__cvta_generic_to_global" && Count == 1)
    return eval(C->getArg(0));
  if (Name == "__cvta_generic_to_shared" || Name.starts_with("__sync") ||
      Name.starts_with("__threadfence"))
    return Value();
  if (Name.starts_with("__fetch_builtin"))
    return Value();
  return std::nullopt;
}
