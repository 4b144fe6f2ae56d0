//===- KernelCache.cpp - Where winners are kept --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On disk, relative to a store or cache folder:
//
//   entry   := NAME "/" KEY12 "-" HEADERS8 "/" { "kernel.cu" | "entry.json" }
//   NAME    := file name of the source, "softmax.cu"
//   KEY12   := first 12 digits of cacheKey()
//   HEADERS8:= first 8 digits of the digest of the headers' contents
//   kernel.cu  := the winner, byte for byte
//   entry.json := { "format": 1, "key": KEY, "kernel": SHA-256 of kernel.cu,
//                   "headers": [ { "from": "source" | "include",
//                                  "path": relative, "digest": SHA-256 } ],
//                   "arch", "toolkit", "flags": for people,
//                   "winner": facts, "check": SHA-256 of all of the above }
//
// An entry is made under a temporary name beside its place and renamed. No
// path in it is absolute, so a store can be committed.
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/KernelCache.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/JsonFields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace stark;
using nlohmann::json;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr uint64_t FormatVersion = 1;

static std::string dump(const json &Value, int Indent) {
  return Value.dump(Indent, ' ', false, json::error_handler_t::replace);
}

namespace {
/// The flags of one look-up, apart: those that count and the folders in which
/// headers are searched.
struct SplitFlags {
  std::vector<std::string> Counting, Folders;

  explicit SplitFlags(llvm::ArrayRef<std::string> Flags) {
    for (size_t I = 0; I < Flags.size(); ++I) {
      llvm::StringRef F = Flags[I];
      bool IsFolder = false;
      for (llvm::StringRef Prefix : {"-isystem", "-iquote", "-I"}) {
        if (IsFolder || !F.starts_with(Prefix))
          continue;
        IsFolder = true;
        F = F.drop_front(Prefix.size());
        F.consume_front("=");
        if (!F.empty())
          Folders.push_back(F.str());
        else if (I + 1 < Flags.size())
          Folders.push_back(Flags[++I]);
      }
      if (!IsFolder)
        Counting.push_back(F.str());
    }
  }
};

struct Header {
  std::string From, Path, Digest;
};

struct StoredEntry {
  std::string Key, Kernel;
  std::vector<Header> Headers;
  WinnerFacts Facts;
};
} // namespace

llvm::Expected<std::string> stark::cacheKey(const CacheInputs &In) {
  llvm::Expected<std::string> Source = readFile(In.SourcePath);
  if (!Source)
    return Source.takeError();
  llvm::Expected<std::string> Workload = readFile(In.WorkloadPath);
  if (!Workload)
    return Workload.takeError();
  DigestBuilder Key;
  Key.add("format", std::to_string(FormatVersion));
  Key.add("name", path::filename(In.SourcePath));
  Key.add("source", *Source);
  Key.add("workload", *Workload);
  for (const std::string &Flag : SplitFlags(In.Flags).Counting)
    Key.add("flag", Flag);
  Key.add("arch", In.Arch);
  Key.add("toolkit", In.ToolkitVersion);
  return Key.finish();
}

static json factsToJson(const WinnerFacts &F) {
  return {{"title", F.Title},     {"advice", F.Advice},
          {"model", F.Model},     {"device", F.Device},
          {"timings", F.Timings}, {"task", F.RunDigest},
          {"speedup", F.Speedup}, {"modelled", F.Modelled}};
}

/// Empty when \p Text is a whole entry, else what is wrong with it.
static std::string parseEntry(llvm::StringRef Text, StoredEntry &Entry) {
  json Root = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Root.is_discarded() || !Root.is_object())
    return "entry.json is not JSON";
  std::string Check;
  uint64_t Format = 0;
  FieldReader<json> Fields(Root, "entry.json", "");
  Fields.required("format", Format);
  Fields.required("key", Entry.Key);
  Fields.required("kernel", Entry.Kernel);
  Fields.required("check", Check);
  const json *Headers = Fields.raw("headers");
  const json *Winner = Fields.raw("winner");
  if (!Headers || !Headers->is_array())
    Fields.fail("headers", "nothing", "an array");
  if (!Winner)
    Fields.fail("winner", "nothing", "an object");
  if (std::string P = Fields.problem(/*AllowUnknown=*/true); !P.empty())
    return P;
  if (Format != FormatVersion)
    return "entry.json has format " + std::to_string(Format) + ", wanted " +
           std::to_string(FormatVersion);
  for (const json &Item : *Headers) {
    Header H;
    FieldReader<json> Part(Item, "entry.json", "headers");
    Part.required("from", H.From);
    Part.required("path", H.Path);
    Part.required("digest", H.Digest);
    if (std::string P = Part.problem(); !P.empty())
      return P;
    Entry.Headers.push_back(std::move(H));
  }
  FieldReader<json> Facts(*Winner, "entry.json", "winner");
  Facts.required("title", Entry.Facts.Title);
  Facts.required("advice", Entry.Facts.Advice);
  Facts.required("model", Entry.Facts.Model);
  Facts.required("device", Entry.Facts.Device);
  Facts.required("timings", Entry.Facts.Timings);
  Facts.required("task", Entry.Facts.RunDigest);
  Facts.required("speedup", Entry.Facts.Speedup);
  Facts.required("modelled", Entry.Facts.Modelled);
  if (std::string P = Facts.problem(true); !P.empty())
    return P;
  json Rest = Root;
  Rest.erase("check");
  if (sha256(dump(Rest, -1)) != Check)
    return "entry.json was changed: its check does not match";
  return "";
}

/// Where \p H lies now; empty when nowhere.
static std::string locate(const Header &H, llvm::StringRef SourceFolder,
                          const SplitFlags &Flags) {
  llvm::SmallString<256> Found;
  if (H.From == "source") {
    Found = SourceFolder;
    path::append(Found, H.Path);
    return fs::exists(Found) ? absolutePath(Found) : "";
  }
  for (const std::string &Folder : Flags.Folders) {
    Found = Folder;
    path::append(Found, H.Path);
    if (fs::exists(Found))
      return absolutePath(Found);
  }
  return "";
}

/// Looks at one entry folder.
static Lookup tryEntry(llvm::StringRef Folder, llvm::StringRef Key,
                       const CacheInputs &In, const SplitFlags &Flags) {
  Lookup L;
  L.From = Folder.str();
  auto Corrupt = [&](const std::string &Why) {
    L.Result = LookupResult::Corrupt;
    L.Note = "entry " + path::filename(Folder).str() + " is corrupt: " + Why;
    return L;
  };
  llvm::Expected<std::string> Text = readFile((Folder + "/entry.json").str());
  if (!Text)
    return Corrupt(llvm::toString(Text.takeError()));
  StoredEntry Entry;
  if (std::string Why = parseEntry(*Text, Entry); !Why.empty())
    return Corrupt(Why);
  if (Entry.Key != Key) {
    L.Note = "entry " + path::filename(Folder).str() + " is of another key";
    return L;
  }
  std::string SourceFolder =
      path::parent_path(absolutePath(In.SourcePath)).str();
  for (const Header &H : Entry.Headers) {
    std::string Where = locate(H, SourceFolder, Flags);
    if (!Where.empty())
      L.Entry.Headers.push_back(Where);
    if (!L.Note.empty())
      continue;
    if (Where.empty()) {
      L.Note = "header " + H.Path + " is missing";
      continue;
    }
    llvm::Expected<std::string> Content = readFile(Where);
    if (!Content) {
      L.Note = llvm::toString(Content.takeError());
      continue;
    }
    if (sha256(*Content) != H.Digest)
      L.Note = "header " + H.Path + " changed";
  }
  if (!L.Note.empty())
    return L;
  llvm::Expected<std::string> Kernel = readFile((Folder + "/kernel.cu").str());
  if (!Kernel)
    return Corrupt(llvm::toString(Kernel.takeError()));
  if (sha256(*Kernel) != Entry.Kernel)
    return Corrupt("kernel.cu was changed");
  L.Result = LookupResult::Hit;
  L.Entry.WinnerText = std::move(*Kernel);
  L.Entry.Facts = std::move(Entry.Facts);
  return L;
}

llvm::Expected<Lookup>
stark::findWinner(const CacheInputs &In,
                  const std::vector<std::string> &Folders) {
  llvm::Expected<std::string> Key = cacheKey(In);
  if (!Key)
    return Key.takeError();
  SplitFlags Flags(In.Flags);
  Lookup Best;
  Best.Note = "no entry for this source, workload, flags, " + In.Arch +
              " and toolkit " + In.ToolkitVersion;
  bool Said = false;
  for (const std::string &Folder : Folders) {
    std::string Place = Folder + "/" + path::filename(In.SourcePath).str();
    std::vector<std::string> Entries;
    std::error_code Code;
    for (fs::directory_iterator I(Place, Code), End; I != End && !Code;
         I.increment(Code))
      if (path::filename(I->path()).starts_with(Key->substr(0, 12) + "-"))
        Entries.push_back(I->path());
    llvm::sort(Entries);
    for (const std::string &Entry : Entries) {
      Lookup L = tryEntry(Entry, *Key, In, Flags);
      if (L.Result == LookupResult::Hit)
        return L;
      if (!Said)
        Best = std::move(L);
      Said = true;
    }
  }
  return Best;
}

/// How an entry names \p File: relative to the source's folder when it lies
/// below it, else to the include folder that holds it.
static llvm::Expected<Header> nameHeader(llvm::StringRef File,
                                         llvm::StringRef SourceFolder,
                                         const SplitFlags &Flags) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  Header H;
  H.Digest = sha256(*Text);
  llvm::StringRef Rest = File;
  if (Rest.consume_front((SourceFolder + "/").str())) {
    H.From = "source";
    H.Path = Rest.str();
    return H;
  }
  for (const std::string &Folder : Flags.Folders) {
    Rest = File;
    if (!Rest.consume_front(absolutePath(Folder) + "/"))
      continue;
    H.From = "include";
    H.Path = Rest.str();
    return H;
  }
  // Reached by "../": the same steps lead to it from another checkout.
  H.From = "source";
  llvm::StringRef Base = SourceFolder;
  while (!Base.empty() && Base != "/" &&
         !File.starts_with((Base + "/").str())) {
    H.Path += "../";
    Base = path::parent_path(Base);
  }
  H.Path += File.drop_front(Base == "/" ? 1 : Base.size() + 1).str();
  return H;
}

llvm::Expected<std::string> stark::storeWinner(const CacheInputs &In,
                                               const CacheEntry &Entry,
                                               llvm::StringRef Folder) {
  llvm::Expected<std::string> Key = cacheKey(In);
  if (!Key)
    return Key.takeError();
  SplitFlags Flags(In.Flags);
  std::string SourceFolder =
      path::parent_path(absolutePath(In.SourcePath)).str();
  DigestBuilder HeaderDigest;
  json Headers = json::array();
  for (const std::string &File : Entry.Headers) {
    llvm::Expected<Header> H = nameHeader(File, SourceFolder, Flags);
    if (!H)
      return H.takeError();
    HeaderDigest.add(H->Path, H->Digest);
    Headers.push_back(
        {{"from", H->From}, {"path", H->Path}, {"digest", H->Digest}});
  }
  json Root;
  Root["format"] = FormatVersion;
  Root["key"] = *Key;
  Root["kernel"] = sha256(Entry.WinnerText);
  Root["headers"] = std::move(Headers);
  Root["arch"] = In.Arch;
  Root["toolkit"] = In.ToolkitVersion;
  Root["flags"] = Flags.Counting;
  Root["winner"] = factsToJson(Entry.Facts);
  Root["check"] = sha256(dump(Root, -1));

  std::string Name = path::filename(In.SourcePath).str();
  std::string Place = (Folder + "/" + Name + "/" + Key->substr(0, 12) + "-" +
                       HeaderDigest.finish().substr(0, 8))
                          .str();
  std::string Temporary = Place + ".tmp" + std::to_string(::getpid());
  auto Fail = [&](llvm::Error E) {
    (void)fs::remove_directories(Temporary);
    return withContext(std::move(E), "cannot store the winner of " + Name);
  };
  if (llvm::Error E =
          writeFileAtomically(Temporary + "/kernel.cu", Entry.WinnerText))
    return Fail(std::move(E));
  if (llvm::Error E =
          writeFileAtomically(Temporary + "/entry.json", dump(Root, 2) + "\n"))
    return Fail(std::move(E));
  (void)fs::remove_directories(Place);
  if (std::error_code Code = fs::rename(Temporary, Place))
    // Another process put the same entry there meanwhile: both are whole.
    if (!fs::exists(Place + "/entry.json"))
      return Fail(failed("'" + Place + "': " + Code.message()));
  (void)fs::remove_directories(Temporary);
  return Place;
}

std::string stark::userCacheFolder() {
  if (const char *Own = std::getenv("STARK_CACHE_DIR"); Own && *Own)
    return Own;
  if (const char *Xdg = std::getenv("XDG_CACHE_HOME"); Xdg && *Xdg)
    return std::string(Xdg) + "/stark";
  if (const char *Home = std::getenv("HOME"); Home && *Home)
    return std::string(Home) + "/.cache/stark";
  return "";
}
