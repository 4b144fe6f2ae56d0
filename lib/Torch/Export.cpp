//===- Export.cpp - From a source of tensors back into PyTorch ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request -> all that is read, checked -> values for the templates -> files,
/// each written to a temporary name and renamed
///
//===----------------------------------------------------------------------===//

#include "stark/Torch/Export.h"
#include "ExportFiles.h"
#include "Programs.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Torch/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace stark::torch;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Constants are few and small; more than this is no constant of a module's.
static constexpr uint64_t MostConstantBytes = uint64_t(1) << 30;

static std::string templateFolder(const ExportRequest &Request) {
  return Request.Templates.empty() ? programFolderOf("export")
                                   : Request.Templates;
}

/// Text that a file of Python can hold.
static llvm::Error checkText(llvm::StringRef Text, llvm::StringRef What) {
  const auto *Begin = reinterpret_cast<const llvm::UTF8 *>(Text.begin());
  if (Text.contains('\0') ||
      !llvm::isLegalUTF8String(
          &Begin, reinterpret_cast<const llvm::UTF8 *>(Text.end())))
    return usageError(What + ": got bytes that are no UTF-8, wanted text");
  return llvm::Error::success();
}

/// "sm_90a" needs its own flag: torch asks for what every GPU of its kind has.
static llvm::Expected<std::vector<std::string>>
compilerFlags(const ExportRequest &Request) {
  std::vector<std::string> Flags = Request.Flags;
  llvm::StringRef Arch = Request.Arch;
  if (!Arch.empty()) {
    llvm::StringRef Number = Arch;
    if (!Number.consume_front("sm_") || Number.empty() || Number.size() > 5 ||
        !llvm::isDigit(Number[0]) || !llvm::all_of(Number, llvm::isAlnum))
      return usageError("got the architecture '" + Arch +
                        "', wanted one such as sm_90");
    if (llvm::isAlpha(Number.back()))
      Flags.push_back("-gencode=arch=compute_" + Number.str() +
                      ",code=" + Arch.str());
  }
  for (llvm::StringRef Flag : Flags)
    if (Flag.empty() || Flag[0] != '-' || !llvm::all_of(Flag, [](char C) {
          return llvm::isAlnum(C) || llvm::StringRef("-_=+,./:").contains(C);
        }))
      return usageError("got the compiler's flag '" + Flag +
                        "', wanted one that begins with - and has letters, "
                        "digits and -_=+,./: alone");
  return Flags;
}

/// Names that are files of the folder itself, or words of Python.
static llvm::Error checkName(const ExportEntry &E,
                             const ExportRequest &Request) {
  static constexpr llvm::StringLiteral Taken[] = {
      "build",  "csrc", "kernelbench", "setup",  "verify", "as",       "async",
      "await",  "def",  "del",         "elif",   "except", "from",     "global",
      "import", "in",   "is",          "lambda", "None",   "nonlocal", "pass",
      "raise",  "with", "yield",       "True",   "False",  "finally"};
  if (llvm::is_contained(Taken, E.Name))
    return usageError("'" + E.Name +
                      "' cannot name a package; stark-tool import --name "
                      "gives another name");
  if (!Request.Entry.empty() && Request.Entry != E.Name)
    return usageError(Request.Workload + ": field 'entry': got '" + E.Name +
                      "', wanted '" + Request.Entry + "', which the run is of");
  for (const auto &[Flag, Name] :
       {std::pair("--inputs", Request.Inputs), {"--init", Request.Init}})
    if (!isIdentifier(Name))
      return usageError(llvm::Twine(Flag) + ": got '" + Name +
                        "', wanted the name of a function");
  return llvm::Error::success();
}

/// The values of constants, one after the other, at multiples of 64 bytes.
static llvm::Error readConstants(const ExportRequest &Request,
                                 ExportSubject &Of) {
  if (Of.Entry.Weights.empty())
    return llvm::Error::success();
  std::string File = (path::parent_path(absolutePath(Request.Workload)) + "/" +
                      Of.Entry.Weights)
                         .str();
  for (const EntryTensor &T : Of.Entry.Arguments) {
    if (T.Kind != InputKind::Constant || !T.Offset)
      continue;
    uint64_t Bytes = T.Type.elements() * job::dtypeBytes(T.Type.Type);
    uint64_t Size = 0;
    if (std::error_code Code = fs::file_size(File, Size))
      return usageError("'" + File + "': " + Code.message());
    if (*T.Offset > Size || Bytes > Size - *T.Offset ||
        Bytes > MostConstantBytes - Of.Constants.size())
      return usageError(File + ": got " + std::to_string(Size) +
                        " bytes, wanted " + std::to_string(Bytes) + " at " +
                        std::to_string(*T.Offset) + " for '" + T.Name + "'");
    Of.Constants.resize(llvm::alignTo(Of.Constants.size(), 64));
    Of.ConstantOffsets[T.Name] = Of.Constants.size();
    if (!Bytes)
      continue;
    auto Slice = llvm::MemoryBuffer::getFileSlice(File, Bytes, *T.Offset);
    if (!Slice)
      return usageError("'" + File + "': " + Slice.getError().message());
    Of.Constants += (*Slice)->getBuffer();
  }
  return llvm::Error::success();
}

static llvm::Expected<std::string> readModule(const ExportRequest &Request,
                                              const ExportEntry &E) {
  std::string File = Request.ModuleFile;
  if (File.empty())
    File = (path::parent_path(absolutePath(Request.Workload)) + "/" + E.Name +
            ".module.py")
               .str();
  if (!fs::exists(File))
    return usageError("'" + File +
                      "' does not exist; --module-file names the file of "
                      "Python that was imported");
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return usageError(llvm::toString(Text.takeError()));
  if (llvm::Error Bad = checkText(*Text, File))
    return Bad;
  return Text;
}

static llvm::Expected<ExportSubject> readSubject(const ExportRequest &Request) {
  llvm::Expected<std::string> Text = readFile(Request.Workload);
  if (!Text)
    return usageError(llvm::toString(Text.takeError()));
  llvm::Expected<ExportEntry> E = parseExportEntry(*Text, Request.Workload);
  if (!E)
    return E.takeError();
  ExportSubject Of;
  Of.Entry = std::move(*E);
  if (llvm::Error Bad = checkName(Of.Entry, Request))
    return Bad;
  if (llvm::Error Bad = checkText(Request.Source, "the source"))
    return Bad;
  if (!llvm::StringRef(Request.Source).contains(Of.Entry.Name))
    return usageError("the source does not have the workload's entry '" +
                      Of.Entry.Name + "'");
  llvm::Expected<std::vector<std::string>> Flags = compilerFlags(Request);
  if (!Flags)
    return Flags.takeError();
  llvm::Expected<std::string> Module = readModule(Request, Of.Entry);
  if (!Module)
    return Module.takeError();
  if (llvm::Error Bad = readConstants(Request, Of))
    return Bad;
  Of.Source = withGivenHeaders(Request.Source);
  Of.Module = std::move(*Module);
  Of.Flags = std::move(*Flags);
  Of.Inputs = Request.Inputs;
  Of.Init = Request.Init;
  Of.Provenance = Request.Provenance;
  return Of;
}

/// Whether the files may be written there, and will not end up elsewhere.
static llvm::Error checkFolder(llvm::StringRef Folder, bool Force,
                               llvm::StringRef Package) {
  if (fs::exists(Folder) && !fs::is_directory(Folder))
    return usageError("'" + Folder + "' is a file, wanted a folder");
  std::error_code Code;
  bool HasFiles = fs::exists(Folder) && fs::directory_iterator(Folder, Code) !=
                                            fs::directory_iterator();
  if (HasFiles && !Force)
    return usageError("'" + Folder +
                      "' is not empty; --force writes into it all the same");
  for (llvm::StringRef Part : {llvm::StringRef("csrc"), Package})
    if (fs::is_symlink_file(Folder + "/" + Part))
      return usageError("'" + Folder + "/" + Part +
                        "' is a link, wanted a folder");
  return llvm::Error::success();
}

llvm::Expected<Exported> torch::exportModule(const ExportRequest &Request) {
  llvm::Expected<ExportSubject> Of = readSubject(Request);
  if (!Of)
    return Of.takeError();
  std::string Folder = absolutePath(Request.Folder);
  if (llvm::Error E = checkFolder(Folder, Request.Force, Of->Entry.Name))
    return E;
  Exported To;
  To.Entry = Of->Entry.Name;
  std::string Templates = templateFolder(Request);
  llvm::Expected<std::vector<ExportFile>> Files =
      makeFiles(*Of, To.Notes, [&](llvm::StringRef Name) {
        return readFile((Templates + "/" + Name).str());
      });
  if (!Files)
    return Files.takeError();
  // What an export of before had and this one has not.
  for (const std::string &Old :
       {"csrc/" + To.Entry + ".cu", "csrc/" + To.Entry + ".cpp",
        To.Entry + "/constants.bin", std::string("kernelbench.py")})
    if (llvm::none_of(*Files,
                      [&](const ExportFile &F) { return F.Path == Old; }))
      fs::remove(Folder + "/" + Old);
  for (const ExportFile &File : *Files) {
    std::string Path = Folder + "/" + File.Path;
    if (llvm::Error E = writeFileAtomically(Path, File.Text, /*Flush=*/false))
      return E;
    To.Files.push_back(Path);
  }
  return To;
}
