//===- Find.h - Values deep in JSON that nobody vouches for --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   (JSON, JSON pointer) -> the value there, or nothing
/// A step that is absent or leads into a value of another type ends in nothing,
/// never in an exception. The JSON type is a template parameter, as in
/// Values.h.
///
///     if (std::optional<uint64_t> N = countAt(Body, "/usage/output_tokens"))
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_FIND_H
#define STARK_JSON_FIND_H

#include "stark/Json/Values.h"
#include <cstdint>
#include <optional>
#include <string>

namespace stark {

/// What stands at \p Pointer (RFC 6901: "/choices/0/delta"), which is no one's
/// but the program's own: a malformed one throws. Null when nothing or JSON's
/// null does.
template <class Json>
const Json *valueAt(const Json &In, const std::string &Pointer) {
  const typename Json::json_pointer Path(Pointer);
  if (!In.contains(Path))
    return nullptr;
  const Json &Found = In.at(Path);
  return Found.is_null() ? nullptr : &Found;
}

/// Empty for what is no string.
template <class Json>
std::string textAt(const Json &In, const std::string &Pointer) {
  const Json *Found = valueAt(In, Pointer);
  return Found && Found->is_string() ? Found->template get<std::string>() : "";
}

/// Nothing for what is no integer of 0 or more.
template <class Json>
std::optional<uint64_t> countAt(const Json &In, const std::string &Pointer) {
  const Json *Found = valueAt(In, Pointer);
  if (!Found || !Found->is_number_unsigned())
    return std::nullopt;
  return Found->template get<uint64_t>();
}

/// The array there, else an empty one.
template <class Json>
const Json &elementsAt(const Json &In, const std::string &Pointer) {
  static const Json None = Json::array();
  const Json *Found = valueAt(In, Pointer);
  return Found && Found->is_array() ? *Found : None;
}

/// A string as it is, a number or a truth value as JSON; else empty.
template <class Json>
std::string wordAt(const Json &In, const std::string &Pointer) {
  const Json *Found = valueAt(In, Pointer);
  if (!Found || Found->is_structured())
    return "";
  return Found->is_string() ? Found->template get<std::string>()
                            : dumpJson(*Found);
}

} // namespace stark

#endif
