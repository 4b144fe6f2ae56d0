//===- PrecompiledHeaders.cpp - Headers that host code needs, read before -===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrecompiledHeaders.h"
#include "stark/Posix/Clock.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;
namespace fs = llvm::sys::fs;

static constexpr uint64_t LimitMs = 300000;

/// Waits for whoever else makes it.
static std::unique_ptr<FileLock> lockWhenFree(llvm::StringRef Folder) {
  Clock &Time = machineClock();
  Clock::Time Start = Time.now();
  while (Time.millisecondsSince(Start) < LimitMs) {
    llvm::Expected<std::unique_ptr<FileLock>> Lock = lockFolder(Folder);
    if (Lock)
      return std::move(*Lock);
    llvm::consumeError(Lock.takeError());
    Time.sleep(std::chrono::milliseconds(100));
  }
  return nullptr;
}

static void precompile(const HostCommand &Compiler,
                       llvm::ArrayRef<std::string> Flags,
                       const std::string &Header) {
  TraceScope Traced("precompile headers");
  ProcessSpec Spec;
  Spec.Program = Compiler.Program;
  Spec.TimeoutMs = LimitMs;
  for (llvm::ArrayRef<std::string> More :
       {llvm::ArrayRef(Compiler.First), Flags,
        llvm::ArrayRef(Compiler.ForHeaders)})
    Spec.Arguments.insert(Spec.Arguments.end(), More.begin(), More.end());
  std::string Unfinished = Header + ".unfinished";
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-x", "c++-header", Header, "-o", Unfinished});
  llvm::Expected<ProcessResult> How = runProcess(Spec);
  if (How && How->ok())
    fs::rename(Unfinished, Header + Compiler.Suffix);
  else
    fs::remove(Unfinished);
  if (!How)
    llvm::consumeError(How.takeError());
}

std::string stark::precompiledHeader(const HostCommand &Compiler,
                                     llvm::ArrayRef<std::string> Flags,
                                     const HeaderSet &Headers) {
  std::string Cache = userCacheFolder();
  if (Cache.empty())
    return "";
  DigestBuilder Key;
  Key.add("format", "1")
      .add("compiler", Compiler.Suffix)
      .add("version", Compiler.Version)
      .add(Headers.Name, Headers.Version)
      .add("text", Headers.Text);
  for (llvm::ArrayRef<std::string> More :
       {llvm::ArrayRef(Compiler.First), Flags})
    for (const std::string &Flag : More)
      Key.add("flag", Flag);
  std::string Folder =
      Cache + "/" + Headers.Name + "/" + Key.finish().substr(0, 16);
  std::string Header = Folder + "/stark_" + Headers.Name + ".h";
  if (fs::exists(Header + Compiler.Suffix))
    return Header;
  if (llvm::Error E = createFolders(Folder)) {
    llvm::consumeError(std::move(E));
    return "";
  }
  std::unique_ptr<FileLock> Lock = lockWhenFree(Folder);
  if (!Lock || fs::exists(Header + Compiler.Suffix))
    return Lock ? Header : "";
  if (llvm::Error E = writeFileAtomically(Header, Headers.Text)) {
    llvm::consumeError(std::move(E));
    return "";
  }
  precompile(Compiler, Flags, Header);
  return Header;
}

void stark::forgetHeader(const HostCommand &Compiler,
                         const std::string &Header) {
  if (!Header.empty())
    fs::remove(Header + Compiler.Suffix);
}
