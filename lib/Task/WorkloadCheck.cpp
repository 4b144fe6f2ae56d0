//===- WorkloadCheck.cpp - Workload against entry ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLeaves.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "stark/Support/Nearest.h"
#include "stark/Task/Outputs.h"
#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// The arguments a workload has to give, in order: streams are left out.
static std::vector<const Parameter *> wantedArguments(const Signature &Entry) {
  std::vector<const Parameter *> Wanted = leavesOf(Entry);
  llvm::erase_if(Wanted, [](const Parameter *P) {
    return P->Kind == ParameterKind::Stream;
  });
  return Wanted;
}

static std::string namesOf(llvm::ArrayRef<const Parameter *> Parameters) {
  std::string Names;
  for (const Parameter *P : Parameters)
    Names += (Names.empty() ? "" : ", ") + P->Name;
  return Names.empty() ? "none" : Names;
}

static bool fits(const Parameter &P, job::DType T) {
  if (P.Untyped || P.Kind == ParameterKind::Tensor)
    return true;
  switch (T) {
  case job::DType::F32:
    return P.Element == ScalarType::F32;
  case job::DType::F64:
    return P.Element == ScalarType::F64;
  case job::DType::F16:
    return P.Element == ScalarType::F16;
  case job::DType::BF16:
    return P.Element == ScalarType::BF16;
  case job::DType::I32:
    return P.Element == ScalarType::I32 || P.Element == ScalarType::U32;
  case job::DType::I64:
    return P.Element == ScalarType::I64 || P.Element == ScalarType::U64;
  case job::DType::U8:
  case job::DType::I8:
  case job::DType::Bool:
    return P.Element == ScalarType::U8 || P.Element == ScalarType::I8 ||
           P.Element == ScalarType::Bool;
  case job::DType::I16:
    return P.Element == ScalarType::I16 || P.Element == ScalarType::U16;
  case job::DType::C64:
  case job::DType::C128:
    break; // of tensors alone
  }
  return false;
}

llvm::Error stark::checkCallable(const Signature &Entry) {
  for (const Parameter &P : Entry.Parameters)
    if (P.Kind == ParameterKind::Unsupported)
      return usageError("entry '" + Entry.Name + "': parameter '" + P.Name +
                        "' of type '" + P.Type +
                        "' cannot be given: " + P.Reason);
  if (isTensorEntry(Entry))
    for (const Parameter &P : Entry.Parameters)
      if (P.Kind == ParameterKind::Pointer || P.Kind == ParameterKind::Stream ||
          P.Kind == ParameterKind::Struct)
        return usageError("entry '" + Entry.Name + "': parameter '" + P.Name +
                          "' of type '" + P.Type +
                          "' cannot be given beside tensors");
  return llvm::Error::success();
}

/// "fields" of a buffer against the struct that \p P points to.
static llvm::Error checkFields(const Argument &A, const Workload &W,
                               const Signature &Entry, const Parameter &P) {
  std::string Field = W.File + ": field 'arguments." + A.Name;
  if (P.Fields.empty())
    return usageError(Field + ".fields': got fields, but " + Entry.Name +
                      " takes '" + P.Type +
                      "', which points to no structs of numbers of several "
                      "types");
  std::vector<std::string> Known;
  for (const Parameter &Of : P.Fields)
    Known.push_back(Of.Name);
  for (const Argument &Of : A.Fields) {
    auto Found = llvm::find_if(
        P.Fields, [&](const Parameter &Each) { return Each.Name == Of.Name; });
    if (Found == P.Fields.end())
      return usageError(Field + ".fields." + Of.Name + "': '" + P.Type +
                        "' points to structs of " + llvm::join(Known, ", ") +
                        didYouMean(Of.Name, Known));
    if (!fits(*Found, Of.Type))
      return usageError(Field + ".fields." + Of.Name + ".dtype': got " +
                        nameOf(Of.Type) + ", but it is '" + Found->Type + "'");
  }
  for (const std::string &Name : Known)
    if (llvm::none_of(A.Fields,
                      [&](const Argument &Of) { return Of.Name == Name; }))
      return usageError(Field + ".fields': got no '" + Name + "', but '" +
                        P.Type + "' points to structs of " +
                        llvm::join(Known, ", "));
  std::string Bytes = std::to_string(P.Lanes);
  if (A.Shape.empty() || A.Shape.back() != Bytes)
    return usageError(
        Field + ".shape': got " +
        (A.Shape.empty() ? "no extents" : "'" + A.Shape.back() + "' last") +
        ", wanted " + Bytes + " last, the bytes of one of '" + P.Type + "'");
  return llvm::Error::success();
}

/// An argument of the workload against the parameter of its name.
static llvm::Error checkArgument(const Argument &A, const Workload &W,
                                 const Signature &Entry,
                                 llvm::ArrayRef<const Parameter *> Wanted) {
  if (A.Absent && llvm::any_of(Entry.Parameters, [&](const Parameter &P) {
        return P.Name == A.Name && (P.Kind == ParameterKind::TensorList ||
                                    P.Kind == ParameterKind::OptionalTensor);
      }))
    return llvm::Error::success();
  auto Found = llvm::find_if(
      Wanted, [&](const Parameter *P) { return P->Name == A.Name; });
  if (Found == Wanted.end()) {
    bool IsStream = llvm::any_of(Entry.Parameters, [&](const Parameter &P) {
      return P.Name == A.Name && P.Kind == ParameterKind::Stream;
    });
    if (IsStream)
      return usageError(W.File + ": field 'arguments." + A.Name +
                        "': a stream is known by its type and needs no "
                        "entry");
    std::vector<std::string> Known;
    for (const Parameter *P : Wanted)
      Known.push_back(P->Name);
    return usageError(W.File + ": field 'arguments." + A.Name +
                      "': workload names '" + A.Name + "', but " + Entry.Name +
                      " has " + namesOf(Wanted) + didYouMean(A.Name, Known));
  }
  const Parameter &P = **Found;
  if (A.Absent)
    return usageError(W.File + ": field 'arguments." + A.Name +
                      "': got no tensor, but " + Entry.Name + " takes '" +
                      P.Type + "'");
  bool WantsBuffer =
      P.Kind == ParameterKind::Pointer || P.Kind == ParameterKind::Tensor;
  if (A.IsBuffer != WantsBuffer)
    return usageError(W.File + ": field 'arguments." + A.Name + "': got " +
                      (A.IsBuffer ? "a buffer" : "a value") + ", but " +
                      Entry.Name + " takes '" + P.Type + "'");
  if (!A.IsBuffer)
    return llvm::Error::success();
  if (!fits(P, A.Type))
    return usageError(W.File + ": field 'arguments." + A.Name +
                      ".dtype': got " + nameOf(A.Type) + ", but " + Entry.Name +
                      " takes '" + P.Type + "'");
  if (!A.Fields.empty())
    if (llvm::Error E = checkFields(A, W, Entry, P))
      return E;
  bool IsSymbol = llvm::StringRef(P.Name).starts_with(SymbolPrefix);
  if (IsSymbol && A.Use == job::Role::Scratch)
    return usageError(W.File + ": field '" + A.Name +
                      ".role': got scratch, wanted input, output or inout: a "
                      "variable needs no memory of the workload's");
  if (!P.Const || A.Use == job::Role::Input)
    return llvm::Error::success();
  if (IsSymbol)
    return usageError(W.File + ": field '" + A.Name + ".role': got " +
                      nameOf(A.Use) +
                      ", wanted input: no kernel writes to a constant");
  return usageError(W.File + ": field 'arguments." + A.Name + ".role': got " +
                    nameOf(A.Use) + ", but " + Entry.Name + " takes '" +
                    P.Type + "', which it cannot write");
}

/// What is returned, and the lists and optional tensors, which no leaf stands
/// for when the workload forgets them.
static llvm::Error checkTensors(const Workload &W, const Signature &Entry) {
  if (Entry.ReturnsTensors != !W.Returns.empty())
    return usageError(
        W.File + ": field 'returns': got " +
        (W.Returns.empty() ? "nothing"
                           : llvm::Twine(W.Returns.size()) + " tensors") +
        ", but " + Entry.Name + " returns '" + Entry.ReturnType + "'");
  for (const Parameter &P : Entry.Parameters)
    if ((P.Kind == ParameterKind::TensorList ||
         P.Kind == ParameterKind::OptionalTensor) &&
        llvm::none_of(W.Arguments, [&](const Argument &A) {
          return A.Name == P.Name || A.Name == P.Name + "[0]";
        }))
      return usageError(W.File + ": field 'arguments': got no '" + P.Name +
                        "', but " + Entry.Name + " takes '" + P.Type + " " +
                        P.Name + "'");
  return llvm::Error::success();
}

bool stark::hasOutputs(const Workload &W) {
  return !W.Returns.empty() || llvm::any_of(W.Arguments, [](const Argument &A) {
    return A.IsBuffer &&
           (A.Use == job::Role::Output || A.Use == job::Role::InOut);
  });
}

/// What is run and checked alone has none, where that is accepted.
static llvm::Error checkOutputs(const Workload &W) {
  if (W.MayBeDegenerate || hasOutputs(W))
    return llvm::Error::success();
  return usageError(W.File + ": field 'arguments': got no argument with role "
                             "output or inout, wanted at least one to compare, "
                             "or \"degenerate\": true, for simulate alone");
}

llvm::Error stark::checkWorkload(const Workload &W, const Signature &Entry) {
  if (llvm::Error E = checkCallable(Entry))
    return E;
  if (Entry.IsKernel && !W.Launch)
    return usageError(W.File + ": entry '" + Entry.Name +
                      "' is a kernel, wanted a launch rule: \"launch\": "
                      "{\"kernel\": \"" +
                      Entry.Name +
                      "\", \"grid\": \"...\", \"block\": \"...\"}");
  if (!Entry.IsKernel && W.Launch)
    return usageError(W.File + ": field 'launch.kernel': got '" + Entry.Name +
                      "', which is a host function, wanted a kernel");

  std::vector<const Parameter *> Wanted = wantedArguments(Entry);
  for (const Argument &A : W.Arguments)
    if (llvm::Error E = checkArgument(A, W, Entry, Wanted))
      return E;
  if (llvm::Error E = checkTensors(W, Entry))
    return E;
  for (const Parameter *P : Wanted)
    if (llvm::none_of(W.Arguments,
                      [&](const Argument &A) { return A.Name == P->Name; }))
      return usageError(W.File + ": field 'arguments': got no '" + P->Name +
                        "', but " + Entry.Name + " takes '" + P->Type + " " +
                        P->Name + "'");
  return checkOutputs(W);
}
