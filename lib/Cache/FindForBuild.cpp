//===- FindForBuild.cpp - Winners from here and elsewhere ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryFolder.h"
#include "stark/Cache/BuildStep.h"
#include "stark/Cache/Counters.h"
#include "stark/Cache/RemoteSpec.h"
#include "stark/Cache/RemoteStep.h"
#include "stark/Support/File.h"

using namespace stark;

static CacheEvent eventOf(LookupResult Result) {
  switch (Result) {
  case LookupResult::Hit:
    return CacheEvent::Hit;
  case LookupResult::NothingWon:
    return CacheEvent::NothingWon;
  case LookupResult::Corrupt:
    return CacheEvent::Corrupt;
  case LookupResult::Miss:
    break;
  }
  return CacheEvent::Miss;
}

llvm::Expected<Lookup> stark::findHereOrRemote(const BuildStep &Step,
                                               std::string &Warning) {
  llvm::Expected<Lookup> Found = findForBuild(Step);
  if (!Found)
    return Found;
  if (!Found->Missing.empty() && !remoteOfUser().empty()) {
    Warning = fetchFromRemote(Found->Missing);
    Found = findForBuild(Step);
    if (!Found)
      return Found;
  }
  count(eventOf(Found->result()));
  std::string User = userCacheFolder();
  auto Use = [&](const Lookup &L) {
    if (!L.Why && !User.empty() &&
        llvm::StringRef(L.From).starts_with(User + "/"))
      noteUse(L.From);
  };
  Use(*Found);
  for (const Lookup &L : Found->More)
    Use(L);
  return Found;
}
