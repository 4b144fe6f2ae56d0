//===- RecordText.cpp - A struct's fields, for people ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/RecordText.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/RecordLayout.h"

using namespace clang;

std::string stark::fieldsText(const RecordDecl *R, unsigned Most) {
  const ASTContext &Context = R->getASTContext();
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(R);
  std::string Text;
  for (const FieldDecl *F : R->fields()) {
    unsigned I = F->getFieldIndex();
    if (I == Most)
      return Text + ", ...";
    uint64_t Bit = Layout.getFieldOffset(I), Byte = Bit / 8;
    Text += (I ? ", " : "") +
            F->getType().getCanonicalType().getAsString(
                Context.getPrintingPolicy()) +
            " " + F->getNameAsString() + " at " +
            (Bit % 8 ? "bit " + std::to_string(Bit % 8) + " of " : "") +
            "byte " + std::to_string(Byte);
  }
  return Text;
}
