//===- CompileText.cpp - Whether nvcc takes a text ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/CompileText.h"
#include "HostFlags.h"
#include "stark/AST/Toolkit.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

static constexpr uint64_t TimeoutMs = 600000;

llvm::Expected<bool> stark::compilesWithNvcc(llvm::StringRef Text,
                                             llvm::StringRef SourcePath,
                                             const ParseOptions &Options) {
  std::optional<Toolkit> Cuda = findToolkit(Options.Toolkit);
  if (!Cuda || Cuda->Nvcc.empty())
    return false;
  llvm::SmallString<128> Folder;
  if (std::error_code EC =
          llvm::sys::fs::createUniqueDirectory("stark-extract", Folder))
    return failed("a temporary folder: " + EC.message());
  std::string File =
      (Folder + "/" + llvm::sys::path::filename(SourcePath)).str();
  std::string Home =
      llvm::sys::path::parent_path(absolutePath(SourcePath)).str();
  ProcessSpec Spec;
  Spec.Program = Cuda->Nvcc;
  Spec.TimeoutMs = TimeoutMs;
  Spec.WorkingFolder = Options.Folder;
  Spec.Arguments = nvccFlagsOf(Options.Flags);
  if (includesTorch(Text)) {
    llvm::Expected<posix::Libtorch> Torch = torchFor(Options);
    if (!Torch)
      return Torch.takeError();
    for (const std::string &Include : Torch->Includes)
      Spec.Arguments.insert(Spec.Arguments.end(), {"-isystem", Include});
  }
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-arch=" + Options.Arch, "-c", "-o", "/dev/null",
                         "-Xcompiler", "-iquote," + pathForHost(Home, Folder),
                         File});
  llvm::Error E = writeFileAtomically(File, Text);
  llvm::Expected<ProcessResult> How =
      E ? llvm::Expected<ProcessResult>(std::move(E)) : runProcess(Spec);
  (void)llvm::sys::fs::remove_directories(Folder);
  if (!How)
    return How.takeError();
  if (How->ok())
    return true;
  return failed("nvcc does not take what was extracted: " + How->Err +
                How->Out);
}
