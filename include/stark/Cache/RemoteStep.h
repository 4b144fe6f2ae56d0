//===- RemoteStep.h - The remote, from a build ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   look-up without a winner -> stark-remote, a process -> the user's folder
/// A look-up must start in milliseconds, and libcurl alone takes longer. And
/// whatever a server or a name server does, a process can be ended in time.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_CACHE_REMOTESTEP_H
#define STARK_CACHE_REMOTESTEP_H

#include "stark/Cache/KernelCache.h"

namespace stark {

/// For the user, without "warning: " before it; empty: nothing is amiss.
using RemoteWarning = std::string;

/// Asks the user's remote, if there is one, for winners of \p All, one source's
/// with the same flags, and keeps them in the user's cache folder.
RemoteWarning fetchFromRemote(const std::vector<CacheInputs> &All);

/// Sends the entry in \p Folder there, unless it may only be read or the entry
/// has no winner.
RemoteWarning sendToRemote(llvm::StringRef Folder);

} // namespace stark

#endif
