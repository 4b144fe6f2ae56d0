//===- EvaluationReport.cpp - Verdicts on candidates as a table -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/Evaluation.h"
#include "stark/Eval/Formats.h"
#include "stark/Report/Table.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/FormatVariadic.h"
#include <nlohmann/json.hpp>

using namespace stark;

static void addRows(const JudgedCandidate &C, Table &Rows) {
  auto Add = [&](std::string Verdict, std::vector<std::string> Figures) {
    Figures.resize(5);
    Figures.insert(Figures.begin(), {C.File, std::move(Verdict)});
    Rows.add(std::move(Figures));
  };
  if (!C.Found)
    return Add("waiting", {});
  std::string Verdict = verdictName(C.Found->Kind).str();
  if (C.Found->Timings.empty())
    return Add(Verdict, {});
  for (const job::Timing &T : C.Found->Timings)
    Add(Verdict, {T.Label, llvm::formatv("{0:F2}", T.SourceMedianUs),
                  llvm::formatv("{0:F2}", T.MedianUs),
                  llvm::formatv("{0:F3}", T.Speedup),
                  C.Found->Modelled ? "modelled"
                                    : llvm::formatv("{0:F3} to {1:F3}",
                                                    T.SpeedupLow, T.SpeedupHigh)
                                          .str()});
}

static void printSaid(const JudgedCandidate &C, llvm::raw_ostream &OS) {
  OS << visibleLine(C.File) << ": "
     << (C.Found ? verdictName(C.Found->Kind) : llvm::StringRef("waiting"));
  if (C.Found && !C.Found->Device.empty())
    OS << " (" << visibleLine(C.Found->Device) << ")";
  OS << "\n";
  if (!C.Found)
    return;
  for (llvm::StringRef Text :
       {llvm::StringRef(C.Found->Compiler), llvm::StringRef(C.Found->Run)})
    for (Text = Text.trim(); !Text.empty();) {
      auto [Line, Rest] = Text.split('\n');
      OS << "  " << visibleText(Line) << "\n";
      Text = Rest;
    }
}

void stark::printEvaluation(const Evaluation &E, llvm::raw_ostream &OS) {
  Table Rows(
      {"candidate", "verdict", "size", "source us", "us", "speed-up", "95 %"},
      {3, 4, 5});
  for (const JudgedCandidate &C : E.Candidates)
    addRows(C, Rows);
  Rows.print(/*Markdown=*/false, OS);
  for (const JudgedCandidate &C : E.Candidates) {
    OS << "\n";
    printSaid(C, OS);
  }
}

std::string stark::evaluationJson(const Evaluation &E) {
  nlohmann::json J = {{"version", 1},
                      {"task", E.TaskName},
                      {"entry", E.Entry},
                      {"evaluator", E.Evaluator},
                      {"candidates", nlohmann::json::array()}};
  for (const JudgedCandidate &C : E.Candidates)
    J["candidates"].push_back(
        {{"file", C.File},
         {"wall_ms", C.WallMs},
         {"verdict",
          C.Found ? writeFields<nlohmann::json>(*C.Found) : nlohmann::json()}});
  return dumpJson(J);
}
