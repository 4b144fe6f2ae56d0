//===- Bundle.cpp - Entries on their way ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle.h"
#include "EntryFolder.h"
#include "stark/Json/Fields.h"
#include "stark/Json/Foreign.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace stark;
using llvm::StringRef;
using nlohmann::json;
namespace path = llvm::sys::path;

static constexpr int64_t FormatVersion = 1;

namespace {
struct Line {
  std::string Name, Entry, Kernel;
};
} // namespace

namespace stark {
template <class IO> static void fields(IO &F, Line &L) {
  F.format("format", FormatVersion);
  F.required("name", L.Name);
  F.required("entry", L.Entry);
  F.required("kernel", L.Kernel);
}
} // namespace stark

bool stark::isSourceName(StringRef Name) {
  return !Name.empty() && Name.size() <= 255 && !Name.starts_with(".") &&
         llvm::none_of(Name, [](char C) {
           return C == '/' || (unsigned char)C < ' ' || C == 0x7f;
         });
}

bool stark::isDigest(StringRef Text) {
  return Text.size() == 64 && isHex(Text);
}

llvm::Expected<std::string> stark::packEntry(StringRef Folder) {
  StoredEntry Entry;
  Line L;
  std::string Kernel;
  bool Gone = false;
  if (std::string Why = readWhole(Folder, Entry, Kernel, Gone); !Why.empty())
    return failed("entry '" + Folder + "' is corrupt: " + Why);
  L.Name = path::filename(path::parent_path(Folder)).str();
  L.Entry = printEntry(Entry);
  L.Kernel = llvm::encodeBase64(Kernel);
  return dumpJson(writeFields<json>(L));
}

std::string stark::parseBundle(StringRef Text, Bundle &B) {
  if (Text.size() > LargestBundle)
    return "it is larger than " + std::to_string(LargestBundle) + " bytes";
  // All of its values are strings and numbers: what is deeper is something
  // else.
  json Root = parseForeignObject<json>(Text, /*Deepest=*/1);
  if (Root.is_discarded())
    return "it is not the JSON object that it was written as";
  Line L;
  if (std::string Why = readFields(Root, "entry", "", L); !Why.empty())
    return Why;
  if (!isSourceName(L.Name))
    return "its name is none of a source";
  B.Name = L.Name;
  if (std::string Why = parseEntry(L.Entry, B.Entry); !Why.empty())
    return Why;
  if (!isDigest(B.Entry.Key))
    return "its key is none";
  std::vector<char> Kernel;
  if (llvm::Error E = llvm::decodeBase64(L.Kernel, Kernel))
    return "its kernel is no base64: " + llvm::toString(std::move(E));
  B.Kernel.assign(Kernel.begin(), Kernel.end());
  if (B.Kernel.size() > LargestKernel)
    return "its kernel is larger than " + std::to_string(LargestKernel) +
           " bytes";
  if (B.Entry.Kernel.empty() ? !B.Kernel.empty()
                             : textDigest(B.Kernel) != B.Entry.Kernel)
    return "its kernel is not the one that its digest is of";
  return "";
}

llvm::Expected<std::string> stark::unpackEntry(StringRef Line,
                                               StringRef Store) {
  Bundle B;
  if (std::string Why = parseBundle(Line, B); !Why.empty())
    return failed("this is no entry: " + Why);
  return placeEntry(B.Entry, B.Kernel, B.Name, Store);
}

llvm::Expected<std::vector<std::string>>
stark::selectEntries(StringRef Store, const std::vector<std::string> &Names) {
  std::vector<std::string> All, Chosen;
  for (const std::string &Home : homesIn(Store))
    llvm::append_range(All, entriesIn(Home));
  if (Names.empty())
    return All;
  auto IsNamed = [](StringRef Where, StringRef Name) {
    StringRef Entry = path::filename(Where);
    StringRef Source = path::filename(path::parent_path(Where));
    auto [Of, Rest] = Name.rsplit('/');
    if (Name.contains('/'))
      return Source == Of && Entry.starts_with(Rest);
    return Source == Name || Entry.starts_with(Name);
  };
  for (const std::string &Name : Names) {
    size_t Before = Chosen.size();
    for (const std::string &Where : All)
      if (IsNamed(Where, Name) && !llvm::is_contained(Chosen, Where))
        Chosen.push_back(Where);
    if (Chosen.size() == Before &&
        llvm::none_of(Chosen, [&](StringRef W) { return IsNamed(W, Name); }))
      return usageError("'" + Store + "' has no entry '" + Name +
                        "'; stark-tool cache list names them");
  }
  return Chosen;
}
