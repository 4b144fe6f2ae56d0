//===- DispatchGroups.h - What a source and its winner share  ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   units -> groups, by name: overloads, specialisations and redeclarations
/// belong together, and so do the definitions of a macro
/// What a group needs are the groups whose names its text has: by words, which
/// may find too much (a local variable of the name) and never too little.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_DISPATCHGROUPS_H
#define STARK_LIB_AST_DISPATCHGROUPS_H

#include "DispatchUnits.h"
#include <map>

namespace stark {

struct Group {
  std::set<std::string> Names;
  std::vector<const Unit *> Units; ///< none: of a macro
  std::string Text;                ///< all its tokens
  std::set<size_t> Needs;          ///< other groups
};

class GroupList {
public:
  explicit GroupList(const UnitList &List);

  std::vector<Group> All;
  std::map<std::string, size_t> ByName;
  std::set<std::string> Macros; ///< that the text defines or undefines

  /// Of each group whether \p Other has it with the same text, and all that it
  /// needs, too.
  std::vector<bool> sharedWith(const GroupList &Other) const;
  /// \p First and all that it needs and that is not in \p Without.
  std::set<size_t> reach(size_t First, const std::vector<bool> &Without) const;

private:
  size_t groupOf(const std::set<std::string> &Names);
  void readMacros(const UnitList &List);

  std::vector<std::set<std::string>> Words; ///< of each group
};

} // namespace stark

#endif
