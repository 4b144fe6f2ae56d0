//===- Workload.h - What the entry is called with ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   NAME.workload.json <-> Workload. Errors name file, field, what was given
/// and what was wanted. The format is described in docs/workload.md.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_WORKLOAD_H
#define STARK_TASK_WORKLOAD_H

#include "stark/AST/Signature.h"
#include "stark/Job/Job.h"
#include "stark/Task/Expression.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stark {

/// What the names of variables of the device begin with.
inline constexpr char SymbolPrefix[] = "symbols.";

/// What a tensor is in the module that it was imported from.
enum class TensorKind { None, Input, Parameter, Buffer, Constant };

/// One entry argument, one field of a by-value struct ("params.eps"), or one
/// tensor of a list ("xs[0]").
struct Argument {
  std::string Name;
  bool IsBuffer = false;
  job::DType Type = job::DType::F32;
  std::vector<std::string> Shape; ///< expressions
  job::Role Use = job::Role::Input;
  job::Init Fill;
  std::string Value; ///< of a scalar: an expression
  /// Of a buffer: elements that lie before the pointer; an expression, empty
  /// for none.
  std::string Before;
  /// In place of numbers of Fill, where they depend on the size: expressions,
  /// or empty.
  std::string Low, High, Times;
  /// Of a buffer of structs of several types, where it says so: each field, by
  /// its name, with a dtype and what it is filled with.
  std::vector<Argument> Fields;

  // Of tensors.
  bool Absent = false; ///< null for an optional one, or an empty list
  TensorKind Tensor = TensorKind::None;
  std::string Path; ///< in the module's state dict
  /// Of its values in Workload::Weights, in bytes.
  std::optional<uint64_t> Offset;
  bool FromWeights = false; ///< filled with these, not with what Fill draws
};

/// A tensor that the entry returns.
struct ReturnedTensor {
  job::DType Type = job::DType::F32;
  std::vector<std::string> Shape; ///< expressions
};

/// What a candidate of an entry of tensors may call of ATen's.
enum class CallRule {
  Anything,
  Kernels, ///< only what makes or views tensors
};

/// Where an imported entry comes from.
struct ImportedFrom {
  std::string File, Module, Mode, Torch, Tensors;
};

struct Size {
  Bindings Names;
  bool CheckOnly = false;
  bool Added = false;        ///< by the tool, not by the file
  bool Drawn = false;        ///< one of many that the tool added
  std::string label() const; ///< "cols=32768 rows=4096"
};

/// How a bare kernel is launched; expressions, up to three joined by commas.
struct LaunchRule {
  std::string Kernel, Grid, Block, SharedBytes = "0";
};

/// For which sizes a winner is taken.
enum class Envelope {
  Exact,   ///< those of the workload
  Between, ///< and those between them
};

struct Workload {
  std::string File;  ///< for messages
  std::string Entry; ///< host function, or the launch rule's kernel
  std::optional<LaunchRule> Launch;
  std::vector<Size> Sizes;
  /// Variables of the device that are set before each call come last, named
  /// "symbols.NAME".
  std::vector<Argument> Arguments;
  std::map<job::DType, double> Tolerance; ///< defaults filled in
  /// What the judge compares with: empty = the source's entry itself, else
  /// another function of the source with the same parameters.
  std::string Reference;
  double Margin = 1.02;     ///< speed-up a winner needs
  std::string Bytes, Flops; ///< expressions for reports, may be empty
  bool AddSizes = true;     ///< whether addedSizes() may add any
  /// What the entry asks of its sizes: each added one is a multiple.
  Bindings MultipleOf;
  Envelope Range = Envelope::Exact;
  std::optional<ImportedFrom> Imported;
  std::string Weights; ///< a file beside the workload
  std::vector<ReturnedTensor> Returns;
  CallRule Calls = CallRule::Anything;
  /// Whether sizes are compared once more with other values: makeRegimes().
  /// Unset: of pointers and of an import.
  std::optional<bool> Harden;
  /// Root mean squares that the inputs have in use; what lies outside is not
  /// looked at.
  std::optional<std::pair<double, double>> Magnitude;
  /// Whether a candidate may not round to fewer bits than the source does.
  bool SourcePrecision = false;
  /// Whether a right answer that a wrong candidate gives, too, is accepted.
  bool MayBeDegenerate = false;
  /// Whether timed calls of tensors have to agree with the source's own
  /// outputs, as torch.allclose() compares them, whatever its own error is.
  bool AgreeWithSource = false;
  /// Whether the entry is called with pointers that only its elements' size
  /// aligns.
  bool Misaligned = false;

  EntryUsed entryUsed() const {
    return Launch ? EntryUsed::Launched : EntryUsed::Called;
  }
};

llvm::Expected<Workload> parseWorkload(llvm::StringRef Text,
                                       llvm::StringRef File);

/// "ceildiv(n, 256), rows" -> its expressions, split at the outer commas.
llvm::SmallVector<llvm::StringRef> splitTriple(llvm::StringRef Text);

/// An error when no workload can give one of the parameters: it names the
/// parameter, its type and the reason.
llvm::Error checkCallable(const Signature &Entry);

/// Checks names, dtypes and sizes against the entry; every error names both
/// sides ("workload names 'row', but launch_softmax has x, y, rows, cols").
llvm::Error checkWorkload(const Workload &W, const Signature &Entry);

/// Gives the lists and optional tensors of \p Entry the tensors that \p W has
/// for them.
void resolveTensors(Signature &Entry, const Workload &W);

/// What \p A is filled with in other regimes, where that is something else.
/// Tensors have one, Hardened; pointers have the others.
std::vector<job::RegimeFill> makeRegimes(const Argument &A, const Workload &W,
                                         bool IsTensor);

/// Sizes that the tool compares in addition, derived from those of the file;
/// never timed. What holds in all of the file's sizes (n == rows * cols) holds
/// in them. None when an argument comes from a file. Two are odd and tiny and
/// never larger than the file's largest; the others are brief and may be drawn:
/// each name of each timed size alone, moved by one and to a prime, and each
/// name at and beside each of \p Constants, which a candidate may compare with.
std::vector<Size> addedSizes(const Workload &W,
                             llvm::ArrayRef<int64_t> Constants = {});

/// The integer constants of \p Text: literals, and what is made of these alone
/// by arithmetic or by a name ("4 * kWarp"), ascending, at most MaxConstants.
std::vector<int64_t> integerConstants(llvm::StringRef Text);
constexpr size_t MaxConstants = 64;

} // namespace stark

#endif
