//===- Fields.h - Typed reads of hostile JSON -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Reads fields of a JSON object one by one; each wrong or unknown field is
///   an
/// error with file, field, what was given and what was wanted. The JSON type is
/// a template parameter (nlohmann::json in every use), so that this header
/// includes no JSON library.
///
///     FieldReader<nlohmann::json> R(Object, "softmax.workload.json",
///     "sizes[0]"); int64_t Rows = 0; R.required("rows", Rows);
///     R.optional("check_only", CheckOnly);
///     if (std::string P = R.problem(); !P.empty()) // wrong, missing, unknown
///       return usageError(P);
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_FIELDS_H
#define STARK_JSON_FIELDS_H

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace stark {

/// "a string", "the number 3", ...: how an error speaks of a value given.
template <class Json> std::string describeJson(const Json &Value) {
  std::string Text = Value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (Text.size() > 40)
    Text = Text.substr(0, 37) + "...";
  return Text;
}

template <class Json> class FieldReader {
public:
  /// \p Path names the object inside the file, empty for the whole.
  FieldReader(const Json &Object, const std::string &File,
              const std::string &Path)
      : Object(Object), File(File), Path(Path) {
    if (!Object.is_object())
      fail("", describeJson(Object), "an object");
  }

  bool has(const std::string &Name) const {
    return Object.is_object() && Object.contains(Name);
  }

  template <class T> void required(const std::string &Name, T &Value) {
    if (Object.is_object() && !has(Name))
      fail(Name, "nothing", wanted(Value));
    read(Name, Value);
  }
  template <class T> void optional(const std::string &Name, T &Value) {
    read(Name, Value);
  }

  /// The value itself, for nested objects and unions; null when absent.
  const Json *raw(const std::string &Name) {
    if (!has(Name))
      return nullptr;
    Known.insert(Name);
    return &Object.at(Name);
  }

  void fail(const std::string &Name, const std::string &Got,
            const std::string &Wanted) {
    if (Message.empty())
      Message = File + ": field '" + join(Name) + "': got " + Got +
                ", wanted " + Wanted;
  }

  bool good() const { return Message.empty(); }

  /// The first thing that was wrong, empty if nothing was. \p AllowUnknown:
  /// names that were not read are no error.
  std::string problem(bool AllowUnknown = false) {
    if (Message.empty() && !AllowUnknown && Object.is_object())
      for (const auto &Item : Object.items())
        if (!Known.count(Item.key())) {
          std::string List;
          for (const std::string &K : Known)
            List += (List.empty() ? "" : ", ") + K;
          fail(Item.key(), "an unknown name", "one of " + List);
          break;
        }
    return Message;
  }

  std::string join(const std::string &Name) const {
    if (Path.empty() || Name.empty())
      return Name.empty() ? Path : Name;
    return Path + "." + Name;
  }

private:
  static const char *wanted(const std::string &) { return "a string"; }
  static const char *wanted(const bool &) { return "true or false"; }
  static const char *wanted(const int64_t &) { return "an integer"; }
  static const char *wanted(const uint64_t &) {
    return "an integer of 0 or more";
  }
  static const char *wanted(const double &) { return "a number"; }
  static const char *wanted(const std::vector<std::string> &) {
    return "an array of strings";
  }

  static bool convert(const Json &J, std::string &V) {
    if (!J.is_string())
      return false;
    V = J.template get<std::string>();
    return true;
  }
  static bool convert(const Json &J, bool &V) {
    if (!J.is_boolean())
      return false;
    V = J.template get<bool>();
    return true;
  }
  static bool convert(const Json &J, int64_t &V) {
    if (!J.is_number_integer() ||
        (J.is_number_unsigned() &&
         J.template get<uint64_t>() >
             uint64_t(std::numeric_limits<int64_t>::max())))
      return false;
    V = J.template get<int64_t>();
    return true;
  }
  static bool convert(const Json &J, uint64_t &V) {
    if (!J.is_number_unsigned())
      return false;
    V = J.template get<uint64_t>();
    return true;
  }
  static bool convert(const Json &J, double &V) {
    if (!J.is_number())
      return false;
    V = J.template get<double>();
    return true;
  }
  static bool convert(const Json &J, std::vector<std::string> &V) {
    if (!J.is_array())
      return false;
    std::vector<std::string> Items;
    for (const Json &Item : J) {
      if (!Item.is_string())
        return false;
      Items.push_back(Item.template get<std::string>());
    }
    V = std::move(Items);
    return true;
  }

  template <class T> void read(const std::string &Name, T &Value) {
    const Json *Found = raw(Name);
    if (Found && !convert(*Found, Value))
      fail(Name, describeJson(*Found), wanted(Value));
  }

  const Json &Object;
  std::string File, Path, Message;
  std::set<std::string> Known;
};

} // namespace stark

#endif
