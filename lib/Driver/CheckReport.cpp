//===- CheckReport.cpp - Checked winners as lines and JSON ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/WinnerCheck.h"
#include "stark/Eval/Formats.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace stark;

std::string stark::describeCheck(const CheckedWinner &W) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::sys::path::filename(W.Source) << " of " << W.Target << ": winner "
     << W.Entry << " for " << W.Arch << ": " << nameOf(W.Result);
  if (!W.Why.empty())
    OS << ": " << W.Why;
  else if (W.Found)
    OS << llvm::format(", %.3f times as fast (%.3f when it was kept)",
                       W.Found->speedup(), W.Recorded.Speedup);
  return Text;
}

std::string stark::checkJson(const WinnerCheck &C) {
  nlohmann::json J = {{"version", 1},
                      {"winners", nlohmann::json::array()},
                      {"without", C.Without}};
  for (const CheckedWinner &W : C.Winners)
    J["winners"].push_back(
        {{"target", W.Target},
         {"source", W.Source},
         {"entry", W.Entry},
         {"arch", W.Arch},
         {"evaluator", W.Evaluator},
         {"gpu_arch", W.GpuArch},
         {"result", std::string(nameOf(W.Result))},
         {"why", W.Why},
         {"recorded_speedup", W.Recorded.Speedup},
         {"verdict",
          W.Found ? writeFields<nlohmann::json>(*W.Found) : nlohmann::json()}});
  return dumpJson(J);
}
