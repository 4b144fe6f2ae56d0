//===- ChildUsage.cpp - What a child takes of the machine -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   /proc -> bytes and milliseconds. What is resident is counted, not what is
/// mapped: sanitizers map terabytes, and a file that is mapped costs nothing.
///
//===----------------------------------------------------------------------===//

#include "stark/Posix/Process.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace stark::posix;

/// The whole of a file of /proc; empty when the process is gone.
static std::string procFile(pid_t Id, const std::string &Name) {
  std::ifstream In("/proc/" + std::to_string(Id) + "/" + Name);
  std::ostringstream Text;
  Text << In.rdbuf();
  return Text.str();
}

static uint64_t residentBytesOf(pid_t Id) {
  std::istringstream Pages(procFile(Id, "statm"));
  uint64_t Mapped = 0, Resident = 0;
  Pages >> Mapped >> Resident;
  return Resident * uint64_t(::sysconf(_SC_PAGESIZE));
}

/// Of \p Id and its children. A tree deeper than any compiler's is not looked
/// through.
static uint64_t residentBytesBelow(pid_t Id, unsigned Depth) {
  uint64_t Bytes = residentBytesOf(Id);
  std::error_code Gone;
  std::string Tasks = "/proc/" + std::to_string(Id) + "/task";
  std::filesystem::directory_iterator At(Tasks, Gone), End;
  for (; Depth && !Gone && At != End; At.increment(Gone)) {
    std::ifstream Children(At->path() / "children");
    for (pid_t Child = 0; Children >> Child;)
      Bytes += residentBytesBelow(Child, Depth - 1);
  }
  return Bytes;
}

uint64_t ChildGroup::residentBytes() const {
  static constexpr unsigned DepthLimit = 16;
  return Id > 0 ? residentBytesBelow(Id, DepthLimit) : 0;
}

uint64_t ChildGroup::cpuMs() const {
  // The name in brackets may hold anything; utime is the twelfth field after
  // it (proc(5)).
  std::string Fields = Id > 0 ? procFile(Id, "stat") : "";
  size_t Name = Fields.rfind(')');
  if (Name == std::string::npos)
    return 0;
  std::istringstream Rest(Fields.substr(Name + 1));
  std::string Skipped;
  for (int I = 0; I < 11; ++I)
    Rest >> Skipped;
  uint64_t User = 0, System = 0;
  Rest >> User >> System;
  return (User + System) * 1000 / uint64_t(::sysconf(_SC_CLK_TCK));
}

uint64_t stark::posix::ownResidentBytes() {
  return residentBytesOf(::getpid());
}
