//===- Torch.cpp - Sources that use ATen ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Torch.h"
#include "stark/AST/Flags.h"
#include "stark/Posix/Forked.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/Path.h"
#include <map>
#include <mutex>

using namespace stark;

llvm::StringRef stark::includedName(llvm::StringRef Line) {
  Line = Line.ltrim();
  if (!Line.consume_front("#"))
    return "";
  Line = Line.ltrim();
  if (!Line.consume_front("include"))
    return "";
  Line = Line.ltrim();
  if (!Line.consume_front("<") && !Line.consume_front("\""))
    return "";
  return Line.take_front(Line.find_first_of(">\""));
}

bool stark::includesTorch(llvm::StringRef Text) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    llvm::StringRef Name = includedName(Line);
    if (Name.starts_with("ATen/") || Name.starts_with("c10/") ||
        Name.starts_with("torch/"))
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

/// The folder of libtorch's headers that the flags find first, or an empty
/// text.
static std::string headersInFlags(const ParseOptions &Options) {
  // nvcc has many spellings for one flag, of which these are left.
  std::vector<std::string> Flags = parseFlags(Options.Flags, Options.Folder);
  for (size_t I = 0; I + 1 < Flags.size(); ++I)
    if ((Flags[I] == "-I" || Flags[I] == "-isystem" || Flags[I] == "-iquote" ||
         Flags[I] == "-idirafter") &&
        !posix::libtorchVersion(Flags[I + 1]).empty())
      return absolutePath(Flags[I + 1]);
  return "";
}

std::vector<std::string> stark::torchFolders(const ParseOptions &Options) {
  std::string Headers = headersInFlags(Options);
  // Those of a distribution lie among all others, where Clang looks last.
  if (Headers.empty() || Headers == "/usr/include")
    return {};
  return {Headers, Headers + "/torch/csrc/api/include"};
}

llvm::Expected<posix::Libtorch> stark::torchFor(const ParseOptions &Options) {
  std::string Given = Options.Torch;
  if (Given.empty())
    Given = llvm::sys::path::parent_path(headersInFlags(Options)).str();
  // Asking Python takes a while, and what is installed stays.
  static std::mutex Guard;
  static std::map<std::string, posix::Libtorch> Known;
  posix::UnlessForked Lock(Guard);
  if (auto Found = Known.find(Given); Found != Known.end())
    return Found->second;
  TraceScope Traced("find libtorch");
  std::string Error;
  std::optional<posix::Libtorch> Found = posix::findLibtorch(Given, Error);
  if (!Found)
    return failed(Error);
  return Known[Given] = *Found;
}
