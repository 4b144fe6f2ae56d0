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
//                   "reached":  KEY,         with what the entry reaches of
//                                            the source for the source; absent
//                                            where that is not known
//                   "toolkit":  "13.0",
//                   "torch":    "2.11.0", absent without libtorch
//                   "headers":  [ { "from": "source" | "include",
//                                   "path": relative, "digest": TEXT }* ],
//                   "kernel":   TEXT | "",
//                   "winner":   { what is known of it },
//                   "dispatch": { DispatchPlan }, absent in older ones
//                   "check":    SHA-256 of all of the above }
//   TEXT       := SHA-256 of the text with every CR LF as LF
//
// An entry is made under a temporary name (".tmp-...") beside its place and
// renamed. No path in it is absolute, so that a store can be committed.
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "stark/Json/Fields.h"
#include "stark/Json/Foreign.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Utf8.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static constexpr int64_t FormatVersion = 1;
static constexpr int DeepestNesting = 8;

std::string stark::textDigest(llvm::StringRef Text) {
  return sha256(withUnixLines(Text));
}

namespace stark {
template <class IO> static void fields(IO &F, StoredHeader &H) {
  F.required("from", H.From);
  F.required("path", H.Path);
  F.required("digest", H.Digest);
}

template <class IO> static void fields(IO &F, SizeTimes &T) {
  F.allowUnknown();
  F.required("size", T.Size);
  F.required("samples", T.Samples);
  F.required("source_us", T.SourceUs);
  F.required("source_iqr_us", T.SourceIqrUs);
  F.required("winner_us", T.WinnerUs);
  F.required("winner_iqr_us", T.WinnerIqrUs);
  F.required("speedup", T.Speedup);
  F.required("speedup_low", T.SpeedupLow);
  F.required("speedup_high", T.SpeedupHigh);
}

template <class IO> static void fields(IO &F, WinnerFacts &W) {
  F.allowUnknown();
  F.required("title", W.Title);
  F.required("advice", W.Advice);
  F.required("model", W.Model);
  F.required("device", W.Device);
  F.required("timings", W.Timings);
  F.required("task", W.RunDigest);
  F.required("speedup", W.Speedup);
  F.required("modelled", W.Modelled);
  F.sparse("driver", W.Driver, "");
  F.sparse("times", W.Times, std::vector<SizeTimes>());
  F.sparse("verdicts", W.Verdicts, std::map<std::string, uint64_t>());
  F.sparse("diff", W.Diff, "");
  F.sparse("proved", W.Proved, std::vector<std::string>());
  F.sparse("precision", W.Precision, std::vector<std::string>());
}

template <class IO> static void fields(IO &F, TokenEdit &E) {
  F.required("first", E.First);
  F.required("last", E.Last);
  F.required("text", E.Text);
}

template <class IO> static void fields(IO &F, TokenRange &R) {
  F.required("first", R.First);
  F.required("last", R.Last);
}

template <class IO> static void fields(IO &F, DispatchPlan &P) {
  F.allowUnknown();
  F.required("suffix", P.Suffix);
  F.required("source", P.Source);
  F.required("winner", P.Winner);
  F.required("choice_at", P.ChoiceAt);
  F.required("name", P.Name);
  F.required("linkage", P.Linkage);
  F.required("head", P.Head);
  F.required("tail", P.Tail);
  F.required("winner_tail", P.WinnerTail);
  F.required("arguments", P.Arguments);
  F.required("renamed", P.Renamed);
  F.required("macros", P.Macros);
  F.required("includes", P.Includes);
  F.required("guard", P.Guard);
  F.required("covers", P.Covers);
  F.sparse("kept", P.Kept, std::vector<TokenRange>());
}

/// All but the check, which is of the text of these.
template <class IO> static void fields(IO &F, StoredEntry &E) {
  F.allowUnknown();
  F.format("format", FormatVersion);
  F.required("key", E.Key);
  F.required("source", E.Source);
  F.sparse("reached", E.Reached, "");
  F.required("workload", E.Workload);
  F.required("flags", E.Flags);
  F.required("arch", E.Arch);
  F.required("toolkit", E.Toolkit);
  F.sparse("torch", E.Torch, "");
  F.required("kernel", E.Kernel);
  F.required("headers", E.Headers);
  F.required("winner", E.Facts);
  std::optional<DispatchPlan> Plan;
  if (!E.Plan.empty())
    Plan = E.Plan;
  F.optional("dispatch", Plan);
  E.Plan = Plan.value_or(DispatchPlan());
}
} // namespace stark

std::string stark::printEntry(const StoredEntry &E) {
  // Bytes that are no UTF-8 are replaced on the way out, so the check is made
  // of what will be read back.
  json Root = json::parse(dumpJson(writeFields<json>(E)), nullptr, false);
  Root["check"] = sha256(dumpJson(Root));
  return dumpJson(Root, 2) + "\n";
}

std::string stark::parseEntry(llvm::StringRef Text, StoredEntry &Entry) {
  if (Text.size() > LargestEntry)
    return "entry.json is larger than 4 MiB";
  json Root = parseForeignObject<json>(Text, DeepestNesting);
  if (Root.is_discarded())
    return "entry.json is not the JSON object that it was written as";
  if (std::string Why = readFields(Root, "entry.json", "", Entry); !Why.empty())
    return Why;
  std::string Check;
  if (auto Found = Root.find("check");
      Found != Root.end() && Found->is_string()) {
    Check = Found->get<std::string>();
    Root.erase(Found);
  }
  if (!Entry.Plan.empty())
    if (std::string Why = checkPlan(Entry.Plan); !Why.empty())
      return "its dispatch is not one: " + Why;
  if (sha256(dumpJson(Root)) != Check)
    return "entry.json was changed: its check does not match";
  return "";
}
