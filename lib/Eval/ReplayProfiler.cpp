//===- ReplayProfiler.cpp - Counters from a journal -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordedEvents.h"
#include "stark/Support/Digest.h"
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;

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
  File = journalOf(RunFolder);
  return forEachEvent<CountersEvent, nlohmann::json>(
      RunFolder, [this](CountersEvent E) {
        Known.emplace(std::move(E.Candidate), std::move(E.Found));
      });
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
