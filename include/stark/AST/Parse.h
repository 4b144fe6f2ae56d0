//===- Parse.h - A CUDA source as Clang sees it --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source bytes + nvcc-style flags -> ParsedSource, an AST that may have
/// errors. nvcc, not Clang, judges whether a source compiles. A parse therefore
/// goes on over errors, as clangd's does, and each site says whether an error
/// lies in it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_PARSE_H
#define STARK_AST_PARSE_H

#include "stark/AST/Toolkit.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace clang {
class ASTUnit;
}

namespace stark {

struct ParseOptions {
  /// The user's flags, as for clang++ or nvcc; nvcc's own are translated or
  /// dropped, never an error. Relative paths are relative to Folder.
  std::vector<std::string> Flags;
  std::string Folder;  ///< where the flags hold; empty: the current one
  std::string Toolkit; ///< explicit toolkit root; empty: find it
  std::string Arch = "sm_90";
  /// Where libtorch is, for sources that include its headers; empty: where the
  /// flags find them, or as posix::findLibtorch() does.
  std::string Torch;
};

/// An error that Clang found; it goes on all the same.
struct SourceError {
  unsigned Id = 0;               ///< clang::diag::err_...
  unsigned Line = 0, Column = 0; ///< 1-based; 0 when in another file
  size_t Offset = 0;
  std::string Message;
};

/// Owns the AST and the exact bytes it was made from.
class ParsedSource {
public:
  ParsedSource(std::string Path, std::string Text,
               std::unique_ptr<clang::ASTUnit> Unit,
               std::vector<SourceError> Errors);
  ~ParsedSource();
  const std::string &path() const { return Path; }
  llvm::StringRef text() const { return Text; }
  clang::ASTUnit &unit() const { return *Unit; }
  /// What Clang could not make sense of, main file first.
  const std::vector<SourceError> &errors() const { return Errors; }
  /// Absolute paths of the files it includes that are no system headers.
  std::vector<std::string> includedFiles() const;

private:
  std::string Path, Text;
  std::unique_ptr<clang::ASTUnit> Unit;
  std::vector<SourceError> Errors;
};

/// Errors of \p After that \p Before has not, or not so often, wherever they
/// stand: an error is the same when its id and what it names are.
std::vector<SourceError> newErrors(const ParsedSource &Before,
                                   const ParsedSource &After);

class Prelude;

/// Parses \p Text as the content of \p Path (which need not exist on disk).
/// An error only when no AST at all could be made. \p Known, made with the same
/// options, must outlive the result.
llvm::Expected<std::unique_ptr<ParsedSource>>
parseSource(llvm::StringRef Path, llvm::StringRef Text,
            const ParseOptions &Options, const Prelude *Known = nullptr);

/// Where Clang's own headers are: beside an installed program that brings them,
/// else where the LLVM is that Stark was built with.
std::string clangResourceFolder();

} // namespace stark

#endif
