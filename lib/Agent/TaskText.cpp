//===- TaskText.cpp - The task as an agent reads it -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "TextForms.h"
#include "stark/AST/Toolkit.h"
#include "stark/AST/Torch.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Task/Together.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace stark;
namespace path = llvm::sys::path;

/// Bytes of the user's headers that a request carries, all together.
static constexpr size_t HeaderLimit = 24000;

static std::string printNumber(double Value) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.6g", Value);
  return Text;
}

static std::string describeFill(const Argument &A) {
  const job::Init &Fill = A.Fill;
  std::string Low = A.Low.empty() ? printNumber(Fill.Low) : A.Low,
              High = A.High.empty() ? printNumber(Fill.High) : A.High,
              Times = A.Times.empty() ? printNumber(Fill.Times) : A.Times;
  switch (Fill.Kind) {
  case job::InitKind::Normal:
    return "normally distributed, mean " + Low + ", deviation " + High;
  case job::InitKind::Uniform:
    return "uniform in [" + Low + ", " + High + ")";
  case job::InitKind::Integers:
    return "whole numbers in [" + Low + ", " + High + ")" +
           (Fill.Times != 1 ? " times " + printNumber(Fill.Times) : "") +
           (Fill.Plus != 0 ? " plus " + printNumber(Fill.Plus) : "");
  case job::InitKind::Constant:
    return "all " + Low;
  case job::InitKind::Arange:
    return Times == "1" ? "0, 1, 2, ..." : "0, 1, 2, ... times " + Times;
  case job::InitKind::File:
    return "data from a file";
  default:
    return nameOf(Fill.Kind);
  }
}

/// "structs of `x` (f32, normally distributed ...), `cell` (i32, ...), "
static std::string describeFields(const Argument &A) {
  bool Filled = A.Use == job::Role::Input || A.Use == job::Role::InOut;
  std::string Text;
  for (const Argument &Of : A.Fields)
    Text += std::string(Text.empty() ? "structs of `" : ", `") + Of.Name +
            "` (" + nameOf(Of.Type) + (Filled ? ", " + describeFill(Of) : "") +
            ")";
  return Text + ", the bytes between them 0 and not compared, ";
}

static std::string describeBuffer(const Argument &A) {
  std::string Fill = A.Fields.empty() ? describeFill(A) : "field by field";
  std::string Text =
      std::string(nameOf(A.Type)) + "[" + llvm::join(A.Shape, ", ") + "], ";
  if (A.Fill.Keep != job::Triangle::Whole)
    Text += nameOf(A.Fill.Keep) + std::string(" triangle, the rest zero, ");
  if (!A.Fields.empty())
    Text += describeFields(A);
  if (!A.Path.empty())
    Text += "`" + A.Path + "` of the module, ";
  switch (A.Use) {
  case job::Role::Input:
    return Text + "input (" + Fill + "), must not be changed";
  case job::Role::Output:
    return Text + "output, every element must be written by every call";
  case job::Role::InOut:
    return Text + "read and changed in place (before: " + Fill + ")";
  case job::Role::Scratch:
    return Text + "scratch: holds garbage before the call, not compared after";
  }
  return Text;
}

static const Argument *findArgument(const Workload &W, llvm::StringRef Name) {
  for (const Argument &A : W.Arguments)
    if (A.Name == Name)
      return &A;
  return nullptr;
}

static std::string describeParameter(const Task &T, const Parameter &P,
                                     const std::string &Prefix) {
  std::string Name = Prefix + P.Name;
  std::string Line = "- `" + Name + "` (`" + P.Type + "`): ";
  if (P.Kind == ParameterKind::Stream)
    return Line + "the stream on which all work has to be enqueued\n";
  if (P.Kind == ParameterKind::Struct) {
    Line += "by value, with the fields\n";
    for (const Parameter &Field : P.Fields)
      Line += "  " + describeParameter(T, Field, Name + ".");
    return Line;
  }
  if (P.Kind == ParameterKind::TensorList ||
      P.Kind == ParameterKind::OptionalTensor) {
    if (P.Fields.empty())
      return Line + "not given\n";
    Line += "\n";
    for (const Parameter &Field : P.Fields)
      Line += "  " + describeParameter(T, Field, "");
    return Line;
  }
  const Argument *A = findArgument(T.Load, Name);
  if (!A)
    return Line + "not described by the workload\n";
  if (P.Kind == ParameterKind::Tensor)
    return Line + "tensor " + describeBuffer(*A) + "\n";
  if (A->IsBuffer)
    return Line + "device pointer to " + describeBuffer(*A) + "\n";
  return Line + "scalar, value `" + A->Value + "`\n";
}

static std::string describeAlignment(const Task &T) {
  if (T.Load.Misaligned)
    return "It is also compared with pointers that are aligned to their "
           "elements alone: a wide access asks for its alignment at run "
           "time.\n";
  return "Nothing is compared with less aligned ones. Other callers may pass "
         "them where the source takes them: unless it makes such accesses "
         "itself, a wide access asks for its alignment at run time, and the "
         "path of the source is there for the rest.\n";
}

static std::string describeTolerance(const Workload &W) {
  std::set<job::DType> Shown;
  std::string Text;
  auto Show = [&](job::DType Type) {
    if (!Shown.insert(Type).second)
      return;
    auto Found = W.Tolerance.find(Type);
    bool Exact = Found == W.Tolerance.end() || Found->second == 0;
    Text += std::string(Text.empty() ? "" : ", ") + nameOf(Type) +
            (Exact ? " exactly equal" : " " + printNumber(Found->second));
  };
  for (const Argument &A : W.Arguments)
    if (A.IsBuffer && (A.Use == job::Role::Output || A.Use == job::Role::InOut))
      Show(A.Type);
  for (const ReturnedTensor &R : W.Returns)
    Show(R.Type);
  return Text.empty() ? "as the workload says" : Text;
}

/// ", and returns f32[4, 3] and i64[4]"
static std::string describeReturns(const Workload &W) {
  std::string Text;
  for (size_t I = 0; I < W.Returns.size(); ++I)
    Text += (I == 0                      ? ", and returns "
             : I + 1 == W.Returns.size() ? " and "
                                         : ", ") +
            std::string(nameOf(W.Returns[I].Type)) + "[" +
            llvm::join(W.Returns[I].Shape, ", ") + "]";
  return Text;
}

static std::string describeEntry(const Task &T) {
  std::string Text = "`" + T.Entry.ReturnType + " " + T.Entry.Name + "(";
  for (size_t I = 0; I < T.Entry.Parameters.size(); ++I)
    Text += (I ? ", " : "") + T.Entry.Parameters[I].Type + " " +
            T.Entry.Parameters[I].Name;
  Text += ")`";
  if (const std::optional<LaunchRule> &L = T.Load.Launch)
    Text += ", a kernel that the judge itself launches, with the grid (" +
            L->Grid + "), the block (" + L->Block + ") and " + L->SharedBytes +
            " bytes of dynamic shared memory" +
            (launchesTogether(T) ? ", cooperatively" : "") +
            ". This launch is fixed: a "
            "candidate cannot change it";
  else if (isTensorEntry(T.Entry))
    Text += ", a host function that is called with tensors on the GPU" +
            describeReturns(T.Load);
  else
    Text += ", a host function that is called with device pointers";
  return Text;
}

/// What is different for tensors; empty for other entries.
static llvm::Expected<std::string> describeTensors(const Task &T,
                                                   const PromptSet &Prompts) {
  if (!isTensorEntry(T.Entry) || Prompts.Tensors.System.empty())
    return "";
  llvm::Expected<posix::Libtorch> Torch = torchFor(T.Parse);
  if (!Torch)
    return Torch.takeError();
  std::map<std::string, std::string> V;
  V["headers"] = fenced("cuda", torchHeaders(*Torch));
  V["calls"] =
      T.Load.Calls == CallRule::Anything
          ? "ATen's operators may be called (`at::matmul`, `at::convolution`: "
            "cuBLAS and cuDNN are behind them), beside kernels of your own. A "
            "large matrix product or convolution is hard to beat; what "
            "surrounds it is not. Nothing else is linked: no CUTLASS, no "
            "cuBLAS or cuDNN of your own"
          : "ATen's operators may not be called, but for those that make or "
            "view tensors (`at::empty`, `view`, `transpose`): every number is "
            "computed by kernels of your own";
  V["precision"] =
      "The wanted values are computed in double precision. What the source "
      "itself is off them, twice over, is allowed in any case: as PyTorch "
      "ships, convolutions run in TF32 and matrix products in IEEE f32";
  if (T.Load.AgreeWithSource)
    V["precision"] +=
        ". In timed calls that is not all: there outputs also have to be "
        "torch.allclose() to what the source itself returns, with the "
        "tolerance as atol and rtol. So a convolution rounds where cuDNN "
        "rounds. Seen on sm_90 with cuDNN 9.19: inputs and "
        "weights to TF32, to nearest, and sums in f32; nothing with three "
        "input "
        "channels. Ties went away from zero (`cvt.rna.tf32.f32`) in one, to "
        "even (`__float2half_rn` does) in another. Bits that are handed to "
        "`mma` as they are get cut off instead, which was eight times too "
        "much. "
        "Rounding magnifies: inputs that differ in their last bit may round to "
        "TF32 numbers that are 2^-10 apart, and that is more than the "
        "tolerance "
        "in some outputs. Where the entry computes the input of such a "
        "convolution itself, compute that bit for bit as the source does: by "
        "the same operators of ATen, or in their order of operations";
  V["hardened"] =
      isHardened(T)
          ? "- Outputs are compared twice: with the values that the arguments "
            "are said to have, and *hardened*, with weights drawn anew "
            "(biases and scales are not 0 and 1 then) and inputs of mixed "
            "sign and magnitude, from 2^-6 to 2^6. Both must be right\n"
          : "";
  llvm::Expected<std::string> Text =
      renderPrompt(Prompts.Tensors.System, Prompts.Tensors.Inputs, V);
  if (!Text)
    return Text.takeError();
  return *Text + "\n";
}

/// Without the folders of headers, where the source includes none of them.
static std::vector<std::string> flagsThatCount(const Task &T) {
  std::vector<std::string> Flags;
  for (size_t I = 0; I < T.NvccFlags.size(); ++I) {
    llvm::StringRef Flag = T.NvccFlags[I];
    if (T.Headers.empty() && Flag.starts_with("-I")) {
      I += Flag == "-I"; // its folder is the next word
      continue;
    }
    Flags.push_back(Flag.str());
  }
  return Flags;
}

static llvm::Expected<std::string> describeHeaders(const Task &T) {
  std::string Text;
  size_t Left = HeaderLimit;
  llvm::StringRef Folder = path::parent_path(T.SourcePath);
  for (const std::string &Header : T.Headers) {
    llvm::Expected<std::string> Bytes = readFile(Header);
    if (!Bytes)
      return Bytes.takeError();
    llvm::StringRef Name = Header;
    if (Name.consume_front(Folder))
      Name.consume_front("/");
    else
      Name = path::filename(Name);
    if (Bytes->size() > Left) {
      Text += "`" + Name.str() + "` (" + std::to_string(Bytes->size()) +
              " bytes, not shown)\n\n";
      continue;
    }
    Left -= Bytes->size();
    Text += "`" + Name.str() + "`, which it includes:\n\n" +
            fenced("cuda", *Bytes) + "\n";
  }
  return Text;
}

llvm::Expected<std::map<std::string, std::string>>
stark::taskInputs(const AgentInput &In, const PromptSet &Prompts) {
  const Task &T = *In.Of;
  std::map<std::string, std::string> V;
  V["file"] = path::filename(T.SourcePath).str();
  V["entry"] = describeEntry(T);
  V["build"] = "nvcc -arch=" + T.Parse.Arch;
  for (const std::string &Flag : flagsThatCount(T))
    V["build"] += " " + Flag;
  if (std::optional<Toolkit> Cuda = findToolkit(T.Parse.Toolkit))
    V["toolkit"] = " of CUDA " + Cuda->version();
  else
    V["toolkit"] = "";
  Figures Known(In);
  V["device"] = In.Device + "\n";
  auto AddDevice = [&](const std::string &Name) {
    auto Device = Prompts.Devices.find(Name);
    if (Device != Prompts.Devices.end())
      V["device"] += "\n" + Device->second.System + "\n";
  };
  AddDevice(T.Parse.Arch);
  if (mayMultiply(T, Known))
    AddDevice(T.Parse.Arch + "-products");
  if (std::string Text = Known.describeDevice(); !Text.empty())
    V["device"] += "\n" + Text;
  for (const Parameter &P : T.Entry.Parameters)
    V["arguments"] += describeParameter(T, P, "");
  if (!isTensorEntry(T.Entry))
    V["arguments"] +=
        "\nIn the timed calls every buffer begins at a multiple of 256 bytes "
        "and is as long as its shape says. " +
        describeAlignment(T);
  V["sizes"] = describeSizes(T, Known);
  V["tolerance"] = describeTolerance(T.Load);
  V["margin"] = printNumber((T.Load.Margin - 1) * 100);
  V["reference"] = T.Load.Reference.empty() || T.Load.Reference == T.Load.Entry
                       ? "the source's own entry"
                       : "`" + T.Load.Reference + "` of the source";
  llvm::Expected<std::string> Tensors = describeTensors(T, Prompts);
  if (!Tensors)
    return Tensors.takeError();
  V["tensors"] = *Tensors;
  llvm::Expected<std::string> Headers = describeHeaders(T);
  if (!Headers)
    return Headers.takeError();
  V["headers"] = *Headers;
  SourceDescription Source = describeSource(T);
  V["source"] = std::move(Source.Shown);
  V["left_out"] = std::move(Source.LeftOut);
  return V;
}
