//===- ExportFiles.cpp - What an export is made of ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   subject -> values -> each template filled in; parts of C++ are filled in
/// first, and stand in others as values
///
//===----------------------------------------------------------------------===//

#include "ExportFiles.h"
#include "PythonModule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

using namespace stark;
using namespace stark::torch;
using Reader = llvm::function_ref<llvm::Expected<std::string>(llvm::StringRef)>;

/// More of constants than this are no part of one file for KernelBench.
static constexpr size_t MostEmbeddedBytes = 1 << 20;

/// torch forbids operators of half types to what it compiles.
static constexpr llvm::StringLiteral HalfOperators[] = {
    "-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__",
    "-U__CUDA_NO_HALF2_OPERATORS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__"};

static std::string digestOf(const ExportSubject &Of, llvm::StringRef Call) {
  llvm::SHA256 Hash;
  for (llvm::StringRef Part : {llvm::StringRef(Of.Source), Call})
    Hash.update(Part);
  for (const std::string &Flag : Of.Flags)
    Hash.update(Flag);
  return llvm::toHex(Hash.final(), /*LowerCase=*/true).substr(0, 12);
}

/// How the source is compiled: by nvcc only where it has to.
static void addBuild(const ExportSubject &Of, bool Cuda, TextValues &V) {
  std::vector<std::string> Cxx = {"-O3", "-std=c++20"}, Nvcc = Cxx, Linked;
  for (llvm::StringRef Flag : HalfOperators)
    Nvcc.push_back(Flag.str());
  std::vector<std::string> &Own = Cuda ? Nvcc : Cxx;
  Own.insert(Own.end(), Of.Flags.begin(), Of.Flags.end());
  for (llvm::StringRef Library : {"cublasLt", "cublas"})
    if (Cuda && llvm::StringRef(Of.Source).contains(Library))
      Linked.push_back("-l" + Library.str());
  V["SOURCE_FILE"] = Of.Entry.Name + (Cuda ? ".cu" : ".cpp");
  V["SOURCE_FILE_TEXT"] = pythonText(V["SOURCE_FILE"]);
  V["WITH_CUDA"] = Cuda ? "True" : "False";
  V["CXX_FLAGS"] = pythonList(Cxx);
  V["NVCC_FLAGS"] = pythonList(Nvcc);
  V["LINKED"] = pythonList(Linked);
  V["LANGUAGES"] = Cuda ? "CXX CUDA" : "CXX";
  V["CMAKE_FLAGS"] =
      Cuda ? "\"$<$<COMPILE_LANGUAGE:CXX>:" + llvm::join(Cxx, ";") +
                 ">\" \"$<$<COMPILE_LANGUAGE:CUDA>:" + llvm::join(Nvcc, ";") +
                 ">\""
           : llvm::join(Cxx, " ");
  V["CMAKE_LINKED"] = Linked.empty() ? "" : " " + llvm::join(Linked, " ");
  V["DEVICES"] =
      Cuda ? "(\"cuda\", \"meta\")" : "(\"cuda\", \"cpu\", \"meta\")";
  V["DEVICE"] = Cuda ? "cuda" : "cpu";
  V["TO_DEVICE"] = Cuda ? ".to(\"cuda\")" : "";
  V["BUILD_NOTE"] =
      Cuda ? " That takes a minute or two, and needs nvcc and ninja."
           : " That takes half a minute, and needs a C++ compiler and ninja; "
             "the source calls no CUDA, so that it computes on CPUs, too.";
}

/// What the package knows of constants, and what one file for KernelBench does.
static void addConstants(const ExportSubject &Of, TextValues &V,
                         std::vector<std::string> &Notes) {
  std::string Table, Embedded;
  unsigned Number = 0;
  bool Fits = Of.Constants.size() <= MostEmbeddedBytes;
  for (const EntryTensor &T : Of.Entry.Arguments) {
    if (T.Kind != InputKind::Constant)
      continue;
    std::string Head = pythonText(T.Path) + ", " + pythonType(T.Type.Type) +
                       ", " + pythonShape(T.Type) + ", ";
    auto Offset = Of.ConstantOffsets.find(T.Name);
    bool Known = Offset != Of.ConstantOffsets.end();
    Table += "    (" + Head +
             (Known ? std::to_string(Offset->second) : "None") + "),\n";
    llvm::StringRef Bytes =
        llvm::StringRef(Of.Constants)
            .substr(Known ? Offset->second : 0,
                    T.Type.elements() * job::dtypeBytes(T.Type.Type));
    Embedded +=
        "        self.register_buffer(\"stark_constant_" +
        std::to_string(Number++) + "\", _stark_constant(self, " + Head +
        (Known && Fits ? "\"" + llvm::encodeBase64(Bytes) + "\"" : "None") +
        "), persistent=False)\n";
  }
  if (!Fits)
    Notes.push_back("kernelbench.py has no room for the constants: it works "
                    "where they are attributes of the module");
  V["CONSTANTS"] = Table;
  V["EMBEDDED_CONSTANTS"] = Embedded;
}

/// Integers, which KernelBench's harness hands over as real numbers.
static std::string conversions(const ExportEntry &E) {
  std::string Out;
  for (size_t I = 0; I < E.Arguments.size(); ++I) {
    const EntryTensor &T = E.Arguments[I];
    std::string Type = pythonType(T.Type.Type);
    bool IsReal = llvm::StringRef(Type).contains("float") ||
                  llvm::StringRef(Type).contains("complex");
    std::string Of = "inputs[" + std::to_string(I) + "]";
    if (T.Kind == InputKind::Input && !IsReal)
      Out += "        " + Of + " = " + Of + ".to(" + Type + ")\n";
  }
  return Out;
}

static void addTexts(const ExportSubject &Of, TextValues &V) {
  V["INPUTS_BY"] = Of.Inputs;
  V["INPUTS_TEXT"] = pythonText(Of.Inputs);
  V["INIT_TEXT"] = pythonText(Of.Init);
  V["PROVENANCE"] = "";
  for (llvm::StringRef Line : llvm::split(Of.Provenance, '\n')) {
    V["PROVENANCE"] += Line.consume_front("* ") ? "\n* " : "";
    V["PROVENANCE"] += markdownText(Line);
  }
  V["ALIAS"] = Of.Entry.Module == "ModelNew" || Of.Entry.Module == "ORIGINAL"
                   ? ""
                   : Of.Entry.Module + " = ModelNew";
  V["NOTES"] = "";
  for (const std::string &Note : Of.Entry.Notes)
    V["NOTES"] += "* " + markdownText(Note) + "\n";
  V["CONVERSIONS"] = conversions(Of.Entry);
  V["OWN_MODE"] =
      llvm::StringRef(Of.Module).contains("training") ? "True" : "False";
}

/// One file that KernelBench's harness runs, unless the module is an object.
static llvm::Error addCandidate(const ExportSubject &Of, bool Cuda,
                                TextValues V, Reader Read,
                                std::vector<ExportFile> &Files,
                                std::vector<std::string> &Notes) {
  std::string Class = "_Stark" + Of.Entry.Module;
  PythonModule Module =
      embedModule(Of.Module, Of.Entry.Module, Class, {Of.Inputs, Of.Init});
  if (!Module.HasClass) {
    Notes.push_back(
        "kernelbench.py is left out: the module's file has no class " +
        Of.Entry.Module);
    return llvm::Error::success();
  }
  if (Module.HasHandlers)
    Notes.push_back("KernelBench's static check will refuse kernelbench.py: "
                    "the module's file has try and except");
  if (Of.Entry.Mode != "training")
    Notes.push_back("KernelBench calls modules in training mode, the source "
                    "is one of evaluation mode");
  llvm::Expected<std::string> Run = Read("run.cpp.in");
  llvm::Expected<std::string> Text = Read("kernelbench.py.in");
  llvm::Expected<std::string> Constant = Read("constant.py.in");
  if (llvm::Error E =
          llvm::joinErrors(llvm::joinErrors(Run.takeError(), Text.takeError()),
                           Constant.takeError()))
    return E;
  V["CLASS"] = Class;
  V["MODULE_SOURCE"] = Module.Text;
  V["CALL_TEXT"] = pythonBlock(fillTemplate(*Run, V));
  V["SOURCE_TEXT"] = pythonBlock(Of.Source);
  V["CPP_SOURCES"] = Cuda ? "_stark_call" : "_stark_source, _stark_call";
  V["CUDA_SOURCES"] = Cuda ? "_stark_source" : "";
  V["CONSTANT_FUNCTION"] = V["EMBEDDED_CONSTANTS"].empty() ? "" : *Constant;
  Files.push_back({"kernelbench.py", fillTemplate(*Text, V)});
  return llvm::Error::success();
}

llvm::Expected<std::vector<ExportFile>>
torch::makeFiles(const ExportSubject &Of, std::vector<std::string> &Notes,
                 Reader Read) {
  bool Cuda = usesCuda(Of.Source);
  llvm::StringRef Source = Of.Source;
  if (Source.contains("<<<") && !Source.contains("CurrentCUDAStream"))
    Notes.push_back("the source launches on the default stream: where another "
                    "is current, a program has to wait for it");
  TextValues V = describeEntry(Of.Entry);
  addBuild(Of, Cuda, V);
  addConstants(Of, V, Notes);
  addTexts(Of, V);
  llvm::Error Failed = llvm::Error::success();
  auto Fill = [&](llvm::StringRef Name) -> std::string {
    llvm::Expected<std::string> Text = Read(Name);
    if (Text)
      return fillTemplate(*Text, V);
    Failed = llvm::joinErrors(std::move(Failed), Text.takeError());
    return "";
  };
  V["CALL_PART"] = Fill("call.cpp.in");
  V["DIGEST"] = digestOf(Of, V["CALL_PART"]);
  for (llvm::StringRef Backend : {"CUDA", "CPU"}) {
    V["BACKEND"] = Backend;
    if (Backend == "CUDA" || !Cuda)
      V["BACKENDS"] += Fill("backend.cpp.in");
  }
  const std::string &Name = Of.Entry.Name;
  std::vector<ExportFile> Files = {
      {"csrc/" + V["SOURCE_FILE"], Of.Source},
      {"csrc/binding.cpp", Fill("binding.cpp.in")},
      {Name + "/reference.py", Of.Module},
      {Name + "/constants.bin", Of.Constants},
      {Name + "/_build.py", Fill("build.py.in")},
      {Name + "/__init__.py", Fill("init.py.in")},
      {"setup.py", Fill("setup.py.in")},
      {"pyproject.toml", Fill("pyproject.toml.in")},
      {"CMakeLists.txt", Fill("CMakeLists.txt.in")},
      {"verify.py", Fill("verify.py.in")},
      {"README.md", Fill("README.md.in")}};
  if (Failed)
    return Failed;
  if (Of.Constants.empty())
    llvm::erase_if(Files, [](const ExportFile &F) {
      return llvm::StringRef(F.Path).ends_with("constants.bin");
    });
  if (llvm::Error E = addCandidate(Of, Cuda, V, Read, Files, Notes))
    return E;
  return Files;
}
