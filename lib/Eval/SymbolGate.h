//===- SymbolGate.h - What an object asks for from outside ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   object file -> imports and initialisers -> allowed?
/// Text can be disguised, imports cannot: what is not defined in the object has
/// to be named in its symbol table.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_SYMBOLGATE_H
#define STARK_LIB_EVAL_SYMBOLGATE_H

#include "stark/Eval/Build.h"
#include <optional>

namespace stark {

struct ObjectFacts {
  std::vector<std::string> Imports; ///< sorted, as mangled
  unsigned Initializers = 0;        ///< functions that run when it is loaded
  bool HasDeviceCode = false;
};

/// Of all objects of a library together: what one defines another may ask for.
llvm::Expected<ObjectFacts> readObjects(llvm::ArrayRef<std::string> Paths);

/// The operators of ATen's that are called, by name and overload
/// ("add_Tensor"), sorted; without copy_, which the judge's own part calls.
std::vector<std::string> operatorsIn(const ObjectFacts &Object);

/// Whether the operator computes nothing: it makes a tensor, copies one, or
/// gives another view of it.
bool onlyMovesOrViews(llvm::StringRef Operator);

/// What a candidate must not do, or reach for.
enum class Reach {
  OtherStream,
  Clock,
  Device, ///< its settings
  Thread,
  Process,
  Beyond, ///< what is not among the entry's arguments
  Files,
  Network,
};

/// What an import is used for when a candidate must not use it.
std::optional<Reach> whyForbidden(llvm::StringRef Import);

/// Why an object is not allowed to run.
struct GateFinding {
  /// As mangled, that the source itself does not import.
  std::vector<std::pair<std::string, Reach>> Imports;
  /// Functions that run when it is loaded, and how many may.
  unsigned Initializers = 0, Allowed = 1;
};

/// Unset when \p Candidate is allowed to run. What the source itself imports is
/// allowed.
std::optional<GateFinding> gate(const ObjectFacts &Candidate,
                                const BuildResult &Source);

/// A line for each thing found.
std::string describe(const GateFinding &Found);

} // namespace stark

#endif
