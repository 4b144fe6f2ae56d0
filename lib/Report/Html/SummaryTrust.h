//===- SummaryTrust.h - How sure a result is, and where it ends -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_REPORT_HTML_SUMMARYTRUST_H
#define STARK_LIB_REPORT_HTML_SUMMARYTRUST_H

#include "RunFacts.h"

namespace stark {

/// Two cards of the summary.
void writeHowSure(HtmlWriter &W, const RunFacts &R);
void writeWhereNot(HtmlWriter &W, const RunFacts &R);

/// "reduced precision", ...: what the result's text has of Signs.def, and the
/// source's has not.
std::vector<std::string> signsOf(const RunFacts &R);
/// "f32 within 0.0001, i64 exactly"; \p Of says what of.
std::string toleranceOf(const Workload &Load, llvm::StringRef Of);
/// "1 attempt", "1,200 attempts"
std::string counted(uint64_t Count, llvm::StringRef What);

} // namespace stark

#endif
