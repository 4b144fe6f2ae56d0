//===- KernelStubs.h - From a launch on the host to a thread of a kernel --===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   stub on the host -> closure -> adapter on the device -> kernel
/// A kernel's stub packs its parameters into a closure and asks for a launch;
/// an adapter unpacks them for each thread.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_KERNELSTUBS_H
#define STARK_LIB_SIM_KERNELSTUBS_H

#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace stark::sim {

struct KernelLink {
  std::string Stub, Symbol, Adapter;    ///< names in the modules
  std::vector<uint64_t> Offsets, Bytes; ///< of the parameters in a closure
  std::vector<std::string> Names;       ///< of the parameters
  uint64_t ClosureBytes = 0;
  /// The parameters are those that CUDA lists: none was taken apart.
  bool Plain = true;
};

/// Makes every stub of \p Host ask for a launch; lists those whose kernel
/// \p Device has.
std::vector<KernelLink> rewriteStubs(llvm::Module &Host,
                                     const llvm::Module &Device);

/// The host's variables that stand for one of \p Device, which the runtime
/// looks up by name: they can be, then.
std::vector<std::string> exportShadows(llvm::Module &Host,
                                       const llvm::Module &Device);

/// Adds what calls the kernel of \p L with the parameters of a closure, and
/// says in \p L how they lie there.
void addAdapter(llvm::Module &Device, KernelLink &L);

/// Has \p Host tell the runtime the line of each launch in \p UserFile before
/// it is made.
void tellLaunchLines(llvm::Module &Host, llvm::StringRef UserFile);

} // namespace stark::sim

#endif
