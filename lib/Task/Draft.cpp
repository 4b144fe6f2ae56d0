//===- Draft.cpp - A first workload from the AST -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Workload.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;

/// The dtype that stands for \p T in a workload; f32 when none does.
static const char *dtypeFor(const Parameter &P) {
  switch (P.Element) {
  case ScalarType::F64:
    return "f64";
  case ScalarType::F16:
    return "f16";
  case ScalarType::BF16:
    return "bf16";
  case ScalarType::I32:
  case ScalarType::U32:
    return "i32";
  case ScalarType::I64:
  case ScalarType::U64:
    return "i64";
  case ScalarType::Bool:
  case ScalarType::I8:
  case ScalarType::U8:
    return "u8";
  default:
    return "f32";
  }
}

static bool isInteger(const Parameter &P) {
  switch (P.Element) {
  case ScalarType::I32:
  case ScalarType::U32:
  case ScalarType::I64:
  case ScalarType::U64:
    return P.Kind == ParameterKind::Scalar;
  default:
    return false;
  }
}

/// A name that expressions can use: "params.rows" -> "params_rows".
static std::string sizeName(std::string Name) {
  for (char &C : Name)
    if (C == '.')
      C = '_';
  return Name;
}

std::string stark::draftWorkload(const Signature &Entry,
                                 std::vector<std::string> &Notes) {
  std::vector<const Parameter *> Leaves;
  for (const Parameter &P : Entry.Parameters) {
    if (P.Kind == ParameterKind::Struct)
      for (const Parameter &F : P.Fields)
        Leaves.push_back(&F);
    else if (P.Kind == ParameterKind::Unsupported)
      Notes.push_back("parameter '" + P.Name + "' of type '" + P.Type +
                      "' cannot be given: " + P.Reason);
    else
      Leaves.push_back(&P);
  }
  ordered_json Large, Ragged, Arguments = ordered_json::object();
  std::vector<std::string> Dimensions;
  for (const Parameter *P : Leaves)
    if (isInteger(*P)) {
      Dimensions.push_back(sizeName(P->Name));
      Large[Dimensions.back()] = 1024;
      Ragged[Dimensions.back()] = 77;
    }
  if (Dimensions.empty()) {
    Dimensions.push_back("n");
    Large["n"] = 1 << 20;
    Ragged["n"] = 1027;
    Notes.push_back("the entry has no integer parameter; sizes are named 'n'");
  } else {
    Notes.push_back("every integer parameter is taken for a size; put in "
                    "production sizes");
  }
  Ragged["check_only"] = true;
  for (const Parameter *P : Leaves) {
    ordered_json A;
    if (P->Kind == ParameterKind::Stream)
      continue;
    if (P->Kind == ParameterKind::Scalar) {
      if (isInteger(*P))
        A["value"] = sizeName(P->Name);
      else {
        A["value"] = 1;
        Notes.push_back("argument '" + P->Name + "' gets the value 1");
      }
    } else {
      A["dtype"] = dtypeFor(*P);
      std::string Product;
      for (const std::string &D : Dimensions)
        Product += (Product.empty() ? "" : " * ") + D;
      A["shape"] = ordered_json::array({Product});
      A["role"] = P->Const ? "input" : "output";
      Notes.push_back("argument '" + P->Name + "': shape and role (" +
                      (P->Const ? "input" : "output") + ") are guessed" +
                      (P->Untyped ? ", and its dtype" : ""));
    }
    Arguments[P->Name] = std::move(A);
  }
  ordered_json Root;
  if (Entry.IsKernel) {
    Root["launch"] = {{"kernel", Entry.Name},
                      {"grid", "ceildiv(" + Dimensions.front() + ", 256)"},
                      {"block", "256"}};
    Notes.push_back("the entry is a kernel; its launch rule is guessed");
  } else {
    Root["entry"] = Entry.Name;
  }
  Root["sizes"] = ordered_json::array({Large, Ragged});
  Root["arguments"] = std::move(Arguments);
  return Root.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}
