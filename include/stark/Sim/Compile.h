//===- Compile.h - A CUDA source as code for this CPU --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The source is compiled twice in Clang's CUDA mode, both times for this
/// machine: once for the host, where a launch calls the runtime, and once for
/// the device, where a kernel is an ordinary function that one simulated thread
/// runs. CUDA's headers are our own (lib/Sim/headers/cuda), so no toolkit is
/// needed.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_COMPILE_H
#define STARK_SIM_COMPILE_H

#include "stark/Sim/Finding.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace stark::sim {

struct CompileRequest {
  std::string Path; ///< the source's own, for messages and quoted includes
  std::string Text;
  std::string Folder;             ///< where relative flags start, or empty
  std::vector<std::string> Flags; ///< the user's, as nvcc or Clang takes them
  std::string Arch = "sm_90";     ///< gives __CUDA_ARCH__
  /// A folder that precompileHeaders() filled, or empty.
  std::string Headers;
  /// A header that is not found, and what the simulator's own lack, does not
  /// matter, as long as nothing comes to what needs it.
  bool Lenient = false;
  /// Where Lenient, the functions that may be left without a body for that;
  /// unset: all.
  std::optional<std::vector<std::string>> MayLack;
  /// Texts that stand in the place of files which the source includes, by their
  /// names as Clang has them.
  std::map<std::string, std::string> Replaced;
};

enum class Side { Host, Device };

struct CompileResult {
  std::unique_ptr<llvm::LLVMContext> Context;
  std::unique_ptr<llvm::Module> Code; ///< null: the source does not compile
  std::string Diagnostics;            ///< errors, as a compiler prints them
  std::optional<Unsupported> Missing; ///< what an error is for, if it is that
  bool Skipped = false; ///< a header that was not found, where Lenient
  std::vector<std::string> Lacking; ///< functions without a body, likewise
  bool HeadersParsed = true;        ///< not taken from CompileRequest::Headers
};

/// Keeps what Clang reads before every source, for both sides, in \p Folder:
/// three quarters of the time of a small source. What is compiled is the same;
/// where a file does not fit (another processor, newer system headers, flags
/// that the headers look at) the headers are read as ever.
llvm::Error precompileHeaders(llvm::StringRef Folder);

/// An error only when Clang itself cannot be set up.
llvm::Expected<CompileResult> compileFor(Side For,
                                         const CompileRequest &Request);

} // namespace stark::sim

#endif
