//===- HeaderWords.h - What headers could see of flags ----------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   headers as Clang read them -> the words and names in them -> whether a
/// macro or a folder of a command line would have changed them
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_HEADERWORDS_H
#define STARK_LIB_AST_HEADERWORDS_H

#include "llvm/ADT/StringSet.h"
#include <string>

namespace clang {
class Preprocessor;
}

namespace stark {

struct HeaderWords {
  /// Adds all that was read, for which a preprocessing record was kept.
  void note(clang::Preprocessor &Read);
  /// Of print().
  static HeaderWords parse(llvm::StringRef Text);
  std::string print() const;

  /// Of "-D" or "-U": "N=32" is in none of them.
  bool haveMacro(llvm::StringRef Definition) const;
  /// Whether something that they include by a name could be found in \p Folder
  /// as well.
  bool mayLieIn(llvm::StringRef Folder) const;

private:
  llvm::StringSet<> Identifiers;
  llvm::StringSet<> Names; ///< of files, as they are included
};

} // namespace stark

#endif
