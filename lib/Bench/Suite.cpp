//===- Suite.cpp - SUITE.json ---------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/Suite.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
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

namespace stark {
template <class IO> static void fields(IO &F, SuiteTask &T) {
  F.required("source", T.Source);
  T.Name = llvm::sys::path::stem(T.Source).str();
  F.optional("name", T.Name);
  F.sparse("group", T.Group, "all tasks");
  F.optional("workload", T.Workload);
  F.optional("flags", T.Flags);
  F.sparse("digest", T.Digest, "");
  F.sparse("bytes", T.Bytes, 0u);
  if (!isName(T.Name))
    F.fail("name", "'" + T.Name + "'", "letters, digits, '_', '.' and '-'");
}

template <class IO> static void fields(IO &F, Suite &S) {
  F.optional("name", S.Name);
  F.optional("tasks", S.Tasks);
  F.check(!S.Tasks.empty(), "tasks", "an array of tasks");
  std::set<std::string> Names;
  for (size_t I = 0; I < S.Tasks.size(); ++I)
    if (const std::string &Name = S.Tasks[I].Name; !Names.insert(Name).second)
      F.fail("tasks[" + std::to_string(I) + "].name", "'" + Name + "' twice",
             "a name of its own");
}
} // namespace stark

llvm::Expected<Suite> stark::parseSuite(llvm::StringRef Text,
                                        llvm::StringRef File) {
  json Object = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Object.is_discarded())
    return usageError("'" + File + "' is not JSON; wanted a suite");
  Suite S;
  S.Name = llvm::sys::path::stem(File).str();
  if (std::string Problem = readFields(Object, File.str(), "", S);
      !Problem.empty())
    return usageError(Problem);
  for (SuiteTask &T : S.Tasks) {
    T.Source = beside(File, T.Source);
    if (!T.Workload.empty())
      T.Workload = beside(File, T.Workload);
  }
  return S;
}

llvm::Expected<Suite> stark::readSuite(llvm::StringRef File) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  return parseSuite(*Text, File);
}
