//===- Import.cpp - stark-tool import -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Torch/Import.h"
#include "Flags.h"
#include "stark/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "import",
    "Write a PyTorch module as C++ that calls ATen's operators\n\n"
    "  stark-tool import task.py -o DIR [--python PYTHON]\n"
    "  stark-tool import net.py --module Net --inputs example -o DIR\n\n"
    "task.py is in KernelBench's format (Model, get_inputs, get_init_inputs),\n"
    "or any file with an nn.Module and a function that returns example "
    "inputs.\n"
    "It is run once, by a python3 that has torch 2.6 or newer, in a child "
    "that\n"
    "may write to one folder only. The module is exported for the shapes of "
    "its\n"
    "example inputs, as it is made: in training mode unless --eval is given.\n"
    "Dropout is off unless --dropout is given. Written are\n\n"
    "  DIR/NAME.cpp            a function of tensors, one line an operator\n"
    "  DIR/NAME.workload.json  shapes, element types, distributions\n"
    "  DIR/NAME.weights.bin    parameters and buffers, made with seed 42\n"
    "  DIR/NAME.module.py      task.py as it was\n\n"
    "docs/import.md describes them and says what cannot be imported.\n\n"
    "Exit codes: 0 done, 1 failed, 2 the module cannot be imported, or usage.");
static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.py"),
                                 cl::Required, cl::sub(Command));
static Flag<std::string> Output(Command, "o", cl::value_desc("DIR"),
                                cl::Required, cl::desc("write the files here"));
static Flag<std::string>
    Name(Command, "name", cl::value_desc("NAME"),
         cl::desc("of the entry and the files (default: from FILE.py)"));
static Flag<std::string>
    Module(Command, "module", cl::value_desc("NAME"), cl::init("Model"),
           cl::desc("the nn.Module: a class or an object (default: Model)"));
static Flag<std::string>
    Inputs(Command, "inputs", cl::value_desc("NAME"), cl::init("get_inputs"),
           cl::desc("the function that returns the module's arguments "
                    "(default: get_inputs)"));
static Flag<std::string>
    Init(Command, "init", cl::value_desc("NAME"), cl::init("get_init_inputs"),
         cl::desc("the function that returns the class's arguments (default: "
                  "get_init_inputs; none are passed where it is missing)"));
static Flag<bool> Evaluation(Command, "eval",
                             cl::desc("put the module in evaluation mode"));
static Flag<bool> Dropout(Command, "dropout",
                          cl::desc("leave dropout on, as the module has it"));
static Flag<bool> NoWeights(Command, "no-weights",
                            cl::desc("do not write parameters and buffers"));
static Flag<bool> AgreeWithSource(
    Command, "agree-with-source",
    cl::desc("a candidate's timed outputs have to be torch.allclose() to the "
             "module's own, TF32 included, whatever their error"));
static Flag<std::string>
    Python(Command, "python", cl::value_desc("PROGRAM"), cl::init("python3"),
           cl::desc("the Python that has torch (default: python3)"));
static Flag<unsigned> Timeout(Command, "timeout", cl::value_desc("S"),
                              cl::init(600),
                              cl::desc("seconds that it may take (default: "
                                       "600)"));
static Flag<unsigned> Memory(Command, "memory", cl::value_desc("GIB"),
                             cl::init(0),
                             cl::desc("GiB that it may take (default: no "
                                      "limit)"));

static llvm::Error run(const std::vector<std::string> &Flags) {
  if (!Flags.empty())
    return usageError("import takes no flags after --");
  if (llvm::Error E = tool::checkRange(Timeout, 1, 1000000))
    return E;
  torch::ImportRequest Request;
  Request.File = File;
  Request.Folder = Output;
  Request.Name = Name;
  Request.Module = Module;
  Request.Inputs = Inputs;
  Request.Init = Init;
  Request.Evaluation = Evaluation;
  Request.KeepDropout = Dropout;
  Request.WriteWeights = !NoWeights;
  Request.AgreeWithSource = AgreeWithSource;
  Request.Python = Python;
  Request.TimeoutSeconds = Timeout;
  Request.MemoryGiB = Memory;
  llvm::Expected<torch::Imported> Done = torch::importModule(Request);
  if (!Done)
    return Done.takeError();
  for (const std::string &Note : Done->Notes)
    llvm::errs() << "note: " << Note << "\n";
  llvm::outs() << "entry " << Done->Entry << ", " << Done->Nodes
               << " operators\n"
               << Done->Source << "\n"
               << Done->Workload << "\n"
               << Done->Module << "\n";
  if (!Done->Weights.empty())
    llvm::outs() << Done->Weights << "\n";
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
