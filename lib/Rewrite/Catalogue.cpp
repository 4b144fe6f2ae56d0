//===- Catalogue.cpp - The rewrites ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Catalogue.h"

using namespace stark;

// From CMakeLists.txt, rather than by objects that register themselves: a
// linker leaves those out of a static library.
const std::vector<std::unique_ptr<const Rewrite>> &stark::rewriteCatalogue() {
  static const auto All = [] {
    std::vector<std::unique_ptr<const Rewrite>> List;
#undef STARK_REWRITE
#define STARK_REWRITE(Name) List.push_back(make##Name());
#include "Rewrites.def"
    return List;
  }();
  return All;
}
