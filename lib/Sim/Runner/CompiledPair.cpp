//===- CompiledPair.cpp - Source and candidate, compiled ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   one thread a text; the source's failure is told before the candidate's
///
//===----------------------------------------------------------------------===//

#include "CompiledPair.h"
#include "stark/Json/Fields.h"
#include "stark/Support/File.h"
#include <nlohmann/json.hpp>
#include <thread>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using namespace stark::judge;
using Json = nlohmann::json;

namespace {
/// Code is null when the text does not compile; the rest says why.
struct Built {
  std::unique_ptr<Program> Code;
  std::string Diagnostics;
  std::optional<Unsupported> Missing;
  std::string HostFailure;
};

Stop hostFailed(const std::string &Why) {
  return Stop{Outcome::Infrastructure, Why};
}

Built build(CompileRequest Request, const std::string &Path) {
  Built B;
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text) {
    B.HostFailure = llvm::toString(Text.takeError());
    return B;
  }
  Request.Text = std::move(*Text);
  llvm::Expected<std::unique_ptr<Program>> P =
      Program::build(Request, B.Diagnostics, B.Missing);
  if (P)
    B.Code = std::move(*P);
  else
    B.HostFailure = llvm::toString(P.takeError());
  return B;
}

MaybeStop take(Built B, std::unique_ptr<Program> &Into, bool IsSource,
               std::string &Messages) {
  if (!B.HostFailure.empty())
    return hostFailed(B.HostFailure);
  Into = std::move(B.Code);
  if (Into)
    return std::nullopt;
  if (B.Missing)
    return Stop{IsSource ? Outcome::Infrastructure : Outcome::Unsupported,
                "the simulator cannot run " + B.Missing->text()};
  if (IsSource)
    return hostFailed("the source itself does not compile for the simulator: " +
                      B.Diagnostics);
  Messages = B.Diagnostics;
  return Stop{Outcome::NotCompiled, ""};
}
} // namespace

MaybeStop sim::compilePair(const std::string &Folder, const Job &J,
                           const SimRunnerOptions &Options, CompiledPair &Into,
                           std::string &Messages) {
  std::string Path = Folder + "/compile.json";
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return hostFailed(llvm::toString(Text.takeError()));
  Json Object = Json::parse(*Text, nullptr, false);
  if (Object.is_discarded())
    return hostFailed(Path + ": not valid JSON");
  CompileRequest Request;
  Request.Headers = Options.Headers;
  if (std::string P = readFields(Object, Path, "", Request); !P.empty())
    return hostFailed(P);

  bool Two = J.SourceDigest != J.CandidateDigest;
  Built Other;
  std::thread Second;
  auto BuildOther = [&] {
    Other = build(Request, Folder + "/" + J.CandidateLibrary);
  };
  if (Two && Options.Jobs > 1)
    Second = std::thread(BuildOther);
  MaybeStop S = take(build(Request, Folder + "/" + J.SourceLibrary),
                     Into.Source, !Options.CountersOnly, Messages);
  if (Second.joinable())
    Second.join();
  else if (!S && Two)
    BuildOther();
  if (S || !Two)
    return S;
  return take(std::move(Other), Into.Candidate, false, Messages);
}
