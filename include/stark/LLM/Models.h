//===- Models.h - What models take and cost ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A dated table (lib/LLM/models.json, which a user's file extends) ->
/// addresses, capabilities, context sizes and prices. What is not in the table
/// is unknown: no price is ever taken for 0.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LLM_MODELS_H
#define STARK_LLM_MODELS_H

#include "stark/LLM/ChatClient.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stark {

class Dialect;

struct ProviderFacts {
  std::string Name;
  const Dialect *Wire = nullptr; ///< the format it speaks
  std::string BaseUrl;           ///< empty: has to be given
  std::string KeyVariable;       ///< of the environment
  bool KeyOptional = false;
  std::string DefaultModel; ///< empty: has to be given
  std::string MaxTokensField = "max_completion_tokens";
  std::optional<bool> Schema; ///< of every model of it, when set
  bool CacheMarks = true;
  bool Priced = true; ///< whether the prices of the models hold here
};

/// Nano-dollars a token, which is a thousandth of USD a million tokens.
struct Price {
  int64_t Input = 0, Output = 0;
  std::optional<int64_t> CacheRead, CacheWrite;
};

struct ModelFacts {
  std::string Id;
  std::optional<bool> Temperature; ///< unset: not known, to be tried
  std::string ApiVersion;
  std::optional<bool> Schema; ///< whether answers can be held to one
  std::optional<uint64_t> ContextTokens, OutputTokens;
  std::optional<Price> Cost;
  /// Another price for all of a call whose prompt is longer.
  std::optional<uint64_t> LongPromptTokens;
  std::optional<Price> LongPromptCost;
};

class ModelTable {
public:
  /// The built-in table, with \p UserFile (may be empty) on top. Errors name
  /// file and field.
  static llvm::Expected<ModelTable> load(llvm::StringRef UserFile);

  /// Nothing for a name that no table has.
  const ProviderFacts *provider(llvm::StringRef Name) const;
  /// In the order of the table, those of the user's file last; of several with
  /// one name the one that counts.
  std::vector<const ProviderFacts *> providers() const;
  std::string providerNames() const; ///< "anthropic, openai, ..."

  /// What is known of \p Model at \p Provider: by its name, with or without the
  /// date of a snapshot ("-20250929", "-2025-08-07"), then by its family.
  ModelFacts model(const ProviderFacts &Provider, llvm::StringRef Model) const;

  const std::string &asOf() const { return Date; }

  /// Models whose names begin alike.
  struct Family {
    std::string Pattern; ///< a name, or its beginning and "*"
    ModelFacts Facts;
  };

private:
  llvm::Error add(llvm::StringRef Text, llvm::StringRef File);

  std::vector<ProviderFacts> Providers;
  std::vector<Family> Families;
  std::vector<ModelFacts> Models;
  std::string Date;
};

/// Micro-dollars of \p Tokens, rounded up; nothing when the price, or a count
/// that has one, is not known.
std::optional<int64_t> costOf(const ModelFacts &Model, const Usage &Tokens);

} // namespace stark

#endif
