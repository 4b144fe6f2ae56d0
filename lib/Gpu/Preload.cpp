//===- Preload.cpp - What a child loads before it is locked down -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Preload.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

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

std::vector<std::string> gpu::readFolders(const ChildOptions &Options,
                                          const ErrandRecord &Work) {
  std::vector<std::string> Folders;
  if (Work.Folder[0])
    Folders.push_back(Work.Folder);
  std::stringstream Files(Options.Preload);
  for (std::string File; std::getline(Files, File, ':');)
    Folders.push_back(File.substr(0, File.rfind('/')));
  return Folders;
}

std::string gpu::writeFolder(const Request &Take) {
  const char *Folder = Take.Flags & Profiles ? getenv("TMPDIR") : nullptr;
  return Folder ? Folder : "";
}

std::string gpu::readShared(const ChildOptions &Options,
                            const ErrandRecord &Work, std::string &Text) {
  Text.resize(Work.JobBytes);
  for (size_t Done = 0; Done < Text.size();) {
    ssize_t Count = pread(Options.Shared, Text.data() + Done,
                          Text.size() - Done, off_t(Done));
    if (Count <= 0)
      return "the job cannot be read from the shared memory";
    Done += size_t(Count);
  }
  return "";
}

std::string gpu::mapShared(const ChildOptions &Options,
                           const ErrandRecord &Work, char *&Shared) {
  if (!Work.SharedBytes)
    return "";
  void *At = mmap(nullptr, Work.SharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                  Options.Shared, 0);
  if (At == MAP_FAILED)
    return std::string("cannot map the shared memory: ") + std::strerror(errno);
  madvise(At, Work.SharedBytes, MADV_HUGEPAGE);
  Shared = static_cast<char *>(At);
  return "";
}
