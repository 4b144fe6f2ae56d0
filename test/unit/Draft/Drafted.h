//===- Drafted.h - The draft of a source in a test ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_TEST_UNIT_DRAFT_DRAFTED_H
#define STARK_TEST_UNIT_DRAFT_DRAFTED_H

#include "stark/AST/Parse.h"
#include "stark/Draft/Draft.h"
#include "stark/Task/Workload.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace stark {

/// Of the entry that is chosen; null when there is none. \p Said: into which
/// what is said of it is put; may be null.
inline nlohmann::json drafted(const std::string &Text,
                              const std::string &Entry = "",
                              std::vector<std::string> *Said = nullptr) {
  ParseOptions Options;
  Options.Toolkit = "none";
  auto Source = parseSource("/draft.cu",
                            "extern \"C\" void *malloc(size_t);\n"
                            "extern \"C\" int rand();\n" +
                                Text,
                            Options);
  if (!Source)
    return llvm::toString(Source.takeError());
  std::vector<std::string> Notes;
  auto Made = makeInstances(**Source, {}, Options, Notes);
  auto Drafts = makeDrafter(Made ? *Made : **Source);
  if (!Drafts)
    return llvm::toString(Drafts.takeError());
  auto D =
      (*Drafts)->draft(Entry.empty() ? (*Drafts)->entries().front() : Entry);
  if (!D)
    return llvm::toString(D.takeError());
  std::string Workload = (*D)->text(likelyForm(**D), DraftSizes::All);
  if (Said)
    *Said = (*D)->Notes;
  // What is drafted can be read.
  auto Read = parseWorkload(Workload, "draft");
  EXPECT_TRUE(bool(Read)) << llvm::toString(Read.takeError()) << Workload;
  return nlohmann::json::parse(Workload);
}

inline nlohmann::json list(const std::string &Items) {
  return nlohmann::json::parse("[" + Items + "]");
}

} // namespace stark

#endif
