//===- Values.h - What a field of a record can be -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   string, bool, number, enum with names (Names.h), word, record, vector or
/// map of these <--> JSON, and how errors speak of them
/// The JSON type is a template parameter, so that this header includes no JSON
/// library.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_VALUES_H
#define STARK_JSON_VALUES_H

#include "stark/Json/Names.h"
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace stark {

/// Bytes that are no UTF-8 are replaced. \p Indent: spaces a level, -1 for one
/// line.
template <class Json> std::string dumpJson(const Json &Value, int Indent = -1) {
  return Value.dump(Indent, ' ', false, Json::error_handler_t::replace);
}

/// How an error speaks of a value given: as JSON, cut to 40 characters.
template <class Json> std::string describeJson(const Json &Value) {
  std::string Text = dumpJson(Value);
  if (Text.size() > 40)
    Text = Text.substr(0, 37) + "...";
  return Text;
}

/// A type that one JSON string stands for. parseWord() returns what was wanted,
/// empty when the text is one.
template <class T>
concept IsWord = requires(const T &V, T &Out, const std::string &Text) {
  { printWord(V) } -> std::convertible_to<std::string>;
  { parseWord(Text, Out) } -> std::convertible_to<std::string>;
};

template <class IO, class T>
concept HasFields = requires(IO &F, T &Record) { fields(F, Record); };

template <class T>
concept IsNumber = std::integral<T> && !std::same_as<T, bool>;

/// What a vector or a map holds.
template <class T> struct ItemOf {
  static constexpr bool IsVector = false, IsMap = false;
};
template <class T> struct ItemOf<std::vector<T>> {
  static constexpr bool IsVector = true, IsMap = false;
  using Type = T;
};
template <class T> struct ItemOf<std::map<std::string, T>> {
  static constexpr bool IsVector = false, IsMap = true;
  using Type = T;
};

/// Strings stand in single quotes in an error.
template <class Json> std::string quoteJson(const Json &J) {
  return J.is_string() ? "'" + J.template get<std::string>() + "'"
                       : describeJson(J);
}

/// How an error speaks of an array's items.
template <class T> std::string describeItems() {
  if constexpr (IsNumber<T>)
    return std::is_signed_v<T> ? "integers" : "integers of 0 or more";
  else if constexpr (std::floating_point<T>)
    return "numbers";
  else if constexpr (std::same_as<T, std::string> || IsWord<T> || HasNames<T>)
    return "strings";
  else
    return "objects";
}

/// How an error speaks of the type that was wanted.
template <class T> std::string describeType() {
  if constexpr (HasNames<T>)
    return allNames<T>();
  else if constexpr (std::same_as<T, std::string> || IsWord<T>)
    return "a string";
  else if constexpr (std::same_as<T, bool>)
    return "true or false";
  else if constexpr (IsNumber<T>)
    return std::is_signed_v<T> ? "an integer" : "an integer of 0 or more";
  else if constexpr (std::floating_point<T>)
    return "a number";
  else if constexpr (ItemOf<T>::IsVector)
    return "an array of " + describeItems<typename ItemOf<T>::Type>();
  else
    return "an object";
}

/// False when \p J is none; \p V is unchanged then.
template <class Json, class T> bool convertJson(const Json &J, T &V) {
  if constexpr (std::same_as<T, std::string>) {
    if (!J.is_string())
      return false;
    V = J.template get<std::string>();
  } else if constexpr (std::same_as<T, bool>) {
    if (!J.is_boolean())
      return false;
    V = J.template get<bool>();
  } else if constexpr (IsNumber<T>) {
    if (J.is_number_unsigned()
            ? !std::in_range<T>(J.template get<uint64_t>())
            : !J.is_number_integer() ||
                  !std::in_range<T>(J.template get<int64_t>()))
      return false;
    V = J.template get<T>();
  } else {
    static_assert(std::floating_point<T>, "a type with no form in JSON");
    if (!J.is_number())
      return false;
    V = J.template get<T>();
  }
  return true;
}

} // namespace stark

#endif
