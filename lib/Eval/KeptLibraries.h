//===- KeptLibraries.h - Sources that were built before -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a source + all that its library depends on (SourceKey.h) -> the library
///   that another process built
/// A file each in libraries/ of the user's cache folder: a line of JSON (key,
/// the library's digest, the fields of BuildResult), then the library's bytes.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_KEPTLIBRARIES_H
#define STARK_LIB_EVAL_KEPTLIBRARIES_H

#include "stark/Eval/Build.h"
#include <optional>

namespace stark {

/// The folder of the user's; empty where there is none, or where the kernel
/// cannot keep a candidate that runs from writing to it.
std::string keptLibraries();

/// What keepLibrary() was given for \p Key, its library copied to \p Library.
/// A link, a device, what is too large, damaged or of another key is none.
std::optional<BuildResult> fetchLibrary(llvm::StringRef Folder,
                                        llvm::StringRef Key,
                                        const std::string &Library);

/// Keeps \p Built, which has to be Ok; those that are needed least make room.
void keepLibrary(llvm::StringRef Folder, llvm::StringRef Key,
                 const BuildResult &Built);

} // namespace stark

#endif
