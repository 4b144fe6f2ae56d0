//===- RulesTeam.h - Agents without a model -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source -> rewrites that apply -> one not yet tried -> plan, code
/// They see the AST rather than a prompt, but each answer is a reply to a
/// request, so that journal, resume, replay and cache are as with a model.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AGENT_RULESTEAM_H
#define STARK_AGENT_RULESTEAM_H

#include "stark/Agent/Agent.h"

namespace stark {

/// Whether a run with a chat client of this identity is answered by rules,
/// live or replayed.
bool isRulesProvider(llvm::StringRef Identity);

/// Makes the teams of a run whose chat client has \p Identity: of rules with
/// \p Seed, else of models with \p Prompts.
TeamFactory teamFor(llvm::StringRef Identity, const PromptSet &Prompts,
                    Temperatures Temperature, uint64_t Seed);

} // namespace stark

#endif
