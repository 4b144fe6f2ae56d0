//===- HostFlags.h - Flags for a host compiler ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_HOSTFLAGS_H
#define STARK_LIB_EVAL_HOSTFLAGS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stark {

/// Of \p Given, which nvcc takes, those that a host compiler takes for the same
/// and that change what a text means: the standard, macros, include paths, the
/// level of optimisation, and what is handed to the host compiler by name.
std::vector<std::string> hostFlagsOf(const std::vector<std::string> &Given);

/// Those of \p Given that nvcc is given. Where to, for what and whether to
/// compile is the judge's to say, and nothing but its objects is written.
std::vector<std::string> nvccFlagsOf(const std::vector<std::string> &Given);

/// Whether \p Given, which nvcc takes, make device code that nvcc has to link
/// before it is of use.
bool wantDeviceLinker(const std::vector<std::string> &Given);

/// Whether all of \p Given are flags of which is known what they are to host
/// code: hostFlagsOf() has them, or they are for the device or the linker
/// alone. Not so is "-default-stream per-thread".
bool areKnownToHosts(const std::vector<std::string> &Given);

/// Whether what \p Given, which nvcc takes, make is for the processor at hand:
/// "-Xcompiler -march=native". Another machine that has the same home has no
/// use for it.
bool areOfProcessor(const std::vector<std::string> &Given);

/// The name of what pathForHost() makes.
inline constexpr const char *HomeLink = "home";

/// \p Path of a folder as it can stand behind -Xcompiler, which nvcc splits at
/// commas and hands to a shell: itself, or a link to it in \p Folder.
std::string pathForHost(llvm::StringRef Path, llvm::StringRef Folder);

} // namespace stark

#endif
