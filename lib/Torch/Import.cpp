//===- Import.cpp - From a PyTorch module to files ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request -> exporter in a child, in a folder of its own -> graph.json read
/// as anybody's -> source and workload -> renamed into place, weights first
///
//===----------------------------------------------------------------------===//

#include "stark/Torch/Import.h"
#include "Programs.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Torch/Source.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace stark::torch;
namespace fs = llvm::sys::fs;

static std::string exporterFolder(const ImportRequest &Request) {
  return Request.Exporter.empty() ? programFolderOf("exporter")
                                  : Request.Exporter;
}

static ProcessSpec exporterCall(const ImportRequest &Request,
                                llvm::StringRef Out) {
  ProcessSpec Spec;
  // The child works in another folder than this one.
  Spec.Program = llvm::StringRef(Request.Python).contains('/')
                     ? absolutePath(Request.Python)
                     : Request.Python;
  Spec.Arguments = {"-B",
                    absolutePath(exporterFolder(Request)),
                    absolutePath(Request.File),
                    "--out",
                    Out.str(),
                    "--module",
                    Request.Module,
                    "--inputs",
                    Request.Inputs,
                    "--init",
                    Request.Init,
                    "--memory",
                    std::to_string(Request.MemoryGiB)};
  if (Request.Evaluation)
    Spec.Arguments.push_back("--eval");
  if (Request.KeepDropout)
    Spec.Arguments.push_back("--dropout=on");
  if (!Request.WriteWeights)
    Spec.Arguments.push_back("--no-weights");
  Spec.WorkingFolder = Out.str();
  Spec.TimeoutMs = Request.TimeoutSeconds * 1000;
  Spec.OutputLimit = 1 << 16;
  return Spec;
}

/// What a program said last, when it said nothing in any other way.
static std::string lastLine(llvm::StringRef Text) {
  return Text.rtrim().rsplit('\n').second.empty()
             ? Text.rtrim().take_back(300).str()
             : Text.rtrim().rsplit('\n').second.take_back(300).str();
}

/// One line, whatever the module's text had in it.
static std::string oneLine(llvm::StringRef Text) {
  std::string Line;
  for (char C : Text.trim().take_front(1000))
    Line += (unsigned char)C < 0x20 || C == 0x7f ? ' ' : C;
  return Line;
}

/// Runs the exporter; what is wrong with the module is an error of one line.
static llvm::Error exportGraph(const ImportRequest &Request,
                               llvm::StringRef Out) {
  std::string Base = llvm::sys::path::filename(Request.File).str();
  llvm::Expected<ProcessResult> Ran = runProcess(exporterCall(Request, Out));
  if (!Ran)
    return Ran.takeError();
  if (Ran->TimedOut)
    return usageError(Base + ": was not exported within " +
                      std::to_string(Request.TimeoutSeconds) +
                      " s (--timeout)");
  if (Ran->ok())
    return llvm::Error::success();
  llvm::Expected<std::string> Problem = readFile(Out.str() + "/problem.txt");
  if (Problem)
    return usageError(oneLine(*Problem));
  llvm::consumeError(Problem.takeError());
  std::string How =
      Ran->Signal ? "was ended by signal " + std::to_string(Ran->Signal)
                  : "ended with exit code " + std::to_string(Ran->ExitCode);
  std::string Last = oneLine(lastLine(Ran->Err));
  return usageError(Base + ": " + Request.Python + " " + How +
                    (Last.empty() ? "" : ": " + Last));
}

/// The weights are all there, and nothing else is in their file.
static llvm::Error checkWeights(const Graph &G, llvm::StringRef File) {
  uint64_t Size = 0;
  if (std::error_code Code = fs::file_size(File, Size))
    return failed("'" + File + "': " + Code.message());
  uint64_t End = 0;
  for (const Input &I : G.Inputs) {
    if (I.Kind == InputKind::Input)
      continue;
    uint64_t Bytes = I.Type.elements() * job::dtypeBytes(I.Type.Type);
    if (I.Offset % 64 || I.Offset < End || I.Offset > Size ||
        Bytes > Size - I.Offset)
      return failed("graph.json: '" + I.Name + "' has " +
                    std::to_string(Bytes) + " bytes at " +
                    std::to_string(I.Offset) +
                    " of the weights, wanted them in order in " +
                    std::to_string(Size) + " bytes");
    End = I.Offset + Bytes;
  }
  return llvm::Error::success();
}

static llvm::Error move(const std::string &From, const std::string &To) {
  if (std::error_code Code = fs::rename(From, To))
    return failed("cannot write '" + To + "': " + Code.message());
  return llvm::Error::success();
}

/// \p Out holds what the exporter wrote, \p Module is the file's text.
static llvm::Error writeFiles(const Graph &G, const Imported &To,
                              const ImportRequest &Request,
                              const std::string &Module,
                              const std::string &Out) {
  Names N = chooseNames(G, To.Entry);
  if (!To.Weights.empty()) {
    if (llvm::Error E = checkWeights(G, Out + "/weights.bin"))
      return E;
    if (llvm::Error E = move(Out + "/weights.bin", To.Weights))
      return E;
  }
  if (llvm::Error E = writeFileAtomically(To.Source, writeSource(G, N)))
    return E;
  if (llvm::Error E = writeFileAtomically(To.Module, Module))
    return E;
  return writeFileAtomically(
      To.Workload, writeWorkload(G, N, llvm::sys::path::filename(To.Weights),
                                 Request.AgreeWithSource));
}

static uint64_t bytesOf(const Graph &G) {
  uint64_t Bytes = 0;
  for (unsigned I : parametersOf(G))
    Bytes +=
        G.Inputs[I].Type.elements() * job::dtypeBytes(G.Inputs[I].Type.Type);
  for (const Output &O : G.Outputs)
    Bytes += O.Type.elements() * job::dtypeBytes(O.Type.Type);
  return Bytes;
}

llvm::Expected<std::string> torch::torchVersion(const std::string &Python) {
  ProcessSpec Spec;
  Spec.Program = Python;
  Spec.Arguments = {"-B", programFolderOf("exporter") + "/stark_version.py"};
  Spec.TimeoutMs = 60000;
  llvm::Expected<ProcessResult> Ran = runProcess(Spec);
  if (!Ran)
    return Ran.takeError();
  return Ran->ok() ? oneLine(Ran->Out) : std::string();
}

llvm::Expected<Imported> torch::importModule(const ImportRequest &Request) {
  if (!fs::exists(Request.File))
    return usageError("'" + Request.File + "' does not exist");
  Imported To;
  To.Entry = Request.Name.empty()
                 ? entryNameFor(llvm::sys::path::filename(Request.File))
                 : Request.Name;
  if (!isEntryName(To.Entry))
    return usageError("--name: got '" + To.Entry +
                      "', wanted an identifier of C++");
  // Before it runs.
  llvm::Expected<std::string> Module = readFile(Request.File);
  if (!Module)
    return Module.takeError();
  std::string Folder = absolutePath(Request.Folder);
  if (llvm::Error E = createFolders(Folder))
    return E;
  llvm::Expected<TemporaryFolder> Out =
      TemporaryFolder::create(Folder + "/." + To.Entry);
  if (!Out)
    return Out.takeError();
  if (llvm::Error E = exportGraph(Request, Out->path()))
    return E;
  std::string OutPath = Out->path().str();
  llvm::Expected<std::string> Text = readFile(OutPath + "/graph.json");
  if (!Text)
    return Text.takeError();
  llvm::Expected<Graph> G = parseGraph(*Text, "graph.json");
  if (!G)
    return G.takeError();
  To.Source = Folder + "/" + To.Entry + ".cpp";
  To.Workload = Folder + "/" + To.Entry + ".workload.json";
  To.Module = Folder + "/" + To.Entry + ".module.py";
  bool AnyWeights = false;
  for (const Input &I : G->Inputs)
    AnyWeights |= I.Kind != InputKind::Input;
  if (G->HasWeights && AnyWeights)
    To.Weights = Folder + "/" + To.Entry + ".weights.bin";
  To.Nodes = G->Nodes.size();
  To.Notes = G->Notes;
  To.TorchVersion = G->TorchVersion;
  To.Bytes = bytesOf(*G);
  if (llvm::Error E = writeFiles(*G, To, Request, *Module, OutPath))
    return E;
  return To;
}
