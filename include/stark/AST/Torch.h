//===- Torch.h - Sources that use ATen ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source -> does it include libtorch's headers? -> where they are
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_TORCH_H
#define STARK_AST_TORCH_H

#include "stark/AST/Parse.h"
#include "stark/Posix/Libtorch.h"

namespace stark {

/// "ATen/ATen.h": what \p Line includes; empty when it is no such directive.
llvm::StringRef includedName(llvm::StringRef Line);

/// Whether \p Text itself includes a header of ATen/, c10/ or torch/.
bool includesTorch(llvm::StringRef Text);

/// The includes that a source with libtorch's headers is given, whether it has
/// them or not: what nearly all have, so that it is read and compiled once.
std::string torchHeaders(const posix::Libtorch &Torch);

/// The folders of libtorch's headers that the flags of \p Options name, whether
/// as the user's or as the system's; none when no flag does,
/// or when all system headers lie there.
std::vector<std::string> torchFolders(const ParseOptions &Options);

/// The libtorch that \p Options mean, looked for once: the one whose headers
/// the flags find, else $STARK_TORCH and what findLibtorch() goes on with.
llvm::Expected<posix::Libtorch> torchFor(const ParseOptions &Options);

} // namespace stark

#endif
