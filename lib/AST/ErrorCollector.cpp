//===- ErrorCollector.cpp - What Clang could not make sense of ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErrorCollector.h"
#include "clang/Basic/DiagnosticParse.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// Whether it is Clang alone that refuses this: nvcc has more of CUDA. Device
/// code may hold \p Launches where it can be relocated.
static bool isFineForNvcc(const clang::Diagnostic &Info,
                          llvm::StringRef Message, bool Launches) {
  if (Info.getID() == clang::diag::err_shared_var_init)
    return true; // a class like cuda::barrier, which nvcc does not construct
  if (!Info.hasSourceManager() || Info.getLocation().isInvalid())
    return false;
  llvm::StringRef Text = Info.getSourceManager().getCharacterData(
      Info.getSourceManager().getSpellingLoc(Info.getLocation()));
  // `__shared__ alignas(16) int a[4]`
  if (Info.getID() == clang::diag::err_attributes_not_allowed)
    return Text.starts_with("alignas");
  // A kernel is launched by a kernel.
  if (Info.getID() == clang::diag::err_ovl_no_viable_function_in_call) {
    llvm::StringRef Name =
        Text.take_while([](char C) { return llvm::isAlnum(C) || C == '_'; });
    llvm::StringRef Rest = Text.substr(Name.size()).ltrim();
    return Launches && (Rest.starts_with("<<<") ||
                        (Rest.starts_with("<") && Rest.take_until([](char C) {
                                                        return C == ';' ||
                                                               C == '(' ||
                                                               C == '{';
                                                      })
                                                      .contains("<<<")));
  }
  return Launches && Info.getID() == clang::diag::err_ref_bad_target &&
         (Message.contains("__global__ function '") ||
          Message.contains("'__cudaPushCallConfiguration'")) &&
         Message.ends_with("in __global__ function");
}

void ErrorCollector::BeginSourceFile(const clang::LangOptions &Language,
                                     const clang::Preprocessor *PP) {
  Launches = Language.GPURelocatableDeviceCode;
  // A header that is not found must not end the reading.
  if (PP)
    PP->getDiagnostics().setFatalsAsError(true);
}

void ErrorCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                                      const clang::Diagnostic &Info) {
  DiagnosticConsumer::HandleDiagnostic(Level, Info);
  if (Level < clang::DiagnosticsEngine::Error)
    return;
  llvm::SmallString<128> Message;
  Info.FormatDiagnostic(Message);
  if (isFineForNvcc(Info, Message, Launches))
    return;
  noteLackedWord(Info, Lacked);
  SourceError Found;
  Found.Id = Info.getID();
  Found.Message = std::string(Message);
  if (Info.hasSourceManager() && Info.getLocation().isValid()) {
    const clang::SourceManager &SM = Info.getSourceManager();
    clang::SourceLocation At = SM.getExpansionLoc(Info.getLocation());
    if (SM.isInMainFile(At)) {
      Found.Line = SM.getSpellingLineNumber(At);
      Found.Column = SM.getSpellingColumnNumber(At);
      Found.Offset = SM.getFileOffset(At);
    }
  }
  Errors.push_back(std::move(Found));
}
