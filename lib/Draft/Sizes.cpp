//===- Sizes.cpp - How large what is drafted is ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

int64_t draft::extentFor(size_t Dimensions) {
  static constexpr int64_t Extents[] = {1 << 20, 1 << 20, 1024, 256, 48, 24};
  return Dimensions < std::size(Extents) ? Extents[Dimensions] : 8;
}

bool draft::halveLargest(Bindings &Names, int64_t Least) {
  auto Largest = llvm::max_element(
      Names, [](const auto &L, const auto &R) { return L.second < R.second; });
  if (Largest == Names.end() || Largest->second <= Least)
    return false;
  Largest->second /= 2;
  return true;
}
