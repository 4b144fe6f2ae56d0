//===- SimEvaluator.cpp - A simulated GPU as the judge -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + candidate -> job folder -> stark-sim as a child -> verdict
///
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "stark/Support/Error.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include <nlohmann/json.hpp>

using namespace stark;
using Json = nlohmann::json;

namespace {
constexpr uint64_t JobLimitMs = 3600 * 1000ull;

class SimEvaluator : public Evaluator {
public:
  SimEvaluator(const Task &T, std::string Gpu, EvaluatorOptions Options)
      : T(T), Gpu(std::move(Gpu)), Options(std::move(Options)) {}
  llvm::Expected<Verdict> evaluate(const Candidate &C) override;
  std::string identity() const override { return "sim:" + Gpu; }

private:
  const Task &T;
  std::string Gpu;
  EvaluatorOptions Options;
};
} // namespace

llvm::Expected<Verdict> SimEvaluator::evaluate(const Candidate &C) {
  llvm::Expected<job::Job> J = makeSimJob(T, C, Options);
  if (!J)
    return J.takeError();
  llvm::Expected<TemporaryFolder> Folder = TemporaryFolder::create("stark-sim");
  if (!Folder)
    return Folder.takeError();
  std::string Trampoline =
      "\n#line 1 \"stark-trampoline\"\n" + makeTrampoline(T);
  if (llvm::Error E = writeSimFolder(
          T, *J, T.SourceText + Trampoline + makeReferenceTrampoline(T),
          C.Text + Trampoline, Folder->path()))
    return E;

  ProcessSpec Spec;
  std::string File = (Folder->path() + "/result.json").str();
  Spec.Program = Options.Sim;
  Spec.Arguments = {Folder->path().str(), "--gpu=" + Gpu, "--result=" + File};
  Spec.TimeoutMs = JobLimitMs;
  Spec.Environment = environmentWithoutSecrets();
  llvm::Expected<ProcessResult> Ran = runProcess(Spec);
  if (!Ran)
    return Ran.takeError();
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    llvm::StringRef Why = llvm::StringRef(Ran->Err).trim();
    Why.consume_front("error: ");
    // A GPU that nobody knows is the user's to mend.
    if (Ran->ExitCode == 2)
      return usageError(Why);
    return failed("stark-sim left no result: " +
                  (Why.empty() ? "exit code " + std::to_string(Ran->ExitCode)
                               : trimForWindow(Why, 600)));
  }
  std::string Problem;
  job::Result R = job::parseResult(*Text, File, Problem);
  if (!Problem.empty())
    return failed(Problem);
  return verdictOf(T, *J, R);
}

llvm::Expected<std::unique_ptr<Evaluator>>
stark::makeSimEvaluator(const Task &T, llvm::StringRef Gpu,
                        const EvaluatorOptions &Options) {
  EvaluatorOptions Full = Options;
  if (Full.Sim.empty())
    Full.Sim = programFolder() + "/stark-sim";
  if (!llvm::sys::fs::can_execute(Full.Sim))
    return failed("no stark-sim at " + Full.Sim);
  return std::make_unique<SimEvaluator>(T, Gpu.str(), Full);
}
