//===- EntryLibrary.h - The functions of a library that is judged ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_GPU_ENTRYLIBRARY_H
#define STARK_LIB_GPU_ENTRYLIBRARY_H

#include <optional>
#include <string>

namespace stark::gpu {

/// What the library of an entry of tensors has beside stark_call():
/// lib/Task/TensorTrampoline.cpp.
struct TensorFunctions {
  void (*Prepare)(void **, int) = nullptr;
  int (*Collect)(void **) = nullptr;
  const char *(*Problem)() = nullptr;
  const char *(*Note)() = nullptr; ///< of the source alone
};

struct EntryLibrary {
  using Entry = void (*)(void **);
  Entry Call = nullptr, Reference = nullptr;
  int (*LastError)() = nullptr; ///< of the library's own runtime
  std::optional<TensorFunctions> Tensors;

  /// Loads what lies at \p Path, for good. Empty, or what is wrong with it.
  std::string load(const std::string &Path, bool WithReference, bool OfTensors);
};

} // namespace stark::gpu

#endif
