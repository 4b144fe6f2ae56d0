//===- Tensors.cpp - What an entry of tensors is called with --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   lists of tensors in an entry's signature -> one parameter a tensor
///
//===----------------------------------------------------------------------===//

#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace stark;

static Parameter tensorNamed(std::string Name) {
  Parameter P;
  P.Name = std::move(Name);
  P.Type = "at::Tensor";
  P.Kind = ParameterKind::Tensor;
  return P;
}

void stark::resolveTensors(Signature &Entry, const Workload &W) {
  auto Has = [&](const std::string &Name) {
    return llvm::any_of(W.Arguments, [&](const Argument &A) {
      return A.Name == Name && !A.Absent;
    });
  };
  for (Parameter &P : Entry.Parameters) {
    if (P.Kind == ParameterKind::OptionalTensor && Has(P.Name))
      P.Fields = {tensorNamed(P.Name)};
    if (P.Kind != ParameterKind::TensorList)
      continue;
    for (size_t I = 0;; ++I) {
      std::string Name = P.Name + "[" + std::to_string(I) + "]";
      if (!Has(Name))
        break;
      P.Fields.push_back(tensorNamed(Name));
    }
  }
}
