//===- Suite.cpp - SUITE.json ---------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Suite.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>
#include <set>

using namespace stark;
using nlohmann::json;

static bool isName(llvm::StringRef Name) {
  return !Name.empty() && Name.size() <= 100 && !Name.starts_with(".") &&
         llvm::all_of(Name, [](char C) {
           return llvm::isAlnum(C) || C == '_' || C == '-' || C == '.';
         });
}

static std::string beside(llvm::StringRef File, const std::string &Path) {
  if (llvm::sys::path::is_absolute(Path))
    return Path;
  llvm::SmallString<256> Full(llvm::sys::path::parent_path(File));
  llvm::sys::path::append(Full, Path);
  return Full.str().str();
}

llvm::Expected<Suite> stark::parseSuite(llvm::StringRef Text,
                                        llvm::StringRef File) {
  json Object = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Object.is_discarded())
    return usageError("'" + File + "' is not JSON; wanted a suite");
  Suite S;
  FieldReader<json> Fields(Object, File.str(), "");
  S.Name = llvm::sys::path::stem(File).str();
  Fields.optional("name", S.Name);
  const json *Tasks = Fields.raw("tasks");
  if (!Tasks || !Tasks->is_array() || Tasks->empty())
    Fields.fail("tasks", Tasks ? describeJson(*Tasks) : "nothing",
                "an array of tasks");
  if (std::string Problem = Fields.problem(); !Problem.empty())
    return usageError(Problem);
  std::set<std::string> Names;
  for (size_t I = 0; I < Tasks->size(); ++I) {
    FieldReader<json> Of((*Tasks)[I], File.str(),
                         "tasks[" + std::to_string(I) + "]");
    SuiteTask T;
    T.Group = "all tasks";
    Of.required("source", T.Source);
    T.Name = llvm::sys::path::stem(T.Source).str();
    Of.optional("name", T.Name);
    Of.optional("group", T.Group);
    Of.optional("workload", T.Workload);
    Of.optional("flags", T.Flags);
    if (Of.good() && !isName(T.Name))
      Of.fail("name", "'" + T.Name + "'", "letters, digits, '_', '.' and '-'");
    if (Of.good() && !Names.insert(T.Name).second)
      Of.fail("name", "'" + T.Name + "' twice", "a name of its own");
    if (std::string Problem = Of.problem(); !Problem.empty())
      return usageError(Problem);
    T.Source = beside(File, T.Source);
    if (!T.Workload.empty())
      T.Workload = beside(File, T.Workload);
    S.Tasks.push_back(std::move(T));
  }
  return S;
}
