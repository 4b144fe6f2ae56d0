//===- Baselines.cpp - What PyTorch itself needs for a module -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Torch/Baselines.h"
#include "Programs.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::torch;
using nlohmann::json;

namespace {
/// What is read of a record; the program in Python writes more.
struct BaselineRecord {
  BaselineTime Time;
  std::string Outcome;
  bool Agrees = true;
};

struct BaselineFile {
  std::vector<BaselineRecord> Records;
};

template <class IO> void fields(IO &F, BaselineRecord &R) {
  F.required("digest", R.Time.Digest);
  F.required("variant", R.Time.Variant);
  F.required("outcome", R.Outcome);
  F.optional("agrees", R.Agrees);
  F.optional("copy_gbs", R.Time.CopyGBs);
  F.object("machine", [&](auto &Of) {
    Of.allowUnknown();
    Of.optional("gpu", R.Time.Gpu);
  });
  if (R.Outcome != "ok")
    return;
  F.object("stark", [&](auto &Of) {
    Of.allowUnknown();
    Of.required("median_ms", R.Time.MedianUs);
    Of.check(R.Time.MedianUs > 0, "median_ms", "a positive time");
  });
  R.Time.MedianUs *= 1e3;
}

template <class IO> void fields(IO &F, BaselineFile &B) {
  F.format("version", 1);
  F.list("records", B.Records, [](auto &Of, BaselineRecord &R, size_t) {
    Of.allowUnknown();
    fields(Of, R);
  });
}

/// What the program does not know it writes as null.
void dropNulls(json &Value) {
  if (Value.is_object())
    for (auto It = Value.begin(); It != Value.end();)
      It = It->is_null() ? Value.erase(It) : std::next(It);
  if (Value.is_structured())
    for (json &Item : Value)
      dropNulls(Item);
}
} // namespace

std::vector<std::string>
torch::baselineCommand(const BaselineRequest &Request) {
  std::vector<std::string> Words = {Request.Python,
                                    "-B",
                                    programFolderOf("baselines") +
                                        "/baselines.py",
                                    "--out",
                                    Request.Folder,
                                    "--timeout",
                                    std::to_string(Request.TimeoutSeconds)};
  for (auto [Name, Value] : {std::pair("--variants", &Request.Variants),
                             {"--device", &Request.Device},
                             {"--budget", &Request.Budget}})
    if (!Value->empty())
      Words.insert(Words.end(), {Name, *Value});
  if (Request.Again)
    Words.push_back("--again");
  Words.push_back("--");
  Words.insert(Words.end(), Request.Tasks.begin(), Request.Tasks.end());
  return Words;
}

llvm::Expected<std::vector<BaselineTime>>
torch::readBaselines(llvm::StringRef Folder) {
  std::string File = (Folder + "/baselines.json").str();
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  json Object = json::parse(*Text, nullptr, false);
  if (Object.is_discarded())
    return usageError("'" + File + "' is not JSON; wanted baselines");
  dropNulls(Object);
  BaselineFile Read;
  if (std::string Problem = readKnownFields(Object, File, "", Read);
      !Problem.empty())
    return usageError(Problem);
  std::vector<BaselineTime> Times;
  for (BaselineRecord &R : Read.Records)
    if (R.Outcome == "ok" && R.Agrees && !R.Time.Gpu.empty())
      Times.push_back(std::move(R.Time));
  return Times;
}
