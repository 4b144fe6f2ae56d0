//===- ExtractReach.h - What an entry reaches -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   units + entries -> the units that are kept
/// A unit is kept when what the entry means lies in it, or when a kept unit
/// names it; a part of it likewise, a member also when a word of what is kept
/// may name it, and a definition when a class is made of it. With a template
/// comes what specialises it for what is reached; with a class its members that
/// are defined outside of it; with what is kept the using directives and
/// aliases of its namespaces, and variables whose construction may change what
/// is kept. Where Clang does not know all that a text comes to, whatever a word
/// of it may name is kept as well.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EXTRACTREACH_H
#define STARK_LIB_AST_EXTRACTREACH_H

#include "ExtractIncludes.h"
#include "ExtractUnits.h"
#include "stark/AST/Extract.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/Support/Error.h"

namespace stark {

class Reach {
public:
  Reach(const IncludeTree &Tree, UnitsOfFiles &Units, ExtractLevel Level);
  ~Reach();

  /// An error when no file of the project defines one of them.
  llvm::Error addEntries(llvm::ArrayRef<std::string> Entries);
  /// Until nothing more is reached. Whether anything was.
  bool run();
  /// Keeps everything that one of \p Words may name.
  bool keepNamed(const std::set<llvm::StringRef> &Words);
  /// Keeps the members of kept classes that one of \p Words may name.
  bool keepMembers(const std::set<llvm::StringRef> &Words);
  /// What is kept may come to more than Clang knows: an entry is a template, or
  /// there is text that has errors for Clang and none for nvcc.
  bool isOpen() const { return IsOpen; }
  /// Of headers that are not the project's.
  NeededIncludes &includes() { return Includes; }

private:
  class PassWalk;
  /// Keeps the unit, and all that it names.
  void keep(size_t Unit);
  void keepPart(size_t Part);
  /// Parts that hold the place, which lies in the unit.
  void keepParts(size_t Unit, std::pair<int, size_t> Place);
  /// What the class was made of.
  void keepDefinition(size_t Pass,
                      const clang::ClassTemplateSpecializationDecl *Made);
  bool arePartsKept(size_t Pass, const clang::Decl *D) const;
  bool isUsedAtAll(size_t Pass, const clang::Decl *D) const;
  bool isUsed(size_t Pass, const clang::Decl *Member) const;
  bool comesAlong(const CodeUnit &U) const;
  bool comesAlong(size_t Pass, const clang::Decl *D, int File) const;
  bool isKept(size_t Pass, const clang::Decl *D, bool Foreign = true) const;
  bool inKeptScope(const clang::Decl *D) const;
  const std::set<size_t> &meaningOf(size_t Unit, size_t Pass, clang::Decl *D);
  void addSpaces(const CodeUnit &U);
  bool keepChanging();
  bool keepAsserts();

  const IncludeTree &Tree;
  UnitsOfFiles &Units;
  std::vector<std::unique_ptr<PassWalk>> Walks;
  std::vector<size_t> Open, OpenParts;
  std::map<const clang::Decl *, size_t> PartOf;
  const ExtractLevel Level;
  std::set<std::string> Scopes; ///< namespaces that have something kept
  std::map<std::string, std::vector<size_t>, std::less<>> ByName;
  std::map<size_t, std::set<size_t>> Meanings;
  bool IsOpen = false;
  NeededIncludes Includes;
};

/// The functions and templates of \p Units that \p Entry names, for a pass.
std::vector<const clang::Decl *>
entriesNamed(const UnitsOfFiles &Units, size_t Pass, llvm::StringRef Entry);

} // namespace stark

#endif
