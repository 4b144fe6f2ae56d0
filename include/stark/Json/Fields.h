//===- Fields.h - A record's fields, for print and parse alike ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   record --fields(), FieldWriter--> JSON --fields(), FieldReader--> record
/// A record's format is written once, as a list of fields in the record's
/// namespace; the writer and the reader both go through it:
///
///     template <class IO> void fields(IO &F, Timing &T) {
///       F.required("label", T.Label);
///       F.required("median_us", T.MedianUs);
///       F.check(T.MedianUs > 0, "median_us", "a positive time");
///       F.sparse("jobs", T.Jobs, 1u); // left out where it is 1
///     }
///     std::string Line = dumpJson(writeFields<nlohmann::json>(T));
///     std::string Problem = readFields(Object, "run.json", "timing", T);
///
/// A value is a string, bool, number, enum with names (Names.h), word (a type
/// with printWord() and parseWord()), record, or a vector or map of these. What
/// is read may come from anywhere: each missing, wrong or unknown field is an
/// error with file, field, what was got and what was wanted; the first one
/// stands. The JSON type is a template parameter, so that this header includes
/// no JSON library: nlohmann::json, whose keys are sorted, or ordered_json,
/// whose keys stand in the order of the list.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_FIELDS_H
#define STARK_JSON_FIELDS_H

#include "stark/Json/Names.h"
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
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

template <class Json> class FieldReader {
public:
  static constexpr bool Writes = false;

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

  /// The number of the format; any other than \p Version is an error.
  void format(const char *Name, int64_t Version) {
    int64_t Given = 0;
    required(Name, Given);
    check(Given == Version, Name, std::to_string(Version));
  }
  template <class T> void required(const std::string &Name, T &Value) {
    if (Object.is_object() && !has(Name))
      fail(Name, "nothing", wanted<T>());
    optional(Name, Value);
  }
  /// Stays as it is when absent. \p Written: whether the writer writes it.
  template <class T>
  void optional(const std::string &Name, T &Value, bool Written = true) {
    if (const Json *Found = raw(Name))
      read(*Found, Name, Value);
  }
  /// Unset where absent.
  template <class T>
  void optional(const std::string &Name, std::optional<T> &Value) {
    if (const Json *Found = raw(Name))
      read(*Found, Name, Value.emplace());
  }
  /// The writer leaves out what is \p Default; so what is absent is that.
  template <class T, class D>
  void sparse(const std::string &Name, T &Value, const D &Default) {
    Value = Default;
    optional(Name, Value);
  }
  /// An object whose fields \p List gives: List(F). It must be there when
  /// \p Written.
  template <class Function>
  void object(const std::string &Name, Function List, bool Written = true) {
    const Json *Found = raw(Name);
    if (!Found && Written && Object.is_object())
      fail(Name, "nothing", "an object");
    if (!Found)
      return;
    FieldReader Inner(*Found, File, join(Name));
    if (Inner.good())
      List(Inner);
    take(Inner);
  }
  /// An array of objects, for which \p List gives the fields of one:
  /// List(F, Value, Index).
  template <class T, class Function>
  void list(const std::string &Name, std::vector<T> &Values, Function List) {
    const Json *Found = raw(Name);
    if (!Found || !Found->is_array()) {
      if (Object.is_object())
        fail(Name, Found ? describeJson(*Found) : "nothing",
             "an array of objects");
      return;
    }
    Values.clear();
    for (const Json &Item : *Found) {
      size_t Index = Values.size();
      FieldReader Inner(Item, File, join(Name + at(Index)));
      if (Inner.good())
        List(Inner, Values.emplace_back(), Index);
      take(Inner);
      if (!good())
        return;
    }
  }
  /// A record that another library prints and parses: Print() returns its JSON,
  /// Parse(Text) what is wrong with that, empty when nothing is.
  template <class PrintText, class ParseText>
  void embedded(const std::string &Name, PrintText, ParseText Parse) {
    const Json *Found = raw(Name);
    if (!Found && Object.is_object())
      fail(Name, "nothing", "an object");
    if (!Found || !good())
      return;
    Message = Parse(dumpJson(*Found));
  }
  /// May be there and means nothing to the program, as a note for people.
  void ignored(const std::string &Name) { raw(Name); }

  /// Unless \p Good, and if nothing was wrong before, the value that \p Name
  /// has is not what was wanted.
  void check(bool Good, const std::string &Name, const std::string &Wanted) {
    if (!Good && good())
      fail(Name, has(Name) ? given(Object.at(Name)) : "nothing", Wanted);
  }

  /// The value itself, for unions and what else has a form of its own; null
  /// when absent.
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

  /// Names that are not read are no error.
  void allowUnknown() { UnknownAllowed = true; }

  /// The first thing that was wrong, empty if nothing was.
  std::string problem() {
    if (Message.empty() && !UnknownAllowed && Object.is_object())
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

  static std::string at(size_t Index) {
    return "[" + std::to_string(Index) + "]";
  }
  /// Strings stand in single quotes in an error.
  static std::string given(const Json &J) {
    return J.is_string() ? "'" + J.template get<std::string>() + "'"
                         : describeJson(J);
  }

  template <class T> static std::string wanted() {
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
      return "an array of " + plural<typename ItemOf<T>::Type>();
    else
      return "an object";
  }
  template <class T> static std::string plural() {
    if constexpr (IsNumber<T>)
      return std::is_signed_v<T> ? "integers" : "integers of 0 or more";
    else if constexpr (std::floating_point<T>)
      return "numbers";
    else if constexpr (std::same_as<T, std::string> || IsWord<T> || HasNames<T>)
      return "strings";
    else
      return "objects";
  }

  /// False when \p J is none; \p V is unchanged then.
  template <class T> static bool convert(const Json &J, T &V) {
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

  template <class T>
  void read(const Json &J, const std::string &Name, T &Value) {
    if constexpr (HasNames<T>) {
      std::optional<T> Found;
      if (J.is_string())
        Found = valueNamed<T>(J.template get<std::string>());
      if (Found)
        Value = *Found;
      else
        fail(Name, given(J), allNames<T>());
    } else if constexpr (IsWord<T>) {
      std::string Wanted = "a string";
      if (J.is_string())
        Wanted = parseWord(J.template get<std::string>(), Value);
      if (!Wanted.empty())
        fail(Name, given(J), Wanted);
    } else if constexpr (HasFields<FieldReader, T>) {
      FieldReader Inner(J, File, join(Name));
      if (Inner.good())
        fields(Inner, Value);
      take(Inner);
    } else if constexpr (ItemOf<T>::IsVector) {
      readArray(J, Name, Value);
    } else if constexpr (ItemOf<T>::IsMap) {
      if (!J.is_object())
        return fail(Name, describeJson(J), wanted<T>());
      Value.clear();
      for (const auto &Item : J.items())
        read(Item.value(), Name + "." + Item.key(), Value[Item.key()]);
    } else if (!convert(J, Value)) {
      fail(Name, describeJson(J), wanted<T>());
    }
  }
  template <class T>
  void readArray(const Json &J, const std::string &Name,
                 std::vector<T> &Values) {
    if (!J.is_array())
      return fail(Name, describeJson(J), wanted<std::vector<T>>());
    std::vector<T> Items(J.size());
    for (size_t I = 0; I < J.size(); ++I)
      if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
        // A short array says more than its wrong item.
        if (!convert(J[I], Items[I]))
          return fail(Name, describeJson(J), wanted<std::vector<T>>());
      } else {
        read(J[I], Name + at(I), Items[I]);
      }
    Values = std::move(Items);
  }

  void take(FieldReader &Inner) {
    if (std::string Problem = Inner.problem(); good())
      Message = std::move(Problem);
  }

  const Json &Object;
  std::string File, Path, Message;
  std::set<std::string> Known;
  bool UnknownAllowed = false;
};

/// The JSON object that \p Record is written as.
template <class Json, class T> Json writeFields(const T &Record) {
  FieldWriter<Json> Writer;
  fields(Writer, const_cast<T &>(Record));
  return Writer.take();
}

/// Fills \p Record in from \p Object, which stands at \p Path in \p File (empty
/// for the whole). Returns the first thing that is wrong, empty if nothing is.
template <class Json, class T>
std::string readFields(const Json &Object, const std::string &File,
                       const std::string &Path, T &Record) {
  FieldReader<Json> Reader(Object, File, Path);
  if (Reader.good())
    fields(Reader, Record);
  return Reader.problem();
}

} // namespace stark

#endif
