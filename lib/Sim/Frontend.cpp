//===- Frontend.cpp - What Clang is told, and the files that it sees ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"
#include "Alignments.h"
#include "Headers.h"
#include "PtxText.h"
#include "stark/AST/ChangedFiles.h"
#include "stark/AST/Flags.h"
#include "stark/AST/LaunchText.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Toolkit.h"
#include "stark/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"

using namespace stark;
using namespace stark::sim;

namespace {
/// Whether \p Name lies below a folder that a toolkit's headers are in, too.
bool isBesideToolkit(llvm::StringRef Name) {
  static const std::vector<llvm::StringRef> Folders = [] {
    std::vector<llvm::StringRef> With;
    for (llvm::StringRef Folder : {"/usr/include/", "/usr/local/include/"})
      if (llvm::sys::fs::exists(Folder + "cuda_runtime_api.h"))
        With.push_back(Folder);
    return With;
  }();
  return llvm::any_of(Folders, [&](llvm::StringRef Folder) {
    return Name.starts_with(Folder);
  });
}

/// The user's headers hold inline PTX, too, and the toolkit's, which some
/// packages put among the system's; these hold assembly that is meant for this
/// CPU.
FileChange respelled(std::string Toolkit) {
  FileChange Change;
  Change.Concerns = [Toolkit = std::move(Toolkit)](llvm::StringRef Path) {
    return !Path.starts_with("/usr/") || isBesideToolkit(Path) ||
           (!Toolkit.empty() && Path.starts_with(Toolkit));
  };
  Change.Make = [](llvm::StringRef Text) -> std::optional<std::string> {
    if (!Text.contains("asm") && !Text.contains("alignas"))
      return std::nullopt;
    return respellConstraints(alignmentsFirst(Text));
  };
  return Change;
}
} // namespace

std::string sim::headersSource() {
  static const std::string Name = [] {
    DigestBuilder Digest;
    for (const EmbeddedFile &H : embeddedHeaders())
      Digest.add(H.Name, H.Text);
    return HeaderFolder + Digest.finish() + ".cu";
  }();
  return Name;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
sim::makeFiles(Side For, const CompileRequest &Request,
               const std::string &Absolute,
               std::unique_ptr<llvm::MemoryBuffer> Precompiled) {
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const EmbeddedFile &H : embeddedHeaders())
    Memory->addFile((llvm::Twine(HeaderFolder) + H.Name).str(), 0,
                    llvm::MemoryBuffer::getMemBufferCopy(H.Text, H.Name));
  // Clang wants to see what a precompiled file was made of.
  Memory->addFile(headersSource(), 0, llvm::MemoryBuffer::getMemBuffer(""));
  if (Precompiled)
    Memory->addFile(PrecompiledFile, 0, std::move(Precompiled));
  std::string Text = alignmentsFirst(launchesForClang(Request.Text));
  Memory->addFile(
      Absolute, 0,
      llvm::MemoryBuffer::getMemBufferCopy(
          For == Side::Device ? respellConstraints(Text) : Text, Absolute));
  for (const auto &[Name, Changed] : Request.Replaced) {
    std::string Aligned = alignmentsFirst(Changed);
    Memory->addFile(
        Name, 0,
        llvm::MemoryBuffer::getMemBufferCopy(
            For == Side::Device ? respellConstraints(Aligned) : Aligned, Name));
  }
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Real =
      filesForClang(llvm::vfs::getRealFileSystem());
  if (For == Side::Device)
    Real = withChange(Real, respelled(findToolkit().value_or(Toolkit()).Root));
  auto Files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(Real);
  Files->pushOverlay(Memory);
  if (!Request.Folder.empty())
    Files->setCurrentWorkingDirectory(Request.Folder);
  return Files;
}

std::vector<std::string> sim::driverArguments(const CompileRequest &Request,
                                              const std::string &Absolute) {
  std::vector<std::string> Arguments{
      "clang++", "-x", "cuda", "--cuda-host-only", "--cuda-gpu-arch=sm_90",
      "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version",
      // nvcc takes it.
      "-Wno-register", "-Xclang", "-target-sdk-version=12.5", "-resource-dir",
      clangResourceFolder(), "-std=c++17", "-O2", "-gline-tables-only", "-w",
      "-c", "-isystem", HeaderFolder + std::string("cuda"), "-include",
      HeaderFolder + std::string("stark/stark_sim.h")};
  // Declarations of libraries that host code or kernels use; what is called of
  // them is looked up when it is called.
  if (std::optional<Toolkit> Cuda = findToolkit())
    Arguments.insert(Arguments.end(), {"-idirafter", Cuda->Root + "/include"});
  std::vector<std::string> Flags = parseFlags(Request.Flags, Request.Folder);
  for (size_t I = 0; I < Flags.size(); ++I) {
    // There is one source alone, and a kernel that is static keeps its name.
    if (Flags[I] == "-fgpu-rdc")
      continue;
    // Projects name the toolkit's folder, too; what is in ours is ours.
    bool Folder = Flags[I] == "-I" || Flags[I] == "-isystem";
    if (Folder && I + 1 < Flags.size() &&
        llvm::sys::fs::exists(Flags[I + 1] + "/cuda_runtime.h"))
      Flags[I] = "-idirafter";
    Arguments.push_back(Flags[I]);
  }
  Arguments.push_back(Absolute);
  return Arguments;
}

std::vector<std::string> sim::sideArguments(Side For, llvm::StringRef Arch,
                                            llvm::ArrayRef<std::string> Host) {
  std::vector<std::string> Out;
  std::string Triple = llvm::sys::getDefaultTargetTriple();
  for (size_t I = 0; I < Host.size(); ++I) {
    llvm::StringRef Argument = Host[I];
    if (Argument == "-aux-triple") {
      Out.insert(Out.end(), {"-aux-triple", Triple});
      ++I;
      continue;
    }
    // Clang's own additions for device code are NVIDIA's; ours are in headers/.
    if (Argument == "-internal-isystem" && I + 1 < Host.size() &&
        llvm::StringRef(Host[I + 1]).ends_with("cuda_wrappers")) {
      ++I;
      continue;
    }
    // People are told the names of parameters and variables.
    if (Argument == "-discard-value-names")
      continue;
    if (Argument == "-target-cpu" || Argument == "-aux-target-cpu") {
      ++I;
      continue;
    }
    Out.push_back(Argument.str());
  }
  // The half types' arithmetic rounds after each step, as a GPU's does. Without
  // a toolkit the C library's headers are read as device code, which declares
  // variadic functions there.
  Out.insert(Out.begin(),
             {"-disable-llvm-passes", "-ffloat16-excess-precision=none",
              "-fbfloat16-excess-precision=none",
              "-fcuda-allow-variadic-functions"});
  llvm::StringMap<bool> Features = llvm::sys::getHostCPUFeatures();
  for (const char *Feature : {"f16c", "fma", "avx", "avx2"})
    if (Features.lookup(Feature))
      Out.insert(Out.begin(), {"-target-feature", std::string("+") + Feature});
  if (For == Side::Device) {
    Out.insert(Out.begin(), {"-fcuda-is-device", "-ffp-contract=fast",
                             "-fno-threadsafe-statics"});
    if (!Arch.empty()) {
      std::string Version = Arch.str();
      Version.erase(std::remove_if(Version.begin(), Version.end(),
                                   [](char C) { return !llvm::isDigit(C); }),
                    Version.end());
      Out.insert(Out.begin(), "-D__CUDA_ARCH__=" + Version + "0");
    }
  }
  return Out;
}
