//===- CudaTool.cpp - A tool of CUDA's, over a child ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTool.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <unistd.h>

using namespace stark;
using namespace stark::gpu;

/// The first that may be used as \p Mode says, unless \p Asked says which.
static std::string findIn(const std::string &Folders, const std::string &Name,
                          int Mode, const std::string &Asked) {
  if (!Asked.empty())
    return Asked == "none" ? "" : Asked;
  std::stringstream Each(Folders);
  for (std::string Folder; std::getline(Each, Folder, ':');)
    if (std::string File = Folder + "/" + Name;
        !Folder.empty() && access(File.c_str(), Mode) == 0)
      return File;
  return "";
}

static std::string environment(const char *Name) {
  const char *Value = getenv(Name);
  return Value ? Value : "";
}

std::string gpu::findCudaTool(const std::string &Name,
                              const std::string &Asked) {
  return findIn(environment("PATH") + ":/usr/local/cuda/bin", Name, X_OK,
                Asked);
}

std::string gpu::findCudaLibrary(const std::string &Name,
                                 const std::string &Folders,
                                 const std::string &Asked) {
  return findIn(Folders + ":" + environment("LD_LIBRARY_PATH") +
                    ":/usr/local/cuda/extras/CUPTI/lib64"
                    ":/usr/local/cuda/lib64",
                Name, R_OK, Asked);
}

ToolFolder::ToolFolder(const std::string &Name) {
  const char *Under = getenv("TMPDIR");
  std::string Made =
      std::string(Under && *Under ? Under : "/tmp") + "/" + Name + "-XXXXXX";
  if (mkdtemp(Made.data()))
    Path = Made;
  else
    Error = "cannot make a folder for what it writes: " +
            std::string(std::strerror(errno));
}

ToolFolder::~ToolFolder() {
  std::error_code Ignored;
  if (!Path.empty())
    std::filesystem::remove_all(Path, Ignored);
}

std::string gpu::failureOf(const Answer &A, const ChildProcess &Child,
                           uint64_t LimitMs) {
  if (A.What == Answer::TimedOut)
    return "no answer within " + std::to_string(LimitMs / 1000) + " s";
  if (A.What == Answer::Closed)
    return Child.describeDeath();
  return A.R.What == Status::Ok ? "" : A.R.Text;
}

void gpu::sendWhole(ChildProcess &Child, const Request &R) {
  Child.send(R);
  if (!isCall(R.What))
    return;
  Request Then;
  Then.What = Command::Finish;
  Child.send(Then);
}
