//===- TorchHeaders.cpp - libtorch's headers, precompiled -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchHeaders.h"
#include "stark/AST/Torch.h"
#include "stark/Posix/Clock.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include <mutex>

using namespace stark;
namespace fs = llvm::sys::fs;

static constexpr uint64_t LimitMs = 300000;

/// What the compiler calls itself: another version reads nothing of this one's.
static std::string askVersion(llvm::StringRef Compiler) {
  ProcessSpec Spec;
  Spec.Program = Compiler.str();
  Spec.Arguments = {"--version"};
  llvm::Expected<ProcessResult> Said = runProcess(Spec);
  if (!Said) {
    llvm::consumeError(Said.takeError());
    return "";
  }
  return Said->Out;
}

/// Asked once: it is wanted for every compilation.
static std::string versionOf(llvm::StringRef Compiler) {
  static std::mutex Guard;
  static llvm::StringMap<std::string> Known;
  std::lock_guard Lock(Guard);
  auto [Entry, New] = Known.try_emplace(Compiler);
  if (New)
    Entry->second = askVersion(Compiler);
  return Entry->second;
}

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

static void precompile(llvm::StringRef Compiler,
                       llvm::ArrayRef<std::string> Flags,
                       const std::string &Header) {
  TraceScope Traced("precompile headers");
  ProcessSpec Spec;
  Spec.Program = Compiler.str();
  Spec.TimeoutMs = LimitMs;
  Spec.Arguments = Flags.vec();
  std::string Unfinished = Header + ".unfinished";
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-x", "c++-header", Header, "-o", Unfinished});
  llvm::Expected<ProcessResult> How = runProcess(Spec);
  if (How && How->ok())
    fs::rename(Unfinished, Header + ".gch");
  else
    fs::remove(Unfinished);
  if (!How)
    llvm::consumeError(How.takeError());
}

std::string stark::torchHeader(llvm::StringRef Compiler,
                               llvm::ArrayRef<std::string> Flags,
                               const posix::Libtorch &Torch) {
  std::string Cache = userCacheFolder();
  if (Cache.empty())
    return "";
  std::string Text = torchHeaders(Torch);
  DigestBuilder Key;
  Key.add("format", "1")
      .add("compiler", Compiler)
      .add("version", versionOf(Compiler))
      .add("torch", Torch.Root + " " + Torch.Version)
      .add("text", Text);
  for (const std::string &Flag : Flags)
    Key.add("flag", Flag);
  std::string Folder = Cache + "/torch/" + Key.finish().substr(0, 16);
  std::string Header = Folder + "/stark_torch.h";
  if (fs::exists(Header + ".gch"))
    return Header;
  if (llvm::Error E = createFolders(Folder)) {
    llvm::consumeError(std::move(E));
    return "";
  }
  std::unique_ptr<FileLock> Lock = lockWhenFree(Folder);
  if (!Lock || fs::exists(Header + ".gch"))
    return Lock ? Header : "";
  if (llvm::Error E = writeFileAtomically(Header, Text)) {
    llvm::consumeError(std::move(E));
    return "";
  }
  precompile(Compiler, Flags, Header);
  return Header;
}
