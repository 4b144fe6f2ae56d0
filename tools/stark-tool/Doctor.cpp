//===- Doctor.cpp - stark-tool doctor ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/Doctor.h"
#include "Flags.h"
#include "stark/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
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

static llvm::Error run(const std::vector<std::string> &) {
  llvm::Expected<std::vector<Diagnosis>> Findings =
      examine({CudaPath, Store, ModelsFile});
  if (!Findings)
    return Findings.takeError();
  std::string Lacking = lacking(*Findings);
  if (Json)
    llvm::outs() << diagnosesJson(*Findings) << "\n";
  else
    printDiagnoses(*Findings, llvm::outs());
  if (!Lacking.empty())
    return failed("needed and missing: " + Lacking);
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
