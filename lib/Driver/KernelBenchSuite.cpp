//===- KernelBenchSuite.cpp - KernelBench's tasks as a suite --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What was imported is in FOLDER/NAME, with import.json beside it, which is
/// written last:
///
///     { "version": 1, "digest": SHA-256 of the task, "torch": "2.11.0",
///       "entry": "Softmax", "bytes": 12884901888 }
///
//===----------------------------------------------------------------------===//

#include "stark/Driver/KernelBenchSuite.h"
#include "stark/Bench/KernelBench.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Torch/Import.h"
#include "llvm/Support/FileSystem.h"
#include <nlohmann/json.hpp>

using namespace stark;
using llvm::sys::fs::exists;
using nlohmann::json;

namespace {
struct ImportRecord {
  std::string Digest, Torch, Entry;
  uint64_t Bytes = 0;
  bool AgreeWithSource = false;
};

template <class IO> void fields(IO &F, ImportRecord &R) {
  F.format("version", 1);
  F.required("digest", R.Digest);
  F.required("torch", R.Torch);
  F.required("entry", R.Entry);
  F.required("bytes", R.Bytes);
  F.sparse("agree_with_source", R.AgreeWithSource, false);
}

class Importer {
public:
  Importer(const KernelBenchRequest &Request, SuiteObserver &Observer)
      : Request(Request), Observer(Observer) {}
  llvm::Expected<SuiteTask> task(const KernelBenchTask &Of);

private:
  llvm::Expected<std::string> torchNow();
  llvm::Expected<bool> isCurrent(const ImportRecord &R,
                                 const std::string &Folder,
                                 llvm::StringRef Digest);
  llvm::Expected<ImportRecord> import(const KernelBenchTask &Of,
                                      const std::string &Folder,
                                      llvm::StringRef Digest);

  const KernelBenchRequest &Request;
  SuiteObserver &Observer;
  std::optional<std::string> Torch; ///< that Python has; unset: not asked yet
};
} // namespace

static std::string recordFile(const std::string &Folder) {
  return Folder + "/import.json";
}

/// What cannot be read was not imported.
static ImportRecord readRecord(const std::string &Folder) {
  ImportRecord R;
  llvm::Expected<std::string> Text = readFile(recordFile(Folder));
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return {};
  }
  json Object = json::parse(*Text, nullptr, false);
  bool Good = !Object.is_discarded() &&
              readKnownFields(Object, "import.json", "", R).empty();
  return Good ? R : ImportRecord();
}

llvm::Expected<bool> Importer::isCurrent(const ImportRecord &R,
                                         const std::string &Folder,
                                         llvm::StringRef Digest) {
  std::string Stem = Folder + "/" + R.Entry;
  if (R.Digest != Digest || R.AgreeWithSource != Request.AgreeWithSource ||
      !exists(Stem + ".cpp") || !exists(Stem + ".workload.json"))
    return false;
  llvm::Expected<std::string> Now = torchNow();
  if (!Now)
    return Now.takeError();
  return Now->empty() || *Now == R.Torch;
}

/// Empty where Python has no torch, or cannot be run.
llvm::Expected<std::string> Importer::torchNow() {
  if (Torch)
    return *Torch;
  llvm::Expected<std::string> Found = torch::torchVersion(Request.Python);
  Torch = Found ? *Found : "";
  if (Found)
    return *Torch;
  llvm::Error E = Found.takeError();
  if (errorKind(E) == ErrorKind::Interrupted)
    return E;
  llvm::consumeError(std::move(E));
  return *Torch;
}

llvm::Expected<ImportRecord> Importer::import(const KernelBenchTask &Of,
                                              const std::string &Folder,
                                              llvm::StringRef Digest) {
  // Then no other task comes in, either.
  llvm::Expected<std::string> Now = torchNow();
  if (!Now)
    return Now.takeError();
  if (Now->empty())
    return failed("'" + Request.Python +
                  "' has no torch; --python names one that has");
  torch::ImportRequest Import;
  Import.File = Of.File;
  Import.Folder = Folder;
  Import.Python = Request.Python;
  Import.AgreeWithSource = Request.AgreeWithSource;
  llvm::Expected<torch::Imported> Done = torch::importModule(Import);
  if (!Done)
    return Done.takeError();
  Observer.onNote(Of.Name,
                  "imported, " + std::to_string(Done->Nodes) + " operators");
  for (const std::string &Note : Done->Notes)
    Observer.onNote(Of.Name, Note);
  ImportRecord R = {Digest.str(), Done->TorchVersion, Done->Entry, Done->Bytes,
                    Request.AgreeWithSource};
  if (llvm::Error E = writeFileAtomically(
          recordFile(Folder), dumpJson(writeFields<json>(R)) + "\n"))
    return E;
  return R;
}

llvm::Expected<SuiteTask> Importer::task(const KernelBenchTask &Of) {
  llvm::Expected<std::string> Text = readFile(Of.File);
  if (!Text)
    return Text.takeError();
  std::string Digest = sha256(*Text), Folder = Request.Folder + "/" + Of.Name;
  ImportRecord R = readRecord(Folder);
  llvm::Expected<bool> Current = isCurrent(R, Folder, Digest);
  if (!Current)
    return Current.takeError();
  if (!*Current) {
    llvm::Expected<ImportRecord> New = import(Of, Folder, Digest);
    if (!New)
      return New.takeError();
    R = std::move(*New);
  }
  SuiteTask T;
  T.Name = Of.Name;
  T.Group = Of.Group;
  T.Source = Folder + "/" + R.Entry + ".cpp";
  T.Workload = Folder + "/" + R.Entry + ".workload.json";
  T.Digest = Digest;
  T.Bytes = R.Bytes;
  return T;
}

llvm::Expected<KernelBenchSuite>
stark::importKernelBench(const KernelBenchRequest &Request,
                         SuiteObserver &Observer) {
  llvm::Expected<std::vector<KernelBenchTask>> Found =
      findKernelBenchTasks(Request.Clone, Request.Subset);
  if (!Found)
    return Found.takeError();
  KernelBenchSuite S;
  S.Tasks.Name = "KernelBench, " + Request.Subset;
  Importer Import(Request, Observer);
  for (const KernelBenchTask &Of : *Found) {
    llvm::Expected<SuiteTask> T = Import.task(Of);
    if (T) {
      S.Tasks.Tasks.push_back(std::move(*T));
      continue;
    }
    llvm::Error E = withContext(T.takeError(), Of.Name);
    // What is wrong with one module is wrong with that one alone.
    if (errorKind(E) != ErrorKind::Usage)
      return E;
    S.Missing.push_back({llvm::toString(std::move(E)), /*Suspended=*/false});
  }
  return S;
}
