//===- Preload.cpp - What a child loads before it is locked down -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Preload.h"
#include <cstdlib>
#include <dlfcn.h>
#include <sstream>

using namespace stark;

std::string gpu::preload(const ChildOptions &Options) {
  std::stringstream Files(Options.Preload);
  for (std::string File; std::getline(Files, File, ':');)
    if (!dlopen(File.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
      const char *Why = dlerror();
      return "libtorch cannot be loaded: " + std::string(Why ? Why : File);
    }
  return "";
}

std::vector<std::string> gpu::readFolders(const ChildOptions &Options) {
  std::vector<std::string> Folders;
  if (!Options.Folder.empty())
    Folders.push_back(Options.Folder);
  std::stringstream Files(Options.Preload);
  for (std::string File; std::getline(Files, File, ':');)
    Folders.push_back(File.substr(0, File.rfind('/')));
  return Folders;
}

std::string gpu::writeFolder(const Request &Hello) {
  const char *Folder = Hello.Flags & Profiles ? getenv("TMPDIR") : nullptr;
  return Folder ? Folder : "";
}
