//===- LaunchBounds.h - What a kernel says of its launches ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   kernels in the AST -> attributes of their functions -> DeviceFunction
/// Clang knows __launch_bounds__, but tells them to NVIDIA's targets alone;
/// __cluster_dims__ and __maxnreg__ are annotations of the simulator's headers.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_LAUNCHBOUNDS_H
#define STARK_LIB_SIM_LAUNCHBOUNDS_H

#include <array>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
}
namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace stark::sim {

/// Zero where nothing was said.
struct LaunchBounds {
  unsigned Threads = 0;   ///< of a block, at most
  unsigned Blocks = 0;    ///< on an SM, at least
  unsigned Registers = 0; ///< of a thread, at most
};

struct BoundKernel {
  std::string Symbol;
  LaunchBounds Bounds;
};

/// The kernels of \p Context, instances of templates among them.
std::vector<BoundKernel> findKernels(clang::ASTContext &Context);

/// Notes \p Kernels in \p Code, so that isKernel() and launchBoundsOf() find
/// them there. \p MostRegisters of a thread, which the command line says, are
/// the bound of those that have none of their own; 0: it says nothing.
void noteKernels(llvm::Module &Code, const std::vector<BoundKernel> &Kernels,
                 unsigned MostRegisters);
bool isKernel(const llvm::Function &F);
LaunchBounds launchBoundsOf(const llvm::Function &F);

/// What nvcc's -maxrregcount says among \p Flags; 0: nothing.
unsigned registerLimitOf(const std::vector<std::string> &Flags);

/// Notes what __cluster_dims__ and __maxnreg__ say, so that clusterDimsOf() and
/// launchBoundsOf() find it.
void noteAnnotations(llvm::Module &Code);
/// Blocks along x, y and z; zeros where nothing was said.
std::array<unsigned, 3> clusterDimsOf(const llvm::Function &F);

/// Registers of a thread that let as many threads be on an SM as \p Bounds
/// ask, and are no more than they say, which ptxas keeps to; \p Registers where
/// they ask for nothing.
unsigned withinBounds(unsigned Registers, const LaunchBounds &Bounds);

} // namespace stark::sim

#endif
