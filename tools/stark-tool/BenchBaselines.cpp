//===- BenchBaselines.cpp - stark-tool bench --torch-baselines ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BenchFlags.h"
#include "stark/Support/Error.h"
#include "stark/Torch/Baselines.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace stark;
using namespace stark::tool;

BaselineFlags::BaselineFlags(cl::SubCommand &Of)
    : Measure(Of, "torch-baselines",
              cl::desc("Time PyTorch modules as PyTorch runs them")),
      Variants(Of, "variants", cl::value_desc("list"),
               cl::desc("With --torch-baselines: of eager, compile, "
                        "eager-graph, compile-graph, max-autotune, "
                        "max-autotune-graph (default: all)")),
      Device(Of, "device", cl::value_desc("name"),
             cl::desc("With --torch-baselines: cuda (default) or cpu")),
      Timeout(Of, "timeout", cl::value_desc("seconds"), cl::init(300),
              cl::desc("With --torch-baselines: for each variant (default "
                       "300)")),
      Again(Of, "again",
            cl::desc("With --torch-baselines: measure what is measured "
                     "already")) {}

/// Becomes the program that measures, so that it has the terminal and the
/// signals.
llvm::Error BaselineFlags::run(const std::vector<std::string> &Tasks,
                               const std::string &Out,
                               const std::string &Python,
                               const std::vector<std::string> &Budget) const {
  if (Tasks.empty())
    return usageError("bench: --torch-baselines wants TASK.py ...");
  if (Out.empty())
    return usageError("bench: --torch-baselines needs --out");
  if (Budget.size() > 1)
    return usageError("--budget: got several, wanted seconds");
  if (llvm::Error E = checkRange(Timeout, 1, 1000000))
    return E;
  torch::BaselineRequest Request;
  Request.Tasks = Tasks;
  Request.Folder = Out;
  Request.Python = Python;
  Request.Variants = Variants;
  Request.Device = Device;
  Request.Budget = Budget.empty() ? "" : Budget.front();
  Request.TimeoutSeconds = Timeout;
  Request.Again = Again;
  std::vector<std::string> Words = torch::baselineCommand(Request);
  std::vector<char *> Arguments;
  for (std::string &Word : Words)
    Arguments.push_back(Word.data());
  Arguments.push_back(nullptr);
  llvm::outs().flush();
  ::execvp(Arguments[0], Arguments.data());
  return usageError("cannot run '" + Python + "': " + std::strerror(errno));
}
