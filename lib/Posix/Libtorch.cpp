//===- Libtorch.cpp - Where PyTorch's C++ library is ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Posix/Libtorch.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/File.h"
#include "stark/Posix/Process.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>

using namespace stark;
using namespace stark::posix;
namespace fs = std::filesystem;

namespace {
bool exists(const std::string &Path) {
  std::error_code Ignored;
  return fs::exists(Path, Ignored);
}

/// The entries of a folder whose name begins with \p Prefix, sorted.
std::vector<std::string> entriesOf(const std::string &Folder,
                                   const std::string &Prefix) {
  std::vector<std::string> Found;
  std::error_code Failed;
  for (const fs::directory_entry &E : fs::directory_iterator(Folder, Failed))
    if (E.path().filename().string().rfind(Prefix, 0) == 0)
      Found.push_back(E.path().string());
  std::sort(Found.begin(), Found.end());
  return Found;
}

/// The number after `#define NAME`; empty where there is none.
std::string numberOf(const std::string &Text, const std::string &Name) {
  size_t At = Text.find("#define " + Name + " ");
  if (At == std::string::npos)
    return "";
  At += Name.size() + 9;
  size_t End = At;
  while (End < Text.size() && Text[End] >= '0' && Text[End] <= '9')
    ++End;
  return Text.substr(At, End - At);
}

std::optional<Libtorch> libtorchAt(const std::string &Root) {
  for (const char *Folder :
       {"/lib", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64"}) {
    Libtorch T;
    T.Root = Root;
    T.Libraries = Root + Folder;
    std::string Headers = Root + "/include";
    if (!exists(T.Libraries + "/libtorch.so"))
      continue;
    T.Version = libtorchVersion(Headers);
    T.Includes = {Headers, Headers + "/torch/csrc/api/include"};
    T.Cuda = exists(T.Libraries + "/libtorch_cuda.so");
    if (!T.Version.empty())
      return T;
  }
  return std::nullopt;
}

/// \p Folder itself, or the Python below it.
std::optional<Libtorch> libtorchBelow(const std::string &Folder) {
  if (std::optional<Libtorch> T = libtorchAt(Folder))
    return T;
  for (const std::string &Python : entriesOf(Folder + "/lib", "python3"))
    if (std::optional<Libtorch> T = libtorchAt(Python + "/site-packages/torch"))
      return T;
  return std::nullopt;
}

} // namespace

std::string posix::torchOfPython(const std::string &Python) {
  ProcessSpec Spec;
  Spec.Program = Python;
  Spec.TimeoutMs = 20000;
  Spec.Arguments = {"-c", "import importlib.util as u\n"
                          "s = u.find_spec('torch')\n"
                          "print(list(s.submodule_search_locations)[0] if s "
                          "and s.submodule_search_locations else '')"};
  ProcessResult Said;
  std::string Ignored;
  if (runProcess(Spec, machineClock(), Said, Ignored) != Ran::ToAnEnd ||
      !Said.ok())
    return "";
  return Said.Out.substr(0, Said.Out.find('\n'));
}

std::vector<std::string> posix::versionFiles(const std::string &Includes) {
  return {Includes + "/torch/headeronly/version.h",
          Includes + "/torch/csrc/api/include/torch/version.h"};
}

std::string posix::libtorchVersion(const std::string &Includes) {
  if (!exists(Includes + "/ATen/ATen.h"))
    return "";
  for (const std::string &File : versionFiles(Includes)) {
    std::string Ignored;
    std::optional<std::string> Text = readFile(File, Ignored);
    if (!Text)
      continue;
    std::string Major = numberOf(*Text, "TORCH_VERSION_MAJOR");
    if (!Major.empty())
      return Major + "." + numberOf(*Text, "TORCH_VERSION_MINOR") + "." +
             numberOf(*Text, "TORCH_VERSION_PATCH");
  }
  return "";
}

static std::vector<std::string>
existing(const std::string &Folder, std::initializer_list<const char *> Names) {
  std::vector<std::string> Files;
  for (const char *Name : Names)
    if (exists(Folder + "/" + Name))
      Files.push_back(Folder + "/" + Name);
  return Files;
}

std::vector<std::string> Libtorch::libraryFiles() const {
  return existing(Libraries, {"libc10.so", "libtorch_cpu.so", "libc10_cuda.so",
                              "libtorch_cuda.so", "libtorch.so"});
}

std::vector<std::string> Libtorch::hostLibraryFiles() const {
  return existing(Libraries, {"libc10.so", "libtorch_cpu.so"});
}

std::string Libtorch::searchPath() const {
  std::string Path = Libraries;
  for (const std::string &Package : entriesOf(Root + "/../nvidia", ""))
    if (exists(Package + "/lib"))
      Path += ":" + Package + "/lib";
  const char *Toolkit = std::getenv("CUDA_PATH");
  for (const std::string &Folder :
       {Toolkit ? std::string(Toolkit) : "", std::string("/usr/local/cuda")})
    if (!Folder.empty() && exists(Folder + "/lib64"))
      Path += ":" + Folder + "/lib64";
  return Path;
}

std::optional<Libtorch> posix::findLibtorch(const std::string &Given,
                                            std::string &Error) {
  if (!Given.empty()) {
    std::optional<Libtorch> T = libtorchBelow(Given);
    if (!T)
      Error = "no libtorch in '" + Given +
              "': wanted lib/libtorch.so and include/ATen, or a Python's "
              "folder that has torch";
    return T;
  }
  if (const char *Folder = std::getenv("STARK_TORCH"); Folder && *Folder)
    return findLibtorch(Folder, Error);
  if (std::string Folder = torchOfPython("python3"); !Folder.empty())
    if (std::optional<Libtorch> T = libtorchBelow(Folder))
      return T;
  std::optional<Libtorch> T = libtorchAt("/usr");
  if (!T)
    Error = "no libtorch found; looked at $STARK_TORCH, the torch of python3, "
            "and /usr";
  return T;
}
