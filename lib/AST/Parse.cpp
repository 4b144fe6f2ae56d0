//===- Parse.cpp - A CUDA source as Clang sees it ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "EmbeddedHeaders.h"
#include "ErrorCollector.h"
#include "MainFile.h"
#include "Unit.h"
#include "stark/AST/Flags.h"
#include "stark/AST/LaunchText.h"
#include "stark/AST/Prelude.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Support/TimeTrace.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>

using namespace stark;

/// What came of PreludeSource, likewise.
static constexpr char PreludeFile[] = "/stark-headers/prelude.pch";

namespace {
/// The disk, of which only files and folders are seen: reading a device or a
/// pipe may never end.
class FilesOnly : public llvm::vfs::ProxyFileSystem {
public:
  FilesOnly() : ProxyFileSystem(llvm::vfs::getRealFileSystem()) {}

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override {
    llvm::ErrorOr<llvm::vfs::Status> Found = status(Path);
    if (Found && !Found->isRegularFile())
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return ProxyFileSystem::openFileForRead(Path);
  }
};
} // namespace

ParsedSource::ParsedSource(std::string Path, std::string Text,
                           std::unique_ptr<clang::ASTUnit> Unit,
                           std::vector<SourceError> Errors)
    : Path(std::move(Path)), Text(std::move(Text)), Unit(std::move(Unit)),
      Errors(std::move(Errors)) {}

ParsedSource::~ParsedSource() = default;

/// "sm_90a" -> "900", as nvcc tells both passes.
static std::string archList(llvm::StringRef Arch) {
  Arch.consume_front("sm_");
  return Arch.take_while(llvm::isDigit).str() + "0";
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
                    "-D__NVCC__",
                    "-D__CUDA_ARCH_LIST__=" + archList(Options.Arch),
                    "-D__CUDACC_VER_MAJOR__=" + Version,
                    "-D__CUDACC_VER_MINOR__=" + std::to_string(Found->Minor),
                    "-D__CUDACC_VER_BUILD__=0"});
}

/// Where a folder of \p Flags has a cuda.h of its own, what Clang reads first
/// by that name is the toolkit's all the same, as nvcc does.
static void addCudaHeader(const ParseOptions &Options,
                          llvm::ArrayRef<std::string> Flags,
                          std::vector<std::string> &Arguments,
                          llvm::vfs::InMemoryFileSystem &Files) {
  bool Own = false;
  for (size_t I = 0; I < Flags.size(); ++I) {
    llvm::StringRef Folder = Flags[I];
    if (!Folder.consume_front("-I"))
      continue;
    if (Folder.empty() && I + 1 < Flags.size())
      Folder = Flags[I + 1];
    Own |= llvm::sys::fs::exists(Folder + "/cuda.h");
  }
  std::optional<Toolkit> Found =
      Own ? findToolkit(Options.Toolkit) : std::nullopt;
  if (!Found)
    return;
  std::string First = std::string(HeaderFolder) + "/first";
  Files.addFile(First + "/cuda.h", 0,
                llvm::MemoryBuffer::getMemBufferCopy(
                    "#pragma GCC system_header\n"
                    "#ifdef STARK_CUDA_H\n#include_next <cuda.h>\n#else\n"
                    "#define STARK_CUDA_H\n#include \"" +
                    Found->Root + "/include/cuda.h\"\n#endif\n"));
  Arguments.push_back("-I" + First);
}

/// Where the headers of libtorch are, for a source that has them, and that they
/// are the system's wherever flags name them: Clang forgets an -I of the same
/// folder. Without them a source is read as far as that goes.
static void addTorch(const ParseOptions &Options, llvm::StringRef Text,
                     std::vector<std::string> &Arguments) {
  std::vector<std::string> Folders = torchFolders(Options);
  if (includesTorch(Text)) {
    if (llvm::Expected<posix::Libtorch> Torch = torchFor(Options))
      Folders = Torch->Includes;
    else
      llvm::consumeError(Torch.takeError());
  }
  for (const std::string &Folder : Folders)
    Arguments.insert(Arguments.end(), {"-isystem", Folder});
}

static bool liesInMainFile(const clang::SourceManager &SM,
                           const clang::Decl &D) {
  for (clang::SourceLocation At :
       {D.getLocation(), D.getBeginLoc(), D.getEndLoc()})
    if (isInMainFile(SM, At))
      return true;
  return false;
}

std::string stark::clangResourceFolder() {
  // A program that brings its Clang brings Clang's headers too.
  return sharedFolder("clang", STARK_CLANG_RESOURCES);
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

/// Headers in place of those on the disk, by their absolute paths.
using ChangedHeaders = std::map<std::string, std::string>;

static std::unique_ptr<clang::ASTUnit>
makeUnitWith(const std::string &Path, llvm::StringRef Text,
             const ParseOptions &Options, const Prelude *Known,
             std::vector<SourceError> &Errors, PassOf Pass,
             const ChangedHeaders &Changed, LackedWords &Lacked) {
  std::vector<std::string> Arguments{
      "stark-tool", "-fsyntax-only", "-x", "cuda",
      Pass == PassOf::Device ? "--cuda-device-only" : "--cuda-host-only",
      "--cuda-gpu-arch=" + Options.Arch, "-nocudalib",
      "-Wno-unknown-cuda-version", "-Wno-register",
      "-Wno-c++11-narrowing", // nvcc takes these
      "-Xclang", "-target-sdk-version=12.5", "-resource-dir",
      clangResourceFolder(), "-std=c++17", "-ferror-limit=0",
      // Says what the preprocessor skipped.
      "-Xclang", "-detailed-preprocessing-record", "-w"};
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  addToolkit(Options, Arguments, *Memory);
  std::vector<std::string> Flags = parseFlags(Options.Flags, Options.Folder);
  addCudaHeader(Options, Flags, Arguments, *Memory);
  for (std::string &Flag : Flags)
    Arguments.push_back(std::move(Flag));
  addTorch(Options, Text, Arguments);
  if (Known) {
    // Clang wants to see what it made the file of.
    Memory->addFile(PreludeSource, 0,
                    llvm::MemoryBuffer::getMemBuffer(Known->madeOf()));
    Memory->addFile(PreludeFile, 0,
                    llvm::MemoryBuffer::getMemBuffer(Known->precompiled()));
    // Of the system's headers, too, it is asked whether they have changed. Of
    // which there may be errors, Prelude says.
    Arguments.insert(Arguments.end(),
                     {"-include-pch", PreludeFile, "-Xclang",
                      "-fmodules-validate-system-headers", "-Xclang",
                      "-fallow-pch-with-compiler-errors"});
  }
  Memory->addFile(Path, 0,
                  llvm::MemoryBuffer::getMemBufferCopy(launchesForClang(Text)));
  for (const auto &[Header, ItsText] : Changed)
    Memory->addFile(Header, 0, llvm::MemoryBuffer::getMemBufferCopy(ItsText));
  Arguments =
      clang::tooling::getClangStripDependencyFileAdjuster()(Arguments, Path);
  Arguments.push_back(Path);

  auto Overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      filesForClang(llvm::makeIntrusiveRefCnt<FilesOnly>()));
  Overlay->pushOverlay(Memory);
  auto Files = llvm::makeIntrusiveRefCnt<clang::FileManager>(
      clang::FileSystemOptions(), Overlay);
  ErrorCollector Collector(Errors, Lacked);
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

/// Puts the words into \p Changed, of files that can be read.
static void addWords(const LackedWords &Lacked, ChangedHeaders &Changed) {
  for (const auto &[Header, Places] : Lacked) {
    auto Known = Changed.find(Header);
    if (Known == Changed.end()) {
      llvm::Expected<std::string> Text = readFile(Header);
      if (!Text) {
        llvm::consumeError(Text.takeError());
        continue;
      }
      Known = Changed.emplace(Header, std::move(*Text)).first;
    }
    Known->second = withTemplateWords(Known->second, Places);
  }
}

std::unique_ptr<clang::ASTUnit>
stark::makeUnit(const std::string &Path, llvm::StringRef Text,
                const ParseOptions &Options, const Prelude *Known,
                std::vector<SourceError> &Errors, PassOf Pass) {
  // One word may let Clang see where the next is lacking.
  constexpr unsigned Most = 4;
  ChangedHeaders Changed;
  std::unique_ptr<clang::ASTUnit> Unit;
  for (unsigned Turn = 0; Turn < Most; ++Turn) {
    std::vector<SourceError> Now;
    LackedWords Lacked;
    std::unique_ptr<clang::ASTUnit> Made =
        makeUnitWith(Path, Text, Options, Known, Now, Pass, Changed, Lacked);
    // What does not help is left alone.
    if (Turn && (!Made || Now.size() > Errors.size()))
      break;
    Unit = std::move(Made);
    Errors = std::move(Now);
    if (!Unit || Lacked.empty())
      break;
    addWords(Lacked, Changed);
  }
  return Unit;
}

std::unique_ptr<clang::ASTUnit>
stark::makeUnitAnyway(const std::string &Path, llvm::StringRef Text,
                      const ParseOptions &Options, const Prelude *Known,
                      std::vector<SourceError> &Errors, PassOf Pass) {
  std::unique_ptr<clang::ASTUnit> Unit =
      makeUnit(Path, Text, Options, Known, Errors, Pass);
  if (Unit || !Known)
    return Unit;
  Known->forget();
  Errors.clear();
  return makeUnit(Path, Text, Options, nullptr, Errors, Pass);
}

llvm::Expected<std::unique_ptr<ParsedSource>>
stark::parseSource(llvm::StringRef Path, llvm::StringRef Text,
                   const ParseOptions &Options, const Prelude *Known) {
  TraceScope Traced("parse");
  std::vector<SourceError> Errors;
  std::string Absolute = absolutePath(Path);
  bool Torch = includesTorch(Text);
  if (Known && !Known->opens(Text))
    Known = nullptr;
  const Prelude *Slow =
      Torch ? nullptr : Prelude::ofIncludes(Text, Options, Known);
  if (Slow)
    Known = Slow;
  else if (!Known)
    Known = Torch ? Prelude::ofTorch(Options) : Prelude::ofToolkit(Options);
  std::unique_ptr<clang::ASTUnit> Unit =
      makeUnitAnyway(Absolute, Text, Options, Known, Errors);
  if (Unit && Slow && Slow->mayDiffer(Text, *Unit, !Errors.empty())) {
    Errors.clear();
    Unit.reset();
    Unit = makeUnitAnyway(Absolute, Text, Options, Prelude::ofToolkit(Options),
                          Errors);
  }
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

std::vector<SourceError> stark::newErrors(const ParsedSource &Before,
                                          const ParsedSource &After) {
  std::map<std::pair<unsigned, llvm::StringRef>, int> Counts;
  for (const SourceError &E : Before.errors())
    ++Counts[{E.Id, E.Message}];
  std::vector<SourceError> New;
  for (const SourceError &E : After.errors())
    if (--Counts[{E.Id, E.Message}] < 0)
      New.push_back(E);
  return New;
}
