//===- Sections.h - The parts of a run's page -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what each writes is in its file's comment; RunPage.cpp has their order
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REPORT_HTML_SECTIONS_H
#define STARK_LIB_REPORT_HTML_SECTIONS_H

#include "RunFacts.h"

namespace stark {

void writeSummary(HtmlWriter &W, const RunFacts &R);
void writeTree(HtmlWriter &W, const RunFacts &R);
void writeAttempts(HtmlWriter &W, const RunFacts &R);
/// Best so far, times by size, roofline, calls by role: figures with captions.
void writeCharts(HtmlWriter &W, const RunFacts &R);
/// One node after the other. \p Written tells how many bytes of the page there
/// are, which stay below \p Limit by leaving texts out.
void writeNodes(HtmlWriter &W, const RunFacts &R,
                llvm::function_ref<size_t()> Written, size_t Limit);
void writeEnvironment(HtmlWriter &W, const RunFacts &R);

/// An SVG mark of the node's verdict at (\p X, \p Y), within radius \p Size.
void writeMark(HtmlWriter &W, const Node &N, double X, double Y, double Size,
               bool Winner);
/// The same, in line with text.
void writeInlineMark(HtmlWriter &W, const Node &N, bool Winner);

/// "#node-7"
std::string nodeAddress(unsigned Node);
/// A link to \p Node: "7".
void writeNodeLink(HtmlWriter &W, unsigned Node);
/// "2.10 times" for a correct node, else its verdict's name.
std::string outcomeOf(const Node &N);
/// The title that the plan gave, or what stands for one.
std::string titleOf(const RunFacts &R, unsigned Node);
/// "source", "plan", "debug", "single", "tune"
const char *madeBy(const RunFacts &R, unsigned Node);

} // namespace stark

#endif
