//===- ReplayProfiler.cpp - Counters from a journal -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/Profiler.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Journal.h"
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;
using Json = nlohmann::json;

namespace {
class ReplayProfiler : public Profiler {
public:
  llvm::Error load(llvm::StringRef RunFolder);
  llvm::Expected<Counters> profile(const Candidate &C) override;

private:
  std::string File;
  std::map<std::string, Counters> Known; ///< by digest
};
} // namespace

llvm::Error ReplayProfiler::load(llvm::StringRef RunFolder) {
  File = (RunFolder + "/journal.jsonl").str();
  llvm::Expected<JournalContent> Content = readJournal(File);
  if (!Content)
    return Content.takeError();
  for (const JournalEvent &Event : Content->Events) {
    if (Event.Type != "counters")
      continue;
    Json Body = Json::parse(Event.Body, nullptr, false);
    std::string Digest;
    Counters C;
    FieldReader<Json> R(Body, File + ", event " + std::to_string(Event.Number),
                        "body");
    R.required("candidate", Digest);
    R.required("device", C.Device);
    R.required("text", C.Text);
    R.required("problem", C.Problem);
    R.required("too_slow", C.TooSlow);
    R.allowUnknown();
    if (std::string P = R.problem(); !P.empty())
      return failed(P);
    Known.emplace(std::move(Digest), std::move(C));
  }
  return llvm::Error::success();
}

llvm::Expected<Counters> ReplayProfiler::profile(const Candidate &C) {
  std::string Digest = sha256(C.Text);
  auto Found = Known.find(Digest);
  if (Found == Known.end())
    return failed(File + ": has no counters of node " + llvm::Twine(C.Node) +
                  " (candidate " + llvm::StringRef(Digest).take_front(16) +
                  "); the run went another way");
  return Found->second;
}

llvm::Expected<std::unique_ptr<Profiler>>
stark::makeReplayProfiler(llvm::StringRef RunFolder) {
  auto P = std::make_unique<ReplayProfiler>();
  if (llvm::Error Failure = P->load(RunFolder))
    return Failure;
  return P;
}
