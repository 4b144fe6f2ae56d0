//===- ContractPlaces.h - Where a pointer comes from ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   expression -> the variable, the field of one, or the function that a
/// pointer came from, or a cast that drops const
/// Casts, arithmetic, numbers that are addresses, unions and what the standard
/// library hands on unchanged are looked through.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_CONTRACTPLACES_H
#define STARK_LIB_AST_CONTRACTPLACES_H

#include "ContractReader.h"
#include "clang/AST/ExprCXX.h"

namespace stark {

/// What holds a pointer: a variable, one of its fields, or what a function
/// returns.
struct Place {
  const clang::Decl *Root = nullptr; ///< null: nothing that is known
  const clang::FieldDecl *Field = nullptr;
  bool operator<(const Place &O) const {
    return std::tie(Root, Field) < std::tie(O.Root, O.Field);
  }
};

/// A pointer's or reference's origin.
struct Origin {
  Place From;
  bool Dropped = false; ///< on the way from there const was dropped
};

class PlaceReader : public ContractReader {
protected:
  explicit PlaceReader(const ContractText &Text) : ContractReader(Text) {}

  /// \p E: a pointer, what is at it, or a number that may be an address.
  Origin originOf(const clang::Expr *E) const;

  /// Without what changes nothing of a value.
  static const clang::Expr *plain(const clang::Expr *E);
  static const clang::VarDecl *variableOf(const clang::Expr *E);
  /// Of `&a` or `(void *)&a` a; null.
  static const clang::Expr *addressed(const clang::Expr *E);
  /// Of a pointer, or a number that may be one, in a struct; of a union its
  /// first field stands for all.
  static const clang::FieldDecl *fieldOf(const clang::Expr *E);
  /// One that all instances of a template share.
  static const clang::VarDecl *sharedBy(const clang::VarDecl *V);
  static const clang::VarDecl *parameter(const clang::FunctionDecl *F,
                                         unsigned I);
  static const clang::FunctionDecl *calleeOf(const clang::CallExpr *Call);
  /// Is it a pointer, an array or not known yet?
  static bool leadsSomewhere(const clang::Expr *E);
  /// Does a pointer fit into it?
  static bool mayBeAddress(clang::QualType Type);
  /// Is \p E, which leads to const, a pointer that does not, by casts?
  static bool onlyCalledConst(const clang::Expr *E);
  static bool leadsToConst(clang::QualType Type) {
    return Type->isPointerType() && Type->getPointeeType().isConstQualified();
  }

private:
  Origin ofBinary(const clang::BinaryOperator *E) const;
};

} // namespace stark

#endif
