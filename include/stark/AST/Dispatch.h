//===- Dispatch.h - A winner beside its source  --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + winner -> edits after which both stand in one translation unit
/// The source stays whole; its entry gets another name, and a function with the
/// entry's own name chooses at run time. Of the winner those declarations are
/// kept that it changed and that its entry reaches, under names of their own
/// that no other file sees. (Static ones: nvcc makes a named namespace of an
/// unnamed one, with external symbols.) What the two have in common exists
/// once, so variables do not fall in two. Device code is kept from
/// architectures on which it was not proved: kernels are empty there.
///
/// What cannot be taken along is refused by name.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_DISPATCH_H
#define STARK_AST_DISPATCH_H

#include "stark/AST/EntryUsed.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"
#include <string>
#include <vector>

namespace stark {

/// Puts Text in the place of the bytes and of the blanks and comments before
/// them.
struct DispatchEdit {
  Range Place; ///< empty: an insertion behind the token before it
  std::string Text;
};

struct DispatchCut {
  std::vector<DispatchEdit> Source, Winner; ///< ascending
  size_t ChoiceAt = 0; ///< byte of the source, behind the entry's definition
  std::string Name;    ///< of the entry, unqualified
  /// What stands before the entry's name and behind it, without default
  /// arguments in the one that declares the winner.
  std::string Linkage, Head, Tail, WinnerTail;
  std::string Arguments;             ///< "x, y, n"
  std::vector<std::string> Renamed;  ///< names of the winner's own declarations
  std::vector<std::string> Macros;   ///< that the source or the winner defines
  std::vector<std::string> Includes; ///< of the winner alone: directives
  std::vector<std::string> Shared;   ///< names that both declare alike
};

/// Both parsed for the same flags and architecture. An error says what cannot
/// be dispatched: "entry 'launch<float>' is a template, ...". \p Extracted is
/// what the winner is a form of, where that is not \p Source itself but what
/// was extracted of it and its headers (Extract.h): what the winner leaves
/// alone of it, the headers declare.
llvm::Expected<DispatchCut> cutWinner(const ParsedSource &Source,
                                      const ParsedSource &Winner,
                                      llvm::StringRef Entry,
                                      llvm::StringRef Suffix,
                                      const ParsedSource *Extracted = nullptr,
                                      EntryUsed As = EntryUsed::Called);

/// An error of cutWinner() that any winner of \p Entry would have: there is no
/// place in \p Source for the choice.
llvm::Error checkDispatchable(const ParsedSource &Source, llvm::StringRef Entry,
                              EntryUsed As = EntryUsed::Called);

/// Looks at the translation unit that was made: it has no error that the winner
/// alone has not, and no declaration of the winner's, all of which stand at or
/// behind \p WinnerAt, names one of the source's that is not shared.
llvm::Error checkDispatch(const ParsedSource &Made, const ParsedSource &Winner,
                          const DispatchCut &Cut, size_t WinnerAt);

/// Of a winner of an extracted source, too: what its entry and all that it
/// reaches mean is what they meant alone, whatever else the headers declare.
llvm::Error checkMeaning(const ParsedSource &Made, const ParsedSource &Winner,
                         const ParseOptions &Options, llvm::StringRef Entry,
                         llvm::StringRef Suffix);

} // namespace stark

#endif
