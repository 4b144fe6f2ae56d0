//===- Compile.cpp - A CUDA source as code for this CPU ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Compile.h"
#include "Headers.h"
#include "PtxText.h"
#include "stark/AST/Flags.h"
#include "stark/AST/Parse.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/LexDiagnostic.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace stark;
using namespace stark::sim;

namespace {
/// A file whose inline PTX Clang accepts.
class RespelledFile : public llvm::vfs::File {
public:
  explicit RespelledFile(std::unique_ptr<llvm::vfs::File> Real)
      : Real(std::move(Real)) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return Real->status(); }
  llvm::ErrorOr<std::string> getName() override { return Real->getName(); }
  std::error_code close() override { return Real->close(); }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
  getBuffer(const llvm::Twine &Name, int64_t Size, bool Terminated,
            bool Volatile) override {
    auto Text = Real->getBuffer(Name, Size, Terminated, Volatile);
    if (!Text || !(*Text)->getBuffer().contains("asm"))
      return Text;
    return llvm::MemoryBuffer::getMemBufferCopy(
        respellConstraints((*Text)->getBuffer()), Name);
  }

private:
  std::unique_ptr<llvm::vfs::File> Real;
};

/// The user's headers hold inline PTX, too; the system's hold assembly that is
/// meant for this CPU.
class RespelledFiles : public llvm::vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override {
    auto Opened = ProxyFileSystem::openFileForRead(Path);
    if (!Opened || llvm::StringRef(Path.str()).starts_with("/usr/"))
      return Opened;
    return std::make_unique<RespelledFile>(std::move(*Opened));
  }
};

/// The embedded headers and the text lie over the real files.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
makeFiles(Side For, const CompileRequest &Request,
          const std::string &Absolute) {
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const EmbeddedFile &H : embeddedHeaders())
    Memory->addFile((llvm::Twine(HeaderFolder) + H.Name).str(), 0,
                    llvm::MemoryBuffer::getMemBufferCopy(H.Text, H.Name));
  Memory->addFile(
      Absolute, 0,
      llvm::MemoryBuffer::getMemBufferCopy(
          For == Side::Device ? respellConstraints(Request.Text) : Request.Text,
          Absolute));
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Real =
      llvm::vfs::getRealFileSystem();
  if (For == Side::Device)
    Real = llvm::makeIntrusiveRefCnt<RespelledFiles>(Real);
  auto Files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(Real);
  Files->pushOverlay(Memory);
  if (!Request.Folder.empty())
    Files->setCurrentWorkingDirectory(Request.Folder);
  return Files;
}

/// What the driver knows of the system (the C++ library's folders, the ABI) and
/// what the two passes want.
std::vector<std::string> driverArguments(const CompileRequest &Request,
                                         const std::string &Absolute) {
  std::vector<std::string> Arguments{"clang++",
                                     "-x",
                                     "cuda",
                                     "--cuda-host-only",
                                     "--cuda-gpu-arch=sm_90",
                                     "-nocudainc",
                                     "-nocudalib",
                                     "-Wno-unknown-cuda-version",
                                     "-Xclang",
                                     "-target-sdk-version=12.5",
                                     "-resource-dir",
                                     clangResourceFolder(),
                                     "-std=c++17",
                                     "-O2",
                                     "-gline-tables-only",
                                     "-w",
                                     "-c",
                                     "-isystem",
                                     HeaderFolder + std::string("cuda"),
                                     "-include",
                                     HeaderFolder +
                                         std::string("stark/stark_sim.h")};
  for (std::string &Flag : parseFlags(Request.Flags, Request.Folder))
    Arguments.push_back(std::move(Flag));
  Arguments.push_back(Absolute);
  return Arguments;
}

/// Changes the host pass's arguments into those of one side.
std::vector<std::string> sideArguments(Side For, llvm::StringRef Arch,
                                       const llvm::opt::ArgStringList &Host) {
  std::vector<std::string> Out;
  std::string Triple = llvm::sys::getDefaultTargetTriple();
  for (size_t I = 0; I < Host.size(); ++I) {
    llvm::StringRef Argument = Host[I];
    if (Argument == "-aux-triple") {
      Out.insert(Out.end(), {"-aux-triple", Triple});
      ++I;
      continue;
    }
    // Clang's own additions for device code are NVIDIA's; ours are in headers/.
    if (Argument == "-internal-isystem" && I + 1 < Host.size() &&
        llvm::StringRef(Host[I + 1]).ends_with("cuda_wrappers")) {
      ++I;
      continue;
    }
    if (Argument == "-target-cpu" || Argument == "-aux-target-cpu") {
      ++I;
      continue;
    }
    Out.push_back(Argument.str());
  }
  // The half types' arithmetic rounds after each step, as a GPU's does. Without
  // a toolkit the C library's headers are read as device code, which declares
  // variadic functions there.
  Out.insert(Out.begin() + 1,
             {"-disable-llvm-passes", "-ffloat16-excess-precision=none",
              "-fbfloat16-excess-precision=none",
              "-fcuda-allow-variadic-functions"});
  llvm::StringMap<bool> Features = llvm::sys::getHostCPUFeatures();
  for (const char *Feature : {"f16c", "fma", "avx", "avx2"})
    if (Features.lookup(Feature))
      Out.insert(Out.begin() + 1,
                 {"-target-feature", std::string("+") + Feature});
  if (For == Side::Device) {
    std::string Version = Arch.str();
    Version.erase(std::remove_if(Version.begin(), Version.end(),
                                 [](char C) { return !llvm::isDigit(C); }),
                  Version.end());
    Out.insert(Out.begin() + 1,
               {"-fcuda-is-device", "-D__CUDA_ARCH__=" + Version + "0",
                "-ffp-contract=fast", "-fno-threadsafe-statics"});
  }
  return Out;
}

/// An operand of inline PTX that Clang does not read for this CPU.
bool isPtxOperand(unsigned Diagnostic) {
  using namespace clang::diag;
  return llvm::is_contained<unsigned>(
      {err_asm_invalid_type, err_asm_invalid_type_in_input,
       err_asm_invalid_input_constraint, err_asm_invalid_output_constraint,
       err_asm_invalid_lvalue_in_input, err_asm_invalid_lvalue_in_output,
       err_asm_unknown_register_name},
      Diagnostic);
}

bool isAbsentLibrary(llvm::StringRef Header) {
  for (const char *Prefix : {"cub/", "thrust/", "cuda/", "cutlass/", "cute/",
                             "cublas", "cudnn", "mma.h"})
    if (Header.starts_with(Prefix))
      return true;
  return false;
}

/// Prints errors, and knows which one is for what the simulator does not have.
class ErrorPrinter : public clang::TextDiagnosticPrinter {
public:
  using TextDiagnosticPrinter::TextDiagnosticPrinter;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &D) override {
    TextDiagnosticPrinter::HandleDiagnostic(Level, D);
    bool Ptx = isPtxOperand(D.getID());
    if (Missing && !(Ptx && Missing->Kind == UnsupportedKind::Library))
      return;
    if (Ptx)
      Missing = {UnsupportedKind::PtxConstraint, line("error: ", D)};
    else if (D.getID() == clang::diag::err_pp_file_not_found &&
             isAbsentLibrary(D.getArgStdStr(0)))
      Missing = {UnsupportedKind::Library, line("fatal error: ", D)};
  }
  std::optional<Unsupported> Missing;

private:
  static std::string line(llvm::StringRef Level, const clang::Diagnostic &D) {
    llvm::SmallString<128> Text;
    D.FormatDiagnostic(Text);
    clang::PresumedLoc At =
        D.getSourceManager().getPresumedLoc(D.getLocation());
    return (At.getFilename() + llvm::Twine(":") + llvm::Twine(At.getLine()) +
            ":" + llvm::Twine(At.getColumn()) + ": " + Level + Text)
        .str();
  }
};

std::string inUserTerms(std::string Text, const std::string &Absolute) {
  // A message names the file as the user does: by its name alone.
  std::string Name = llvm::sys::path::filename(Absolute).str();
  for (size_t At; (At = Text.find(Absolute)) != std::string::npos;)
    Text.replace(At, Absolute.size(), Name);
  return Text;
}
} // namespace

llvm::Expected<CompileResult> sim::compileFor(Side For,
                                              const CompileRequest &Request) {
  std::string Absolute = absolutePath(Request.Path);
  auto Files = makeFiles(For, Request, Absolute);
  std::vector<std::string> Words = driverArguments(Request, Absolute);
  std::vector<const char *> Pointers;
  for (const std::string &W : Words)
    Pointers.push_back(W.c_str());

  std::string Said;
  llvm::raw_string_ostream SaidStream(Said);
  auto DiagOptions = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  ErrorPrinter Printer(SaidStream, DiagOptions.get());
  auto Diags = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), DiagOptions, &Printer,
      /*ShouldOwnClient=*/false);
  Diags->setIgnoreAllWarnings(true);
  clang::driver::Driver Driver("clang++", llvm::sys::getDefaultTargetTriple(),
                               *Diags, "stark", Files);
  Driver.setCheckInputsExist(false);
  std::unique_ptr<clang::driver::Compilation> Commands(
      Driver.BuildCompilation(Pointers));
  const clang::driver::Command *Compile = nullptr;
  if (Commands)
    for (const clang::driver::Command &C : Commands->getJobs())
      if (!Compile &&
          llvm::is_contained(C.getArguments(), llvm::StringRef("-cc1")))
        Compile = &C;
  if (!Compile)
    return failed("Clang's driver made no compile command: " +
                  llvm::StringRef(Said).trim());
  std::vector<std::string> Arguments =
      sideArguments(For, Request.Arch, Compile->getArguments());
  Pointers.clear();
  for (const std::string &A : Arguments)
    if (A != "-cc1")
      Pointers.push_back(A.c_str());

  clang::CompilerInstance Clang;
  if (!clang::CompilerInvocation::CreateFromArgs(Clang.getInvocation(),
                                                 Pointers, *Diags))
    return failed("Clang refuses its arguments: " +
                  llvm::StringRef(Said).trim());
  Clang.getFrontendOpts().DisableFree = false;
  Clang.getCodeGenOpts().ClearASTBeforeBackend = false;
  Clang.createDiagnostics(&Printer, /*ShouldOwnClient=*/false);
  Clang.createFileManager(Files);

  CompileResult Result;
  Result.Context = std::make_unique<llvm::LLVMContext>();
  clang::EmitLLVMOnlyAction Action(Result.Context.get());
  if (Clang.ExecuteAction(Action) && !Clang.getDiagnostics().hasErrorOccurred())
    Result.Code = Action.takeModule();
  Result.Diagnostics = inUserTerms(std::move(Said), Absolute);
  Result.Missing = std::move(Printer.Missing);
  if (Result.Missing)
    Result.Missing->Detail =
        inUserTerms(std::move(Result.Missing->Detail), Absolute);
  return Result;
}
