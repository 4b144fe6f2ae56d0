//===- Tensors.cpp - What an entry of tensors is called with --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   lists of tensors in an entry's signature; what a hardened case fills them
/// with
/// A module's own values hide faults: weights that are all 1 or 0, inputs that
/// are all positive. docs/judging.md, "Tensors", says what takes their place.
///
//===----------------------------------------------------------------------===//

#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cmath>

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

/// How many products a sum over \p A as a weight has: all but the first of its
/// extents. 1 where these are not numbers.
static double fanIn(const Argument &A) {
  double Product = 1;
  for (const std::string &Extent : llvm::drop_begin(A.Shape)) {
    uint64_t Value = 0;
    if (!llvm::StringRef(Extent).getAsInteger(10, Value))
      Product *= double(std::max<uint64_t>(Value, 1));
  }
  return Product;
}

static job::Init drawn(job::InitKind Kind, double Low, double High) {
  job::Init Fill;
  Fill.Kind = Kind;
  Fill.Low = Low;
  Fill.High = High;
  return Fill;
}

static std::optional<job::Init> hardenedWeight(const Argument &A) {
  llvm::StringRef Path = A.Path;
  if (A.Tensor == TensorKind::Buffer) {
    if (Path.ends_with("running_var"))
      return drawn(job::InitKind::Uniform, 0.5, 1.5);
    if (Path.ends_with("running_mean"))
      return drawn(job::InitKind::Normal, 0, 0.3);
    return std::nullopt;
  }
  if (A.Shape.size() >= 2)
    return drawn(job::InitKind::Normal, 0, std::sqrt(2 / fanIn(A)));
  if (Path.ends_with("bias"))
    return drawn(job::InitKind::Normal, 0, 0.3);
  return drawn(job::InitKind::Uniform, 0.5, 1.5);
}

std::optional<job::Init> stark::hardened(const Argument &A) {
  bool Written = A.Use == job::Role::Output || A.Use == job::Role::Scratch;
  // What counts, orders or selects is as it is for a reason.
  bool Drawn = A.Fill.Kind == job::InitKind::Normal ||
               A.Fill.Kind == job::InitKind::Uniform ||
               A.Fill.Kind == job::InitKind::Zeros ||
               A.Fill.Kind == job::InitKind::Ones ||
               A.Fill.Kind == job::InitKind::Constant;
  if (!A.IsBuffer || Written || job::isWhole(A.Type) || A.FromWeights || !Drawn)
    return std::nullopt;
  if (A.Tensor == TensorKind::Parameter || A.Tensor == TensorKind::Buffer)
    return hardenedWeight(A);
  if (A.Tensor == TensorKind::Constant)
    return std::nullopt;
  job::Init Mixed = drawn(job::InitKind::Mixed, 0, 1);
  Mixed.Keep = A.Fill.Keep;
  return Mixed;
}
