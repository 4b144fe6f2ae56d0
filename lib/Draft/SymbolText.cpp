//===- SymbolText.cpp - The variables of the device in a draft ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what the host sets and reads back, what kernels write -> "symbols"
///
//===----------------------------------------------------------------------===//

#include "ArgumentText.h"
#include "Dtypes.h"
#include "stark/AST/Parse.h"
#include "stark/Job/Names.h"
#include "clang/AST/Decl.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::draft;
using nlohmann::ordered_json;

/// The one value that the host gives \p S, or that its declaration does.
static std::optional<double> valueOf(const SymbolUse &S,
                                     const clang::ASTContext &Context) {
  if (S.Set) {
    if (S.Held.Any && !S.Held.Unknown && !S.Held.Limit &&
        S.Held.Least == S.Held.Most)
      return S.Held.Least;
    return std::nullopt;
  }
  const clang::VarDecl *Def = S.V->getInitializingDeclaration();
  const clang::Expr *Init = Def ? Def->getInit() : nullptr;
  if (!Init || Init->isValueDependent() || llvm::isa<clang::InitListExpr>(Init))
    return Init ? std::nullopt : std::optional(0.0);
  clang::Expr::EvalResult R;
  if (Init->EvaluateAsInt(R, Context))
    return double(R.Val.getInt().getExtValue());
  llvm::APFloat F(0.0);
  return Init->EvaluateAsFloat(F, Context) ? std::optional(F.convertToDouble())
                                           : std::nullopt;
}

/// Variables that the host sets are inputs. One that kernels write is an output
/// where the host reads it back, or where nothing else is written.
bool ArgumentWriter::writeSymbols(ordered_json &Symbols, bool OthersWritten) {
  bool Any = false;
  for (const SymbolUse &S : Use.Symbols) {
    const draft::Use &U = S.Used;
    bool Output = U.Written && (S.Got || !OthersWritten);
    if (!S.Set && !Output)
      continue;
    std::string Name = S.V->getQualifiedNameAsString();
    llvm::Expected<Parameter> P = findSymbol(Source, Name);
    if (!P) {
      Notes.push_back(
          "variable '" + Name + "' is " +
          (S.Set ? "set by the host" : "written") +
          ", which no workload can say: " + llvm::toString(P.takeError()));
      continue;
    }
    ordered_json A;
    A["dtype"] = nameOf(dtypeFor(*P));
    A["shape"] = ordered_json::array({P->Count * P->Lanes});
    int64_t Bytes =
        int64_t(P->Count * P->Lanes) * job::dtypeBytes(dtypeFor(*P));
    bool Whole = U.Surely && !U.Inexact && U.Least <= 0 && U.Most >= Bytes;
    if (Output)
      A["role"] = U.ReadFirst || U.Atomic || !Whole ? "inout" : "output";
    Any |= Output;
    const Formula &Only = S.Held.Only;
    bool Follows = S.Set && S.Held.Any && Only && hasNames(Only) &&
                   P->Count * P->Lanes == 1 && ofSizes(Only);
    if (Follows && A.value("role", "input") != "output")
      A["init"] = {{"integers",
                    {print(Only), print(combine(Op::Add, Only, constant(1)))}}};
    else if (std::optional<double> V = valueOf(S, S.V->getASTContext());
             V && A.value("role", "input") != "output") {
      if (*V == 0)
        A["init"] = "zeros";
      else if (*V == double(int64_t(*V)))
        A["init"] = {{"constant", int64_t(*V)}};
      else
        A["init"] = {{"constant", *V}};
    }
    Symbols[Name] = A;
  }
  return Any;
}
