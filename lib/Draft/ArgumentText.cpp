//===- ArgumentText.cpp - The arguments of a draft ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentText.h"
#include "stark/AST/Parse.h"
#include "stark/Job/Names.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::draft;
using nlohmann::ordered_json;

ordered_json draft::formulaJson(const Formula &F) {
  if (isConstant(F))
    return F->Number;
  return print(F);
}

/// As far as its name and type tell.
static const char *roleByName(const Parameter &P, bool OthersAreWritten) {
  if (isOneOf(P.Name, {"tmp", "temp", "buffer", "buf", "ws"},
              {"scratch", "workspace", "partial"}))
    return "scratch";
  if (isOneOf(P.Name, {"residual", "inout", "io", "state", "acc"}))
    return "inout";
  bool LooksRead = isOneOf(
      P.Name, {"x",     "a",    "b",     "q",       "k",      "v",       "w",
               "in",    "src",  "input", "inp",     "weight", "weights", "bias",
               "gamma", "beta", "idx",   "indices", "index",  "mask"},
      {"input", "in_"});
  if (LooksRead)
    return OthersAreWritten ? "input" : "inout";
  return "output";
}

std::string ArgumentWriter::role(const LeafUse &L, const Formula &Scalars) {
  if (L.P->Const)
    return "input";
  const draft::Use &U = L.Array->Used;
  if (!U.Read && !U.Written) {
    if (Use.Followed)
      return "input";
    return roleByName(*L.P, OthersAreWritten);
  }
  if (!U.Written)
    return "input";
  // Parts that nobody writes are as they were.
  bool Part = U.Inexact || !U.Surely;
  if (L.Array->Size >= 0 && U.Most > INT64_MIN)
    Part |= U.Least > 0;
  Part |= L.PartLeft;
  Part &= !L.Array->SetBefore;
  return U.ReadFirst || Part ? "inout" : "output";
}

Formula ArgumentWriter::extentOf(const Object *O) const {
  for (size_t I = 0; I < Use.Leaves.size(); ++I)
    if (Use.Leaves[I].Array == O)
      return Extents[I];
  return nullptr;
}

ordered_json ArgumentWriter::shape(const LeafUse &L, const Formula &Scalars) {
  ordered_json Shape = ordered_json::array();
  Formula Elements = Scalars;
  int64_t Lanes = L.P->Lanes;
  bool Split = false;
  if (Elements && Lanes > 1) {
    Formula Without = combine(Op::Div, Elements, constant(Lanes));
    Split = Without && Without->Kind != Op::Div;
    if (Split)
      Elements = Without;
  }
  if (!Elements)
    for (const std::string &Name : Dimensions)
      Shape.push_back(Name);
  else {
    std::vector<Formula> Parts = factors(Elements);
    if (Parts.size() > 1 && isConstant(Parts[0])) {
      // "4 * n" is one extent.
      Parts[1] = combine(Op::Mul, Parts[0], Parts[1]);
      Parts.erase(Parts.begin());
    }
    for (const Formula &Part : Parts)
      Shape.push_back(formulaJson(Part));
  }
  if (Split || (!Scalars && Lanes > 1))
    Shape.push_back(Lanes);
  return Shape;
}

/// Is it computed of the workload's sizes alone?
bool ArgumentWriter::ofSizes(const Formula &F) const {
  std::set<std::string> Names;
  collectNames(F, Names);
  return F && llvm::all_of(Names, [&](const std::string &Name) {
           return llvm::is_contained(Dimensions, Name);
         });
}

ordered_json ArgumentWriter::buffer(const LeafUse &L, const Formula &Scalars) {
  ordered_json A;
  A["dtype"] = nameOf(dtypeFor(*L.P));
  A["shape"] = shape(L, Scalars);
  std::string Role = role(L, Scalars);
  A["role"] = Role;
  const draft::Use &U = L.Array->Used;
  if (isGivenByFields(L))
    A["fields"] = recordFields(L, Scalars, Role);
  else if (auto Fill = fill(L, Scalars, Role))
    A["init"] = *Fill;
  int64_t Scalar = job::dtypeBytes(dtypeFor(*L.P));
  if (L.Ahead)
    A["before"] = formulaJson(combine(Op::Div, L.Ahead, constant(Scalar)));
  if (U.Unordered && Role != "input")
    note(*L.P,
         "what an atomic operation returns says where its elements go: unless "
         "they are equal there, their order differs from run to run, and no "
         "comparison of elements is of use; wanted an entry that orders them");
  bool Seen = U.Read || U.Written;
  std::string Shape;
  for (const ordered_json &Part : A["shape"])
    Shape += (Shape.empty() ? "" : ", ") +
             (Part.is_string() ? Part.get<std::string>() : Part.dump());
  if (!Scalars)
    note(*L.P, "shape [" + Shape + "] " +
                   (Seen ? "is" : "and role " + Role + " are") + " guessed" +
                   (L.P->Untyped ? ", and dtype f32" : ""));
  else if (!L.Bytes && Seen)
    note(*L.P, "shape [" + Shape + "] is what some threads were seen to reach");
  else if (!Seen)
    note(*L.P, "nothing was seen to use it: role " + Role + " is guessed");
  if (Scalars && L.P->Untyped)
    note(*L.P, "dtype f32 is guessed");
  if (L.Bytes && L.Array->Size >= 0 && U.Most > L.Array->Size)
    note(*L.P, "the kernel reaches " + std::to_string(U.Most) +
                   " bytes, the program allocates " +
                   std::to_string(L.Array->Size));
  return A;
}

/// As short as a programmer writes it: 0.01 of a float, which is no double's.
static double asWritten(double Value, const Parameter &P) {
  auto Single = static_cast<float>(Value);
  if (P.Element != ScalarType::F32 || double(Single) != Value)
    return Value;
  char Text[32];
  auto End = std::to_chars(Text, Text + sizeof(Text), Single);
  std::from_chars(Text, End.ptr, Value);
  return Value;
}

ordered_json ArgumentWriter::scalar(const LeafUse &L) {
  ordered_json A;
  const Parameter &P = *L.P;
  if (L.TurnsOn)
    note(P, "with 0 nothing would be written; the value 1 is guessed");
  if (L.Given.isInteger() && !L.MadeUp) {
    A["value"] = formulaJson(L.Given.How);
    return A;
  }
  if (L.Given.Kind == Value::Real) {
    A["value"] = asWritten(L.Given.Floating, P);
    return A;
  }
  if (L.Given.isInteger() && hasNames(L.Given.How)) {
    A["value"] = print(L.Given.How);
    if (Use.Recorded)
      note(P,
           "what the program gives it is not known; it is a size of its own");
    return A;
  }
  bool Real = P.Element == ScalarType::F16 || P.Element == ScalarType::BF16 ||
              P.Element == ScalarType::F32 || P.Element == ScalarType::F64;
  if (isOneOf(P.Name, {}, {"eps"}))
    A["value"] = "1e-5";
  else if (auto End = Real ? endOfRange(Use, L) : std::nullopt)
    A["value"] = *End;
  // Of an optimizer: 1 less than that divides.
  else if (Real && isOneOf(P.Name, {"momentum"}, {"beta"}))
    A["value"] = 0.9;
  else if (Real)
    A["value"] = 1;
  else
    A["value"] = 0;
  note(P, "the value " +
              (A["value"].is_string() ? A["value"].get<std::string>()
                                      : A["value"].dump()) +
              " is guessed");
  return A;
}

/// A tensor tells neither shape nor dtype: both are guessed.
std::optional<ordered_json> ArgumentWriter::tensor(const Parameter &P) {
  ordered_json One = {{"dtype", "f32"}, {"shape", Dimensions}};
  if (P.Kind == ParameterKind::OptionalTensor) {
    note(P, "it is left out");
    return ordered_json(nullptr);
  }
  if (P.Kind != ParameterKind::Tensor && P.Kind != ParameterKind::TensorList)
    return std::nullopt;
  note(P, "dtype f32 and shape [" + llvm::join(Dimensions, ", ") +
              "] are guessed");
  return P.Kind == ParameterKind::Tensor ? One : ordered_json::array({One});
}

bool ArgumentWriter::write(ordered_json &Arguments, ordered_json &Symbols) {
  for (const LeafUse &L : Use.Leaves)
    if (L.Array && !L.P->Const) {
      std::string Role = roleByName(*L.P, true);
      OthersAreWritten |= Role == "output" || Role == "inout";
    }
  bool AnyWritten = Use.Entry.ReturnsTensors;
  for (size_t I = 0; I < Use.Leaves.size(); ++I) {
    const LeafUse &L = Use.Leaves[I];
    if (L.P->Kind == ParameterKind::Scalar) {
      Arguments[L.P->Name] = scalar(L);
    } else if (L.Array) {
      Arguments[L.P->Name] = buffer(L, Extents[I]);
      std::string Role = Arguments[L.P->Name]["role"];
      AnyWritten |= Role == "output" || Role == "inout";
    }
  }
  for (const Parameter &P : Use.Entry.Parameters)
    if (std::optional<ordered_json> A = tensor(P))
      Arguments[P.Name] = *A;
  if (Use.Entry.ReturnsTensors)
    Notes.push_back("what is returned is guessed: one f32 tensor [" +
                    llvm::join(Dimensions, ", ") + "]");
  AnyWritten |= writeSymbols(Symbols, AnyWritten);
  if (!AnyWritten)
    Notes.push_back(
        "no argument is written, so there is nothing to compare: "
        "the workload is for 'simulate' alone; wanted an entry that "
        "puts its result where an argument points to, or into a "
        "variable of the device");
  return AnyWritten;
}
