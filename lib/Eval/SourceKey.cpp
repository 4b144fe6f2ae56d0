//===- SourceKey.cpp - All that a source's library depends on -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceKey.h"
#include "HostCommand.h"
#include "HostFlags.h"
#include "stark/AST/Flags.h"
#include "stark/AST/IncludedFiles.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <map>

using namespace stark;
namespace fs = llvm::sys::fs;

/// More than a project's own headers are.
static constexpr size_t MostHeaders = 2000;

namespace {
/// What a text may include of the project, whatever its conditionals say: nvcc,
/// g++ and Clang, for the host and for the device, each see something else.
class ProjectHeaders {
public:
  /// \p Installed are folders whose headers are not the project's.
  ProjectHeaders(std::vector<std::string> Folders,
                 std::vector<std::string> Installed)
      : Folders(std::move(Folders)), Installed(std::move(Installed)) {}

  void read(llvm::StringRef Text, const std::string &Folder);
  void addFile(const std::string &Path);
  bool has(const std::string &Path) const { return Texts.count(Path); }
  /// Unset: the texts do not say what is compiled.
  const std::map<std::string, std::string> *all() const {
    return Tells && Texts.size() < MostHeaders ? &Texts : nullptr;
  }

private:
  bool isInstalled(llvm::StringRef Path) const {
    return llvm::any_of(Installed, [&](const std::string &Folder) {
      return Path.starts_with(Folder + "/");
    });
  }
  std::vector<std::string> Folders, Installed;
  std::map<std::string, std::string> Texts;
  bool Tells = true;
};
} // namespace

/// "include" or "import" of "#  include ..."; Rest is what follows it.
static bool isInclude(llvm::StringRef Line, llvm::StringRef &Rest) {
  Line = Line.ltrim();
  if (!Line.consume_front("#"))
    return false;
  Line = Line.ltrim();
  for (llvm::StringRef Word : {"include_next", "include", "import"})
    if (Line.consume_front(Word)) {
      Rest = Line.ltrim();
      return true;
    }
  return false;
}

void ProjectHeaders::read(llvm::StringRef Text, const std::string &Folder) {
  for (llvm::StringRef Word : {"__DATE__", "__TIME", "__has_include", "incbin"})
    Tells &= !Text.contains(Word);
  while (!Text.empty()) {
    auto [Line, Behind] = Text.split('\n');
    Text = Behind;
    llvm::StringRef Rest;
    if (!isInclude(Line, Rest))
      continue;
    bool Quoted = Rest.consume_front("\"");
    if (!Quoted && !Rest.consume_front("<")) {
      Tells = false;
      continue;
    }
    llvm::StringRef Name = Rest.take_until(
        [&](char C) { return C == (Quoted ? '"' : '>') || C == '\n'; });
    if (llvm::sys::path::is_absolute(Name))
      addFile(absolutePath(Name));
    if (Quoted)
      addFile(absolutePath(Folder + "/" + Name.str()));
    for (const std::string &Each : Folders)
      addFile(absolutePath(Each + "/" + Name.str()));
  }
}

void ProjectHeaders::addFile(const std::string &Path) {
  fs::file_status Status;
  if (has(Path) || isInstalled(Path) || Texts.size() >= MostHeaders ||
      fs::status(Path, Status) || !fs::is_regular_file(Status))
    return;
  llvm::Expected<std::string> Text = readText(Path);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    Tells = false;
    return;
  }
  std::string &Kept = Texts[Path] = std::move(*Text);
  read(std::string(Kept), llvm::sys::path::parent_path(Path).str());
}

/// What an installation brings anew.
static std::string stampOf(const std::string &Path) {
  fs::file_status Status;
  if (fs::status(Path, Status))
    return Path + " is not there";
  return Path + " " + std::to_string(Status.getSize()) + " " +
         std::to_string(
             Status.getLastModificationTime().time_since_epoch().count());
}

/// Whether all that \p Flags name is in the texts or has its own field.
static bool areTold(const std::vector<std::string> &Flags) {
  return areKnownToHosts(Flags) && !areOfProcessor(Flags) &&
         llvm::none_of(Flags, [](llvm::StringRef Flag) {
           return Flag.starts_with("-L") ||
                  (Flag.starts_with("-l") && Flag != "-lineinfo");
         });
}

/// Folders of \p Of where an include is looked for.
static std::vector<std::string> includeFolders(const Task &Of) {
  std::vector<std::string>
      Flags = parseFlags(Of.Parse.Flags, Of.Parse.Folder),
      Folders = {llvm::sys::path::parent_path(Of.SourcePath).str()};
  for (size_t I = 0; I + 1 < Flags.size(); ++I) {
    llvm::StringRef Flag = Flags[I];
    if (Flag != "-I" && Flag != "-isystem" && Flag != "-iquote" &&
        Flag != "-idirafter")
      continue;
    std::string Folder = Flags[++I];
    Folders.push_back(llvm::sys::path::is_absolute(Folder)
                          ? Folder
                          : absolutePath(Of.Parse.Folder.empty()
                                             ? Folder
                                             : Of.Parse.Folder + "/" + Folder));
  }
  return Folders;
}

static void addTools(DigestBuilder &Key, const BuildOptions &Options) {
  static int Anchor;
  Key.add("stark", stampOf(fs::getMainExecutable(nullptr, &Anchor)));
  if (std::optional<Toolkit> Cuda = findToolkit(Options.Toolkit))
    Key.add("toolkit", Cuda->Root + " " + Cuda->version())
        .add("nvcc", stampOf(Cuda->Nvcc))
        .add("headers", stampOf(Cuda->Root + "/include/cuda_runtime.h"))
        .add("runtime", stampOf(Cuda->Root + "/lib64/libcudart_static.a"));
  BuildOptions Users = Options;
  Users.Host = HostCompiler::Users;
  for (const HostCommand &Host : {hostCommand(Options), hostCommand(Users)})
    Key.add("host", stampOf(findProgram(Host.Program))).add("is", Host.Version);
  for (const char *Name : {"ld", "ld.gold", "as"})
    Key.add(Name, stampOf(findProgram(Name)));
  for (const char *Name :
       {"PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
        "COMPILER_PATH", "GCC_EXEC_PREFIX", "LD_RUN_PATH"})
    if (const char *Value = std::getenv(Name))
      Key.add(Name, Value);
}

/// The project's files by what is in them, all others that Clang read by their
/// stamps. False where they do not say what is compiled.
static bool addFiles(DigestBuilder &Key, const Task &Of,
                     std::vector<std::string> Installed) {
  ProjectHeaders Own(includeFolders(Of), std::move(Installed));
  std::string Home = llvm::sys::path::parent_path(Of.SourcePath).str();
  Own.read(Of.SourceText, Home);
  for (const std::string &File : Of.Headers)
    Own.addFile(File);
  if (!Own.all())
    return false;
  Key.add("source", Of.SourceText)
      .add("name", llvm::sys::path::filename(Of.SourcePath));
  // Where they are, messages and assertions say.
  if (!Own.all()->empty() || !Of.NvccFlags.empty())
    Key.add("home", Home).add("folder", Of.Parse.Folder);
  for (const auto &[Path, Text] : *Own.all())
    Key.add(Path, Text);
  for (const std::string &File : allIncludedFiles(*Of.Parsed))
    if (!Own.has(File))
      Key.add("read", stampOf(File));
  return true;
}

std::string stark::sourceKey(const Task &Of, const BuildOptions &Options) {
  // What these say is none of the task's.
  if (std::getenv("NVCC_PREPEND_FLAGS") || std::getenv("NVCC_APPEND_FLAGS") ||
      std::getenv("NVCC_CCBIN") || !areTold(Of.NvccFlags) || !Of.Parsed)
    return "";
  DigestBuilder Key;
  Key.add("format", "1")
      .add("arch", Options.Arch)
      .add("by", Options.Host == HostCompiler::Own ? "own" : "users")
      .add("for", Options.Simulated ? "simulator" : "gpu")
      .add("parsed for", Of.Parse.Arch);
  addTools(Key, Options);
  std::vector<std::string> Installed = {"/usr"};
  if (std::optional<Toolkit> Cuda = findToolkit(Options.Toolkit))
    Installed.push_back(Cuda->Root);
  if (isTensorEntry(Of.Entry)) {
    llvm::Expected<posix::Libtorch> Torch = torchFor(Of.Parse);
    if (!Torch) {
      llvm::consumeError(Torch.takeError());
      return "";
    }
    Installed.push_back(Torch->Root);
    Key.add("torch", Torch->Root + " " + Torch->Version);
    for (const std::string &Folder : Torch->Includes)
      Key.add("has", stampOf(Folder + "/ATen/ATen.h"));
    for (const std::string &File : Torch->libraryFiles())
      Key.add("links", stampOf(File));
  }
  for (const std::string &Flag : Of.NvccFlags)
    Key.add("flag", Flag);
  for (const std::string &Flag : Of.Parse.Flags)
    Key.add("parsed with", Flag);
  Key.add("calls", makeTrampoline(Of))
      .add("reference", makeReferenceTrampoline(Of));
  return addFiles(Key, Of, std::move(Installed)) ? Key.finish() : "";
}
