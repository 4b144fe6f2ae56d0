//===- Streams.h - What a loop moves element by element -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The arrays that each iteration of a loop that threads share reads or
/// writes at the index, or at the index plus something.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_ANALYSIS_STREAMS_H
#define STARK_LIB_REWRITE_ANALYSIS_STREAMS_H

#include "Remap.h"

namespace stark {

/// All accesses of a loop to p[offset + i].
struct Stream {
  const clang::VarDecl *Base = nullptr;
  const clang::VarDecl *Root = nullptr;
  const clang::Expr *Index = nullptr;
  std::string Type;   ///< of an element
  unsigned Bytes = 0; ///< an element
  bool Load = false, Store = false;
  bool Always = false; ///< each iteration accesses it
  std::vector<Access> Members;
};

struct Streams {
  std::vector<Stream> All;
  unsigned Least = 0; ///< bytes of the smallest element
  /// An iteration may read an array after it stored to another one, which might
  /// be the same memory.
  bool LoadAfterStore = false;
};

/// Bytes of an element of type \p T that can stand in a vector; 0 when it
/// cannot.
unsigned elementBytes(clang::QualType T, const clang::ASTContext &Context);

/// The streams of \p L, whose iterations may run in any thread, when they are
/// all that it moves through memory; else why they are not.
OrReason<Streams> readStreams(const Facts &F, const Kernel &K,
                              const Accesses &A,
                              const std::vector<Reduction> &Reductions,
                              const ThreadLoop &L);

/// The text of \p E with the loop's index written as \p As; unset in macros.
std::optional<std::string> withIndex(const Facts &F, const Kernel &K,
                                     const ThreadLoop &L, const clang::Expr *E,
                                     llvm::StringRef As);

} // namespace stark

#endif
