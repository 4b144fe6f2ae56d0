//===- Remote.h - The remote of a team -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   RemoteSpec -> RemoteStorage over HTTP, Redis or a folder
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REMOTE_REMOTE_H
#define STARK_REMOTE_REMOTE_H

#include "stark/Cache/RemoteSpec.h"
#include "stark/Cache/RemoteState.h"
#include "stark/Cache/RemoteStorage.h"
#include <memory>

namespace stark {

/// Nothing is asked yet. Each request may take what \p State has left, and is
/// charged to it. An error when a file of the spec cannot be read, a password
/// would go out in the clear, or this build cannot speak to it.
llvm::Expected<std::unique_ptr<RemoteStorage>>
openRemote(const RemoteSpec &Spec, const RemoteState &State);

} // namespace stark

#endif
