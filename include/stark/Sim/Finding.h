//===- Finding.h - What ends a simulated run early -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   instrumented code, runtime -> Machine -> RunHooks -> the judge's verdict
/// The first problem of a run ends it. Whoever decides anything by it reads the
/// kind; the text is for people and for agents. A new kind is one line of
/// Findings.def and the place that finds it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_FINDING_H
#define STARK_SIM_FINDING_H

#include <cstdint>
#include <string>

namespace stark::sim {

/// A mistake of the program that was run.
enum class FindingKind : uint8_t {
#define STARK_FINDING(Kind, Name, Effect) Kind,
#include "stark/Sim/Findings.def"
};

/// What a GPU makes of a mistake.
enum class Effect : uint8_t {
  WrongResults, ///< the kernel runs on
  Stops,        ///< the launch fails, or never ends
};

struct Finding {
  FindingKind Kind = FindingKind::Race;
  std::string Text; ///< what, where, and by which threads
};

const char *nameOf(FindingKind K); ///< "out of bounds"
Effect effectOf(FindingKind K);

/// What the simulator does not do.
enum class UnsupportedKind : uint8_t {
#define STARK_UNSUPPORTED(Kind, Phrase) Kind,
#include "stark/Sim/Findings.def"
};

struct Unsupported {
  UnsupportedKind Kind = UnsupportedKind::Function;
  std::string Detail;
  /// "device code that cannot be linked: ...", to follow "cannot run".
  std::string text() const;
};

} // namespace stark::sim

#endif
