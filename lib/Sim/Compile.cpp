//===- Compile.cpp - A CUDA source as code for this CPU ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Compile.h"
#include "Frontend.h"
#include "LaunchBounds.h"
#include "Lenient.h"
#include "stark/AST/Flags.h"
#include "stark/HostCode/CompileCommand.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using namespace stark::sim;

namespace {
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
  for (const char *Prefix :
       {"cub/", "thrust/", "cuda/", "cutlass/", "cute/", "cublas", "cudnn",
        "cufft", "curand", "cusparse", "cusolver", "nccl", "opencv"})
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
    note(Level, D);
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
  /// Where the main file has errors, or leads to some in a header.
  std::vector<unsigned> Errors;
  bool Elsewhere = false; ///< one that no place of the main file leads to

private:
  void note(clang::DiagnosticsEngine::Level Level, const clang::Diagnostic &D) {
    if (Level < clang::DiagnosticsEngine::Error &&
        !(Elsewhere && Level == clang::DiagnosticsEngine::Note))
      return;
    if (!D.hasSourceManager() || !D.getLocation().isValid())
      return;
    const clang::SourceManager &Files = D.getSourceManager();
    auto [File, Offset] =
        Files.getDecomposedLoc(Files.getFileLoc(D.getLocation()));
    bool Main = File == Files.getMainFileID();
    if (Main)
      Errors.push_back(Offset);
    if (Level >= clang::DiagnosticsEngine::Error)
      Elsewhere = Elsewhere || !Main;
    else if (Main)
      Elsewhere = false;
  }
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

namespace {
/// Goes on without headers that are not there.
class IncludeSkipper : public clang::PPCallbacks {
public:
  explicit IncludeSkipper(std::string &Skipped) : Skipped(Skipped) {}
  bool FileNotFound(llvm::StringRef Name) override {
    if (Skipped.empty())
      Skipped = Name.str();
    return true;
  }

private:
  std::string &Skipped; ///< the first one
};

class LenientAction : public clang::EmitLLVMOnlyAction {
public:
  LenientAction(llvm::LLVMContext *C, std::string *Skipped)
      : EmitLLVMOnlyAction(C), Skipped(Skipped) {}
  bool BeginSourceFileAction(clang::CompilerInstance &Clang) override {
    if (Skipped)
      Clang.getPreprocessor().addPPCallbacks(
          std::make_unique<IncludeSkipper>(*Skipped));
    return EmitLLVMOnlyAction::BeginSourceFileAction(Clang);
  }
  void EndSourceFileAction() override {
    if (getCompilerInstance().hasASTContext())
      Kernels = findKernels(getCompilerInstance().getASTContext());
    EmitLLVMOnlyAction::EndSourceFileAction();
  }
  std::vector<BoundKernel> Kernels;

private:
  std::string *Skipped; ///< null: what is not found is an error
};

/// One run of Clang over one side of a request.
struct Run {
  /// \p Precompiled may be null.
  llvm::Error setUp(Side For, const CompileRequest &Request,
                    std::unique_ptr<llvm::MemoryBuffer> Precompiled);

  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> DiagOptions =
      llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  std::string Said;
  llvm::raw_string_ostream SaidStream{Said};
  ErrorPrinter Printer{SaidStream, DiagOptions.get()};
  clang::CompilerInstance Clang;
};
} // namespace

llvm::Error Run::setUp(Side For, const CompileRequest &Request,
                       std::unique_ptr<llvm::MemoryBuffer> Precompiled) {
  std::string Absolute = absolutePath(Request.Path);
  bool Known = Precompiled != nullptr;
  auto Files = makeFiles(For, Request, Absolute, std::move(Precompiled));
  auto Diags = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), DiagOptions, &Printer,
      /*ShouldOwnClient=*/false);
  Diags->setIgnoreAllWarnings(true);
  std::vector<std::string> Compile =
      compileArguments(driverArguments(Request, Absolute), *Diags, Files);
  if (Compile.empty())
    return failed("Clang's driver made no compile command: " +
                  llvm::StringRef(Said).trim());
  std::vector<std::string> Arguments =
      sideArguments(For, Request.Arch, Compile);
  if (Known)
    Arguments.insert(Arguments.end(), {"-include-pch", PrecompiledFile});
  std::vector<const char *> Pointers;
  for (const std::string &A : Arguments)
    Pointers.push_back(A.c_str());

  if (!clang::CompilerInvocation::CreateFromArgs(Clang.getInvocation(),
                                                 Pointers, *Diags))
    return failed("Clang refuses its arguments: " +
                  llvm::StringRef(Said).trim());
  Clang.getFrontendOpts().DisableFree = false;
  Clang.getCodeGenOpts().ClearASTBeforeBackend = false;
  Clang.createDiagnostics(&Printer, /*ShouldOwnClient=*/false);
  Clang.createFileManager(Files);
  // It would count errors there, which are told where they belong.
  Clang.setVerboseOutputStream(llvm::nulls());
  return llvm::Error::success();
}

/// \p Skipped: not null where headers that are not found do not matter; the
/// first such.
static llvm::Expected<CompileResult>
compileWith(Side For, const CompileRequest &Request,
            std::unique_ptr<llvm::MemoryBuffer> Precompiled,
            std::string *Skipped = nullptr,
            std::vector<unsigned> *Errors = nullptr) {
  Run R;
  if (llvm::Error E = R.setUp(For, Request, std::move(Precompiled)))
    return E;
  CompileResult Result;
  Result.Context = std::make_unique<llvm::LLVMContext>();
  LenientAction Action(Result.Context.get(), Skipped);
  if (Skipped)
    R.Clang.getDiagnostics().setErrorLimit(0);
  if (R.Clang.ExecuteAction(Action) &&
      !R.Clang.getDiagnostics().hasErrorOccurred())
    Result.Code = Action.takeModule();
  if (Result.Code)
    noteKernels(*Result.Code, Action.Kernels, registerLimitOf(Request.Flags));
  std::string Absolute = absolutePath(Request.Path);
  Result.Diagnostics = inUserTerms(std::move(R.Said), Absolute);
  Result.Missing = std::move(R.Printer.Missing);
  if (Errors && !R.Printer.Elsewhere)
    *Errors = std::move(R.Printer.Errors);
  if (Result.Missing)
    Result.Missing->Detail =
        inUserTerms(std::move(Result.Missing->Detail), Absolute);
  return Result;
}

/// Whether our headers read the same with \p Flags as without: what these set
/// is the user's own. The names of macros that a system's header may look at
/// are reserved, but for NDEBUG.
static bool leavesHeadersAlone(llvm::ArrayRef<std::string> Flags) {
  for (size_t I = 0; I < Flags.size(); I += 2) {
    bool Macro = Flags[I] == "-D";
    if (I + 1 == Flags.size() ||
        !(Macro || Flags[I] == "-I" || Flags[I] == "-iquote"))
      return false;
    llvm::StringRef Value = Flags[I + 1];
    if (Macro && (Value.starts_with("_") || Value.starts_with("NDEBUG")))
      return false;
  }
  return true;
}

static std::string precompiledFile(Side For, llvm::StringRef Folder) {
  return (Folder + (For == Side::Host ? "/host.pch" : "/device.pch")).str();
}

llvm::Error sim::precompileHeaders(llvm::StringRef Folder) {
  if (llvm::Error E = createFolders(Folder))
    return E;
  for (Side S : {Side::Host, Side::Device}) {
    CompileRequest Request;
    Request.Path = headersSource();
    Request.Arch.clear();
    Run R;
    if (llvm::Error E = R.setUp(S, Request, nullptr))
      return E;
    R.Clang.getFrontendOpts().ProgramAction = clang::frontend::GeneratePCH;
    R.Clang.getFrontendOpts().OutputFile = precompiledFile(S, Folder);
    clang::GeneratePCHAction Action;
    if (!R.Clang.ExecuteAction(Action) ||
        R.Clang.getDiagnostics().hasErrorOccurred())
      return failed("the simulator's headers do not compile: " +
                    llvm::StringRef(R.Said).trim());
  }
  return llvm::Error::success();
}

/// Why a function has no body: ", which needs opencv.hpp", or what Clang says
/// of it first.
static std::string whyWithout(llvm::StringRef Skipped,
                              llvm::StringRef Diagnostics) {
  if (!Skipped.empty())
    return ", which needs " + Skipped.str();
  constexpr llvm::StringLiteral Mark = "error: ";
  size_t At = Diagnostics.find(Mark);
  llvm::StringRef First = At == llvm::StringRef::npos
                              ? Diagnostics
                              : Diagnostics.drop_front(At + Mark.size());
  return ", which does not compile for it: " +
         First.take_until([](char C) { return C == '\n'; }).str();
}

static bool mayLack(const CompileRequest &Request,
                    llvm::ArrayRef<std::string> Functions) {
  return !Request.MayLack ||
         llvm::all_of(Functions, [&](const std::string &Name) {
           return llvm::is_contained(*Request.MayLack, Name);
         });
}

/// Without headers that are not found, and without what needs them or has other
/// errors.
static llvm::Expected<CompileResult>
compileLeniently(Side For, const CompileRequest &Request) {
  // Each round may uncover what needed something of the one before.
  constexpr unsigned Rounds = 6;
  CompileRequest Left = Request;
  std::string Skipped;
  std::vector<std::string> Lacking;
  for (unsigned Round = 0;; ++Round) {
    std::vector<unsigned> Errors;
    llvm::Expected<CompileResult> R =
        compileWith(For, Left, nullptr, &Skipped, &Errors);
    if (R) {
      R->Skipped = !Skipped.empty();
      R->Lacking = Lacking;
    }
    if (!R || R->Code || Errors.empty() || Round == Rounds)
      return R;
    LessSource Less =
        withoutErrors(Left.Text, Errors, whyWithout(Skipped, R->Diagnostics));
    if (Less.Text.empty() || !mayLack(Request, Less.Functions))
      return R;
    Left.Text = std::move(Less.Text);
    Lacking.insert(Lacking.end(), Less.Functions.begin(), Less.Functions.end());
  }
}

static llvm::Expected<CompileResult>
compileStrictly(Side For, const CompileRequest &Request) {
  if (!Request.Headers.empty() &&
      leavesHeadersAlone(parseFlags(Request.Flags, Request.Folder)))
    if (auto Precompiled = llvm::MemoryBuffer::getFile(
            precompiledFile(For, Request.Headers))) {
      llvm::Expected<CompileResult> Fast =
          compileWith(For, Request, std::move(*Precompiled));
      // An error may be that the system's headers are others now, or that this
      // is another processor; the source's own are told as without.
      if (Fast && Fast->Code) {
        Fast->HeadersParsed = false;
        return Fast;
      }
      llvm::consumeError(Fast.takeError());
    }
  return compileWith(For, Request, nullptr);
}

llvm::Expected<CompileResult> sim::compileFor(Side For,
                                              const CompileRequest &Request) {
  llvm::Expected<CompileResult> R = compileStrictly(For, Request);
  if (!R || R->Code || !Request.Lenient)
    return R;
  llvm::Expected<CompileResult> Less = compileLeniently(For, Request);
  if (Less && Less->Code)
    return Less;
  llvm::consumeError(Less.takeError());
  return R;
}
