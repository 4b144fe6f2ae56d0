//===- Halves.h - A candidate for two compilers --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   parsed text -> its kernels for nvcc + its host code for C++
/// nvcc takes 20 s and more to read PyTorch's headers, and kernels need none of
/// them; of a page of CUDA it reads the host code twice. The halves meet as
/// nvcc's own two passes do: a kernel is, for the host, a function of the
/// kernel's name and type, which nvcc defines in the device's object;
/// `k<T><<<g, b>>>(x)` sets the launch up and calls it.
///
/// Both halves keep the lines of the text. A symbol that both define is weak in
/// the device's object, so the two link as they are. Kernels that were static
/// are no longer: the library that is linked keeps its symbols to itself
/// (`local: *` in its version script).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_HALVES_H
#define STARK_AST_HALVES_H

#include "stark/AST/Parse.h"
#include "stark/AST/Toolkit.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace stark {

/// What a kernel is to the host.
enum class KernelsOfHost {
  Declared, ///< a function that nvcc defines
  Stubs,    ///< one that hands what it is called with to stark_launch()
};

/// Where Clang puts them: each is in the device's half by the same symbol.
constexpr char StubSection[] = ".text.stark_kernels";

struct Halves {
  std::string Device; ///< for nvcc, with deviceFlags(); empty: no kernels
  std::string Host; ///< for a C++ compiler, with `-include cuda_runtime.h` or a
                    ///< precompiled header that begins with it
};

/// \p TorchFolders are the absolute include folders of PyTorch, spelled as in
/// the flags with which \p Source was parsed; none: it has nothing of PyTorch,
/// and may include headers of the project that are the same to both. Nothing,
/// with the reason in \p WhyNot, where the text cannot be taken apart.
///
/// What links does what the whole would do. But one of the halves may not
/// compile, or the two not link, where nvcc takes the whole: the whole has the
/// last word.
std::optional<Halves>
takeApart(const ParsedSource &Source, llvm::ArrayRef<std::string> TorchFolders,
          std::string &WhyNot, KernelsOfHost Kernels = KernelsOfHost::Declared);

/// What nvcc needs beside its other flags so that the host's object finds
/// templates of kernels.
std::vector<std::string> deviceFlags(const Toolkit &Cuda);

} // namespace stark

#endif
