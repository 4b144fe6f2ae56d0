//===- KernelRegistration.cpp - Kernels without nvcc's host code ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRegistration.h"
#include "CompilerOutput.h"
#include "HostCommand.h"
#include "stark/AST/Halves.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Path.h"

using namespace stark;

/// The runtime's functions as nvcc's own host code calls them, since CUDA 9.2
/// (crt/host_runtime.h and cuda_runtime_api.h).
static constexpr llvm::StringRef Runtime = R"(extern "C" {
struct stark_extent { unsigned x, y, z; };
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int,
                            void *, void *, void *, void *, int *);
int __cudaPopCallConfiguration(stark_extent *, stark_extent *, unsigned long *,
                               void *);
int cudaLaunchKernel(const void *, stark_extent, stark_extent, void **,
                     unsigned long, void *);
extern const char stark_code[] __attribute__((visibility("hidden")));
void stark_launch(const void *Kernel, const void *const *Values,
                  const unsigned long *, unsigned) {
  stark_extent Grid, Block;
  unsigned long Shared;
  void *Stream;
  if (!__cudaPopCallConfiguration(&Grid, &Block, &Shared, &Stream))
    cudaLaunchKernel(Kernel, Grid, Block, const_cast<void **>(Values), Shared,
                     Stream);
}
}
static const struct {
  int Magic, Version;
  const void *Code;
  void *More;
} stark_wrapper __attribute__((section(".nvFatBinSegment"), aligned(8))) = {
    0x466243b1, 1, stark_code, nullptr};
)";

/// May stand in a text for an assembler as it is.
static bool isPlain(llvm::StringRef Symbol) {
  return llvm::all_of(Symbol, [](char C) {
    return llvm::isAlnum(C) || C == '_' || C == '$' || C == '.';
  });
}

namespace {
struct Stub {
  std::string Symbol;
  bool Global = false;
};
} // namespace

/// Nothing when \p Symbol is none.
static llvm::Expected<std::optional<Stub>>
readStub(const llvm::object::SymbolRef &Symbol,
         const llvm::object::ObjectFile &Of) {
  auto Section = Symbol.getSection();
  if (!Section)
    return Section.takeError();
  auto Type = Symbol.getType();
  if (!Type)
    return Type.takeError();
  if (*Section == Of.section_end() ||
      *Type != llvm::object::SymbolRef::ST_Function)
    return std::nullopt;
  auto In = (*Section)->getName();
  if (!In)
    return In.takeError();
  if (*In != StubSection)
    return std::nullopt;
  auto Name = Symbol.getName();
  if (!Name)
    return Name.takeError();
  auto Flags = Symbol.getFlags();
  if (!Flags)
    return Flags.takeError();
  return Stub{Name->str(), bool(*Flags & llvm::object::SymbolRef::SF_Global)};
}

static llvm::Expected<std::vector<Stub>> readStubs(llvm::StringRef Path) {
  using namespace llvm::object;
  llvm::Expected<OwningBinary<ObjectFile>> Opened =
      ObjectFile::createObjectFile(Path);
  if (!Opened)
    return withContext(Opened.takeError(), Path);
  std::vector<Stub> Stubs;
  for (const SymbolRef &Symbol : Opened->getBinary()->symbols()) {
    llvm::Expected<std::optional<Stub>> Read =
        readStub(Symbol, *Opened->getBinary());
    if (!Read)
      return withContext(Read.takeError(), Path);
    if (*Read)
      Stubs.push_back(std::move(**Read));
  }
  return Stubs;
}

static std::string registrationText(llvm::ArrayRef<Stub> Stubs,
                                    llvm::StringRef Fatbin) {
  std::string Text =
      (Runtime +
       "asm(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\nstark_code:\\n"
       ".incbin \\\"" +
       Fatbin + "\\\"\\n.previous\\n\");\n")
          .str();
  std::string Calls;
  for (size_t I = 0; I < Stubs.size(); ++I) {
    std::string Name = "stark_stub_" + std::to_string(I);
    std::string Symbol = "\"" + Stubs[I].Symbol + "\"";
    Text += "extern \"C\" void " + Name + "() __asm__(" + Symbol + ");\n";
    Calls += "  __cudaRegisterFunction(Code, (const char *)&" + Name +
             ", (char *)" + Symbol + ", " + Symbol +
             ", -1, nullptr, nullptr, nullptr, nullptr, nullptr);\n";
  }
  return Text +
         "__attribute__((constructor)) static void stark_register() {\n"
         "  void **Code = __cudaRegisterFatBinary((void *)&stark_wrapper);\n" +
         Calls + "  __cudaRegisterFatBinaryEnd(Code);\n}\n";
}

llvm::Expected<bool> stark::registerKernels(const KernelParts &Parts,
                                            llvm::StringRef Object,
                                            unsigned TimeoutMs) {
  TraceScope Traced("register kernels");
  llvm::Expected<std::vector<Stub>> Stubs = readStubs(Parts.HostObject);
  if (!Stubs)
    return Stubs.takeError();
  llvm::StringSet<> Kernels = compiledKernels(Parts.DeviceSaid);
  for (const Stub &S : *Stubs)
    if (!S.Global || !isPlain(S.Symbol) || !Kernels.contains(S.Symbol))
      return false;
  std::string Text = Object.str() + ".cpp";
  if (llvm::Error E = writeFileAtomically(
          Text,
          registrationText(*Stubs, llvm::sys::path::filename(Parts.DeviceCode)),
          /*Flush=*/false))
    return E;
  ProcessSpec Spec;
  Spec.Program = UsersCompiler;
  Spec.TimeoutMs = TimeoutMs;
  Spec.WorkingFolder = llvm::sys::path::parent_path(Parts.DeviceCode).str();
  Spec.Environment = environmentWithin(Spec.WorkingFolder);
  Spec.Arguments = {"-O1", "-fPIC", "-c", "-o", Object.str(), Text};
  llvm::Expected<ProcessResult> How = runProcess(Spec);
  if (!How)
    return How.takeError();
  return How->ok();
}
