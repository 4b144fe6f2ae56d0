//===- Toolkit.cpp - The CUDA toolkit that is installed ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Toolkit.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string Toolkit::version() const {
  return std::to_string(Major) + "." + std::to_string(Minor);
}

/// The folder two levels above a real nvcc ("<root>/bin/nvcc").
static std::string rootOfNvcc(llvm::StringRef Nvcc) {
  llvm::SmallString<256> Real;
  if (Nvcc.empty() || fs::real_path(Nvcc, Real))
    return "";
  return path::parent_path(path::parent_path(Real)).str();
}

std::vector<std::string> stark::toolkitPlaces() {
  std::vector<std::string> Places;
  for (const char *Name : {"CUDA_PATH", "CUDAToolkit_ROOT", "CUDA_HOME"})
    if (const char *Value = std::getenv(Name); Value && *Value) {
      Places.push_back(Value);
      if (Places.back() == "none")
        return Places;
    }
  if (std::string Root = rootOfNvcc(findProgram("nvcc")); !Root.empty())
    Places.push_back(Root);
  Places.push_back("/usr/local/cuda");
  Places.push_back("/opt/cuda");
  Places.push_back("/usr/lib/cuda");
  Places.push_back("/usr");
  return Places;
}

/// CUDA_VERSION of <root>/include/cuda.h, e.g. 13000.
static unsigned versionOf(llvm::StringRef Root) {
  auto Buffer = llvm::MemoryBuffer::getFile(Root + "/include/cuda.h");
  if (!Buffer)
    return 0;
  llvm::StringRef Text = (*Buffer)->getBuffer();
  size_t At = Text.find("#define CUDA_VERSION");
  if (At == llvm::StringRef::npos)
    return 0;
  unsigned Version = 0;
  Text.drop_front(At).drop_front(20).ltrim().consumeInteger(10, Version);
  return Version;
}

std::optional<Toolkit> stark::findToolkit(llvm::StringRef Explicit) {
  std::vector<std::string> Places =
      Explicit.empty() ? toolkitPlaces()
                       : std::vector<std::string>{Explicit.str()};
  for (const std::string &Place : Places) {
    if (Place == "none")
      return std::nullopt;
    if (!fs::exists(Place + "/include/cuda_runtime.h"))
      continue;
    Toolkit Found;
    Found.Root = Place;
    if (fs::can_execute(Place + "/bin/nvcc"))
      Found.Nvcc = Place + "/bin/nvcc";
    unsigned Version = versionOf(Place);
    Found.Major = Version / 1000;
    Found.Minor = Version % 1000 / 10;
    return Found;
  }
  return std::nullopt;
}
