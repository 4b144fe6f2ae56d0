//===- CompileErrors.h - What Clang says of a source, and where -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   diagnostics -> the text for people, what the simulator does not have, and
/// the places of the user's own files that have errors or lead to some
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_COMPILEERRORS_H
#define STARK_LIB_SIM_COMPILEERRORS_H

#include "stark/Sim/Finding.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stark::sim {

/// Bytes from the begin of each file that is neither the system's nor a
/// toolkit's nor the simulator's, by the file's name as Clang has it.
using ErrorPlaces = std::map<std::string, std::vector<unsigned>>;

/// Prints errors, and knows which one is for what the simulator does not have.
class ErrorPrinter : public clang::TextDiagnosticPrinter {
public:
  using TextDiagnosticPrinter::TextDiagnosticPrinter;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &D) override;

  std::optional<Unsupported> Missing;
  /// Of all errors; none where no such place leads to one of them. What an
  /// error in a header comes from is its place in the source, if it has one.
  ErrorPlaces places();

private:
  struct Place {
    std::string File;
    unsigned Offset = 0;
  };
  void note(clang::DiagnosticsEngine::Level Level, const clang::Diagnostic &D);
  void settle();

  ErrorPlaces Found;
  bool Open = false;           ///< an error that no place of the source has yet
  std::optional<Place> Header; ///< of it, in the user's own
  bool Elsewhere = false;      ///< one that no place leads to
};

} // namespace stark::sim

#endif
