//===- FieldReader.h - A list of fields reads an object -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   JSON object --fields()--> record (Fields.h), or the first thing that is
/// wrong with it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_FIELDREADER_H
#define STARK_JSON_FIELDREADER_H

#include "stark/Json/Values.h"
#include <optional>
#include <set>

namespace stark {

/// Fills a record in from a JSON object.
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
      fail(Name, "nothing", describeType<T>());
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
    if (Found)
      nested(Name, *Found, List);
  }
  /// Likewise of \p J, a part of the value of \p Name.
  template <class Function>
  void nested(const std::string &Name, const Json &J, Function List) {
    FieldReader Inner(J, File, join(Name));
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
  /// The values of all names that no line before has.
  template <class T> void others(std::map<std::string, T> &Values) {
    if (!Object.is_object())
      return;
    for (const auto &Item : Object.items())
      if (Known.insert(Item.key()).second)
        read(Item.value(), Item.key(), Values[Item.key()]);
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
      fail(Name, has(Name) ? quoteJson(Object.at(Name)) : "nothing", Wanted);
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
  static std::string at(size_t Index) {
    return "[" + std::to_string(Index) + "]";
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
        fail(Name, quoteJson(J), allNames<T>());
    } else if constexpr (IsWord<T>) {
      std::string Wanted = "a string";
      if (J.is_string())
        Wanted = parseWord(J.template get<std::string>(), Value);
      if (!Wanted.empty())
        fail(Name, quoteJson(J), Wanted);
    } else if constexpr (HasFields<FieldReader, T>) {
      FieldReader Inner(J, File, join(Name));
      if (Inner.good())
        fields(Inner, Value);
      take(Inner);
    } else if constexpr (ItemOf<T>::IsVector) {
      readArray(J, Name, Value);
    } else if constexpr (ItemOf<T>::IsMap) {
      if (!J.is_object())
        return fail(Name, describeJson(J), describeType<T>());
      Value.clear();
      for (const auto &Item : J.items())
        read(Item.value(), Name + "." + Item.key(), Value[Item.key()]);
    } else if (!convertJson(J, Value)) {
      fail(Name, describeJson(J), describeType<T>());
    }
  }
  template <class T>
  void readArray(const Json &J, const std::string &Name,
                 std::vector<T> &Values) {
    if (!J.is_array())
      return fail(Name, describeJson(J), describeType<std::vector<T>>());
    std::vector<T> Items(J.size());
    for (size_t I = 0; I < J.size(); ++I)
      if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
        // A short array says more than its wrong item.
        if (!convertJson(J[I], Items[I]))
          return fail(Name, describeJson(J), describeType<std::vector<T>>());
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

} // namespace stark

#endif
