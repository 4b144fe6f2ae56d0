//===- HalvesItems.h - Which half a declaration is for -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   AST -> the declarations of the main file's namespaces, each with the side
/// it is for, and why one that the device needs cannot be had without PyTorch.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_HALVESITEMS_H
#define STARK_LIB_AST_HALVESITEMS_H

#include "HalvesHeaders.h"
#include "clang/AST/Decl.h"
#include <optional>
#include <set>

namespace stark {

/// A declaration of a namespace's scope that the main file writes.
struct Item {
  enum SideType {
    Kernel,
    Device, ///< device functions and variables
    Host,   ///< host functions, variables that change
    Shared, ///< types, constants, functions for both sides, using
  };
  clang::Decl *D = nullptr;
  SideType Side = Shared;
  Range Bytes;               ///< what writes it; a macro's use, too
  std::optional<Range> Body; ///< of a function, when no macro writes it
  std::string Name;          ///< for messages and look-up; may be empty

  std::set<const clang::Decl *> Uses;        ///< what it names
  std::set<const clang::Decl *> InSignature; ///< of a kernel, likewise
  std::vector<clang::SourceLocation> Macros; ///< definitions of those it uses
  std::string Torch;                         ///< of torch's, that it names
  /// Names of torch's or of the host's, or of what does: only for the host.
  bool HostOnly = false;

  /// The function, or the one that the template makes.
  clang::FunctionDecl *function() const;
};

/// In the order of the text. Nothing, with the reason, where a declaration is
/// not understood or one of the device's needs one of the host's.
std::optional<std::vector<Item>>
findItems(const ParsedSource &Source, const Headers &From, std::string &WhyNot);

/// The same, of any source: only what is not understood is a reason.
std::optional<std::vector<Item>>
readItems(const ParsedSource &Source, const Headers &From, std::string &WhyNot);

/// The items that write the byte \p Offset.
std::vector<size_t> itemsAt(const std::vector<Item> &Items, size_t Offset);

} // namespace stark

#endif
