//===- SkippedText.cpp - What the preprocessor left out ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SkippedText.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/PreprocessingRecord.h"
#include "clang/Lex/Preprocessor.h"
#include <algorithm>

using namespace stark;

std::vector<Range> stark::skippedText(const ParsedSource &Source) {
  std::vector<Range> Result;
  clang::ASTUnit &Unit = Source.unit();
  const clang::SourceManager &SM = Unit.getSourceManager();
  auto *Record = Unit.getPreprocessor().getPreprocessingRecord();
  assert(Record && "parseSource() asks for the record");
  if (!Record)
    return Result;
  for (const clang::SourceRange &R : Record->getSkippedRanges())
    if (R.isValid() && SM.isInMainFile(R.getBegin()))
      Result.push_back(
          {SM.getFileOffset(R.getBegin()), SM.getFileOffset(R.getEnd())});
  std::sort(Result.begin(), Result.end(),
            [](const Range &A, const Range &B) { return A.Begin < B.Begin; });
  return Result;
}

bool stark::isSkipped(const std::vector<Range> &Skipped, size_t Offset) {
  auto It =
      std::upper_bound(Skipped.begin(), Skipped.end(), Offset,
                       [](size_t At, const Range &R) { return At < R.Begin; });
  return It != Skipped.begin() && Offset < (It - 1)->End;
}
