//===- Torch.cpp - Sources that use ATen ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Torch.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <mutex>

using namespace stark;

bool stark::includesTorch(llvm::StringRef Text) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    Line = Line.ltrim();
    if (!Line.consume_front("#"))
      continue;
    Line = Line.ltrim();
    if (!Line.consume_front("include"))
      continue;
    Line = Line.ltrim().drop_front(Line.ltrim().empty() ? 0 : 1);
    if (Line.starts_with("ATen/") || Line.starts_with("c10/") ||
        Line.starts_with("torch/"))
      return true;
  }
  return false;
}

std::string stark::torchHeaders(const posix::Libtorch &Torch) {
  std::string Text = "#include <ATen/ATen.h>\n";
  if (Torch.Cuda)
    Text += "#include <ATen/cuda/CUDAContext.h>\n"
            "#include <c10/cuda/CUDACachingAllocator.h>\n"
            "#include <c10/cuda/CUDAException.h>\n"
            "#include <c10/cuda/CUDAGuard.h>\n"
            "#include <cuda_runtime.h>\n";
  return Text;
}

/// The root of the libtorch whose headers a flag finds; empty: no flag does.
static std::string rootInFlags(const ParseOptions &Options) {
  bool Follows = false;
  for (llvm::StringRef Flag : Options.Flags) {
    bool Names = Follows;
    for (llvm::StringRef Option : {"-isystem", "-iquote", "-I"})
      if (!Names && Flag.consume_front(Option)) {
        Names = true;
        break;
      }
    Follows = Names && Flag.empty();
    if (!Names || Follows)
      continue;
    Flag.consume_front("=");
    std::string Folder =
        Options.Folder.empty() || llvm::sys::path::is_absolute(Flag)
            ? Flag.str()
            : Options.Folder + "/" + Flag.str();
    if (llvm::sys::fs::exists(Folder + "/ATen/ATen.h"))
      return llvm::sys::path::parent_path(absolutePath(Folder)).str();
  }
  return "";
}

llvm::Expected<posix::Libtorch> stark::torchFor(const ParseOptions &Options) {
  std::string Given =
      Options.Torch.empty() ? rootInFlags(Options) : Options.Torch;
  // Asking Python takes a while, and what is installed stays.
  static std::mutex Guard;
  static std::map<std::string, posix::Libtorch> Known;
  std::lock_guard Lock(Guard);
  if (auto Found = Known.find(Given); Found != Known.end())
    return Found->second;
  std::string Error;
  std::optional<posix::Libtorch> Found = posix::findLibtorch(Given, Error);
  if (!Found)
    return failed(Error);
  return Known[Given] = *Found;
}
