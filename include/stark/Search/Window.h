//===- Window.h - What each role is shown of the tree --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A window is the part of the tree that a role sees (paper, section 4.4):
///
///     plan(i)  = {i, root} + children(i) + leaders outside i's subtree
///     code(i)  = {i, root} + children(i) + children of i's siblings
///     debug(i) = {i, root} + siblings(i)
///
/// An agent that works alone is shown plan(i) of a correct node and debug(i) of
/// a failing one. Without windows all are shown {i, root}.
///
/// At most Limit nodes. Attempts that gave no candidate are left out.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_WINDOW_H
#define STARK_SEARCH_WINDOW_H

#include "stark/Json/Names.h"
#include "stark/Search/Tree.h"
#include "stark/Support/Random.h"

namespace stark {

/// Single: an agent that works alone.
enum class WindowRole { Plan, Code, Debug, Single };
inline constexpr Named<WindowRole> WindowRoleNames[] = {
    {WindowRole::Plan, "plan"},
    {WindowRole::Code, "code"},
    {WindowRole::Debug, "debug"},
    {WindowRole::Single, "single"}};
constexpr std::span<const Named<WindowRole>> namesOf(WindowRole) {
  return WindowRoleNames;
}

/// {i, root}, ascending.
std::vector<unsigned> noWindow(unsigned Selected);

/// Node numbers, ascending, root and \p Selected included. When there are more
/// than \p Limit, root and \p Selected stay and the others are drawn.
std::vector<unsigned> makeWindow(WindowRole Role, const Tree &T,
                                 const Leaderboard &Leaders, unsigned Selected,
                                 unsigned Limit, Random &Draw);

} // namespace stark

#endif
