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
#include "llvm/Object/ELFObjectFile.h"
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

/// What the host's code of \p Library could launch.
std::vector<std::string> symbolsOf(const std::string &Library) {
  std::vector<std::string> Names;
  auto File = llvm::object::ObjectFile::createObjectFile(Library);
  if (!File) {
    llvm::consumeError(File.takeError());
    return Names;
  }
  if (auto *Elf =
          llvm::dyn_cast<llvm::object::ELFObjectFileBase>(File->getBinary()))
    for (const auto &Symbol : Elf->getDynamicSymbolIterators()) {
      llvm::Expected<llvm::StringRef> Name = Symbol.getName();
      if (Name)
        Names.push_back(Name->str());
      else
        llvm::consumeError(Name.takeError());
    }
  return Names;
}

/// \p Library: of host code; empty: the text has it.
Built build(CompileRequest Request, const std::string &Path,
            const std::string &Library) {
  Built B;
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text) {
    B.HostFailure = llvm::toString(Text.takeError());
    return B;
  }
  Request.Text = std::move(*Text);
  if (!Library.empty() && Request.Text.empty())
    return B; // no kernels
  llvm::Expected<std::unique_ptr<Program>> P =
      Library.empty() ? Program::build(Request, B.Diagnostics, B.Missing)
                      : Program::buildDevice(Request, symbolsOf(Library),
                                             B.Diagnostics, B.Missing);
  if (P)
    B.Code = std::move(*P);
  else
    B.HostFailure = llvm::toString(P.takeError());
  return B;
}

MaybeStop take(Built B, SimCode &Into, bool IsSource, std::string &Messages) {
  if (!B.HostFailure.empty())
    return hostFailed(B.HostFailure);
  Into.Kernels = std::move(B.Code);
  if (Into.Kernels)
    return std::nullopt;
  // Host code alone.
  if (!Into.Library.empty() && !B.Missing && B.Diagnostics.empty())
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
  CompileFile Compile;
  if (std::string P = readFields(Object, Path, "", Compile); !P.empty())
    return hostFailed(P);
  CompileRequest &Request = Compile.Request;
  Request.Headers = Options.Headers;
  Into.Resources = Compile.Resources;
  bool HasHost = Compile.Host.has_value();
  if (HasHost) {
    std::string Error;
    Into.Host = HostProcess::start(Options.Host, *Compile.Host, Folder, Error);
    if (!Into.Host)
      return hostFailed(Error);
    Into.Source.Library = Folder + "/" + Compile.Host->Source;
  }

  bool Two = J.SourceDigest != J.CandidateDigest;
  if (HasHost && Two)
    Into.Candidate.Library = Folder + "/" + Compile.Host->Candidate;
  Built Other;
  std::thread Second;
  auto BuildOther = [&] {
    Other = build(Request, Folder + "/" + J.CandidateLibrary,
                  Into.Candidate.Library);
  };
  if (Two && Options.Jobs > 1)
    Second = std::thread(BuildOther);
  CompileRequest OfSource = Request;
  OfSource.Lenient = true;
  MaybeStop S =
      take(build(OfSource, Folder + "/" + J.SourceLibrary, Into.Source.Library),
           Into.Source, !Options.CountersOnly, Messages);
  if (Second.joinable())
    Second.join();
  else if (!S && Two)
    BuildOther();
  if (S || !Two)
    return S;
  // What the source may miss the candidate may, too.
  if (!Other.Code && Other.HostFailure.empty() && Into.Source.Kernels &&
      Into.Source.Kernels->isPartial()) {
    Request.Lenient = true;
    Request.MayLack = Into.Source.Kernels->lacking();
    Other = {};
    BuildOther();
  }
  return take(std::move(Other), Into.Candidate, false, Messages);
}

/// False: \p File is not there yet.
static bool takeFrom(const std::string &File, SimCode &Of) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return false;
  }
  Of.Resources = parseResources(*Text);
  return true;
}

bool sim::knowsResources(CompiledPair &Of, Clock &Time) {
  Of.Known = Of.Known || !Of.Resources ||
             (takeFrom(Of.Resources->Source, Of.Source) &&
              takeFrom(Of.Resources->Candidate, Of.Candidate)) ||
             Time.millisecondsSince(Of.Asked) >= Of.Resources->WaitMs;
  return Of.Known;
}
