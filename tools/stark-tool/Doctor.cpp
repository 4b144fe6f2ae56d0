//===- Doctor.cpp - stark-tool doctor ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRun.h"
#include "Verbs.h"
#include "stark/Cache/KernelCache.h"
#include "stark/LLM/Provider.h"
#include "stark/Support/Error.h"
#include "stark/Support/Process.h"
#include "clang/Basic/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatAdapters.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace stark;
namespace cl = llvm::cl;
namespace fs = llvm::sys::fs;

static cl::SubCommand Command(
    "doctor",
    "Say what was found here, what is missing, and what to do about it\n\n"
    "  stark-tool doctor [--json] [--store DIR] [--cuda-path DIR] [--models "
    "FILE]\n\n"
    "A line each: 'ok' was found; 'missing' is needed to search on this "
    "machine;\n"
    "'absent' is not there and not needed: the line says what goes without "
    "it.\n"
    "Starts the compiler and the worker to ask for their versions, and asks "
    "the\n"
    "ports of this machine where model servers usually are; changes nothing "
    "but\n"
    "for making the user's cache folder. Values of keys are never read out or\n"
    "sent, and nothing leaves this machine.\n\n"
    "Example:\n"
    "  stark-tool doctor --json\n\n"
    "Exit codes: 0 nothing needed is missing, 1 something is, 2 usage.");
static cl::opt<bool> Json("json", cl::desc("Print JSON"), cl::sub(Command),
                          cl::cat(tool::category()));
static cl::opt<std::string>
    Store("store", cl::value_desc("dir"),
          cl::desc("A store whose entries are looked at"), cl::sub(Command),
          cl::cat(tool::category()));
static cl::opt<std::string> ModelsFile(
    "models", cl::value_desc("file"),
    cl::desc("More providers, whose keys and servers are looked for"),
    cl::sub(Command), cl::cat(tool::category()));
static cl::opt<std::string> CudaPath("cuda-path", cl::value_desc("dir"),
                                     cl::desc("CUDA toolkit (default: found)"),
                                     cl::sub(Command),
                                     cl::cat(tool::category()));

namespace {
enum class State { Ok, Missing, Absent };

struct Finding {
  const char *What;
  State Is;
  std::string Found;  ///< what, where
  std::string Advice; ///< what to do; empty when ok
};
} // namespace

static const char *nameOf(State S) {
  return S == State::Ok ? "ok" : S == State::Missing ? "missing" : "absent";
}

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

static Finding compilerHeaders() {
  std::string Where = clangResourceFolder();
  if (fs::exists(Where + "/include/__clang_cuda_runtime_wrapper.h"))
    return {"clang", State::Ok,
            CLANG_VERSION_STRING " with headers in " + Where, ""};
  return {"clang", State::Missing,
          CLANG_VERSION_STRING " without its headers in " + Where,
          "install Clang's headers, on Debian: apt-get install "
          "libclang-common-" +
              std::to_string(CLANG_VERSION_MAJOR) + "-dev"};
}

static void toolkit(std::vector<Finding> &Findings) {
  std::optional<Toolkit> Found = findToolkit(CudaPath);
  std::string Places;
  for (const std::string &Place : toolkitPlaces())
    Places += (Places.empty() ? "" : ", ") + Place;
  if (!Found) {
    Findings.push_back(
        {"toolkit", State::Missing,
         CudaPath.empty() ? "no CUDA toolkit in " + Places
                          : "no CUDA toolkit in " + CudaPath,
         "install the CUDA toolkit (12.0 or newer), or set CUDA_PATH; kernels "
         "can be parsed without it, but not judged"});
    return;
  }
  Findings.push_back({"toolkit", State::Ok,
                      "CUDA " + Found->version() + " in " + Found->Root, ""});
  std::string Nvcc =
      Found->Nvcc.empty() ? "" : versionLine(Found->Nvcc, "release");
  if (Nvcc.empty())
    Findings.push_back({"nvcc", State::Missing,
                        Found->Nvcc.empty() ? "no nvcc in " + Found->Root
                                            : Found->Nvcc + " does not run",
                        "install the toolkit's compiler (on Debian: "
                        "cuda-nvcc of NVIDIA's packages); candidates are "
                        "built with it"});
  else
    Findings.push_back({"nvcc", State::Ok, Nvcc, ""});
}

static Finding hostCompiler() {
  std::string Program = findProgram("g++");
  if (Program.empty())
    Program = findProgram("c++");
  if (!Program.empty())
    return {"host compiler", State::Ok, Program, ""};
  return {"host compiler", State::Missing, "no g++ on PATH",
          "install one that nvcc works with, on Debian: apt-get install g++"};
}

static void device(std::vector<Finding> &Findings) {
  EvaluatorOptions Options;
  std::string Worker = workerPath(Options);
  if (!fs::can_execute(Worker)) {
    Findings.push_back({"worker", State::Absent, "no " + Worker,
                        "build Stark on a machine with the CUDA toolkit; "
                        "without it candidates are judged elsewhere only "
                        "(--evaluator spool:DIR)"});
    return;
  }
  Findings.push_back({"worker", State::Ok, Worker, ""});
  llvm::Expected<DeviceDescription> Found = probeDevice(Options);
  if (Found) {
    Findings.push_back({"GPU", State::Ok,
                        Found->Name + ", " + Found->Arch + ", " +
                            std::to_string(Found->MemoryMiB) + " MiB",
                        ""});
    return;
  }
  Findings.push_back({"GPU", State::Absent, llvm::toString(Found.takeError()),
                      "judge on a machine that has one: --evaluator spool:DIR "
                      "here, stark-worker --spool DIR there"});
}

static Finding simulator() {
  std::string Program = programFolder() + "/stark-sim";
  if (fs::can_execute(Program))
    return {"simulator", State::Ok, Program + " (--evaluator sim)", ""};
  return {"simulator", State::Absent, "no " + Program,
          "build all of Stark, or install it again"};
}

static Finding prompts() {
  std::string Folder = tool::promptsFolder();
  llvm::Expected<PromptSet> Found = loadPrompts(Folder);
  if (Found)
    return {"prompts", State::Ok, Folder, ""};
  return {"prompts", State::Missing, llvm::toString(Found.takeError()),
          "install Stark again, or give --prompts"};
}

static Finding userCache() {
  std::string Folder = userCacheFolder();
  if (Folder.empty())
    return {"user's cache", State::Absent,
            "none of STARK_CACHE_DIR, XDG_CACHE_HOME, HOME is set",
            "set STARK_CACHE_DIR; without it only stores keep winners"};
  if (llvm::Error E = checkWritable(Folder))
    return {"user's cache", State::Missing, llvm::toString(std::move(E)),
            "make it writable, or set STARK_CACHE_DIR to another folder"};
  return {"user's cache", State::Ok, Folder, ""};
}

static Finding store() {
  llvm::Expected<StoreCheck> Found = checkStore(Store);
  if (!Found)
    return {"store", State::Missing, llvm::toString(Found.takeError()),
            "give a folder that `stark-tool build --store` filled"};
  if (!Found->Problems.empty())
    return {"store", State::Missing, Found->Problems.front(),
            "restore the entry, or remove it: the source is built as it is "
            "then"};
  return {"store", State::Ok,
          Store + ": " + std::to_string(Found->Entries) + " entries", ""};
}

static bool isSet(const std::string &Name) {
  const char *Value = std::getenv(Name.c_str());
  return Value && *Value;
}

/// Names only, of every provider of the table.
static Finding keys(const ModelTable &Models) {
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
    return {"provider keys", State::Ok,
            Set + " set" + (Unset.empty() ? "" : "; not " + Unset), ""};
  return {"provider keys", State::Absent, "none set of " + Unset,
          "none is needed for --provider rules, exchange:DIR and replay:RUN, "
          "and for servers of one's own"};
}

/// Long enough for a server that is busy, short enough for all ports.
static constexpr uint64_t PortTimeoutMs = 1000;

static void localServers(const ModelTable &Models,
                         std::vector<Finding> &Findings) {
  std::string Silent;
  bool Any = false;
  for (const LocalServer &S : findLocalServers(Models, PortTimeoutMs)) {
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
      Findings.push_back({"local server", State::Absent,
                          At + ": something else answers there",
                          "name the server's own address: --base-url"});
      continue;
    }
    Any = true;
    Findings.push_back({"local server", State::Ok, At, ""});
  }
  if (!Any && !Silent.empty())
    Findings.push_back({"local server", State::Absent, "no " + Silent,
                        "none is needed; --base-url names another address"});
}

static void print(const std::vector<Finding> &Findings, bool Usable) {
  if (Json) {
    llvm::json::Array Rows;
    for (const Finding &F : Findings) {
      llvm::json::Object Row{{"what", F.What},
                             {"state", nameOf(F.Is)},
                             {"found", llvm::json::fixUTF8(F.Found)}};
      if (!F.Advice.empty())
        Row["advice"] = F.Advice;
      Rows.push_back(std::move(Row));
    }
    llvm::outs() << llvm::formatv(
        "{0:2}\n",
        llvm::json::Value(llvm::json::Object{{"version", 1},
                                             {"usable", Usable},
                                             {"findings", std::move(Rows)}}));
    return;
  }
  for (const Finding &F : Findings) {
    llvm::outs() << llvm::left_justify(nameOf(F.Is), 8)
                 << llvm::left_justify(F.What, 15) << F.Found << "\n";
    if (!F.Advice.empty())
      llvm::outs() << llvm::left_justify("", 23) << F.Advice << "\n";
  }
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  std::vector<Finding> Findings{compilerHeaders()};
  toolkit(Findings);
  Findings.push_back(hostCompiler());
  device(Findings);
  Findings.push_back(simulator());
  Findings.push_back(prompts());
  Findings.push_back(userCache());
  if (!Store.empty())
    Findings.push_back(store());
  llvm::Expected<ModelTable> Models = ModelTable::load(ModelsFile);
  if (!Models)
    return Models.takeError();
  Findings.push_back(keys(*Models));
  localServers(*Models, Findings);
  std::string Lacking;
  for (const Finding &F : Findings)
    if (F.Is == State::Missing)
      Lacking += (Lacking.empty() ? "" : ", ") + std::string(F.What);
  print(Findings, Lacking.empty());
  if (!Lacking.empty())
    return failed("needed and missing: " + Lacking);
  return llvm::Error::success();
}

tool::Verb tool::doctorVerb() { return {Command, run}; }
