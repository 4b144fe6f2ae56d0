//===- Models.cpp - What models take and cost ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Models.h"
#include "Dialect.h"
#include "ModelsJson.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

// A dialect is a word of the table.
namespace stark {
static std::string printWord(const Dialect *const &D) {
  return D->facts().Name.str();
}

static std::string parseWord(const std::string &Text, const Dialect *&D) {
  D = findDialect(Text);
  if (D)
    return "";
  std::string Names;
  llvm::ArrayRef<const Dialect *> All = dialects();
  for (size_t I = 0; I < All.size(); ++I)
    Names += (I == 0                ? ""
              : I + 1 == All.size() ? " or "
                                    : ", ") +
             All[I]->facts().Name.str();
  return Names;
}

template <class IO> static void fields(IO &F, ProviderFacts &P) {
  F.required("name", P.Name);
  F.required("dialect", P.Wire);
  F.optional("base_url", P.BaseUrl);
  F.optional("key", P.KeyVariable);
  F.optional("key_optional", P.KeyOptional);
  F.optional("model", P.DefaultModel);
  F.optional("max_tokens_field", P.MaxTokensField);
  F.optional("cache_marks", P.CacheMarks);
  F.optional("prices", P.Priced);
  F.optional("schema", P.Schema);
}

/// USD per million tokens, kept as nano-dollars a token.
template <class IO>
static void amount(IO &F, const char *Name, int64_t &NanoUsd) {
  double Usd = double(NanoUsd) / 1000;
  F.required(Name, Usd);
  F.check(Usd >= 0 && Usd < 1e6, Name, "USD per million tokens");
  if (F.good())
    NanoUsd = int64_t(std::llround(Usd * 1000));
}

template <class IO>
static void amount(IO &F, const char *Name, std::optional<int64_t> &NanoUsd) {
  if (IO::Writes ? NanoUsd.has_value() : F.has(Name))
    amount(F, Name, NanoUsd ? *NanoUsd : NanoUsd.emplace());
}

template <class IO> static void fields(IO &F, Price &P) {
  amount(F, "input", P.Input);
  amount(F, "output", P.Output);
  amount(F, "cache_read", P.CacheRead);
  amount(F, "cache_write", P.CacheWrite);
}

template <class IO> static void modelFields(IO &F, ModelFacts &M) {
  F.optional("id", M.Id);
  F.optional("temperature", M.Temperature);
  F.optional("api_version", M.ApiVersion);
  F.optional("schema", M.Schema);
  F.optional("context", M.ContextTokens);
  F.optional("output", M.OutputTokens);
  F.object(
      "price",
      [&](auto &Of) {
        fields(Of, M.Cost ? *M.Cost : M.Cost.emplace());
        Of.object(
            "above",
            [&](auto &Long) {
              Long.required("prompt", M.LongPromptTokens.emplace());
              fields(Long, M.LongPromptCost.emplace());
            },
            M.LongPromptCost.has_value());
      },
      M.Cost.has_value());
}

template <class IO> static void fields(IO &F, ModelFacts &M) {
  modelFields(F, M);
  F.check(!M.Id.empty(), "id", "the name of a model");
}

template <class IO> static void fields(IO &F, ModelTable::Family &G) {
  F.required("match", G.Pattern);
  modelFields(F, G.Facts);
}

namespace {
/// A file of models.
struct ModelsFile {
  std::string Date;
  std::vector<ProviderFacts> Providers;
  std::vector<ModelTable::Family> Families;
  std::vector<ModelFacts> Models;
};
} // namespace

template <class IO> static void fields(IO &F, ModelsFile &M) {
  F.format("version", 1);
  F.ignored("note");
  F.required("as_of", M.Date);
  F.optional("providers", M.Providers);
  F.optional("families", M.Families);
  F.optional("models", M.Models);
}
} // namespace stark

/// Later entries are found first.
template <class T>
static void putFirst(std::vector<T> &Known, std::vector<T> &New) {
  Known.insert(Known.begin(), std::make_move_iterator(New.rbegin()),
               std::make_move_iterator(New.rend()));
}

llvm::Error ModelTable::add(llvm::StringRef Text, llvm::StringRef File) {
  json Root = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Root.is_discarded())
    return usageError(File + ": is not JSON; wanted a table of models");
  ModelsFile New;
  if (std::string Problem = readFields(Root, File.str(), "", New);
      !Problem.empty())
    return usageError(Problem);
  Date = std::move(New.Date);
  putFirst(Providers, New.Providers);
  putFirst(Families, New.Families);
  putFirst(Models, New.Models);
  return llvm::Error::success();
}

llvm::Expected<ModelTable> ModelTable::load(llvm::StringRef UserFile) {
  ModelTable Table;
  if (llvm::Error E = Table.add(BuiltInModels, "the built-in models.json"))
    return E;
  if (UserFile.empty())
    return Table;
  llvm::Expected<std::string> Text = readFile(UserFile);
  if (!Text)
    return Text.takeError();
  if (llvm::Error E = Table.add(*Text, UserFile))
    return E;
  return Table;
}

const ProviderFacts *ModelTable::provider(llvm::StringRef Name) const {
  for (const ProviderFacts &P : Providers)
    if (P.Name == Name)
      return &P;
  return nullptr;
}

std::vector<const ProviderFacts *> ModelTable::providers() const {
  std::vector<const ProviderFacts *> All;
  for (const ProviderFacts &P : llvm::reverse(Providers))
    if (provider(P.Name) == &P)
      All.push_back(&P);
  return All;
}

std::string ModelTable::providerNames() const {
  std::string Names;
  for (const ProviderFacts &P : llvm::reverse(Providers))
    Names += (Names.empty() ? "" : ", ") + P.Name;
  return Names;
}

/// "-20250929" or "-2025-08-07".
static bool isSnapshotDate(llvm::StringRef Suffix) {
  if (!Suffix.consume_front("-"))
    return false;
  llvm::SmallString<16> Digits;
  for (char C : Suffix)
    if (C != '-')
      Digits += C;
  return Digits.size() == 8 && (Suffix.size() == 8 || Suffix.size() == 10) &&
         llvm::all_of(Digits, llvm::isDigit);
}

ModelFacts ModelTable::model(const ProviderFacts &Provider,
                             llvm::StringRef Model) const {
  ModelFacts Facts;
  for (const ModelFacts &M : Models) {
    llvm::StringRef Rest = Model;
    if (Rest.consume_front(M.Id) && (Rest.empty() || isSnapshotDate(Rest))) {
      Facts = M;
      break;
    }
  }
  Facts.Id = Model.str();
  for (const Family &F : Families) {
    llvm::StringRef Pattern = F.Pattern;
    bool Open = Pattern.consume_back("*");
    if (Open ? !Model.starts_with(Pattern) : Model != Pattern)
      continue;
    if (!Facts.Temperature)
      Facts.Temperature = F.Facts.Temperature;
    if (Facts.ApiVersion.empty())
      Facts.ApiVersion = F.Facts.ApiVersion;
    if (!Facts.Schema)
      Facts.Schema = F.Facts.Schema;
  }
  if (Provider.Schema)
    Facts.Schema = *Provider.Schema;
  if (!Provider.Priced) {
    Facts.Cost.reset();
    Facts.LongPromptCost.reset();
  }
  return Facts;
}

std::optional<int64_t> stark::costOf(const ModelFacts &Model,
                                     const Usage &Tokens) {
  if (!Model.Cost || !Tokens.Input || !Tokens.Output)
    return std::nullopt;
  uint64_t Read = Tokens.CacheRead.value_or(0);
  uint64_t Write = Tokens.CacheWrite.value_or(0);
  uint64_t Prompt = *Tokens.Input + Read + Write;
  bool Long = Model.LongPromptTokens && Prompt > *Model.LongPromptTokens;
  const Price &P =
      Long && Model.LongPromptCost ? *Model.LongPromptCost : *Model.Cost;
  // What has no price of its own costs what other input does.
  int64_t Nano = int64_t(*Tokens.Input) * P.Input +
                 int64_t(*Tokens.Output) * P.Output +
                 int64_t(Read) * P.CacheRead.value_or(P.Input) +
                 int64_t(Write) * P.CacheWrite.value_or(P.Input);
  return (Nano + 999) / 1000;
}
