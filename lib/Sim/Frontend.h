//===- Frontend.h - What Clang is told, and the files that it sees --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request -> the driver's arguments -> those of one side; files of ours over
/// the real ones
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_FRONTEND_H
#define STARK_LIB_SIM_FRONTEND_H

#include "stark/Sim/Compile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/MemoryBuffer.h"

namespace llvm::vfs {
class FileSystem;
}

namespace stark::sim {

/// An empty source, named after the text of all our headers: a file that was
/// precompiled of it is refused where they have another text.
std::string headersSource();
/// Where a precompiled file lies for Clang.
constexpr char PrecompiledFile[] = "/stark-sim/headers.pch";

/// The embedded headers and the text lie over the real files. \p Precompiled
/// may be null.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
makeFiles(Side For, const CompileRequest &Request, const std::string &Absolute,
          std::unique_ptr<llvm::MemoryBuffer> Precompiled);

/// What the driver knows of the system (the C++ library's folders, the ABI) and
/// what the two passes want.
std::vector<std::string> driverArguments(const CompileRequest &Request,
                                         const std::string &Absolute);

/// Changes the host pass's arguments into those of one side; \p Arch may be
/// empty, where it does not matter.
std::vector<std::string> sideArguments(Side For, llvm::StringRef Arch,
                                       llvm::ArrayRef<std::string> Host);

} // namespace stark::sim

#endif
