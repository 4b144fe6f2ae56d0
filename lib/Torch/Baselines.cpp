//===- Baselines.cpp - What PyTorch itself needs for a module -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Torch/Baselines.h"
#include "Programs.h"

using namespace stark;
using namespace stark::torch;

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
