//===- Doctor.cpp - stark-tool doctor ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/Doctor.h"
#include "Flags.h"
#include "stark/Support/Error.h"
#include "llvm/Support/FormatAdapters.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;
using tool::Flag;
namespace cl = llvm::cl;

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
static Flag<bool> Json(Command, "json", cl::desc("Print JSON"));
static Flag<std::string> Store(Command, "store", cl::value_desc("dir"),
                               cl::desc("A store whose entries are looked at"));
static Flag<std::string>
    ModelsFile(Command, "models", cl::value_desc("file"),
               cl::desc("More providers, whose keys and servers are looked "
                        "for"));
static Flag<std::string> CudaPath(Command, "cuda-path", cl::value_desc("dir"),
                                  cl::desc("CUDA toolkit (default: found)"));

static void printJson(const std::vector<Diagnosis> &Findings, bool Usable) {
  json Rows = json::array();
  for (const Diagnosis &F : Findings) {
    json Row = {
        {"what", F.What}, {"state", stateName(F.Is).str()}, {"found", F.Found}};
    if (!F.Advice.empty())
      Row["advice"] = F.Advice;
    Rows.push_back(std::move(Row));
  }
  json All = {{"version", 1}, {"usable", Usable}, {"findings", Rows}};
  llvm::outs() << All.dump(2, ' ', false, json::error_handler_t::replace)
               << "\n";
}

static void printText(const std::vector<Diagnosis> &Findings) {
  for (const Diagnosis &F : Findings) {
    llvm::outs() << llvm::left_justify(stateName(F.Is), 8)
                 << llvm::left_justify(F.What, 15) << F.Found << "\n";
    if (!F.Advice.empty())
      llvm::outs() << llvm::left_justify("", 23) << F.Advice << "\n";
  }
}

static llvm::Error run(const std::vector<std::string> &) {
  llvm::Expected<std::vector<Diagnosis>> Findings =
      examine({CudaPath, Store, ModelsFile});
  if (!Findings)
    return Findings.takeError();
  std::string Lacking = lacking(*Findings);
  if (Json)
    printJson(*Findings, Lacking.empty());
  else
    printText(*Findings);
  if (!Lacking.empty())
    return failed("needed and missing: " + Lacking);
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
