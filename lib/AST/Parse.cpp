//===- Parse.cpp - A CUDA source as Clang sees it ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "EmbeddedHeaders.h"
#include "stark/AST/Flags.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

/// Headers of our own, by the names under which Clang sees them.
static constexpr char HeaderFolder[] = "/stark-headers";

namespace {
/// Keeps errors; where they lie decides which sites can be edited.
class ErrorCollector : public clang::DiagnosticConsumer {
public:
  explicit ErrorCollector(std::vector<SourceError> &Errors) : Errors(Errors) {}

  void BeginSourceFile(const clang::LangOptions &,
                       const clang::Preprocessor *PP) override {
    // A header that is not found must not end the reading.
    if (PP)
      PP->getDiagnostics().setFatalsAsError(true);
  }

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
    std::string Name = absolutePath(File.getName());
    if (!llvm::StringRef(Name).starts_with(HeaderFolder))
      Files.push_back(std::move(Name));
  }
  llvm::sort(Files);
  return Files;
}

/// The toolkit's headers with what Clang lacks for them; without a toolkit a
/// small set of our own.
static void addToolkit(const ParseOptions &Options,
                       std::vector<std::string> &Arguments,
                       clang::tooling::FileContentMappings &Mapped) {
  std::optional<Toolkit> Found = findToolkit(Options.Toolkit);
  for (const EmbeddedHeader &H : embeddedHeaders(Found.has_value()))
    Mapped.push_back({std::string(HeaderFolder) + "/" + H.Name, H.Text});
  if (!Found) {
    // Who brings headers of their own wants none of ours.
    if (llvm::is_contained(Options.Flags, "-nocudainc"))
      return;
    Arguments.insert(Arguments.end(),
                     {"-nocudainc", "-isystem", HeaderFolder, "-include",
                      std::string(HeaderFolder) + "/cuda_runtime.h"});
    return;
  }
  std::string Version = std::to_string(Found->Major);
  Arguments.insert(Arguments.end(),
                   {"--cuda-path=" + Found->Root, "-isystem",
                    Found->Root + "/include/cccl", "-idirafter", HeaderFolder,
                    "-include", std::string(HeaderFolder) + "/stark_compat.h",
                    "-D__CUDACC_VER_MAJOR__=" + Version,
                    "-D__CUDACC_VER_MINOR__=" + std::to_string(Found->Minor),
                    "-D__CUDACC_VER_BUILD__=0"});
}

std::string stark::clangResourceFolder() {
  // A program that brings its Clang brings Clang's headers too.
  std::string Brought = programFolder() + "/../share/stark/clang";
  return llvm::sys::fs::exists(Brought + "/include") ? Brought
                                                     : STARK_CLANG_RESOURCES;
}

llvm::Expected<std::unique_ptr<ParsedSource>>
stark::parseSource(llvm::StringRef Path, llvm::StringRef Text,
                   const ParseOptions &Options) {
  std::vector<std::string> Arguments{
      "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=" + Options.Arch,
      "-nocudalib", "-Wno-unknown-cuda-version", "-Xclang",
      "-target-sdk-version=12.5", "-resource-dir", clangResourceFolder(),
      "-std=c++17", "-ferror-limit=0",
      // Says what the preprocessor skipped.
      "-Xclang", "-detailed-preprocessing-record", "-w"};
  clang::tooling::FileContentMappings Mapped;
  addToolkit(Options, Arguments, Mapped);
  for (std::string &Flag : parseFlags(Options.Flags, Options.Folder))
    Arguments.push_back(std::move(Flag));

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

llvm::Error stark::addFlagsFromDatabase(llvm::StringRef File,
                                        ParseOptions &Options) {
  namespace path = llvm::sys::path;
  std::string Absolute = absolutePath(File);
  for (llvm::StringRef Folder = path::parent_path(Absolute); !Folder.empty();
       Folder = path::parent_path(Folder)) {
    std::string Name = (Folder + "/compile_commands.json").str();
    if (!llvm::sys::fs::exists(Name))
      continue;
    std::string Problem;
    auto Database = clang::tooling::JSONCompilationDatabase::loadFromFile(
        Name, Problem, clang::tooling::JSONCommandLineSyntax::Gnu);
    if (!Database)
      return usageError("'" + Name + "': " + llvm::StringRef(Problem).trim());
    std::vector<clang::tooling::CompileCommand> Commands =
        Database->getCompileCommands(Absolute);
    if (!Commands.empty() && Commands.front().CommandLine.size() > 1) {
      const clang::tooling::CompileCommand &C = Commands.front();
      Options.Folder = C.Directory;
      Options.Flags.assign(C.CommandLine.begin() + 1, C.CommandLine.end());
    }
    return llvm::Error::success();
  }
  return llvm::Error::success();
}
