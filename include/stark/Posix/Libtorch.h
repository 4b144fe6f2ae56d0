//===- Libtorch.h - Where PyTorch's C++ library is ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a folder, $STARK_TORCH, python3's torch, /usr -> headers and libraries
///
//===----------------------------------------------------------------------===//

#ifndef STARK_POSIX_LIBTORCH_H
#define STARK_POSIX_LIBTORCH_H

#include <optional>
#include <string>
#include <vector>

namespace stark::posix {

struct Libtorch {
  std::string Root;                  ///< holds lib and include
  std::string Libraries;             ///< folder of libtorch.so
  std::vector<std::string> Includes; ///< folders
  std::string Version;               ///< "2.11.0"
  bool Cuda = false;                 ///< has libtorch_cuda.so

  /// Full names of the libraries that code of ATen's is linked with, in the
  /// order in which they can be loaded.
  std::vector<std::string> libraryFiles() const;
  /// Those of them that tensors in the host's memory need.
  std::vector<std::string> hostLibraryFiles() const;
  /// For LD_LIBRARY_PATH: its own folder, and those of CUDA's libraries that
  /// were installed beside it.
  std::string searchPath() const;
};

/// Files that name libtorch's version, below a folder of its headers.
std::vector<std::string> versionFiles(const std::string &Includes);

/// "2.11.0" when \p Includes is a folder of libtorch's headers, the one that
/// holds ATen; empty when it is none.
std::string libtorchVersion(const std::string &Includes);

/// \p Given: the torch package of a Python, a virtual environment that has it,
/// or libtorch unpacked. When empty: $STARK_TORCH, then the torch of python3,
/// then /usr (Debian's). Nothing, with \p Error, when there is none.
std::optional<Libtorch> findLibtorch(const std::string &Given,
                                     std::string &Error);

/// The folder of the torch package of \p Python, a program's name or path,
/// which does not import it; empty when it has none, or cannot be run.
std::string torchOfPython(const std::string &Python);

} // namespace stark::posix

#endif
