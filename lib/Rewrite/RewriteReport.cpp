//===- RewriteReport.cpp - All rewrites of a source, shown and tried ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Rewrite/RewriteReport.h"
#include "stark/AST/SourceFile.h"
#include "stark/Json/Fields.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

static constexpr int64_t FormatVersion = 1;

namespace stark {
static void fields(FieldWriter<json> &F, const Match &M) {
  F.required("key", M.key());
  F.required("rewrite", M.Rewrite);
  F.required("variant", M.Variant);
  F.required("site", M.Site);
  F.required("sites", M.Sites);
  F.required("line", M.Line);
  F.required("title", M.Title);
  F.required("advice", M.Advice);
  F.required("promise", M.Promise);
}

static void fields(FieldWriter<json> &F, const Refusal &R) {
  F.required("rewrite", R.Rewrite);
  F.required("site", R.Site);
  F.required("line", R.Line);
  F.required("reason", R.Why.str());
}
} // namespace stark

using namespace stark;

void stark::printRewrites(const RewriteSet &Set, llvm::raw_ostream &OS) {
  for (const Match &M : Set.matches())
    OS << M.key() << ": line " << M.Line << ": " << M.Title << "\n";
  if (Set.matches().empty())
    OS << "no rewrite applies\n";
  for (const Refusal &R : Set.refusals())
    OS << "not " << R.Rewrite << "@" << R.Site << ": line " << R.Line << ": "
       << R.Why.str() << "\n";
}

std::string stark::rewritesJson(const RewriteSet &Set, llvm::StringRef File) {
  FieldWriter<json> F;
  F.format("version", FormatVersion);
  F.required("file", File.str());
  F.required("rewrites", Set.matches());
  F.required("refused", Set.refusals());
  return dumpJson(F.take());
}

RewriteInput RewriteSource::input() const {
  RewriteInput In;
  In.Source = Source.get();
  In.All = &All;
  In.Given = Given ? &*Given : nullptr;
  return In;
}

llvm::Expected<RewriteSource>
stark::loadRewriteSource(llvm::StringRef File, llvm::StringRef Workload,
                         const ParseOptions &Options) {
  RewriteSource Loaded;
  if (Workload.empty()) {
    auto Parsed = parseSourceFile(File, Options);
    if (!Parsed)
      return Parsed.takeError();
    Loaded.Source = std::move(*Parsed);
  } else {
    llvm::Expected<Task> T = loadTask(File, Workload, Options);
    if (!T)
      return T.takeError();
    Loaded.Source = T->Parsed;
    Loaded.Given = std::move(*T);
  }
  Loaded.All = findSites(*Loaded.Source);
  return Loaded;
}

/// What is wrong with the change of \p M; empty when nothing is.
static std::string problemOf(const Match &M, const RewriteSet &Set,
                             const ParsedSource &Source,
                             const ParseOptions &Options) {
  llvm::Expected<std::string> Changed = Set.apply(M.key());
  if (!Changed)
    return "cannot be made: " + llvm::toString(Changed.takeError());
  if (*Changed == Source.text())
    return "changes nothing";
  auto Parsed = parseSource(Source.path(), *Changed, Options);
  if (!Parsed)
    return llvm::toString(Parsed.takeError());
  std::vector<SourceError> New = newErrors(Source, **Parsed);
  return New.empty()
             ? ""
             : "line " + std::to_string(New[0].Line) + ": " + New[0].Message;
}

std::vector<BadMatch> stark::checkMatches(const RewriteSet &Set,
                                          const ParsedSource &Source,
                                          const ParseOptions &Options) {
  std::vector<BadMatch> Bad;
  for (const Match &M : Set.matches())
    if (std::string Why = problemOf(M, Set, Source, Options); !Why.empty())
      Bad.push_back({M.key(), std::move(Why)});
  return Bad;
}
