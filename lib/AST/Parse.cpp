//===- Parse.cpp - A CUDA source as Clang sees it ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/Path.h"

using namespace stark;

namespace {
/// Keeps errors; where they lie decides which sites can be edited.
class ErrorCollector : public clang::DiagnosticConsumer {
public:
  explicit ErrorCollector(std::vector<SourceError> &Errors) : Errors(Errors) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level < clang::DiagnosticsEngine::Error)
      return;
    llvm::SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    SourceError Found;
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

private:
  std::vector<SourceError> &Errors;
};
} // namespace

ParsedSource::ParsedSource(std::string Path, std::string Text,
                           std::unique_ptr<clang::ASTUnit> Unit,
                           std::vector<SourceError> Errors)
    : Path(std::move(Path)), Text(std::move(Text)), Unit(std::move(Unit)),
      Errors(std::move(Errors)) {}

ParsedSource::~ParsedSource() = default;

std::vector<std::string> ParsedSource::includedFiles() const {
  std::vector<std::string> Files;
  const clang::SourceManager &SM = Unit->getSourceManager();
  for (auto I = SM.fileinfo_begin(), E = SM.fileinfo_end(); I != E; ++I) {
    clang::FileEntryRef File = I->first;
    clang::FileID Id = SM.translateFile(File);
    if (Id.isInvalid() || Id == SM.getMainFileID() ||
        clang::SrcMgr::isSystem(
            SM.getFileCharacteristic(SM.getLocForStartOfFile(Id))))
      continue;
    Files.push_back(absolutePath(File.getName()));
  }
  llvm::sort(Files);
  return Files;
}

llvm::Expected<std::unique_ptr<ParsedSource>>
stark::parseSource(llvm::StringRef Path, llvm::StringRef Text,
                   const ParseOptions &Options) {
  std::vector<std::string> Arguments{
      "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=" + Options.Arch,
      "-nocudalib", "-Wno-unknown-cuda-version", "-Xclang",
      "-target-sdk-version=12.5", "-resource-dir", STARK_CLANG_RESOURCES,
      "-std=c++17", "-ferror-limit=0",
      // Says what the preprocessor skipped.
      "-Xclang", "-detailed-preprocessing-record", "-w"};
  clang::tooling::FileContentMappings Mapped;
  if (std::optional<Toolkit> Found = findToolkit(Options.Toolkit)) {
    Arguments.push_back("--cuda-path=" + Found->Root);
    Arguments.push_back("-isystem");
    Arguments.push_back(Found->Root + "/include/cccl");
    Arguments.push_back("-I/stark-headers");
    Mapped.push_back({"/stark-headers/texture_fetch_functions.h", ""});
  }
  Arguments.insert(Arguments.end(), Options.Flags.begin(), Options.Flags.end());

  std::vector<SourceError> Errors;
  ErrorCollector Collector(Errors);
  std::string Absolute = absolutePath(Path);
  std::unique_ptr<clang::ASTUnit> Unit =
      clang::tooling::buildASTFromCodeWithArgs(
          Text, Arguments, Absolute, "stark-tool",
          std::make_shared<clang::PCHContainerOperations>(),
          clang::tooling::getClangStripDependencyFileAdjuster(), Mapped,
          &Collector);
  if (!Unit)
    return failed("'" + Path + "': Clang could not make an AST of it" +
                  (Errors.empty() ? "" : ": " + Errors.front().Message));
  return std::make_unique<ParsedSource>(Absolute, Text.str(), std::move(Unit),
                                        std::move(Errors));
}

llvm::Expected<std::vector<std::string>>
stark::flagsFromDatabase(llvm::StringRef Folder, llvm::StringRef File) {
  std::string Problem;
  std::unique_ptr<clang::tooling::CompilationDatabase> Database =
      clang::tooling::CompilationDatabase::autoDetectFromDirectory(Folder,
                                                                   Problem);
  if (!Database)
    return std::vector<std::string>();
  auto Commands = Database->getCompileCommands(absolutePath(File));
  if (Commands.empty())
    return std::vector<std::string>();
  std::vector<std::string> Flags = Commands.front().CommandLine;
  if (!Flags.empty())
    Flags.erase(Flags.begin());
  return Flags;
}
