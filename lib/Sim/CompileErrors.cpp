//===- CompileErrors.cpp - What Clang says of a source, and where ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileErrors.h"
#include "Headers.h"
#include "stark/AST/Toolkit.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/LexDiagnostic.h"

using namespace stark;
using namespace stark::sim;

/// An operand of inline PTX that Clang does not read for this CPU.
static bool isPtxOperand(unsigned Diagnostic) {
  using namespace clang::diag;
  return llvm::is_contained<unsigned>(
      {err_asm_invalid_type, err_asm_invalid_type_in_input,
       err_asm_invalid_input_constraint, err_asm_invalid_output_constraint,
       err_asm_invalid_lvalue_in_input, err_asm_invalid_lvalue_in_output,
       err_asm_unknown_register_name},
      Diagnostic);
}

static bool isAbsentLibrary(llvm::StringRef Header) {
  for (const char *Prefix :
       {"cub/", "thrust/", "cuda/", "cutlass/", "cute/", "cublas", "cudnn",
        "cufft", "curand", "cusparse", "cusolver", "nccl", "opencv"})
    if (Header.starts_with(Prefix))
      return true;
  return false;
}

static std::string line(llvm::StringRef Level, const clang::Diagnostic &D) {
  llvm::SmallString<128> Text;
  D.FormatDiagnostic(Text);
  clang::PresumedLoc At = D.getSourceManager().getPresumedLoc(D.getLocation());
  return (At.getFilename() + llvm::Twine(":") + llvm::Twine(At.getLine()) +
          ":" + llvm::Twine(At.getColumn()) + ": " + Level + Text)
      .str();
}

void ErrorPrinter::HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                                    const clang::Diagnostic &D) {
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

/// Whether stubs may stand in for what is in \p Name.
static bool isUsers(llvm::StringRef Name) {
  static const std::string Toolkit =
      findToolkit().value_or(stark::Toolkit()).Root;
  return !Name.empty() && !Name.starts_with("/usr/") &&
         !Name.starts_with(HeaderFolder) &&
         (Toolkit.empty() || !Name.starts_with(Toolkit));
}

void ErrorPrinter::note(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &D) {
  bool IsError = Level >= clang::DiagnosticsEngine::Error;
  if (IsError)
    settle();
  if (!IsError && !(Open && Level == clang::DiagnosticsEngine::Note))
    return;
  Open = Open || IsError;
  if (!D.hasSourceManager() || !D.getLocation().isValid())
    return;
  const clang::SourceManager &Files = D.getSourceManager();
  auto [File, Offset] =
      Files.getDecomposedLoc(Files.getFileLoc(D.getLocation()));
  clang::OptionalFileEntryRef Entry = Files.getFileEntryRefForID(File);
  std::string Name = Entry ? Entry->getName().str() : "";
  if (File == Files.getMainFileID()) {
    Found[Name].push_back(Offset);
    Open = false;
    Header.reset();
  } else if (!Header && isUsers(Name)) {
    Header = Place{Name, Offset};
  }
}

void ErrorPrinter::settle() {
  if (Open && Header)
    Found[Header->File].push_back(Header->Offset);
  else if (Open)
    Elsewhere = true;
  Open = false;
  Header.reset();
}

ErrorPlaces ErrorPrinter::places() {
  settle();
  return Elsewhere ? ErrorPlaces() : Found;
}
