//===- Names.h - The words that stand for an enum's values ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   One table per enum serves JSON, flags and messages. It stands beside the
/// enum, in the enum's namespace, and is found through namesOf():
///
///     inline constexpr Named<Role> RoleNames[] = {{Role::Plan, "plan"},
///                                                 {Role::Code, "code"}};
///     constexpr std::span<const Named<Role>> namesOf(Role) {
///       return RoleNames;
///     }
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_NAMES_H
#define STARK_JSON_NAMES_H

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stark {

template <class E> struct Named {
  E Value;
  const char *Name;
};

template <class E>
concept HasNames = requires(E Value) {
  { namesOf(Value) } -> std::convertible_to<std::span<const Named<E>>>;
};

/// "?" for a value that the table leaves out.
template <HasNames E> constexpr const char *nameOf(E Value) {
  for (const Named<E> &N : namesOf(Value))
    if (N.Value == Value)
      return N.Name;
  return "?";
}

/// Unset when no value has this name.
template <HasNames E>
constexpr std::optional<E> valueNamed(std::string_view Name) {
  for (const Named<E> &N : namesOf(E()))
    if (Name == N.Name)
      return N.Value;
  return std::nullopt;
}

/// "plan, code or debug", in the table's order.
template <HasNames E> std::string allNames() {
  std::span<const Named<E>> Table = namesOf(E());
  std::string List;
  for (size_t I = 0; I < Table.size(); ++I)
    List += std::string(I == 0                  ? ""
                        : I + 1 == Table.size() ? " or "
                                                : ", ") +
            Table[I].Name;
  return List;
}

} // namespace stark

#endif
