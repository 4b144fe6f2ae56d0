//===- TextForms.h - How values look in a prompt --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Task, sites, anchors and past attempts as the Markdown that the prompts'
/// inputs stand for. Everything is deterministic: the text is part of a
/// request's digest.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AGENT_TEXTFORMS_H
#define STARK_LIB_AGENT_TEXTFORMS_H

#include "stark/Agent/Agent.h"
#include "stark/Agent/Quote.h"

namespace stark {

/// Bytes of an observation that are shown of the selected node, and of one in
/// the window.
constexpr size_t LatestLimit = 6000, WindowLimit = 2500;
/// Bytes of an advice beside its code.
constexpr size_t AdviceLimit = 1600;

/// Valid UTF-8 with LF line ends, as any provider can carry it.
std::string cleanText(llvm::StringRef Text);

/// ", and says '...'": how \p Answer begins, which is not what was wanted.
std::string saying(llvm::StringRef Answer);

/// The inputs of prompts/task.md: file, entry, build, device, arguments, sizes,
/// tolerance, headers, source; and what that leaves out, as left_out.
llvm::Expected<std::map<std::string, std::string>>
taskInputs(const AgentInput &In, const PromptSet &Prompts);

/// The sites that can be edited, one a line: id, kind, lines, what stands
/// there. Single statements and accesses only where no short site holds them.
std::string describeSites(const Sites &All, llvm::StringRef Text);

/// The base with its anchors marked. Where the base is the source, which the
/// task shows, only the anchors and the lines around them.
std::string describeMarked(const AgentInput &In);

/// What a line of describeMarked() says that stands for lines of the source;
/// no answer may have it.
inline constexpr llvm::StringLiteral AsAbove = "as in the source above]";

/// The source: as it stands, or where much stands before its kernels these and
/// what launches them first, without what is like other lines
/// (findRepeatedLines()).
struct SourceDescription {
  std::string Shown;
  std::string LeftOut; ///< those lines, for those who answer with code
};
SourceDescription describeSource(const Task &Of);

/// \p Text with a line in brackets for many first lines that are \p Source's,
/// too, which the task shows.
std::string withoutSharedHead(llvm::StringRef Text, llvm::StringRef Source);

/// What lines of describeSource() say that stand for others; no answer may have
/// them.
inline constexpr llvm::StringLiteral StandBelow = "stand further below]",
                                     StandAbove = "stand further above]",
                                     LikeShown = "like one that is shown]";

/// What other planners are at; empty when nobody is.
std::string describeBeside(const AgentInput &In);

/// "1. lines 12-20: softmax_kernel:loop2", one a line.
std::string describeAnchors(const std::vector<Anchor> &Anchors);

/// The selected node: its advice, its text unless that is the source, what the
/// compiler and the run said.
std::string describeLatest(const AgentInput &In);

/// The other attempts of the window.
std::string describeWindow(const AgentInput &In);

/// Compiler and run observation of one attempt.
std::string describeObservations(const WindowEntry &Entry, size_t Limit);

} // namespace stark

#endif
