//===- Signature.h - The C++ side of an entry ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Parameters of the function that is called and timed, as the AST has them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_SIGNATURE_H
#define STARK_AST_SIGNATURE_H

#include "stark/AST/EntryUsed.h"
#include "stark/AST/Site.h"
#include <optional>

namespace stark {

enum class ScalarType {
  Bool,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  F16,
  BF16,
  F32,
  F64,
  Other
};

enum class ParameterKind {
  Pointer,
  Scalar,
  Struct,
  Stream,
  Tensor,         ///< at::Tensor
  TensorList,     ///< std::vector<at::Tensor>, at::TensorList
  OptionalTensor, ///< std::optional<at::Tensor>
  Unsupported
};

struct Parameter {
  std::string Name; ///< never empty: "arg2" when the source gives none
  std::string Type; ///< as spelled: "const float *"
  ParameterKind Kind = ParameterKind::Unsupported;
  ScalarType Element =
      ScalarType::Other; ///< scalar type, or what is pointed to
  bool Const = false;    ///< pointer to const
  /// Scalars in one of what is pointed to: 4 of a float4, 3 of a struct of
  /// three floats.
  unsigned Lanes = 1;
  /// Elements of an array that is taken by reference, or of a variable of the
  /// device; 0: neither.
  uint64_t Count = 0;
  /// Of a by-value struct, flat. Of a list of tensors or an optional one those
  /// that the workload gives: resolveTensors() fills them in. Of a pointer to
  /// structs of several types, whose Element is a byte, the numbers that these
  /// consist of, named within them ("at.x"), with Lanes of their own; none
  /// where they are more than numbers.
  std::vector<Parameter> Fields;
  uint64_t Offset = 0;  ///< of such a number, or such a field, in bytes
  bool Untyped = false; ///< pointer to void: takes any dtype
  /// A by-value struct whose fields cannot be set by their names, as they are
  /// private or const, or which cannot be made of nothing: it is made of its
  /// bytes.
  bool OfBytes = false;
  std::string Reason; ///< why Unsupported
};

struct Signature {
  std::string Name; ///< qualified, as it would be called: "ns::launch"
  std::string ReturnType;
  /// An at::Tensor, or a std::vector or std::tuple of them.
  bool ReturnsTensors = false;
  bool IsKernel = false; ///< a __global__ function: needs a launch rule
  bool ExternC = false, Internal = false;
  std::vector<Parameter> Parameters;
  /// Variables of the device that are set before each call, as pointers named
  /// "symbols.NAME"; those that a workload has.
  std::vector<Parameter> Symbols;
  Range Bytes;
  unsigned Line = 0;
};

/// Whether it takes or returns tensors of ATen's.
bool isTensorEntry(const Signature &Entry);

/// The definition named \p Entry ("launch", "ns::launch", "launch<float>").
/// Errors: no such function (with those that could be meant), several
/// overloads, only a declaration, an unsupported parameter is no error here.
llvm::Expected<Signature> findEntry(const ParsedSource &Source,
                                    llvm::StringRef Entry,
                                    EntryUsed As = EntryUsed::Called);

/// The type of a pointer to \p Entry where a kernel and a host function have
/// its name, which tells them apart: "void (*)(float *, int)". Empty where it
/// has one of its own.
std::string entryPointer(const ParsedSource &Source, llvm::StringRef Entry,
                         EntryUsed As);

/// The __device__ or __constant__ variable \p Name of \p Source, as a pointer
/// to its elements. Errors: there is none, or no dtype stands for its type.
llvm::Expected<Parameter> findSymbol(const ParsedSource &Source,
                                     llvm::StringRef Name);

/// Host functions that launch something, then kernels: what an entry could be.
std::vector<Signature> entryCandidates(const ParsedSource &Source);

} // namespace stark

#endif
