//===- Site.h - Places in a source where a change could go ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A site is a node of the AST: kernel, device function, launch, loop,
/// statement, memory access, declaration, barrier. It has a stable readable id,
/// a byte range, a parent, and a reason when it cannot be edited.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_SITE_H
#define STARK_AST_SITE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace stark {

class ParsedSource;

/// Bytes [Begin, End) of a source.
struct Range {
  size_t Begin = 0, End = 0;
  bool contains(const Range &R) const {
    return Begin <= R.Begin && R.End <= End;
  }
  bool overlaps(const Range &R) const { return Begin < R.End && R.Begin < End; }
  size_t size() const { return End - Begin; }
  bool operator==(const Range &R) const = default;
};

enum class SiteKind {
  Kernel,      ///< a __global__ function (definition, or declaration only)
  Device,      ///< a __device__ function
  Host,        ///< a host function that launches or is an entry candidate
  Launch,      ///< <<<...>>> or cudaLaunchKernel*
  Loop,        ///< for, while, do, range for
  Branch,      ///< if, switch
  Access,      ///< a load or store of global, shared or constant memory
  Declaration, ///< a local or namespace-scope variable, shared arrays first
  Barrier,     ///< __syncthreads and its kin
  Statement,   ///< any other statement
};
llvm::StringRef siteKindName(SiteKind Kind);
/// So small and so many that a long list leaves them out.
bool isDetail(SiteKind Kind);

/// Why a site is listed but cannot be edited.
struct Obstacle {
  enum KindType {
    None,
    MacroExpansion,  ///< of the macro Text, or of one that has no name
    MacroDefinition, ///< of the macro Text
    Skipped,         ///< by the preprocessor
    DeclarationOnly,
    Instantiation, ///< an explicit one
    Error,         ///< Clang reports the error Text in it
    Unread,        ///< Clang made nothing of it: Text is its error, if any
  };
  KindType Kind = None;
  std::string Text;
  unsigned Line = 0; ///< of the error; 0: it lies elsewhere

  Obstacle(KindType Kind = None, std::string Text = "", unsigned Line = 0)
      : Kind(Kind), Text(std::move(Text)), Line(Line) {}
  explicit operator bool() const { return Kind != None; }
  /// Clang did not understand what stands there.
  bool isError() const { return Kind == Error || Kind == Unread; }
  std::string str() const; ///< "inside the expansion of macro X"
};

struct Site {
  std::string Id; ///< "softmax_kernel:loop2"; unique in its source
  SiteKind Kind;
  std::string Name; ///< of the function, launched kernel or variable
  Range Bytes;      ///< in the main file, comments before a function excluded
  unsigned Line = 0, EndLine = 0; ///< 1-based
  int Parent = -1;    ///< index into Sites::All, -1 for a top-level site
  Obstacle Against;   ///< editing it, if any
  std::string Detail; ///< a kernel's signature, a launch's grid and block, ...
  bool editable() const { return !Against; }
};

struct Sites {
  std::vector<Site> All; ///< parents before children, in source order
  const Site *find(llvm::StringRef Id) const;
  void print(llvm::raw_ostream &OS) const;
  /// Versioned JSON: {"version":1,"file":...,"sites":[...],"errors":[...]}.
  std::string toJson(const ParsedSource &Source) const;
};

Sites findSites(const ParsedSource &Source);

} // namespace stark

#endif
