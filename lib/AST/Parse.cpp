//===- Parse.cpp - A CUDA source as Clang sees it ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "EmbeddedHeaders.h"
#include "SourceTokens.h"
#include "stark/AST/Flags.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <cstring>

using namespace stark;

/// Headers of our own, by the names under which Clang sees them.
static constexpr char HeaderFolder[] = "/stark-headers";
/// What is precompiled and what came of it, likewise.
static constexpr char PreludeSource[] = "/stark-headers/prelude.cu";
static constexpr char PreludeFile[] = "/stark-headers/prelude.pch";

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
                       llvm::vfs::InMemoryFileSystem &Files) {
  std::optional<Toolkit> Found = findToolkit(Options.Toolkit);
  for (const EmbeddedHeader &H : embeddedHeaders(Found.has_value()))
    Files.addFile(std::string(HeaderFolder) + "/" + H.Name, 0,
                  llvm::MemoryBuffer::getMemBuffer(H.Text));
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

static bool liesInMainFile(const clang::SourceManager &SM,
                           const clang::Decl &D) {
  for (clang::SourceLocation At :
       {D.getLocation(), D.getBeginLoc(), D.getEndLoc()})
    if (At.isValid() && SM.isInMainFile(SM.getExpansionLoc(At)))
      return true;
  return false;
}

std::string stark::clangResourceFolder() {
  // A program that brings its Clang brings Clang's headers too.
  std::string Brought = programFolder() + "/../share/stark/clang";
  return llvm::sys::fs::exists(Brought + "/include") ? Brought
                                                     : STARK_CLANG_RESOURCES;
}

namespace {
/// Makes the AST and leaves it to its owner.
class UnitAction : public clang::tooling::ToolAction {
public:
  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> Invocation,
                     clang::FileManager *Files,
                     std::shared_ptr<clang::PCHContainerOperations> Containers,
                     clang::DiagnosticConsumer *Diagnostics) override {
    Unit = clang::ASTUnit::LoadFromCompilerInvocation(
        Invocation, std::move(Containers),
        clang::CompilerInstance::createDiagnostics(
            &Invocation->getDiagnosticOpts(), Diagnostics,
            /*ShouldOwnClient=*/false),
        Files);
    return Unit != nullptr;
  }
  std::unique_ptr<clang::ASTUnit> Unit;
};
} // namespace

/// A prelude holds Clang's file, the text that it was made of, and that text's
/// length in eight bytes: the file comes first for its alignment.
static void addText(std::string &Precompiled, const std::string &Text) {
  uint64_t Size = Text.size();
  Precompiled += Text;
  Precompiled.append(reinterpret_cast<const char *>(&Size), sizeof(Size));
}

static std::pair<llvm::StringRef, llvm::StringRef>
splitPrecompiled(llvm::StringRef Precompiled) {
  uint64_t Size;
  std::memcpy(&Size, Precompiled.end() - sizeof(Size), sizeof(Size));
  Precompiled = Precompiled.drop_back(sizeof(Size));
  return {Precompiled.drop_back(Size), Precompiled.take_back(Size)};
}

/// \p Precompiled is empty or outlives the unit.
static std::unique_ptr<clang::ASTUnit>
makeUnit(const std::string &Path, llvm::StringRef Text,
         const ParseOptions &Options, llvm::StringRef Precompiled,
         std::vector<SourceError> &Errors) {
  std::vector<std::string> Arguments{
      "stark-tool", "-fsyntax-only", "-x", "cuda", "--cuda-device-only",
      "--cuda-gpu-arch=" + Options.Arch, "-nocudalib",
      "-Wno-unknown-cuda-version", "-Xclang", "-target-sdk-version=12.5",
      "-resource-dir", clangResourceFolder(), "-std=c++17", "-ferror-limit=0",
      // Says what the preprocessor skipped.
      "-Xclang", "-detailed-preprocessing-record", "-w"};
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  addToolkit(Options, Arguments, *Memory);
  for (std::string &Flag : parseFlags(Options.Flags, Options.Folder))
    Arguments.push_back(std::move(Flag));
  if (!Precompiled.empty()) {
    // Clang wants to see what it made the file of.
    auto [Kept, Made] = splitPrecompiled(Precompiled);
    Memory->addFile(PreludeSource, 0,
                    llvm::MemoryBuffer::getMemBufferCopy(Made));
    Memory->addFile(PreludeFile, 0,
                    llvm::MemoryBuffer::getMemBuffer(
                        Kept, PreludeFile, /*RequiresNullTerminator=*/false));
    Arguments.insert(Arguments.end(), {"-include-pch", PreludeFile});
  }
  Memory->addFile(Path, 0, llvm::MemoryBuffer::getMemBufferCopy(Text));
  Arguments =
      clang::tooling::getClangStripDependencyFileAdjuster()(Arguments, Path);
  Arguments.push_back(Path);

  auto Overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::vfs::getRealFileSystem());
  Overlay->pushOverlay(Memory);
  auto Files = llvm::makeIntrusiveRefCnt<clang::FileManager>(
      clang::FileSystemOptions(), Overlay);
  ErrorCollector Collector(Errors);
  UnitAction Action;
  clang::tooling::ToolInvocation Invocation(
      Arguments, &Action, Files.get(),
      std::make_shared<clang::PCHContainerOperations>());
  Invocation.setDiagnosticConsumer(&Collector);
  if (!Invocation.run() || !Action.Unit)
    return nullptr;
  // The collector goes, and what is read later may still have something to say.
  Action.Unit->getDiagnostics().setClient(new clang::IgnoringDiagConsumer(),
                                          /*ShouldOwnClient=*/true);
  return std::move(Action.Unit);
}

llvm::Expected<std::unique_ptr<ParsedSource>>
stark::parseSource(llvm::StringRef Path, llvm::StringRef Text,
                   const ParseOptions &Options, const Prelude *Known) {
  std::vector<SourceError> Errors;
  std::string Absolute = absolutePath(Path);
  std::unique_ptr<clang::ASTUnit> Unit =
      makeUnit(Absolute, Text, Options,
               Known && Known->opens(Text) ? Known->precompiled() : "", Errors);
  if (!Unit)
    return failed("'" + Path + "': Clang could not make an AST of it" +
                  (Errors.empty() ? "" : ": " + Errors.front().Message));
  // What walks the AST asks for its own declarations, not for all that headers
  // declare.
  std::vector<clang::Decl *> Own;
  const clang::SourceManager &SM = Unit->getSourceManager();
  for (auto I = Unit->top_level_begin(), E = Unit->top_level_end(); I != E; ++I)
    if (*I && liesInMainFile(SM, **I))
      Own.push_back(*I);
  Unit->getASTContext().setTraversalScope(Own);
  return std::make_unique<ParsedSource>(Absolute, Text.str(), std::move(Unit),
                                        std::move(Errors));
}

namespace {
/// Clang keeps the functions whose CUDA errors it reports at the end of a file
/// to itself; an explicit instantiation may name what is private.
template <auto Member> struct SemaMember {
  friend auto &functionsToCheck(clang::Sema &S) { return S.*Member; }
};
auto &functionsToCheck(clang::Sema &S);
template struct SemaMember<&clang::Sema::DeclsToCheckForDeferredDiags>;
} // namespace

/// The headers between <> that \p Text begins with.
static std::vector<std::string> leadingIncludes(llvm::StringRef Text) {
  Spellings Names;
  SourceTokens Tokens(Text, Names);
  std::vector<std::string> Includes;
  for (size_t I = 0; I + 3 < Tokens.All.size();) {
    auto Is = [&](size_t At, llvm::StringRef Word) {
      return At < Tokens.All.size() && Tokens.All[At].InDirective &&
             Tokens.text(At) == Word;
    };
    if (!Is(I, "#") || !Is(I + 1, "include") || !Is(I + 2, "<"))
      break;
    size_t Begin = Tokens.All[I + 2].Bytes.End;
    for (I += 3; I < Tokens.All.size() &&
                 Tokens.All[I].Kind != SourceToken::EndOfDirective;)
      ++I;
    llvm::StringRef Name = Text.slice(Begin, Tokens.All[I - 1].Bytes.Begin);
    if (Tokens.text(I - 1) != ">" || Name.contains('\n') || Name.contains('>'))
      break;
    Includes.push_back(Name.str());
    ++I;
  }
  return Includes;
}

std::unique_ptr<const Prelude> Prelude::make(const ParsedSource &Source,
                                             const ParseOptions &Options) {
  clang::Preprocessor &PP = Source.unit().getPreprocessor();
  auto Made = std::make_unique<Prelude>();
  Made->Includes = leadingIncludes(Source.text());
  // A header that says something else when it is read again is not shared, nor
  // is what comes after it.
  const clang::SourceManager &SM = Source.unit().getSourceManager();
  clang::PreprocessingRecord *Record = PP.getPreprocessingRecord();
  size_t Guarded = 0;
  if (Record)
    for (clang::PreprocessedEntity *E : Record->getPreprocessedEntitiesInRange(
             {SM.getLocForStartOfFile(SM.getMainFileID()),
              SM.getLocForEndOfFile(SM.getMainFileID())})) {
      auto *Include = llvm::dyn_cast_or_null<clang::InclusionDirective>(E);
      if (!Include || !SM.isInMainFile(Include->getSourceRange().getBegin()))
        continue;
      clang::OptionalFileEntryRef File = Include->getFile();
      if (Guarded == Made->Includes.size() ||
          Include->getFileName() != Made->Includes[Guarded] || !File ||
          !PP.getHeaderSearchInfo().isFileMultipleIncludeGuarded(*File))
        break;
      ++Guarded;
    }
  Made->Includes.resize(Guarded);
  std::string Text;
  for (const std::string &Name : Made->Includes)
    Text += "#include <" + Name + ">\n";
  std::vector<SourceError> Errors;
  std::unique_ptr<clang::ASTUnit> Unit =
      makeUnit(PreludeSource, Text, Options, "", Errors);
  if (!Unit || !Errors.empty() || !Unit->hasSema())
    return nullptr;
  // These have been checked just now; kept, they would be read and checked
  // again with each candidate.
  functionsToCheck(Unit->getSema()).clear();
  llvm::raw_string_ostream OS(Made->Precompiled);
  if (Unit->serialize(OS))
    return nullptr;
  addText(Made->Precompiled, Text);
  return Made;
}

bool Prelude::opens(llvm::StringRef Text) const {
  std::vector<std::string> Theirs = leadingIncludes(Text);
  return Theirs.size() >= Includes.size() &&
         std::equal(Includes.begin(), Includes.end(), Theirs.begin());
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
