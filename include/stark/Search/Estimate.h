//===- Estimate.h - What a run would cost --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The requests that the agents would send are made and not sent; what the
/// chat client says of each at worst is added up. No reply is asked for again
/// here, and a candidate is taken to be as long as the source.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_ESTIMATE_H
#define STARK_SEARCH_ESTIMATE_H

#include "stark/Search/Search.h"

namespace stark {

struct RoleEstimate {
  std::string Role;
  WorstCase First; ///< of the first attempt, which sees the source alone
  WorstCase Full;  ///< with a full window and long observations
};

struct RunEstimate {
  unsigned Attempts = 0, FewestCalls = 0, MostCalls = 0;
  std::vector<RoleEstimate> Roles;
  WorstCase Most;    ///< of all attempts, each the dearest that it can be
  bool Free = false; ///< a replay: calls take nothing
};

llvm::Expected<RunEstimate> estimateRun(const Task &T, const PromptSet &Prompts,
                                        const ChatClient &Chat,
                                        const SearchOptions &Options);

void printEstimate(const RunEstimate &E, llvm::raw_ostream &OS);

} // namespace stark

#endif
