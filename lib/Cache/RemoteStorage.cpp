//===- RemoteStorage.cpp - Where a team's winners are --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   index := { "format": 1,
///              "entries": [ { "headers": [ as in entry.json ],
///                             "entry": SHA256 }* ] }, newest first
/// Which headers a source has is known after a parse alone, so a look-up needs
/// two steps: the index has the key for its name. It tells of headers with
/// their digests, so that a server learns nothing of the files here.
///
/// Servers of this protocol have no locks. Of two writers at once the second
/// may write an index without the entry of the first, who therefore looks
/// again.
///
//===----------------------------------------------------------------------===//

#include "stark/Cache/RemoteStorage.h"
#include "Bundle.h"
#include "EntryFolder.h"
#include "Headers.h"
#include "stark/Json/Fields.h"
#include "stark/Json/Foreign.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using llvm::StringRef;
using nlohmann::json;

static constexpr int64_t FormatVersion = 1;
static constexpr size_t LargestIndex = size_t(4) << 20;
static constexpr size_t MostEntries = 64;
static constexpr int DeepestNesting = 6;
static constexpr unsigned Tries = 3;

namespace {
struct IndexEntry {
  std::vector<StoredHeader> Headers;
  std::string Entry;
};
struct Index {
  std::vector<IndexEntry> Entries;
};
} // namespace

namespace stark {
template <class IO> static void fields(IO &F, IndexEntry &E) {
  F.list("headers", E.Headers, [](auto &F, auto &H, size_t) {
    F.required("from", H.From);
    F.required("path", H.Path);
    F.required("digest", H.Digest);
  });
  F.required("entry", E.Entry);
}
template <class IO> static void fields(IO &F, Index &I) {
  F.format("format", FormatVersion);
  F.required("entries", I.Entries);
}
} // namespace stark

static llvm::Expected<Index> parseIndex(StringRef Text) {
  json Root = parseForeignObject<json>(Text, DeepestNesting);
  if (Root.is_discarded())
    return failed("its index is not the JSON object that it was written as");
  Index I;
  if (std::string Why = readFields(Root, "index", "", I); !Why.empty())
    return failed("its " + Why);
  for (const IndexEntry &E : I.Entries)
    if (!isDigest(E.Entry))
      return failed("its index names an entry by what is no digest");
  if (I.Entries.size() > MostEntries)
    return failed("its index has more than " + llvm::Twine(MostEntries) +
                  " entries");
  return I;
}

llvm::Expected<bool> stark::fetchEntry(const CacheInputs &In,
                                       RemoteStorage &From, StringRef Folder) {
  llvm::Expected<KeyParts> Now = makeKey(In);
  if (!Now)
    return Now.takeError();
  llvm::Expected<std::optional<std::string>> Text =
      From.get("ac/" + Now->Key, LargestIndex);
  if (!Text)
    return Text.takeError();
  if (!*Text)
    return false;
  llvm::Expected<Index> Known = parseIndex(**Text);
  if (!Known)
    return Known.takeError();
  auto Fits = [&](llvm::ArrayRef<StoredHeader> Headers) {
    std::vector<std::string> Found;
    return !checkHeaders(Headers, In, *Now, Found);
  };
  for (const IndexEntry &E : Known->Entries) {
    if (!Fits(E.Headers))
      continue;
    llvm::Expected<std::optional<std::string>> Line =
        From.get("cas/" + E.Entry, LargestBundle);
    if (!Line)
      return Line.takeError();
    if (!*Line)
      continue; // the server made room
    if (sha256(**Line) != E.Entry)
      return failed("its entry " + E.Entry.substr(0, 12) +
                    " is not what its digest is of");
    Bundle B;
    if (std::string Why = parseBundle(**Line, B); !Why.empty())
      return failed("its entry " + E.Entry.substr(0, 12) + ": " + Why);
    if (B.Entry.Key != Now->Key || B.Name != Now->Name ||
        B.Entry.Kernel.empty() || !Fits(B.Entry.Headers))
      return failed("its entry " + E.Entry.substr(0, 12) +
                    " is not the one that was asked for");
    llvm::Expected<std::string> Kept =
        placeEntry(B.Entry, B.Kernel, B.Name, Folder);
    if (!Kept)
      return Kept.takeError();
    return true;
  }
  return false;
}

static bool sameHeaders(const IndexEntry &A, const IndexEntry &B) {
  auto Names = [](const IndexEntry &E) {
    std::vector<std::string> All;
    for (const StoredHeader &H : E.Headers)
      All.push_back(H.From + "/" + H.Path + " " + H.Digest);
    llvm::sort(All);
    return All;
  };
  return Names(A) == Names(B);
}

llvm::Expected<bool> stark::sendEntry(StringRef Folder, RemoteStorage &To) {
  llvm::Expected<std::string> Line = packEntry(Folder);
  if (!Line)
    return Line.takeError();
  Bundle B;
  if (std::string Why = parseBundle(*Line, B); !Why.empty())
    return failed("entry '" + Folder + "': " + Why);
  IndexEntry Own{B.Entry.Headers, sha256(*Line)};
  llvm::Expected<bool> There = To.has("cas/" + Own.Entry);
  if (!There)
    return There.takeError();
  if (!*There)
    if (llvm::Error E = To.put("cas/" + Own.Entry, *Line))
      return E;
  for (unsigned Try = 0; Try < Tries; ++Try) {
    llvm::Expected<std::optional<std::string>> Text =
        To.get("ac/" + B.Entry.Key, LargestIndex);
    if (!Text)
      return Text.takeError();
    Index Known;
    if (*Text) {
      // What somebody damaged is written anew.
      if (llvm::Expected<Index> Parsed = parseIndex(**Text))
        Known = std::move(*Parsed);
      else
        llvm::consumeError(Parsed.takeError());
    }
    if (llvm::any_of(Known.Entries,
                     [&](const IndexEntry &E) { return E.Entry == Own.Entry; }))
      return Try > 0 || !*There;
    llvm::erase_if(Known.Entries,
                   [&](const IndexEntry &E) { return sameHeaders(E, Own); });
    Known.Entries.insert(Known.Entries.begin(), Own);
    if (Known.Entries.size() > MostEntries)
      Known.Entries.resize(MostEntries);
    if (llvm::Error E =
            To.put("ac/" + B.Entry.Key, dumpJson(writeFields<json>(Known))))
      return E;
  }
  return true;
}
