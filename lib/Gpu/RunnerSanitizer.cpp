//===- RunnerSanitizer.cpp - What a sanitizer says of a candidate --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tools that work -> findings in the candidate -> those that the source has
/// not
///
//===----------------------------------------------------------------------===//

#include "CudaTool.h"
#include "Ending.h"
#include "Runner.h"
#include "Sanitizer.h"

using namespace stark;
using namespace stark::gpu;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Findings of one tool that a verdict shows.
constexpr size_t MostShown = 3;

std::string joined(const std::vector<std::string> &Words) {
  std::string Text;
  for (size_t I = 0; I < Words.size(); ++I)
    Text += (I == 0 ? "" : I + 1 == Words.size() ? " and " : ", ") + Words[I];
  return Text;
}

std::string describe(const SanitizerReport &R) {
  std::string Text = "compute-sanitizer's " + std::string(R.Tool->Name) + ":";
  for (size_t I = 0; I < std::min(R.Findings.size(), MostShown); ++I)
    Text += "\n" + R.Findings[I];
  if (R.Findings.size() > MostShown)
    Text += "\nand " + std::to_string(R.Findings.size() - MostShown) + " more";
  return Text;
}

/// A buffer for each call, filled as the judge fills it.
std::vector<Request> callsOf(const Job &J, const std::vector<unsigned> &Cases) {
  std::vector<Request> Calls;
  for (unsigned Case : Cases) {
    Trial T;
    T.Case = Case;
    T.Seed = J.Seeds.front();
    Calls.push_back(requestFor(Command::Prepare, Case));
    Calls.push_back(requestFor(T));
  }
  return Calls;
}
} // namespace

MaybeStop GpuRunner::sanitize(const std::vector<unsigned> &Cases,
                              std::vector<std::string> &Proved,
                              std::string &Notes) {
  std::string Program = findCudaTool("compute-sanitizer", Options.Sanitizer);
  std::string Why = Torch             ? "it takes tensors"
                    : Program.empty() ? "there is no compute-sanitizer"
                                      : "";
  if (!Why.empty()) {
    Notes += "not looked at by compute-sanitizer: " + Why + "\n";
    return std::nullopt;
  }
  Stages::Scope Sanitizing(Log, "sanitize");
  std::vector<const SanitizerTool *> Working;
  for (const SanitizerReport &R :
       proveSanitizers(Program, Options.Device, Time))
    if (R.Failed.empty())
      Working.push_back(R.Tool);
    else
      Notes += "compute-sanitizer's " + std::string(R.Tool->Name) +
               " does not work here: " + R.Failed + "\n";
  if (Working.empty())
    return std::nullopt;
  std::vector<Request> Calls = callsOf(*J, Cases);
  Errand Bare = Candidate.bare();
  std::vector<SanitizerReport> Bad;
  std::vector<const SanitizerTool *> Again;
  std::vector<std::string> Clean;
  for (SanitizerReport &R :
       gpu::sanitize(Program, spec(), Bare, Working, Calls, Time)) {
    if (!R.Failed.empty())
      Notes += "compute-sanitizer's " + std::string(R.Tool->Name) +
               " did not look at all: " + R.Failed + "\n";
    else if (R.Findings.empty())
      Clean.push_back(R.Tool->Name);
    else {
      Again.push_back(R.Tool);
      Bad.push_back(std::move(R));
    }
  }
  std::vector<std::string> Labels;
  for (unsigned Case : Cases)
    Labels.push_back("'" + J->Cases[Case].Label + "'");
  std::string Where = " with size " + joined(Labels);
  if (!Clean.empty())
    Proved.push_back("compute-sanitizer's " + joined(Clean) +
                     ": nothing found" + Where);
  if (Bad.empty())
    return std::nullopt;
  // What the source does as well, nobody has asked a candidate to mend.
  Bare.Library = Source.Work.Library;
  std::vector<SanitizerReport> OfSource =
      gpu::sanitize(Program, spec(), Bare, Again, Calls, Time);
  std::string Findings;
  for (size_t I = 0; I < Bad.size(); ++I) {
    bool Elects = J->AsyncBarriers && Bad[I].Tool->Shown == Fault::Race;
    if (!OfSource[I].Findings.empty())
      Notes += "compute-sanitizer's " + std::string(Bad[I].Tool->Name) +
               " reports the source as well\n";
    else if (Elects)
      Notes += "not believed, since it does not see what mbarriers order "
               "(docs/judging.md): " +
               describe(Bad[I]) + "\n";
    else
      Findings += (Findings.empty() ? "" : "\n") + describe(Bad[I]);
  }
  if (Findings.empty())
    return std::nullopt;
  return Stop{Outcome::Wrong, "outputs are right" + Where + ", but not " +
                                  "how they are made. " + Findings};
}
