//===- Builder.h - From a text to objects to a library --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text + trampoline -> objects -> library, in a folder of its own
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_BUILDER_H
#define STARK_LIB_EVAL_BUILDER_H

#include "stark/AST/Toolkit.h"
#include "stark/Eval/Build.h"
#include "stark/Support/Process.h"

namespace stark {

/// What came of a text: the objects are good when How is ok().
struct Compiled {
  ProcessResult How;
  std::vector<std::string> Objects; ///< paths
  /// Of an entry of tensors that was compiled in one piece: the reason.
  std::optional<std::string> WhyWhole = {};
  std::string Device = {};    ///< a text that the simulator compiles
  std::string Refused = {};   ///< why the simulator cannot have it, else empty
  bool KernelsFailed = false; ///< of an entry of tensors: the half for nvcc
};

class Builder {
public:
  Builder(const Task &Of, const BuildOptions &Options, Toolkit Cuda,
          std::string Folder)
      : Of(Of), Options(Options), Cuda(std::move(Cuda)),
        Folder(std::move(Folder)) {}
  virtual ~Builder() = default;

  /// \p IsSource: with the reference, too.
  virtual llvm::Expected<Compiled> compile(llvm::StringRef Text,
                                           bool IsSource) = 0;
  /// What may compile where compile() did not, or did not link.
  virtual llvm::Expected<std::optional<Compiled>>
  compileOtherwise(llvm::StringRef, bool) {
    return std::nullopt;
  }
  virtual llvm::Expected<ProcessResult>
  link(llvm::ArrayRef<std::string> Objects, llvm::StringRef Library) = 0;
  /// Does the source import it for the calls that are appended to it, and not
  /// of itself? A candidate may not have it, then.
  virtual bool isOfTheCalls(llvm::StringRef Import) const { return false; }
  /// Where nvcc leaves what it made on the way, PTX among it.
  std::string keptFolder() const { return Folder + "/kept"; }
  /// Compiler messages with the names that the user knows.
  std::string inUserTerms(std::string Text) const;

protected:
  /// A call of nvcc with the user's flags.
  ProcessSpec nvcc() const;
  /// What compiles kernels leaves their PTX in keptFolder().
  void keepPtx(ProcessSpec &Spec) const;
  std::string fileName() const; ///< the text's, in Folder
  std::string home() const;     ///< the source's folder

  const Task &Of;
  const BuildOptions &Options;
  Toolkit Cuda;
  std::string Folder;
};

/// For an entry of pointers.
std::unique_ptr<Builder> makePlainBuilder(const Task &T,
                                          const BuildOptions &Options,
                                          const Toolkit &Cuda,
                                          std::string Folder);

/// For an entry of tensors: host code by the host's compiler, with libtorch's
/// headers precompiled, and only what is for the device by nvcc. An error when
/// there is no libtorch.
llvm::Expected<std::unique_ptr<Builder>>
makeTorchBuilder(const Task &T, const BuildOptions &Options,
                 const Toolkit &Cuda, std::string Folder);
llvm::Expected<ProcessResult>
compileObserver(const Task &T, const BuildOptions &Options, const Toolkit &Cuda,
                std::string Folder, llvm::StringRef Library);

} // namespace stark

#endif
