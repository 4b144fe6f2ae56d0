//===- Prompt.h - Prompts are data ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A prompt file is Markdown with front matter: role, version, inputs (names
/// joined by commas). {{name}} stands for an input; an undeclared or unused one
/// is an error. The line "# user" parts the system message from the user's. See
/// docs/prompts.md.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AGENT_PROMPT_H
#define STARK_AGENT_PROMPT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace stark {

struct Prompt {
  std::string Role, Version;
  std::vector<std::string> Inputs;
  std::string System; ///< the part before the line "# user"
  std::string User;
};

llvm::Expected<Prompt> parsePrompt(llvm::StringRef Text, llvm::StringRef File);

/// Every input of \p P must be in \p Values; others in \p Values are ignored.
/// Values are put in as they are: no {{...}} inside them is looked at.
llvm::Expected<std::string>
renderPrompt(llvm::StringRef Template, const std::vector<std::string> &Inputs,
             const std::map<std::string, std::string> &Values);

struct PromptSet {
  Prompt Plan, Code, Debug, Single;
  /// Shared parts, which the roles take in as {{system}}, {{example}},
  /// {{task}}.
  Prompt System, Example, Task;
  /// What is different where the entry takes tensors; empty when the folder has
  /// no tensors.md, as those of older runs.
  Prompt Tensors;
  std::map<std::string, Prompt> Devices; ///< "sm_90" -> what to know of it
  /// JSON schema of a plan, for servers that hold an answer to one; empty when
  /// the folder has no plan.schema.json.
  std::string PlanSchema;
  /// What a plan is asked for in words where the model takes no temperature;
  /// empty when the folder has no diversity.md.
  std::string Diversity;
  std::map<std::string, std::string> Files; ///< name -> bytes, as read
  std::string Digest;
};

/// plan.md, code.md, debug.md, single.md and the shared parts system.md,
/// example.md, task.md and device-ARCH.md in \p Folder; plan.schema.json,
/// diversity.md and tensors.md where they are.
llvm::Expected<PromptSet> loadPrompts(llvm::StringRef Folder);

} // namespace stark

#endif
