//===- RemoteStep.cpp - The remote, from a build -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/RemoteStep.h"
#include "stark/Cache/Counters.h"
#include "stark/Cache/RemoteSpec.h"
#include "stark/Cache/RemoteState.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;
namespace fs = llvm::sys::fs;

/// For the process to start, and to say itself what was wrong.
static constexpr uint64_t GraceMs = 1000;

static std::string about(llvm::StringRef Remote, const llvm::Twine &Why) {
  return ("the remote " + Remote + " is not used: " + Why +
          "; going on without it")
      .str();
}

/// The first process that finds a remote to have failed warns of it.
static RemoteWarning fail(const RemoteState &State, std::string Warning) {
  return State.fail() ? Warning : "";
}

static RemoteWarning runRemote(RemoteWay Way,
                               std::vector<std::string> Arguments) {
  std::string Remote = remoteOfUser(), User = userCacheFolder();
  if (Remote.empty())
    return "";
  if (User.empty())
    return about("STARK_REMOTE", "there is no cache folder to keep what comes "
                                 "from it (STARK_CACHE_DIR)");
  if (llvm::Error E = createFolders(User + "/.remote"))
    return about("STARK_REMOTE", llvm::toString(std::move(E)));
  RemoteState State(Remote, Way);
  if (State.isDown()) {
    count(CacheEvent::RemoteSkipped);
    return "";
  }
  llvm::Expected<RemoteSpec> Spec = parseRemoteSpec(Remote);
  if (!Spec)
    return fail(State,
                llvm::toString(Spec.takeError()) + "; going on without it");
  if (Way == RemoteWay::Send && Spec->ReadOnly)
    return "";
  ProcessSpec Process;
  Process.Program = programFolder() + "/stark-remote";
  Process.Arguments = std::move(Arguments);
  Process.TimeoutMs = State.leftMs(Spec->TimeoutMs) + GraceMs;
  if (!fs::can_execute(Process.Program))
    return fail(State, about(Spec->Url, "there is no " + Process.Program));
  llvm::Expected<ProcessResult> Result = runProcess(Process);
  if (!Result)
    return fail(State, about(Spec->Url, llvm::toString(Result.takeError())));
  if (Result->TimedOut)
    return fail(State,
                about(Spec->Url, "it took longer than " +
                                     llvm::Twine(Spec->TimeoutMs) + " ms"));
  if (Result->ok())
    return "";
  // What it says is one line, of what went wrong.
  llvm::StringRef Said = llvm::StringRef(Result->Err).trim();
  if (Result->Signal || Said.empty())
    Said = "stark-remote failed";
  return fail(State, about(Spec->Url, Said));
}

RemoteWarning stark::fetchFromRemote(const std::vector<CacheInputs> &All) {
  std::vector<std::string> Words = {"fetch", All.front().SourcePath};
  for (const CacheInputs &In : All)
    Words.insert(Words.end(), {In.WorkloadPath, In.Arch});
  Words.push_back("--");
  const std::vector<std::string> &Flags = All.front().Flags;
  Words.insert(Words.end(), Flags.begin(), Flags.end());
  return runRemote(RemoteWay::Fetch, std::move(Words));
}

RemoteWarning stark::sendToRemote(llvm::StringRef Folder) {
  return runRemote(RemoteWay::Send, {"send", Folder.str()});
}
