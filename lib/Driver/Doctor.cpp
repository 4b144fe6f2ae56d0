//===- Doctor.cpp - What a search needs, and what is here ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/Doctor.h"
#include "stark/Cache/KernelCache.h"
#include "stark/Driver/SearchRequest.h"
#include "stark/LLM/Provider.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "clang/Basic/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace stark;
namespace fs = llvm::sys::fs;

/// The first line of what `Program --version` says that has \p Word in it.
static std::string versionLine(const std::string &Program,
                               llvm::StringRef Word) {
  ProcessSpec Spec;
  Spec.Program = Program;
  Spec.Arguments = {"--version"};
  Spec.TimeoutMs = 20000;
  llvm::Expected<ProcessResult> Result = runProcess(Spec);
  if (!Result) {
    llvm::consumeError(Result.takeError());
    return "";
  }
  if (!Result->ok())
    return "";
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(Result->Out).split(Lines, '\n');
  for (llvm::StringRef Line : Lines)
    if (Line.contains(Word))
      return Line.trim().str();
  return "";
}

static Diagnosis compilerHeaders() {
  std::string Where = clangResourceFolder();
  if (fs::exists(Where + "/include/__clang_cuda_runtime_wrapper.h"))
    return {"clang", Diagnosis::State::Ok,
            CLANG_VERSION_STRING " with headers in " + Where, ""};
  return {"clang", Diagnosis::State::Missing,
          CLANG_VERSION_STRING " without its headers in " + Where,
          "install Clang's headers, on Debian: apt-get install "
          "libclang-common-" +
              std::to_string(CLANG_VERSION_MAJOR) + "-dev"};
}

static void toolkit(const std::string &CudaPath, std::vector<Diagnosis> &All) {
  std::optional<Toolkit> Found = findToolkit(CudaPath);
  std::string Places;
  for (const std::string &Place : toolkitPlaces())
    Places += (Places.empty() ? "" : ", ") + Place;
  if (!Found) {
    All.push_back(
        {"toolkit", Diagnosis::State::Missing,
         CudaPath.empty() ? "no CUDA toolkit in " + Places
                          : "no CUDA toolkit in " + CudaPath,
         "install the CUDA toolkit (12.0 or newer), or set CUDA_PATH; kernels "
         "can be parsed without it, but not judged"});
    return;
  }
  All.push_back({"toolkit", Diagnosis::State::Ok,
                 "CUDA " + Found->version() + " in " + Found->Root, ""});
  std::string Nvcc =
      Found->Nvcc.empty() ? "" : versionLine(Found->Nvcc, "release");
  if (Nvcc.empty())
    All.push_back({"nvcc", Diagnosis::State::Missing,
                   Found->Nvcc.empty() ? "no nvcc in " + Found->Root
                                       : Found->Nvcc + " does not run",
                   "install the toolkit's compiler (on Debian: "
                   "cuda-nvcc of NVIDIA's packages); candidates are "
                   "built with it"});
  else
    All.push_back({"nvcc", Diagnosis::State::Ok, Nvcc, ""});
}

static Diagnosis hostCompiler() {
  std::string Program = findProgram("g++");
  if (Program.empty())
    Program = findProgram("c++");
  if (!Program.empty())
    return {"host compiler", Diagnosis::State::Ok, Program, ""};
  return {"host compiler", Diagnosis::State::Missing, "no g++ on PATH",
          "install one that nvcc works with, on Debian: apt-get install g++"};
}

static void device(std::vector<Diagnosis> &All) {
  EvaluatorOptions Options;
  std::string Worker = workerPath(Options);
  if (!fs::can_execute(Worker)) {
    All.push_back({"worker", Diagnosis::State::Absent, "no " + Worker,
                   "build Stark on a machine with the CUDA toolkit; "
                   "without it candidates are judged elsewhere only "
                   "(--evaluator spool:DIR)"});
    return;
  }
  All.push_back({"worker", Diagnosis::State::Ok, Worker, ""});
  llvm::Expected<gpu::DeviceFacts> Found = probeDevice(Options);
  if (Found) {
    All.push_back({"GPU", Diagnosis::State::Ok,
                   Found->Name + ", " + Found->Arch + ", " +
                       std::to_string(Found->MemoryMiB) + " MiB",
                   ""});
    return;
  }
  All.push_back({"GPU", Diagnosis::State::Absent,
                 llvm::toString(Found.takeError()),
                 "judge on a machine that has one: --evaluator spool:DIR "
                 "here, stark-worker --spool DIR there"});
}

static Diagnosis simulator() {
  std::string Program = programFolder() + "/stark-sim";
  if (fs::can_execute(Program))
    return {"simulator", Diagnosis::State::Ok, Program + " (--evaluator sim)",
            ""};
  return {"simulator", Diagnosis::State::Absent, "no " + Program,
          "build all of Stark, or install it again"};
}

static Diagnosis prompts() {
  std::string Folder = promptsFolder();
  llvm::Expected<PromptSet> Found = loadPrompts(Folder);
  if (Found)
    return {"prompts", Diagnosis::State::Ok, Folder, ""};
  return {"prompts", Diagnosis::State::Missing,
          llvm::toString(Found.takeError()),
          "install Stark again, or give --prompts"};
}

static Diagnosis userCache() {
  std::string Folder = userCacheFolder();
  if (Folder.empty())
    return {"user's cache", Diagnosis::State::Absent,
            "none of STARK_CACHE_DIR, XDG_CACHE_HOME, HOME is set",
            "set STARK_CACHE_DIR; without it only stores keep winners"};
  if (llvm::Error E = checkWritable(Folder))
    return {"user's cache", Diagnosis::State::Missing,
            llvm::toString(std::move(E)),
            "make it writable, or set STARK_CACHE_DIR to another folder"};
  return {"user's cache", Diagnosis::State::Ok, Folder, ""};
}

static Diagnosis store(const std::string &Store) {
  llvm::Expected<StoreCheck> Found = checkStore(Store);
  if (!Found)
    return {"store", Diagnosis::State::Missing,
            llvm::toString(Found.takeError()),
            "give a folder that `stark-tool build --store` filled"};
  if (!Found->Problems.empty())
    return {"store", Diagnosis::State::Missing, Found->Problems.front(),
            "restore the entry, or remove it: the source is built as it is "
            "then"};
  return {"store", Diagnosis::State::Ok,
          Store + ": " + std::to_string(Found->Entries) + " entries", ""};
}

static bool isSet(const std::string &Name) {
  const char *Value = std::getenv(Name.c_str());
  return Value && *Value;
}

/// Names only, of every provider of the table.
static Diagnosis keys(const ModelTable &Models) {
  std::string Set, Unset;
  for (const ProviderFacts *P : Models.providers()) {
    const std::string &Name = P->KeyVariable;
    auto Say = [&](std::string &List, const std::string &Text) {
      // Providers may share one.
      if (!llvm::is_contained(llvm::split(List, ", "), Text))
        List += (List.empty() ? "" : ", ") + Text;
    };
    if (Name.empty())
      continue;
    if (isSet(Name + "_FILE"))
      Say(Set, Name + "_FILE");
    else if (isSet(Name))
      Say(Set, Name);
    else if (!P->KeyOptional)
      Say(Unset, Name);
  }
  if (!Set.empty())
    return {"provider keys", Diagnosis::State::Ok,
            Set + " set" + (Unset.empty() ? "" : "; not " + Unset), ""};
  return {"provider keys", Diagnosis::State::Absent, "none set of " + Unset,
          "none is needed for --provider rules, exchange:DIR and replay:RUN, "
          "and for servers of one's own"};
}

/// Long enough for a server that is busy, short enough for all ports.
static constexpr uint64_t PortTimeoutMs = 1000;

static void localServers(const ModelTable &Models,
                         std::vector<Diagnosis> &All) {
  std::string Silent;
  bool Any = false;
  for (const LocalServer &S :
       findLocalServers(Models, PortTimeoutMs, machineClock())) {
    std::string At = S.Provider + " at " + S.Url;
    switch (S.State) {
    case LocalServer::Answer::Nobody:
      Silent += (Silent.empty() ? "" : ", ") + At;
      continue;
    case LocalServer::Answer::Models:
      At += S.Models.empty() ? ": no model is loaded"
                             : ": " + llvm::join(S.Models, ", ");
      break;
    case LocalServer::Answer::WantsKey:
      At += ": wants a key";
      break;
    case LocalServer::Answer::Loading:
      At += ": is loading its model";
      break;
    case LocalServer::Answer::Other:
      All.push_back({"local server", Diagnosis::State::Absent,
                     At + ": something else answers there",
                     "name the server's own address: --base-url"});
      continue;
    }
    Any = true;
    All.push_back({"local server", Diagnosis::State::Ok, At, ""});
  }
  if (!Any && !Silent.empty())
    All.push_back({"local server", Diagnosis::State::Absent, "no " + Silent,
                   "none is needed; --base-url names another address"});
}

llvm::Expected<std::vector<Diagnosis>>
stark::examine(const DoctorOptions &Options) {
  std::vector<Diagnosis> All{compilerHeaders()};
  toolkit(Options.CudaPath, All);
  All.push_back(hostCompiler());
  device(All);
  All.push_back(simulator());
  All.push_back(prompts());
  All.push_back(userCache());
  if (!Options.Store.empty())
    All.push_back(store(Options.Store));
  llvm::Expected<ModelTable> Models = ModelTable::load(Options.ModelsFile);
  if (!Models)
    return Models.takeError();
  All.push_back(keys(*Models));
  localServers(*Models, All);
  return All;
}

std::string stark::lacking(const std::vector<Diagnosis> &All) {
  std::string Names;
  for (const Diagnosis &F : All)
    if (F.Is == Diagnosis::State::Missing)
      Names += (Names.empty() ? "" : ", ") + F.What;
  return Names;
}
