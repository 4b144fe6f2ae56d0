//===- FieldWriter.h - A list of fields makes an object -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   record --fields()--> JSON object (Fields.h)
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_FIELDWRITER_H
#define STARK_JSON_FIELDWRITER_H

#include "stark/Json/Values.h"
#include <cmath>
#include <optional>

namespace stark {

/// Makes a JSON object of a record. Nothing that it is given is changed; see
/// FieldReader for what each function stands for.
template <class Json> class FieldWriter {
public:
  static constexpr bool Writes = true;

  void format(const char *Name, int64_t Version) { Object[Name] = Version; }
  template <class T> void required(const std::string &Name, const T &Value) {
    Object[Name] = toJson(Value);
  }
  template <class T>
  void optional(const std::string &Name, const T &Value, bool Written = true) {
    if (Written)
      Object[Name] = toJson(Value);
  }
  template <class T>
  void optional(const std::string &Name, const std::optional<T> &Value) {
    if (Value)
      Object[Name] = toJson(*Value);
  }
  template <class T, class D>
  void sparse(const std::string &Name, const T &Value, const D &Default) {
    if (!(Value == Default))
      Object[Name] = toJson(Value);
  }
  template <class Function>
  void object(const std::string &Name, Function List, bool Written = true) {
    if (!Written)
      return;
    FieldWriter Inner;
    List(Inner);
    Object[Name] = std::move(Inner.Object);
  }
  template <class T, class Function>
  void list(const std::string &Name, std::vector<T> &Values, Function List) {
    Json Array = Json::array();
    for (size_t I = 0; I < Values.size(); ++I) {
      FieldWriter Inner;
      List(Inner, Values[I], I);
      Array.push_back(std::move(Inner.Object));
    }
    Object[Name] = std::move(Array);
  }
  template <class T> void others(const std::map<std::string, T> &Values) {
    for (const auto &[Name, Value] : Values)
      Object[Name] = toJson(Value);
  }
  template <class PrintText, class ParseText>
  void embedded(const std::string &Name, PrintText Print, ParseText) {
    Object[Name] = Json::parse(std::string(Print()), nullptr, false);
  }
  void ignored(const std::string &) {}
  void check(bool, const std::string &, const std::string &) {}
  void allowUnknown() {}
  bool good() const { return true; }

  Json take() { return std::move(Object); }

private:
  template <class T> static Json toJson(const T &V) {
    if constexpr (HasNames<T>) {
      return nameOf(V);
    } else if constexpr (IsWord<T>) {
      return std::string(printWord(V));
    } else if constexpr (HasFields<FieldWriter, T>) {
      FieldWriter Inner;
      // A list of fields takes the record to fill it in; this one only looks.
      fields(Inner, const_cast<T &>(V));
      return std::move(Inner.Object);
    } else if constexpr (std::floating_point<T>) {
      // JSON has no infinities: a figure that could not be formed is 0.
      return std::isfinite(V) ? V : T(0);
    } else {
      return V;
    }
  }
  template <class T> static Json toJson(const std::vector<T> &Values) {
    Json Array = Json::array();
    for (const T &V : Values)
      Array.push_back(toJson(V));
    return Array;
  }
  template <class T> static Json toJson(const std::map<std::string, T> &Map) {
    Json Inner = Json::object();
    for (const auto &[Key, V] : Map)
      Inner[Key] = toJson(V);
    return Inner;
  }

  Json Object = Json::object();
};

} // namespace stark

#endif
