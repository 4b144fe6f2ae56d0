//===- main.cpp - stark-remote, what speaks to a remote ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   stark-remote fetch SOURCE (WORKLOAD ARCH)... -- FLAGS
///   stark-remote send ENTRY
/// The child of stark-cache and stark-tool for which
/// include/stark/Cache/RemoteStep.h says why there is one; nobody else calls
/// it. Says one line of what went wrong and exits with 1; 2 usage.
///
//===----------------------------------------------------------------------===//

#include "stark/Cache/Counters.h"
#include "stark/Cache/Limits.h"
#include "stark/Remote/Remote.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace stark;

static llvm::Error fetch(std::vector<std::string> Words, RemoteStorage &From) {
  CacheInputs In;
  In.SourcePath = Words[0];
  size_t End = 1;
  while (End + 1 < Words.size() && Words[End] != "--")
    End += 2;
  if (End < Words.size())
    In.Flags.assign(Words.begin() + End + 1, Words.end());
  for (size_t I = 1; I < End; I += 2) {
    In.WorkloadPath = Words[I];
    In.Arch = Words[I + 1];
    llvm::Expected<bool> Came = fetchEntry(In, From, userCacheFolder());
    if (!Came)
      return Came.takeError();
    count(*Came ? CacheEvent::RemoteHit : CacheEvent::RemoteMiss);
    if (*Came)
      pruneUsersFolder();
  }
  return llvm::Error::success();
}

static llvm::Error run(RemoteWay Way, std::vector<std::string> Words,
                       const RemoteState &State) {
  llvm::Expected<RemoteSpec> Spec = parseRemoteSpec(remoteOfUser());
  if (!Spec)
    return Spec.takeError();
  llvm::Expected<std::unique_ptr<RemoteStorage>> Storage =
      openRemote(*Spec, State);
  if (!Storage)
    return Storage.takeError();
  if (Way == RemoteWay::Fetch)
    return fetch(std::move(Words), **Storage);
  llvm::Expected<bool> Sent = sendEntry(Words.front(), **Storage);
  if (!Sent)
    return Sent.takeError();
  if (*Sent)
    count(CacheEvent::RemoteStored);
  return llvm::Error::success();
}

/// Of many processes that wait at once, the first whose time is over ends the
/// waiting of all.
static void watchOthers(const RemoteState &State) {
  std::thread([&State] {
    while (!State.isDown())
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::_Exit(0);
  }).detach();
}

int main(int Argc, char **Argv) {
  std::vector<std::string> Words(Argv + 1, Argv + Argc);
  std::string Verb = Words.empty() ? "" : Words.front();
  if (!(Verb == "fetch" && Words.size() >= 4) &&
      !(Verb == "send" && Words.size() == 2)) {
    llvm::errs() << "stark-remote fetch SOURCE (WORKLOAD ARCH)... -- FLAGS, or "
                    "stark-remote send ENTRY\n";
    return 2;
  }
  Words.erase(Words.begin());
  RemoteWay Way = Verb == "send" ? RemoteWay::Send : RemoteWay::Fetch;
  // It outlives the thread that looks at it.
  static const RemoteState State(remoteOfUser(), Way);
  watchOthers(State);
  llvm::Error E = run(Way, std::move(Words), State);
  if (!E)
    std::_Exit(0);
  // It may quote what a server said.
  llvm::errs() << visibleLine(llvm::toString(std::move(E))) << "\n";
  llvm::errs().flush();
  // A thread of libcurl that waits for a name server is not waited for.
  std::_Exit(1);
}
