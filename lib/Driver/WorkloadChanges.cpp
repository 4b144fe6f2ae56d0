//===- WorkloadChanges.cpp - One workload against another -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/DraftWithModel.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringRef.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;

static constexpr size_t MostLines = 40, MostValue = 100;

static std::string show(const ordered_json &J) {
  std::string Text =
      J.is_string()
          ? J.get<std::string>()
          : J.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return shortenUtf8(Text, MostValue);
}

static ordered_json read(llvm::StringRef Text) {
  return ordered_json::parse(Text.begin(), Text.end(), nullptr, false, true);
}

namespace {
class Comparison {
public:
  void run(const ordered_json &Old, const ordered_json &New) {
    for (const auto &[Name, Was, Is] : fieldsOf(Old, New)) {
      if (Name == "bytes" || Name == "flops")
        continue;
      if (Name == "sizes")
        sizes(Was, Is);
      else if (Name == "arguments" || Name == "symbols")
        arguments(Name, Was, Is);
      else
        field(Name, Was, Is);
    }
  }
  std::vector<std::string> Lines;

private:
  struct Field {
    std::string Name;
    ordered_json Was, Is; ///< null: not there
  };

  /// Those of the new one in its order, then those that only the old one has.
  static std::vector<Field> fieldsOf(const ordered_json &Old,
                                     const ordered_json &New) {
    std::vector<Field> All;
    if (New.is_object())
      for (const auto &Item : New.items())
        All.push_back({Item.key(),
                       Old.is_object() && Old.contains(Item.key())
                           ? Old[Item.key()]
                           : ordered_json(),
                       Item.value()});
    if (Old.is_object())
      for (const auto &Item : Old.items())
        if (!New.is_object() || !New.contains(Item.key()))
          All.push_back({Item.key(), Item.value(), ordered_json()});
    return All;
  }

  void field(const std::string &Name, const ordered_json &Was,
             const ordered_json &Is) {
    if (Was == Is)
      return;
    if (Name == "launch" && Was.is_object() && Is.is_object()) {
      for (const Field &F : fieldsOf(Was, Is))
        field(Name + "." + F.Name, F.Was, F.Is);
      return;
    }
    Lines.push_back(Was.is_null() ? Name + ": now " + show(Is)
                    : Is.is_null()
                        ? Name + ": no longer " + show(Was)
                        : Name + ": " + show(Was) + " -> " + show(Is));
  }

  void sizes(const ordered_json &Was, const ordered_json &Is) {
    if (!Was.is_array() || !Is.is_array() || Was.size() != Is.size())
      return field("sizes", Was, Is);
    for (size_t I = 0; I < Is.size(); ++I) {
      std::string Changes;
      for (const Field &F : fieldsOf(Was[I], Is[I]))
        if (F.Was != F.Is)
          Changes += (Changes.empty() ? " " : ", ") + F.Name + " " +
                     (F.Was.is_null() ? "-" : show(F.Was)) + " -> " +
                     (F.Is.is_null() ? "-" : show(F.Is));
      if (!Changes.empty())
        Lines.push_back("sizes[" + std::to_string(I) + "]:" + Changes);
    }
  }

  void arguments(const std::string &Of, const ordered_json &Was,
                 const ordered_json &Is) {
    for (const Field &F : fieldsOf(Was, Is)) {
      std::string Name = (Of == "symbols" ? "symbols." : "") + F.Name;
      if (!F.Was.is_object() || !F.Is.is_object()) {
        field(Name, F.Was, F.Is);
        continue;
      }
      for (const Field &Part : fieldsOf(F.Was, F.Is))
        field(Name + "." + Part.Name, Part.Was, Part.Is);
    }
  }
};
} // namespace

std::vector<std::string> stark::workloadChanges(llvm::StringRef Old,
                                                llvm::StringRef New) {
  Comparison All;
  All.run(read(Old), read(New));
  if (All.Lines.size() > MostLines) {
    size_t More = All.Lines.size() - MostLines;
    All.Lines.resize(MostLines);
    All.Lines.push_back("and " + std::to_string(More) + " fields more");
  }
  return std::move(All.Lines);
}
