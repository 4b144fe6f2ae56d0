//===- OwnCompiler.cpp - Our own Clang as a C++ compiler ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   words -> driver -> arguments of -cc1 -> object, or precompiled header
///
//===----------------------------------------------------------------------===//

#include "stark/HostCode/OwnCompiler.h"
#include "stark/AST/Parse.h"
#include "stark/HostCode/CompileCommand.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

namespace {
/// Prints, and knows an error of what was precompiled from one of the text.
class Printer : public clang::TextDiagnosticPrinter {
public:
  using TextDiagnosticPrinter::TextDiagnosticPrinter;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &D) override {
    using namespace clang::diag;
    Stale |= Level >= clang::DiagnosticsEngine::Error &&
             D.getID() >= DIAG_START_SERIALIZATION &&
             D.getID() < DIAG_START_LEX;
    TextDiagnosticPrinter::HandleDiagnostic(Level, D);
  }
  bool Stale = false;
};
} // namespace

static std::unique_ptr<clang::FrontendAction>
actionFor(clang::frontend::ActionKind Kind) {
  if (Kind == clang::frontend::EmitObj)
    return std::make_unique<clang::EmitObjAction>();
  if (Kind == clang::frontend::GeneratePCH)
    return std::make_unique<clang::GeneratePCHAction>();
  return nullptr;
}

int stark::runOwnCompiler(llvm::ArrayRef<const char *> Words) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  std::vector<std::string> Full = {"clang++", "-resource-dir",
                                   clangResourceFolder()};
  Full.insert(Full.end(), Words.begin(), Words.end());
  auto DiagOptions = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  std::string Said;
  llvm::raw_string_ostream SaidStream(Said);
  Printer Print(SaidStream, DiagOptions.get());
  auto Diags = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), DiagOptions, &Print,
      /*ShouldOwnClient=*/false);
  std::vector<std::string> Arguments =
      compileArguments(Full, *Diags, llvm::vfs::getRealFileSystem());
  std::vector<const char *> Pointers;
  for (const std::string &A : Arguments)
    Pointers.push_back(A.c_str());
  clang::CompilerInstance Clang;
  bool Good = !Arguments.empty() && !Diags->hasErrorOccurred() &&
              clang::CompilerInvocation::CreateFromArgs(Clang.getInvocation(),
                                                        Pointers, *Diags);
  auto Action = actionFor(Clang.getFrontendOpts().ProgramAction);
  // What only a whole clang++ does is nothing to guess at.
  if (Good && (!Action || !Clang.getFrontendOpts().LLVMArgs.empty() ||
               !Clang.getFrontendOpts().Plugins.empty())) {
    SaidStream << "error: wanted an object or a precompiled header to be made, "
                  "with no plugin and no flag of LLVM's own\n";
    Good = false;
  }
  if (Good) {
    Clang.createDiagnostics(&Print, /*ShouldOwnClient=*/false);
    Clang.getFrontendOpts().DisableFree = true;
    Good = Clang.ExecuteAction(*Action) &&
           !Clang.getDiagnostics().hasErrorOccurred();
  }
  llvm::errs() << Said;
  return Good ? 0 : Print.Stale ? StaleHeaderCode : 1;
}

std::string stark::ownCompilerVersion() { return clang::getClangFullVersion(); }
