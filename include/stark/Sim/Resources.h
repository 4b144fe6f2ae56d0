//===- Resources.h - What ptxas gives a kernel ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   ptxas -> KernelResources, by symbol -> a file beside the job -> the model
/// Where there is no nvcc, what a kernel needs is estimated.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_RESOURCES_H
#define STARK_SIM_RESOURCES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stark::sim {

/// Of a thread, but for SharedBytes, which are of a block.
struct KernelResources {
  std::string Symbol;       ///< mangled, as nvcc does it
  unsigned Registers = 0;   ///< of 32 bits
  uint64_t SharedBytes = 0; ///< static, without what the driver reserves
  uint64_t StackBytes = 0;  ///< of local memory
  /// Bytes that the instructions which spill move, each counted once, however
  /// often it is executed.
  uint64_t SpillStoreBytes = 0, SpillLoadBytes = 0;
  bool operator==(const KernelResources &) const = default;
};
template <class IO> void fields(IO &F, KernelResources &R) {
  F.required("symbol", R.Symbol);
  F.required("registers", R.Registers);
  F.required("shared_bytes", R.SharedBytes);
  F.required("stack_bytes", R.StackBytes);
  F.required("spill_store_bytes", R.SpillStoreBytes);
  F.required("spill_load_bytes", R.SpillLoadBytes);
}

/// Of a text; none where nvcc did not compile it.
struct ResourceTable {
  std::vector<KernelResources> Kernels;
};
template <class IO> void fields(IO &F, ResourceTable &T) {
  F.required("kernels", T.Kernels);
}

std::string printResources(const ResourceTable &T);
/// Unset when \p Text is no such table.
std::optional<ResourceTable> parseResources(llvm::StringRef Text);

/// What \p T has of the kernel that Clang calls \p Symbol, or null. nvcc names
/// what has internal linkage in other ways than Clang; such a kernel is found
/// when no other one reads the same.
const KernelResources *findResources(const ResourceTable &T,
                                     llvm::StringRef Symbol);

/// Of compile.json: files that are there once ptxas has ended, whatever it
/// said.
struct ResourceFiles {
  std::string Source, Candidate;
  uint64_t WaitMs = 0; ///< after which the estimate has to do
};
template <class IO> void fields(IO &F, ResourceFiles &R) {
  F.required("source", R.Source);
  F.required("candidate", R.Candidate);
  F.required("wait_ms", R.WaitMs);
}

} // namespace stark::sim

#endif
