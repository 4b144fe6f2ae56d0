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
/// __cluster_dims__ is an annotation of the simulator's headers.
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
  unsigned Threads = 0; ///< of a block, at most
  unsigned Blocks = 0;  ///< on an SM, at least
};

struct BoundKernel {
  std::string Symbol;
  LaunchBounds Bounds;
};

/// The kernels of \p Context with bounds, instances of templates among them.
std::vector<BoundKernel> findLaunchBounds(clang::ASTContext &Context);

/// Notes \p Kernels in \p Code, so that launchBoundsOf() finds them there.
void noteLaunchBounds(llvm::Module &Code,
                      const std::vector<BoundKernel> &Kernels);
LaunchBounds launchBoundsOf(const llvm::Function &F);

/// Notes what __cluster_dims__ say, so that clusterDimsOf() finds it.
void noteClusterDims(llvm::Module &Code);
/// Blocks along x, y and z; zeros where nothing was said.
std::array<unsigned, 3> clusterDimsOf(const llvm::Function &F);

/// Registers of a thread that let as many threads be on an SM as \p Bounds
/// ask, which nvcc keeps to; \p Registers where they ask for nothing.
unsigned withinBounds(unsigned Registers, const LaunchBounds &Bounds);

} // namespace stark::sim

#endif
