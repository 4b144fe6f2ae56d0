//===- PlainBuild.cpp - Libraries for entries of pointers -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text + trampoline -> nvcc -c, or both halves (HalvesBuilder.h)
///     -> what the calls reach -> nvcc -shared, or g++ -shared
/// The text is compiled under the source's own name in a folder of its own; the
/// source's folder is on the quoted include path. What a main() of the file
/// needs, and the entry does not, is neither allowed nor linked. The library
/// holds the CUDA runtime, so that a GPU host needs only a driver.
///
//===----------------------------------------------------------------------===//

#include "HalvesBuilder.h"
#include "HostFlags.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

namespace {
/// A launch error stays in the copy of the runtime that the library was linked
/// with, so the library itself must tell it.
constexpr const char *StatusFunction = R"(
#include <cuda_runtime_api.h>
extern "C" __attribute__((visibility("default"))) int stark_last_error() {
  return (int)cudaGetLastError();
}
)";

constexpr const char *ExportList =
    "{ global: stark_call; stark_reference; stark_last_error; local: *; };\n";

/// For an entry of pointers. Attempts are taken apart; what is to win, and what
/// cannot be, is one translation unit of nvcc.
class PlainBuilder : public HalvesBuilder {
public:
  using HalvesBuilder::HalvesBuilder;
  llvm::Expected<Compiled> compile(llvm::StringRef Text,
                                   bool IsSource) override;
  llvm::Expected<ProcessResult> link(llvm::ArrayRef<std::string> Objects,
                                     llvm::StringRef Library) override;

private:
  /// What nvcc itself includes first, and two that take long to read.
  HeaderSet headers() const override {
    return {"cuda", Cuda.Root + " " + Cuda.version(),
            "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n"
            "#include <cuda_bf16.h>\n"};
  }
  std::vector<std::string> moreHostFlags() const override {
    return {"-ffunction-sections", "-fdata-sections"};
  }
  std::vector<std::string> moreDeviceFlags() const override {
    return {"-lineinfo"};
  }
  /// Leaves what the trampolines reach, and what runs when it is loaded.
  llvm::Expected<ProcessResult>
  reduce(const std::string &Object) const override;
  llvm::Expected<Compiled> compileWhole(const std::string &Text);
  llvm::Expected<Compiled> compileApart(const std::string &Text);
  ProcessSpec linkByNvcc() const;
  ProcessSpec linkByHost() const;

  bool IsSource = false;
};
} // namespace

/// nvcc links the device code of such objects by the name of its section, which
/// nothing refers to.
static bool hasRelocatableDeviceCode(llvm::ArrayRef<std::string> Arguments) {
  for (size_t I = 0; I < Arguments.size(); ++I) {
    llvm::StringRef Argument = Arguments[I];
    if (Argument == "-dc" || Argument == "--device-c")
      return true;
    if (!Argument.consume_front("--relocatable-device-code") &&
        !Argument.consume_front("-rdc"))
      continue;
    if (!Argument.consume_front("=") && I + 1 < Arguments.size())
      Argument = Arguments[I + 1];
    return Argument != "false";
  }
  return false;
}

/// With what calls the entry, and the reference, too, where it \p IsSource.
static std::string withCalls(const Task &T, llvm::StringRef Text,
                             bool IsSource) {
  return (Text + "\n#line 1 \"stark-trampoline\"\n").str() + makeTrampoline(T) +
         StatusFunction + (IsSource ? makeReferenceTrampoline(T) : "");
}

llvm::Expected<Compiled> PlainBuilder::compile(llvm::StringRef Text,
                                               bool IsSource) {
  this->IsSource = IsSource;
  std::string Whole = withCalls(Of, Text, IsSource);
  return byOwn() ? compileApart(Whole) : compileWhole(Whole);
}

llvm::Expected<Compiled> PlainBuilder::compileApart(const std::string &Text) {
  if (wantDeviceLinker(Of.NvccFlags) || !areKnownToHosts(Of.NvccFlags))
    return notByOwn();
  llvm::Expected<TakenApart> Taken = takeApart(Text, {});
  if (!Taken)
    return Taken.takeError();
  if (!Taken->Apart || Taken->Apart->Device.empty())
    return notByOwn();
  llvm::Expected<Compiled> Made = compileHalves(*Taken->Apart, "");
  // nvcc has not seen the whole.
  if (Made)
    Made->KernelsFailed = false;
  return Made;
}

llvm::Expected<Compiled> PlainBuilder::compileWhole(const std::string &Text) {
  std::string Object = Folder + "/candidate.o";
  TraceScope Traced("compile");
  ProcessSpec Spec = nvcc();
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-lineinfo", "-Xptxas", "-v", "-Xcompiler",
                         "-fPIC,-ffunction-sections", "-Xcompiler",
                         "-fdata-sections", "-Xcompiler",
                         "-iquote," + pathForHost(home(), Folder)});
  keepPtx(Spec);
  bool Relocatable = hasRelocatableDeviceCode(Spec.Arguments);
  llvm::Expected<Compiled> Made =
      run(std::move(Spec), fileName(), Text, Object);
  if (!Made || !Made->How.ok() || Relocatable)
    return Made;
  llvm::Expected<ProcessResult> Reduced = reduce(Object);
  if (!Reduced)
    return Reduced.takeError();
  if (!Reduced->ok())
    return Compiled{std::move(*Reduced), {}, std::nullopt};
  return Made;
}

llvm::Expected<ProcessResult>
PlainBuilder::reduce(const std::string &Object) const {
  std::string Whole = Object + ".whole";
  if (std::error_code Code = llvm::sys::fs::rename(Object, Whole))
    return failed("cannot rename '" + Object + "': " + Code.message());
  ProcessSpec Spec;
  Spec.Program = "ld";
  Spec.TimeoutMs = Options.TimeoutMs;
  Spec.MemoryLimit = Options.MemoryLimit;
  Spec.Environment = environmentWithin(Folder);
  Spec.Arguments = {"-r", "--gc-sections",    "-u", "stark_call",
                    "-u", "stark_last_error", "-o", Object,
                    Whole};
  if (IsSource)
    Spec.Arguments.insert(Spec.Arguments.end(), {"-u", "stark_reference"});
  return runProcess(Spec);
}

ProcessSpec PlainBuilder::linkByNvcc() const {
  ProcessSpec Spec = nvcc();
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-shared", "-cudart", "static", "-Xlinker",
                         "-Bsymbolic", "-Xlinker", "-z,defs"});
  return Spec;
}

ProcessSpec PlainBuilder::linkByHost() const {
  ProcessSpec Spec;
  Spec.Program = UsersCompiler;
  Spec.TimeoutMs = Options.TimeoutMs;
  Spec.Environment = environmentWithin(Folder);
  Spec.Arguments = {"-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs"};
  llvm::append_range(Spec.Arguments, quickLinker());
  return Spec;
}

llvm::Expected<ProcessResult>
PlainBuilder::link(llvm::ArrayRef<std::string> Objects,
                   llvm::StringRef Library) {
  std::string Exports = Folder + "/exports.map";
  if (llvm::Error E = writeFileAtomically(Exports, ExportList))
    return E;
  ProcessSpec Spec = byOwn() ? linkByHost() : linkByNvcc();
  Spec.Arguments.insert(Spec.Arguments.end(), {"-o", Library.str()});
  llvm::append_range(Spec.Arguments, Objects);
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-Xlinker", "--version-script=" + Exports});
  if (byOwn())
    Spec.Arguments.insert(Spec.Arguments.end(),
                          {"-L" + Cuda.Root + "/lib64", "-lcudart_static",
                           "-lrt", "-lpthread", "-ldl"});
  return runProcess(Spec);
}

std::unique_ptr<Builder> stark::makePlainBuilder(const Task &T,
                                                 const BuildOptions &Options,
                                                 const Toolkit &Cuda,
                                                 std::string Folder) {
  return std::make_unique<PlainBuilder>(T, Options, Cuda, std::move(Folder));
}
