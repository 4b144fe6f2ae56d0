//===- Prelude.h - Headers that are parsed once --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   parsed source -> the headers that it begins with, precompiled -> parses of
/// texts that begin with the same ones, in a small part of the time and memory.
/// The sites, anchors, footprints and contracts found in them are the same.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_PRELUDE_H
#define STARK_AST_PRELUDE_H

#include "stark/AST/Parse.h"

namespace clang {
class ASTUnit;
}

namespace stark {

struct HeaderWords;

/// nvcc's two passes: the one that has __CUDA_ARCH__, and the one for the host.
enum class PassOf { Device, Host };

/// The system headers that a source begins with, and those of CUDA that Clang
/// always reads.
class Prelude {
public:
  /// Of \p Source, which was parsed with \p Options. Null when there is nothing
  /// to be had: an error lies in a header, or Clang cannot keep what it read.
  static std::unique_ptr<const Prelude> make(const ParsedSource &Source,
                                             const ParseOptions &Options);
  /// Those of libtorch: torchHeaders(). Made once and kept in the user's cache
  /// folder and in this process, since reading them takes seconds. Null where
  /// there is no libtorch, or Clang cannot keep what it read.
  static const Prelude *ofTorch(const ParseOptions &Options);
  /// Those of the toolkit that Clang reads before any source, likewise. Null
  /// where there is no toolkit, no folder to keep them in, or \p Options has
  /// macros or folders that they would be others with.
  static const Prelude *ofToolkit(const ParseOptions &Options,
                                  PassOf Pass = PassOf::Device);
  /// Those of the toolkit and of the C++ library that \p Text begins with,
  /// where some take long to read (cooperative groups, CUB, Thrust), likewise;
  /// null where none does, or \p Known has as many. Only their names are \p
  /// Text's, and as many sets are kept as are used.
  static const Prelude *ofIncludes(llvm::StringRef Text,
                                   const ParseOptions &Options,
                                   const Prelude *Known = nullptr);
  /// Whether \p Text, read as \p Unit, includes headers of its own before some
  /// of these that could have made them others, or disagree with them.
  bool mayDiffer(llvm::StringRef Text, clang::ASTUnit &Unit,
                 bool HasErrors) const;
  /// Whether one of the toolkit is there with all that takes long to read of
  /// what \p Text begins with.
  static bool isToolkits(llvm::StringRef Text, const ParseOptions &Options);
  /// One that no longer fits is made anew by the next process.
  void forget() const;
  /// Whether \p Text begins with these headers, or has them given.
  bool opens(llvm::StringRef Text) const;
  /// What Clang kept, and the text that it was made of, for as long as this
  /// lives.
  llvm::StringRef precompiled() const { return Precompiled; }
  llvm::StringRef madeOf() const { return MadeOf; }

private:
  bool precompile(std::string Text, const ParseOptions &Options,
                  PassOf Pass = PassOf::Device, HeaderWords *Words = nullptr);
  static std::string textOf(llvm::ArrayRef<std::string> Includes);
  /// From the user's cache folder, or made of \p Text, which is \p Includes if
  /// there are any, and kept there, with its words beside it where they are
  /// asked for.
  static const Prelude *kept(const std::string &Name, std::string Text,
                             std::vector<std::string> Includes,
                             const ParseOptions &Options, PassOf Pass,
                             bool WithWords);
  static const Prelude *ofToolkitWith(std::vector<std::string> Includes,
                                      const ParseOptions &Options, PassOf Pass);
  std::string wordsFile() const { return File + ".words"; }
  /// Of wordsFile().
  std::optional<HeaderWords> words() const;

  std::vector<std::string> Includes; ///< "cuda_fp16.h"
  std::string Precompiled, MadeOf;
  std::string File; ///< where it is kept, or empty
};

} // namespace stark

#endif
