//===- ExtractIncludes.h - Which includes of others are needed ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what is kept names -> the directives of the project's headers that bring
/// it from headers of others
/// A directive that names the very header is taken, else, where none is that
/// comes to it, the one that brings least. What nvcc itself reads before a
/// source needs none.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EXTRACTINCLUDES_H
#define STARK_LIB_AST_EXTRACTINCLUDES_H

#include "ExtractTree.h"

namespace stark {

class NeededIncludes {
public:
  explicit NeededIncludes(const IncludeTree &Tree);

  /// What is kept refers to \p D in a pass.
  void add(size_t Pass, const clang::Decl *D);
  /// It has \p Word, which may be a macro of others; where \p Unread, also
  /// whatever is called so, for Clang has not read what uses it.
  void addWord(llvm::StringRef Word, bool Unread);
  /// Chooses directives for all that was added. Whether there are more.
  bool settle();
  /// Whether the directive that begins with token \p First is needed.
  bool has(int File, size_t First) const { return Needed.count({File, First}); }

private:
  using Place = std::pair<int, size_t>; ///< file, first token of a directive
  using Files = std::set<const clang::FileEntry *>;
  struct OpenHeader {
    const clang::FileEntry *Header;
    bool ReadBefore; ///< the source, by Clang
  };
  struct PassIncludes {
    std::map<const clang::FileEntry *, Files> Of; ///< what each includes
    std::map<Place, const clang::FileEntry *> Named;
    std::map<const clang::FileEntry *, Files> All; ///< of Named: what it brings
    Files ReadByNvcc;                              ///< before any source
    Files Known;                  ///< headers that something is needed of
    std::vector<OpenHeader> Open; ///< of these, not settled
  };
  void readRecord(size_t Pass);
  bool isReadBefore(size_t Pass, clang::FileID Id) const;
  bool addPlace(size_t Pass, clang::SourceLocation L);
  void addName(size_t Pass, const clang::IdentifierInfo &Name);
  static void addAll(const PassIncludes &P, const clang::FileEntry *Header,
                     Files &To);
  bool isBrought(const PassIncludes &P, const clang::FileEntry *Header) const;
  void choose(const PassIncludes &P, const clang::FileEntry *Header);

  const IncludeTree &Tree;
  std::vector<PassIncludes> Passes;
  std::set<Place> Needed;
  size_t Settled = 0; ///< how many of these settle() has told of
};

} // namespace stark

#endif
