//===- Compile.cpp - A CUDA source as code for this CPU ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Compile.h"
#include "CompileErrors.h"
#include "Frontend.h"
#include "LaunchBounds.h"
#include "Lenient.h"
#include "stark/AST/Flags.h"
#include "stark/HostCode/CompileCommand.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using namespace stark::sim;

static std::string inUserTerms(std::string Text, const std::string &Absolute) {
  // A message names the file as the user does: by its name alone.
  std::string Name = llvm::sys::path::filename(Absolute).str();
  for (size_t At; (At = Text.find(Absolute)) != std::string::npos;)
    Text.replace(At, Absolute.size(), Name);
  return Text;
}

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

/// A kernel gets the bytes of its arguments, also where their class has a copy
/// constructor, as a lambda that holds a std::tuple: as if it had none it is
/// passed, not as a pointer to what lies with the host.
class PassByBytes : public clang::ASTConsumer,
                    public clang::RecursiveASTVisitor<PassByBytes> {
public:
  void HandleTagDeclDefinition(clang::TagDecl *D) override {
    if (auto *Record = llvm::dyn_cast<clang::CXXRecordDecl>(D))
      pass(*Record);
  }
  /// Of lambdas nobody tells.
  bool HandleTopLevelDecl(clang::DeclGroupRef Group) override {
    for (clang::Decl *D : Group)
      if (!D->isFromASTFile())
        TraverseDecl(D);
    return true;
  }
  bool VisitLambdaExpr(clang::LambdaExpr *E) {
    pass(*E->getLambdaClass());
    return true;
  }

private:
  static void pass(clang::CXXRecordDecl &Record) {
    if (Record.isCompleteDefinition() && !Record.isDependentType() &&
        !Record.canPassInRegisters() && !Record.hasNonTrivialDestructor() &&
        !Record.isPolymorphic())
      Record.setArgPassingRestrictions(
          clang::RecordArgPassingKind::CanPassInRegs);
  }
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
  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &Clang,
                    llvm::StringRef File) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> Both;
    Both.push_back(std::make_unique<PassByBytes>());
    Both.push_back(EmitLLVMOnlyAction::CreateASTConsumer(Clang, File));
    return std::make_unique<clang::MultiplexConsumer>(std::move(Both));
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
            std::string *Skipped = nullptr, ErrorPlaces *Errors = nullptr) {
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
  if (Errors)
    *Errors = R.Printer.places();
  if (Result.Missing)
    Result.Missing->Detail =
        inUserTerms(std::move(Result.Missing->Detail), Absolute);
  return Result;
}

/// Whether our headers read the same with \p Flags as without: what these set
/// is the user's own, and C++17. The names of macros that a system's header may
/// look at are reserved, but for NDEBUG.
static bool leavesHeadersAlone(llvm::ArrayRef<std::string> Flags) {
  for (size_t I = 0; I < Flags.size(); ++I) {
    if (Flags[I] == "-std=c++17") // as they were precompiled
      continue;
    bool Macro = Flags[I] == "-D";
    if (I + 1 == Flags.size() ||
        !(Macro || Flags[I] == "-I" || Flags[I] == "-iquote"))
      return false;
    llvm::StringRef Value = Flags[++I];
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
    // Here, once, and not again with every source.
    R.Clang.getLangOpts().PCHInstantiateTemplates = true;
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

/// Takes what has errors out of the texts of \p Left. Returns the functions
/// that have become stubs; nothing where an error stands in no declaration.
static std::optional<std::vector<std::string>>
takeOut(const ErrorPlaces &Errors, llvm::StringRef Why, CompileRequest &Left) {
  std::string Main = absolutePath(Left.Path);
  std::vector<std::string> Functions;
  for (const auto &[File, Places] : Errors) {
    std::string &Text = File == Main ? Left.Text : Left.Replaced[File];
    if (Text.empty()) {
      llvm::Expected<std::string> Read = readFile(File);
      if (!Read) {
        llvm::consumeError(Read.takeError());
        return std::nullopt;
      }
      Text = std::move(*Read);
    }
    LessSource Less = withoutErrors(Text, Places, Why);
    if (Less.Text.empty())
      return std::nullopt;
    Text = std::move(Less.Text);
    Functions.insert(Functions.end(), Less.Functions.begin(),
                     Less.Functions.end());
  }
  return Functions;
}

/// Our headers for \p Request, precompiled; null where there are none that fit.
static std::unique_ptr<llvm::MemoryBuffer>
precompiledFor(Side For, const CompileRequest &Request) {
  if (Request.Headers.empty() ||
      !leavesHeadersAlone(parseFlags(Request.Flags, Request.Folder)))
    return nullptr;
  auto Found =
      llvm::MemoryBuffer::getFile(precompiledFile(For, Request.Headers));
  return Found ? std::move(*Found) : nullptr;
}

/// Without headers that are not found, and without what needs them or has other
/// errors; as it is where it has none. \p Precompiled: with our headers as they
/// were precompiled, which a folder of the user's with a math.h of its own does
/// not change.
static llvm::Expected<CompileResult>
compileLeniently(Side For, const CompileRequest &Request, bool Precompiled) {
  // Each round may uncover what needed something of the one before.
  constexpr unsigned Rounds = 6;
  CompileRequest Left = Request;
  std::string Skipped;
  std::vector<std::string> Lacking;
  for (unsigned Round = 0;; ++Round) {
    ErrorPlaces Errors;
    llvm::Expected<CompileResult> R = compileWith(
        For, Left, Precompiled ? precompiledFor(For, Left) : nullptr, &Skipped,
        &Errors);
    if (R) {
      R->Skipped = !Skipped.empty();
      R->Lacking = Lacking;
    }
    if (!R || R->Code || Errors.empty() || Round == Rounds)
      return R;
    std::optional<std::vector<std::string>> Less =
        takeOut(Errors, whyWithout(Skipped, R->Diagnostics), Left);
    if (!Less || !mayLack(Request, *Less))
      return R;
    Lacking.insert(Lacking.end(), Less->begin(), Less->end());
  }
}

/// Once, or in the rounds that a lenient request may take.
static llvm::Expected<CompileResult>
compileOnce(Side For, const CompileRequest &Request, bool Precompiled) {
  if (Request.Lenient)
    return compileLeniently(For, Request, Precompiled);
  return compileWith(For, Request,
                     Precompiled ? precompiledFor(For, Request) : nullptr);
}

llvm::Expected<CompileResult> sim::compileFor(Side For,
                                              const CompileRequest &Request) {
  // What does not compile with the precompiled headers may do so without them:
  // the system's are others now, or this is another processor.
  for (bool Precompiled : {true, false}) {
    if (Precompiled && !precompiledFor(For, Request))
      continue;
    llvm::Expected<CompileResult> R = compileOnce(For, Request, Precompiled);
    if (R && R->Code) {
      R->HeadersParsed = !Precompiled;
      return R;
    }
    if (!Precompiled && !Request.Lenient)
      return R;
    llvm::consumeError(R.takeError());
  }
  // All of its errors are told, in the source as it is.
  return compileWith(For, Request, nullptr);
}
