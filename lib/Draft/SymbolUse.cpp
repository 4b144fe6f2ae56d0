//===- SymbolUse.cpp - Variables of the device in drafts ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryUse.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

SymbolUse draft::symbolUse(const VarDecl *V, const Machine &Entry,
                           const Machine *Host) {
  SymbolUse S;
  S.V = V;
  if (const Object *O = Entry.objectOf(V))
    S.Used = O->Used;
  if (!Host)
    return S;
  // The host may be another file's, with a declaration of its own.
  auto Has = [&](const std::set<const VarDecl *> &In) -> const VarDecl * {
    for (const VarDecl *Each : In)
      if (Each->getQualifiedNameAsString() == V->getQualifiedNameAsString())
        return Each;
    return nullptr;
  };
  S.Got = Has(Host->SymbolsGot);
  if (const VarDecl *Set = Has(Host->SymbolsSet)) {
    S.Set = true;
    if (const Object *O = Host->objectOf(Set))
      S.Held = O->Held;
  }
  return S;
}
