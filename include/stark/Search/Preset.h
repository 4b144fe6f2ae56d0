//===- Preset.h - The searches that the paper compares -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A preset is a name for options of the one engine (paper, sections 4.2 and
/// 5, appendix B):
///
///                 agents  policy          windows  grounding  temperatures
///   stark         team    epsilon-greedy  on       support    0.8, 0.1, 0.1
///   sampling      single  best-of-k       off      off        0.7
///   reflexion     single  iterative       off      off        0.7
///   search-agent  single  epsilon-greedy  off      off        0.7
///   ma-only       team    best-of-k, one  off      support    0.8, 0.1, 0.1
///                         repair
///
/// and one of our own: stark+ is stark with root throttle 8 and dead branch 6,
/// which does better on all simulated landscapes (docs/search.md).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_PRESET_H
#define STARK_SEARCH_PRESET_H

#include "stark/Search/Search.h"

namespace stark {

/// Sets in \p Options what the preset is about; attempts, seed and the like
/// stay as they are. The error names all presets.
llvm::Error applyPreset(llvm::StringRef Name, SearchOptions &Options);

/// In the order of the paper's tables.
const std::vector<std::string> &paperPresets();
/// Those, then our own.
const std::vector<std::string> &presetNames();

/// An error when the options do not go together: a single agent has no anchors
/// that a candidate could be held to.
llvm::Error checkOptions(const SearchOptions &Options);

} // namespace stark

#endif
