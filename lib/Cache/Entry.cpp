//===- Entry.cpp - entry.json --------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On disk, relative to a store or a cache folder:
//
//   entry      := NAME "/" KEY12 "-" HEADERS8 "/" { "kernel.cu" "entry.json" }
//   NAME       := file name of the source, "softmax.cu"
//   KEY12      := first 12 digits of cacheKey()
//   HEADERS8   := first 8 digits of the digest of the headers' texts
//   kernel.cu  := the winner as it was measured; absent when nothing won
//   entry.json := { "format":   1,
//                   "key":      KEY,
//                   "source":   TEXT,        digests of what the key is made
//                   of, "workload": TEXT,        so that a miss can be
//                   explained "flags":    [ flag* ], "arch":     "sm_90",
//                   "toolkit":  "13.0",
//                   "headers":  [ { "from": "source" | "include",
//                                   "path": relative, "digest": TEXT }* ],
//                   "kernel":   TEXT | "",
//                   "winner":   { facts for people },
//                   "check":    SHA-256 of all of the above }
//   TEXT       := SHA-256 of the text with every CR LF as LF
//
// An entry is made under a temporary name (".tmp-...") beside its place and
// renamed. No path in it is absolute, so that a store can be committed.
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Digest.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static constexpr uint64_t FormatVersion = 1;
static constexpr size_t LargestEntry = size_t(4) << 20;
static constexpr int DeepestNesting = 8;

static std::string dump(const json &Value, int Indent) {
  return Value.dump(Indent, ' ', false, json::error_handler_t::replace);
}

std::string stark::textDigest(llvm::StringRef Text) {
  if (!Text.contains('\r'))
    return sha256(Text);
  std::string Plain;
  Plain.reserve(Text.size());
  for (size_t I = 0; I < Text.size(); ++I)
    if (Text[I] != '\r' || I + 1 == Text.size() || Text[I + 1] != '\n')
      Plain += Text[I];
  return sha256(Plain);
}

static json factsToJson(const WinnerFacts &F) {
  return {{"title", F.Title},     {"advice", F.Advice},
          {"model", F.Model},     {"device", F.Device},
          {"timings", F.Timings}, {"task", F.RunDigest},
          {"speedup", F.Speedup}, {"modelled", F.Modelled}};
}

std::string stark::printEntry(const StoredEntry &E) {
  json Root;
  Root["format"] = FormatVersion;
  Root["key"] = E.Key;
  Root["source"] = E.Source;
  Root["workload"] = E.Workload;
  Root["flags"] = E.Flags;
  Root["arch"] = E.Arch;
  Root["toolkit"] = E.Toolkit;
  Root["kernel"] = E.Kernel;
  Root["winner"] = factsToJson(E.Facts);
  Root["headers"] = json::array();
  for (const StoredHeader &H : E.Headers)
    Root["headers"].push_back(
        {{"from", H.From}, {"path", H.Path}, {"digest", H.Digest}});
  // Bytes that are no UTF-8 are replaced on the way out, so the check is made
  // of what will be read back.
  Root = json::parse(dump(Root, -1), nullptr, false);
  Root["check"] = sha256(dump(Root, -1));
  return dump(Root, 2) + "\n";
}

static std::string readEntry(const json &Root, StoredEntry &Entry) {
  uint64_t Format = 0;
  FieldReader<json> Fields(Root, "entry.json", "");
  Fields.required("format", Format);
  if (Fields.good() && Format != FormatVersion)
    return "entry.json has format " + std::to_string(Format) + ", wanted " +
           std::to_string(FormatVersion);
  Fields.required("key", Entry.Key);
  Fields.required("source", Entry.Source);
  Fields.required("workload", Entry.Workload);
  Fields.required("flags", Entry.Flags);
  Fields.required("arch", Entry.Arch);
  Fields.required("toolkit", Entry.Toolkit);
  Fields.required("kernel", Entry.Kernel);
  const json *Headers = Fields.raw("headers");
  const json *Winner = Fields.raw("winner");
  if (!Headers || !Headers->is_array())
    Fields.fail("headers", Headers ? describeJson(*Headers) : "nothing",
                "an array");
  if (!Winner)
    Fields.fail("winner", "nothing", "an object");
  Fields.allowUnknown();
  if (std::string P = Fields.problem(); !P.empty())
    return P;
  for (const json &Item : *Headers) {
    StoredHeader H;
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
  Facts.allowUnknown();
  return Facts.problem();
}

std::string stark::parseEntry(llvm::StringRef Text, StoredEntry &Entry) {
  if (Text.size() > LargestEntry)
    return "entry.json is larger than 4 MiB";
  bool TooDeep = false;
  json Root = json::parse(
      Text.begin(), Text.end(),
      [&](int Depth, json::parse_event_t, json &) {
        TooDeep |= Depth > DeepestNesting;
        return !TooDeep;
      },
      /*allow_exceptions=*/false);
  if (TooDeep || Root.is_discarded() || !Root.is_object())
    return "entry.json is not the JSON object that it was written as";
  if (std::string Why = readEntry(Root, Entry); !Why.empty())
    return Why;
  std::string Check;
  if (auto Found = Root.find("check");
      Found != Root.end() && Found->is_string()) {
    Check = Found->get<std::string>();
    Root.erase(Found);
  }
  if (sha256(dump(Root, -1)) != Check)
    return "entry.json was changed: its check does not match";
  return "";
}
