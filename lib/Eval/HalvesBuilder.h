//===- HalvesBuilder.h - Host code and kernels, by two compilers ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text --> host half --Clang or g++, precompiled headers--> object --+
///        `-> device half --nvcc--> object, or code that is registered --+->
///        library
/// nvcc takes twenty seconds for libtorch's headers alone, and of what it takes
/// for a page of CUDA more than half goes to host code. Beside Clang nvcc makes
/// the device's code alone (KernelRegistration.h). At the same time.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_HALVESBUILDER_H
#define STARK_LIB_EVAL_HALVESBUILDER_H

#include "Builder.h"
#include "HostCommand.h"
#include "PrecompiledHeaders.h"
#include "TextsAhead.h"

namespace stark {

class HalvesBuilder : public Builder {
public:
  HalvesBuilder(const Task &Of, const BuildOptions &Options, Toolkit Cuda,
                std::string Folder)
      : Builder(Of, Options, std::move(Cuda), std::move(Folder)),
        Compiler(hostCommand(Options)) {}

protected:
  /// What host code is compiled behind.
  virtual HeaderSet headers() const = 0;
  /// For both halves: `-isystem` and a folder, in turns.
  virtual std::vector<std::string> includes() const;
  /// For the host half, beside what the user's flags have for it.
  virtual std::vector<std::string> moreHostFlags() const { return {}; }
  /// For the device half.
  virtual std::vector<std::string> moreDeviceFlags() const { return {}; }
  /// What becomes of the host half's object before kernels are registered.
  virtual llvm::Expected<ProcessResult> reduce(const std::string &Object) const;

  llvm::Expected<TakenApart>
  takeApart(const std::string &Text,
            llvm::ArrayRef<std::string> TorchFolders) const;
  /// Both halves, at the same time. Not ok() where either is not.
  llvm::Expected<Compiled> compileHalves(const Halves &Text,
                                         llvm::StringRef Calls);
  llvm::Expected<Compiled> compileHost(llvm::StringRef Text);
  /// \p Flag says what \p Made is to be.
  llvm::Expected<Compiled> run(ProcessSpec Spec, llvm::StringRef File,
                               llvm::StringRef Text, const std::string &Made,
                               const char *Flag = "-c");
  bool byOwn() const { return Options.Host == HostCompiler::Own; }
  /// The user's compilers are asked.
  static Compiled notByOwn();

private:
  std::vector<std::string> hostFlags() const;
  /// Precompiled; empty where it cannot be kept.
  std::string header() const {
    return precompiledHeader(Compiler, hostFlags(), headers());
  }
  ProcessSpec hostCall(const std::string &Header) const;
  llvm::Expected<Compiled> compileDevice(llvm::StringRef Text);
  llvm::Expected<Compiled> registered(Compiled Device, const Compiled &Host);

  HostCommand Compiler; ///< of host code
};

} // namespace stark

#endif
