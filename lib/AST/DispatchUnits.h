//===- DispatchUnits.h - Declarations that are moved as one  -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   items -> units: what one text declares (`int a, b;`, `typedef struct {}
///   T`)
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_DISPATCHUNITS_H
#define STARK_LIB_AST_DISPATCHUNITS_H

#include "HalvesItems.h"
#include "SourceTokens.h"
#include <set>

namespace stark {

struct Unit {
  Range Bytes;
  std::vector<std::string> Names; ///< none: a static_assert, a using directive
  std::vector<const Item *> Items;
  /// Why it can stand in one place only; empty if it can be moved: "method
  /// 'Box::area' of a class of another file".
  std::string Fixed;
};

/// A text with what it declares.
struct UnitList {
  UnitList(const ParsedSource &Source, Spellings &Names);

  const ParsedSource &Source;
  SourceTokens Tokens;
  Headers From;
  std::vector<Item> Items;
  std::vector<Unit> Units;
  std::string WhyNot; ///< why the text is not understood

  /// The unit that writes the byte; null when none does.
  const Unit *at(size_t Offset) const;
  std::string print(Range Bytes) const; ///< its tokens
  std::set<std::string> words(Range Bytes) const;
};

} // namespace stark

#endif
