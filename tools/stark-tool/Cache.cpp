//===- Cache.cpp - stark-tool cache --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Cache/Bundle.h"
#include "stark/Cache/Counters.h"
#include "stark/Cache/Inventory.h"
#include "stark/Cache/KernelCache.h"
#include "stark/Cache/Limits.h"
#include "stark/Cache/RemoteSpec.h"
#include "stark/Cache/RemoteState.h"
#include "stark/Cache/RemoteStep.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "cache",
    "Look into a cache of winners and keep it in order\n\n"
    "  stark-tool cache list   [ENTRY...] [--store DIR]\n"
    "  stark-tool cache show   ENTRY...   [--store DIR]\n"
    "  stark-tool cache diff   ENTRY      [--store DIR]\n"
    "  stark-tool cache export [ENTRY...] [--store DIR] (--output FILE | "
    "--remote)\n"
    "  stark-tool cache import FILE...    [--store DIR]\n"
    "  stark-tool cache verify            [--store DIR]\n"
    "  stark-tool cache prune             [--store DIR] [--max-size S] "
    "[--max-age D]\n"
    "  stark-tool cache stats\n\n"
    "DIR is a store; without one it is the user's cache. An ENTRY is what list "
    "names,\n"
    "a source's name, or the beginning of an entry's. An exported file has one "
    "entry a\n"
    "line; import refuses what is no whole entry. --remote sends entries to "
    "the remote\n"
    "of $STARK_REMOTE. prune removes what was not used for longest.\n\n"
    "Example:\n"
    "  stark-tool cache export softmax.cu --store stark-store --output "
    "w.jsonl\n"
    "\n"
    "Exit codes: 0 done, 1 failed or an entry is damaged, 2 usage.");
static cl::opt<std::string> Action(cl::Positional, cl::desc("ACTION"),
                                   cl::Required, cl::sub(Command));
static cl::list<std::string> Names(cl::Positional, cl::desc("[ENTRY|FILE...]"),
                                   cl::sub(Command));
static Flag<std::string> Store(Command, "store", cl::value_desc("dir"),
                               cl::desc("A store (default: the user's cache)"));
static Flag<std::string> Output(Command, "output", cl::value_desc("file"),
                                cl::desc("Where export writes"));
static Flag<bool> Remote(Command, "remote",
                         cl::desc("Export to $STARK_REMOTE"));
static Flag<std::string>
    MaxSize(Command, "max-size", cl::value_desc("bytes"),
            cl::desc("What prune leaves, such as 500M (default: "
                     "$STARK_CACHE_MAX_SIZE, 1G)"));
static Flag<std::string>
    MaxAge(Command, "max-age", cl::value_desc("days"),
           cl::desc("What prune removes was not used for so long (default: "
                    "$STARK_CACHE_MAX_AGE, any time)"));

static std::string visible(const std::string &Text) {
  return llvm::sys::Process::StandardOutIsDisplayed() ? visibleText(Text)
                                                      : Text;
}

static std::vector<std::string> given() { return {Names.begin(), Names.end()}; }

static llvm::Error list(const std::string &Folder) {
  llvm::Expected<std::vector<std::string>> Chosen =
      selectEntries(Folder, given());
  if (!Chosen)
    return Chosen.takeError();
  for (const std::string &Where : *Chosen)
    llvm::outs() << visibleLine(entryLine(Where)) << "\n";
  return llvm::Error::success();
}

/// What \p Print says of each entry that was named.
static llvm::Error
print(const std::string &Folder,
      llvm::Expected<std::string> (*Print)(llvm::StringRef)) {
  if (Names.empty())
    return usageError("cache " + Action + ": no entry is named");
  llvm::Expected<std::vector<std::string>> Chosen =
      selectEntries(Folder, given());
  if (!Chosen)
    return Chosen.takeError();
  for (const std::string &Where : *Chosen) {
    llvm::Expected<std::string> Text = Print(Where);
    if (!Text)
      return Text.takeError();
    llvm::outs() << visible(*Text);
  }
  return llvm::Error::success();
}

/// To the user's remote, whatever became of it before.
static llvm::Error sendEntries(const std::vector<std::string> &Chosen) {
  std::string Address = remoteOfUser();
  if (Address.empty())
    return usageError("cache export: --remote needs STARK_REMOTE");
  llvm::Expected<RemoteSpec> Spec = parseRemoteSpec(Address);
  if (!Spec)
    return Spec.takeError();
  if (Spec->ReadOnly)
    return usageError("cache export: STARK_REMOTE is read-only");
  RemoteState State(Address, RemoteWay::Send);
  State.forget();
  for (const std::string &Where : Chosen)
    if (std::string Why = sendToRemote(Where); !Why.empty())
      return failed(Why);
  // Another process may have been the first to find out.
  if (State.isDown())
    return failed("the remote " + Spec->Url + " failed");
  llvm::outs() << Chosen.size() << " entries\n";
  return llvm::Error::success();
}

static llvm::Error exportEntries(const std::string &Folder) {
  if (Output.empty() == !Remote)
    return usageError("cache export: wanted --output or --remote, one of them");
  llvm::Expected<std::vector<std::string>> Chosen =
      selectEntries(Folder, given());
  if (!Chosen)
    return Chosen.takeError();
  if (Remote)
    return sendEntries(*Chosen);
  std::string Text;
  for (const std::string &Where : *Chosen) {
    llvm::Expected<std::string> Line = packEntry(Where);
    if (!Line)
      return Line.takeError();
    Text += *Line + "\n";
  }
  if (llvm::Error E = writeFileAtomically(Output, Text))
    return E;
  llvm::outs() << Chosen->size() << " entries\n";
  return llvm::Error::success();
}

static llvm::Error importEntries(const std::string &Folder) {
  if (Names.empty())
    return usageError("cache import: no file is named");
  unsigned Count = 0;
  for (const std::string &File : Names) {
    llvm::Expected<std::string> Text = readFile(File);
    if (!Text)
      return Text.takeError();
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(*Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
    for (size_t I = 0; I < Lines.size(); ++I) {
      llvm::Expected<std::string> Kept = unpackEntry(Lines[I], Folder);
      if (!Kept)
        return withContext(Kept.takeError(), File + ":" + llvm::Twine(I + 1));
      ++Count;
    }
  }
  llvm::outs() << Count << " entries\n";
  return llvm::Error::success();
}

static llvm::Error verify(const std::string &Folder) {
  llvm::Expected<StoreCheck> Found = checkStore(Folder);
  if (!Found)
    return Found.takeError();
  for (const std::string &Problem : Found->Problems)
    llvm::errs() << "error: " << visibleLine(Problem) << "\n";
  llvm::outs() << Found->Entries << " entries, " << Found->Problems.size()
               << " damaged\n";
  return Found->Problems.empty()
             ? llvm::Error::success()
             : failed("'" + Folder + "' has damaged entries");
}

static llvm::Error pruneFolder(const std::string &Folder) {
  llvm::Expected<CacheLimits> Limits = limitsOfUser();
  if (!Limits)
    return Limits.takeError();
  if (MaxSize.given()) {
    llvm::Expected<uint64_t> Bytes = parseBytes(MaxSize, "--max-size");
    if (!Bytes)
      return Bytes.takeError();
    Limits->Bytes = *Bytes;
  }
  if (MaxAge.given()) {
    llvm::Expected<unsigned> Days = parseDays(MaxAge, "--max-age");
    if (!Days)
      return Days.takeError();
    Limits->Days = *Days;
  }
  Pruned P = prune(Folder, *Limits, std::chrono::system_clock::now());
  for (const std::string &Problem : P.Problems)
    llvm::errs() << "warning: " << visibleLine(Problem) << "\n";
  llvm::outs() << P.Entries << " entries removed, " << P.Bytes << " bytes; "
               << P.Kept << " kept, " << P.KeptBytes << " bytes\n";
  return llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &) {
  std::string Folder = Store.given() ? Store : userCacheFolder();
  if (Folder.empty())
    return usageError("there is no cache folder: give --store or set "
                      "STARK_CACHE_DIR");
  if (Action == "import")
    return importEntries(Folder);
  if (!llvm::sys::fs::is_directory(Folder))
    return failed("'" + Folder + "' is no folder");
  if (Action == "list")
    return list(Folder);
  if (Action == "show")
    return print(Folder, entryFacts);
  if (Action == "diff")
    return print(Folder, entryDiff);
  if (Action == "export")
    return exportEntries(Folder);
  if (Action == "verify")
    return verify(Folder);
  if (Action == "prune")
    return pruneFolder(Folder);
  if (Action != "stats")
    return usageError("cache: got '" + Action +
                      "', wanted list, show, diff, export, import, verify, "
                      "prune or stats");
  printStats(Folder, llvm::outs());
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
