//===- Nearest.cpp - The name that was meant -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Nearest.h"
#include <algorithm>

std::string stark::didYouMean(llvm::StringRef Given,
                              llvm::ArrayRef<std::string> Known) {
  // Two letters in five may differ; a long text is no misspelt name.
  size_t Best = std::max<size_t>(1, Given.size() * 2 / 5) + 1;
  const std::string *Found = nullptr;
  if (Given.size() > 200)
    return "";
  for (const std::string &Name : Known) {
    size_t Distance = Given.edit_distance_insensitive(Name);
    if (Distance < Best) {
      Best = Distance;
      Found = &Name;
    }
  }
  return Found ? "; did you mean '" + *Found + "'?" : "";
}
