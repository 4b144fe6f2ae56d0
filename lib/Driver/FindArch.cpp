//===- FindArch.cpp - What Clang parses for -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FindArch.h"
#include "stark/Eval/Evaluator.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;
using llvm::sys::fs::exists;

llvm::Expected<std::string> stark::findArch(const EvaluatorSpec &Evaluator,
                                            const std::string &Given,
                                            const std::string &Replayed) {
  if (!Given.empty())
    return Given;
  auto ArchOf =
      [](llvm::Expected<gpu::DeviceFacts> D) -> llvm::Expected<std::string> {
    if (!D)
      return D.takeError();
    return D->Arch;
  };
  switch (Evaluator.Of) {
  case EvaluatorSpec::Kind::Replay:
    return Replayed;
  case EvaluatorSpec::Kind::Sim:
    return std::string();
  case EvaluatorSpec::Kind::Cuda:
    return ArchOf(probeDevice(EvaluatorOptions()));
  case EvaluatorSpec::Kind::Spool:
  case EvaluatorSpec::Kind::Slurm:
    break;
  }
  std::string File = Evaluator.folder() + "/device.json";
  // Without it the evaluator says what to do.
  if (!exists(File))
    return std::string();
  llvm::Expected<std::string> Text = readText(File);
  if (!Text)
    return Text.takeError();
  return ArchOf(parseDevice(*Text, File));
}
