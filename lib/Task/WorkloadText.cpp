//===- WorkloadText.cpp - Whether a workload's text is sound JSON ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkloadText.h"
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

using nlohmann::json;

namespace {
constexpr size_t DeepestNesting = 32;

/// Keeps nothing but the names of the objects it is in.
struct Reader : nlohmann::json_sax<json> {
  std::string Problem;
  size_t BadByte = 0; ///< 1-based; 0: the text is JSON

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &Name) override {
    if (Names.back().insert(Name).second)
      return true;
    Problem = "field '" + Name.substr(0, 80) +
              "': got it twice in one object, wanted it once";
    return false;
  }
  bool parse_error(std::size_t At, const std::string &,
                   const json::exception &) override {
    BadByte = At ? At : 1;
    return false;
  }

private:
  bool open() {
    Names.emplace_back();
    if (Names.size() <= DeepestNesting)
      return true;
    Problem = "got values nested deeper than " +
              std::to_string(DeepestNesting) + ", wanted a workload";
    return false;
  }
  bool close() {
    Names.pop_back();
    return true;
  }
  std::vector<std::set<std::string>> Names;
};
} // namespace

std::string stark::problemOfJson(llvm::StringRef Text) {
  Reader R;
  if (json::sax_parse(Text.begin(), Text.end(), &R, json::input_format_t::json,
                      /*strict=*/true,
                      /*ignore_comments=*/true))
    return "";
  if (!R.BadByte)
    return R.Problem;
  llvm::StringRef Before = Text.take_front(R.BadByte - 1);
  size_t Line = Before.count('\n') + 1;
  size_t Start = Before.rfind('\n') + 1; // npos + 1 is 0
  return "line " + std::to_string(Line) + ", column " +
         std::to_string(Before.size() - Start + 1) +
         ": got text that is not JSON, wanted a workload (see "
         "docs/workload.md)";
}
