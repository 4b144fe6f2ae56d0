//===- ContractLaunches.cpp - Attributes of launches
//-----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The token reader knows an attribute of a launch by its name: none is made
/// of bytes.
///
//===----------------------------------------------------------------------===//

#include "ContractReader.h"
#include "clang/AST/Expr.h"

using namespace stark;
using namespace clang;

namespace {
class LaunchReader : public ContractReader {
public:
  explicit LaunchReader(const ContractText &Text) : ContractReader(Text) {}

  std::vector<Finding> run() {
    walk(Source);
    return std::move(Findings);
  }

  bool onStmt(Stmt *S) override {
    if (auto *Call = dyn_cast<CallExpr>(S))
      clears(Call);
    auto *E = dyn_cast<CastExpr>(S);
    if (!E || E->isTypeDependent())
      return true;
    if (attributeFromBytes(E) || kindFromNumber(E))
      add(E->getExprLoc(), ViolationKind::LaunchAttributeFromNumber, "", "");
    return true;
  }

private:
  static bool kindFromNumber(const CastExpr *E) {
    auto *Enum = E->getType()->getAs<EnumType>();
    return Enum && E->getCastKind() == CK_IntegralCast &&
           Enum->getDecl()->getName().starts_with("cudaLaunchAttribute");
  }

  /// Is an attribute of a launch, or its kind, taken for other bytes, or others
  /// for one?
  bool attributeFromBytes(const CastExpr *E) const {
    auto IsAttribute = [](QualType Type) {
      const TagDecl *Tag = Type->isPointerType()
                               ? Type->getPointeeType()->getAsTagDecl()
                               : nullptr;
      return Tag && Tag->getName().starts_with("cudaLaunchAttribute");
    };
    QualType To = E->getType(), From = E->getSubExpr()->getType();
    return !Cleared.count(E) && E->getCastKind() == CK_BitCast &&
           IsAttribute(To) != IsAttribute(From);
  }
};
} // namespace

std::vector<Finding> stark::launchFindings(const ContractText &Text) {
  return LaunchReader(Text).run();
}
