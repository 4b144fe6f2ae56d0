//===- HalvesBuilder.cpp - Host code and kernels, by two compilers --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalvesBuilder.h"
#include "HostFlags.h"
#include "HostObjects.h"
#include "KernelRegistration.h"
#include "stark/HostCode/OwnCompiler.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <thread>

using namespace stark;

/// What nvcc makes beside our own compiler.
static constexpr const char *DeviceCode = "device.fatbin";

std::vector<std::string> HalvesBuilder::includes() const {
  if (Cuda.Root.empty())
    return {};
  return {"-isystem", Cuda.Root + "/include"};
}

llvm::Expected<ProcessResult> HalvesBuilder::reduce(const std::string &) const {
  return ProcessResult();
}

Compiled HalvesBuilder::notByOwn() {
  Compiled None;
  None.How.ExitCode = 1;
  return None;
}

std::vector<std::string> HalvesBuilder::hostFlags() const {
  std::vector<std::string> Flags = {"-fPIC", "-O2", "-w"};
  std::vector<std::string> Given = hostFlagsOf(Of.NvccFlags);
  bool HasStandard = llvm::any_of(
      Given, [](llvm::StringRef Flag) { return Flag.starts_with("-std="); });
  if (!HasStandard)
    Given.push_back("-std=c++17");
  for (const std::vector<std::string> &More :
       {Given, moreHostFlags(), includes()})
    Flags.insert(Flags.end(), More.begin(), More.end());
  return Flags;
}

llvm::Expected<Compiled>
HalvesBuilder::run(ProcessSpec Spec, llvm::StringRef File, llvm::StringRef Text,
                   const std::string &Made, const char *Flag) {
  if (llvm::Error E = writeFileAtomically(File, Text, /*Flush=*/false))
    return E;
  Spec.Arguments.insert(Spec.Arguments.end(), {Flag, "-o", Made, File.str()});
  llvm::Expected<ProcessResult> How = runProcess(Spec);
  if (!How)
    return How.takeError();
  return Compiled{std::move(*How), {Made}, std::nullopt};
}

/// Or one whose name a macro gives.
static bool hasQuotedInclude(llvm::StringRef Text) {
  for (size_t At = 0; (At = Text.find("include", At)) != llvm::StringRef::npos;)
    if (!Text.substr(At += 7).ltrim(" \t").starts_with("<"))
      return true;
  return false;
}

/// "a.h" of "#include <a.h>...": it is there where nothing can be kept.
static std::string firstOf(llvm::StringRef Includes) {
  return Includes.split('<').second.split('>').first.str();
}

ProcessSpec HalvesBuilder::hostCall(const std::string &Header) const {
  ProcessSpec Spec;
  Spec.Program = Compiler.Program;
  Spec.TimeoutMs = Options.TimeoutMs;
  Spec.MemoryLimit = Options.MemoryLimit;
  Spec.WorkingFolder = Of.Parse.Folder;
  Spec.Environment = environmentWithin(Folder);
  for (const std::vector<std::string> &More :
       {Compiler.First,
        {"-include", Header.empty() ? firstOf(headers().Text) : Header},
        hostFlags(),
        {"-iquote", home(), "-x", "c++"}})
    Spec.Arguments.insert(Spec.Arguments.end(), More.begin(), More.end());
  return Spec;
}

llvm::Expected<Compiled> HalvesBuilder::compileHost(llvm::StringRef Text) {
  TraceScope Traced("compile host half",
                    llvm::sys::path::filename(Compiler.Program));
  std::string Header = header();
  std::string Inner = Folder + "/host", Object = Folder + "/host.o";
  if (llvm::Error E = createFolders(Inner))
    return E;
  // The header's folder is that of the compiler and its flags.
  HostObjects Kept(areOfProcessor(Of.NvccFlags)
                       ? ""
                       : llvm::sys::path::parent_path(Header).str());
  DigestBuilder Around;
  Around.add("name", llvm::sys::path::filename(fileName()));
  // Where the text and the flags are is of account for what they find there.
  if (hasQuotedInclude(Text) || !Of.NvccFlags.empty())
    Around.add("home", home()).add("folder", Of.Parse.Folder);
  for (const std::string &File : Of.Headers) {
    llvm::Expected<std::string> Bytes = readFile(File);
    if (!Bytes)
      return Bytes.takeError();
    Around.add(File, *Bytes);
  }
  std::string Key = Kept.key(Text, std::move(Around));
  if (Kept.fetch(Key, Object))
    return Compiled{{}, {Object}, std::nullopt};
  std::string File = Inner + "/" + llvm::sys::path::filename(fileName()).str();
  llvm::Expected<Compiled> Made = run(hostCall(Header), File, Text, Object);
  if (Made && byOwn() && Made->How.ExitCode == StaleHeaderCode) {
    forgetHeader(Compiler, Header);
    Made = run(hostCall(header()), File, Text, Object);
  }
  if (Made && Made->How.ok())
    Kept.keep(Key, Object);
  return Made;
}

llvm::Expected<Compiled> HalvesBuilder::compileDevice(llvm::StringRef Text) {
  TraceScope Traced("compile kernels");
  ProcessSpec Spec = nvcc();
  for (const std::vector<std::string> &Flags :
       {deviceFlags(Cuda), moreDeviceFlags(), includes()})
    Spec.Arguments.insert(Spec.Arguments.end(), Flags.begin(), Flags.end());
  Spec.Arguments.insert(Spec.Arguments.end(),
                        {"-x", "cu", "-Xptxas", "-v", "-Xcompiler", "-fPIC",
                         "-Xcompiler",
                         "-iquote," + pathForHost(home(), Folder)});
  keepPtx(Spec);
  if (byOwn())
    return run(std::move(Spec), fileName(), Text, Folder + "/" + DeviceCode,
               "-fatbin");
  return run(std::move(Spec), fileName(), Text, Folder + "/device.o");
}

/// \p Device with what tells the runtime of its kernels in place of their code.
llvm::Expected<Compiled> HalvesBuilder::registered(Compiled Device,
                                                   const Compiled &Host) {
  std::string &Code = Device.Objects.front();
  std::string Registration = Folder + "/registration.o";
  llvm::Expected<bool> Done = registerKernels(
      {Host.Objects.front(), Code, Device.How.Out + "\n" + Device.How.Err},
      Registration, Options.TimeoutMs);
  if (!Done)
    return Done.takeError();
  if (!*Done)
    return notByOwn();
  Code = Registration;
  return Device;
}

llvm::Expected<Compiled> HalvesBuilder::compileHalves(const Halves &Text,
                                                      llvm::StringRef Calls) {
  std::optional<llvm::Expected<Compiled>> OfDevice;
  std::thread Device(
      traced([&] { OfDevice.emplace(compileDevice(Text.Device)); }));
  llvm::Expected<Compiled> Host = compileHost(Text.Host + Calls.str());
  Device.join();
  if (!Host || !*OfDevice)
    return llvm::joinErrors(Host ? llvm::Error::success() : Host.takeError(),
                            *OfDevice ? llvm::Error::success()
                                      : OfDevice->takeError());
  Host->KernelsFailed = (*OfDevice)->KernelsFailed = !(*OfDevice)->How.ok();
  if (!Host->How.ok())
    return Host;
  llvm::Expected<ProcessResult> Reduced = reduce(Host->Objects.front());
  if (!Reduced)
    return Reduced.takeError();
  if (!Reduced->ok())
    return Compiled{std::move(*Reduced), {}};
  Compiled Made = std::move(**OfDevice);
  if (byOwn() && Made.How.ok()) {
    llvm::Expected<Compiled> All = registered(std::move(Made), *Host);
    if (!All || !All->How.ok())
      return All;
    Made = std::move(*All);
  }
  Made.Objects.push_back(Host->Objects.front());
  return Made;
}

llvm::Expected<TakenApart>
HalvesBuilder::takeApart(const std::string &Text,
                         llvm::ArrayRef<std::string> TorchFolders) const {
  KernelsOfHost Kernels = Options.Simulated || byOwn()
                              ? KernelsOfHost::Stubs
                              : KernelsOfHost::Declared;
  return Options.Ahead ? Options.Ahead->take(Of, Text, TorchFolders, Kernels)
                       : takeApartInChild(Of, Text, TorchFolders, Kernels);
}
