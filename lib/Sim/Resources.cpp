//===- Resources.cpp - What ptxas gives a kernel -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Resources.h"
#include "stark/Json/Fields.h"
#include "stark/Support/File.h"
#include "llvm/Demangle/Demangle.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::sim;
using Json = nlohmann::json;

std::string sim::printResources(const ResourceTable &T) {
  return dumpJson(writeFields<Json>(T));
}

std::optional<ResourceTable> sim::parseResources(llvm::StringRef Text) {
  Json Object = Json::parse(Text.begin(), Text.end(), nullptr, false);
  ResourceTable T;
  if (Object.is_discarded() || !readFields(Object, "", "", T).empty())
    return std::nullopt;
  return T;
}

const KernelResources *sim::findResources(const ResourceTable &T,
                                          llvm::StringRef Symbol) {
  for (const KernelResources &K : T.Kernels)
    if (K.Symbol == Symbol)
      return &K;
  // "k(int*)" of _Z1kPi and _ZL1kPi, "(anonymous namespace)::k(int*)" of
  // whatever the namespace is called.
  std::string Name = llvm::demangle(Symbol);
  const KernelResources *Found = nullptr;
  for (const KernelResources &K : T.Kernels) {
    if (llvm::demangle(K.Symbol) != Name)
      continue;
    if (Found)
      return nullptr;
    Found = &K;
  }
  return Found;
}
