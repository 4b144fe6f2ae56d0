//===- ExportTorch.cpp - stark-tool export-torch --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Report/Winner.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Torch/Export.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "export-torch",
    "Write a source of tensors as an operator of PyTorch\n\n"
    "  stark-tool export-torch RUN --workload FILE.workload.json -o DIR\n"
    "  stark-tool export-torch --source FILE.cu --workload FILE.workload.json "
    "-o DIR\n\n"
    "The way back from `stark-tool import`: the winner of RUN, or any "
    "candidate,\n"
    "as a folder that builds and stands alone: torch.ops.stark_NAME.NAME, a\n"
    "package with the original's constructor and state dict, builds for\n"
    "setuptools and CMake, verify.py against the original, and "
    "kernelbench.py,\n"
    "one file for KernelBench's harness. Forward only, for the workload's "
    "shapes.\n"
    "Flags after -- are the compiler's. docs/export.md describes the "
    "folder.\n\n"
    "Example:\n"
    "  stark-tool import mlp.py -o net\n"
    "  stark-tool export-torch --source net/mlp.cpp --workload "
    "net/mlp.workload.json -o mlp-torch\n"
    "  python3 mlp-torch/verify.py\n\n"
    "Exit codes: 0 done, 1 the run is damaged, or writing failed, 2 the input\n"
    "cannot be exported, or usage.");
static cl::opt<std::string> Run(cl::Positional, cl::desc("[RUN]"),
                                cl::sub(Command));
static Flag<std::string> Output(Command, "o", cl::value_desc("DIR"),
                                cl::Required, cl::desc("write the files here"));
static Flag<std::string> Source(Command, "source", cl::value_desc("FILE"),
                                cl::desc("export this, and no run's winner"));
static Flag<std::string>
    WorkloadFile(Command, "workload", cl::value_desc("FILE"), cl::Required,
                 cl::desc("the import's NAME.workload.json"));
static Flag<std::string>
    ModuleFile(Command, "module-file", cl::value_desc("FILE.py"),
               cl::desc("what was imported (default: NAME.module.py beside "
                        "the workload)"));
static Flag<std::string>
    Inputs(Command, "inputs", cl::value_desc("NAME"), cl::init("get_inputs"),
           cl::desc("as it was imported with (default: get_inputs)"));
static Flag<std::string>
    Init(Command, "init", cl::value_desc("NAME"), cl::init("get_init_inputs"),
         cl::desc("as it was imported with (default: get_init_inputs)"));
static Flag<std::string>
    Arch(Command, "arch", cl::value_desc("sm_NN"),
         cl::desc("GPU architecture of the source (default: the run's); one "
                  "with a letter is compiled for alone"));
static Flag<bool> Force(Command, "force",
                        cl::desc("write into a folder that is not empty"));

/// What is exported, from RUN.
static llvm::Error readWinner(torch::ExportRequest &Request) {
  llvm::Expected<RecordedRun> Recorded = readRun(Run);
  if (!Recorded)
    return Recorded.takeError();
  llvm::Expected<Winner> Won = winnerOf(*Recorded);
  if (!Won)
    return Won.takeError();
  Request.Source = Won->Text;
  Request.Provenance = Won->Story;
  Request.Entry = Recorded->Identity.Entry;
  if (Request.Arch.empty())
    Request.Arch = Recorded->Identity.Arch;
  return llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  if (Run.empty() == Source.empty())
    return usageError(Run.empty() ? "got neither RUN nor --source, wanted one"
                                  : "got RUN and --source, wanted one of them");
  torch::ExportRequest Request;
  Request.Workload = WorkloadFile;
  Request.ModuleFile = ModuleFile;
  Request.Folder = Output;
  Request.Force = Force;
  Request.Inputs = Inputs;
  Request.Init = Init;
  Request.Arch = Arch;
  Request.Flags = Flags;
  if (!Run.empty()) {
    if (llvm::Error E = readWinner(Request))
      return E;
  } else {
    llvm::Expected<std::string> Text = readFile(Source);
    if (!Text)
      return usageError(llvm::toString(Text.takeError()));
    Request.Source = std::move(*Text);
    Request.Provenance = "A source that was given; no run says where it was "
                         "judged.";
  }
  llvm::Expected<torch::Exported> Done = torch::exportModule(Request);
  if (!Done)
    return Done.takeError();
  for (const std::string &Note : Done->Notes)
    llvm::errs() << "note: " << Note << "\n";
  llvm::outs() << "operator torch.ops.stark_" << Done->Entry << "."
               << Done->Entry << "\n";
  for (const std::string &File : Done->Files)
    llvm::outs() << File << "\n";
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
