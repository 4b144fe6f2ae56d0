//===- Models.cpp - What models take and cost ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Models.h"
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

namespace {
/// Reads one table. The first problem ends it.
class TableReader {
public:
  TableReader(llvm::StringRef File) : File(File.str()) {}

  std::string Problem;

  template <class Function>
  void each(const json *List, const char *Name, Function Read) {
    if (!List || !Problem.empty())
      return;
    if (!List->is_array()) {
      Problem = File + ": field '" + Name + "': got " + describeJson(*List) +
                ", wanted an array";
      return;
    }
    for (size_t I = 0; I < List->size() && Problem.empty(); ++I) {
      FieldReader<json> R((*List)[I], File,
                          std::string(Name) + "[" + std::to_string(I) + "]");
      Read(R);
      if (Problem.empty())
        Problem = R.problem();
    }
  }

  ProviderFacts provider(FieldReader<json> &R) {
    ProviderFacts P;
    R.required("name", P.Name);
    R.required("dialect", P.Dialect);
    if (R.good() && !llvm::is_contained({"anthropic", "openai-chat",
                                         "openai-responses", "gemini"},
                                        llvm::StringRef(P.Dialect)))
      R.fail("dialect", "\"" + P.Dialect + "\"",
             "anthropic, openai-chat, openai-responses or gemini");
    R.optional("base_url", P.BaseUrl);
    R.optional("key", P.KeyVariable);
    R.optional("key_optional", P.KeyOptional);
    R.optional("model", P.DefaultModel);
    R.optional("max_tokens_field", P.MaxTokensField);
    R.optional("cache_marks", P.CacheMarks);
    R.optional("prices", P.Priced);
    P.Schema = truth(R, "schema");
    return P;
  }

  ModelFacts model(FieldReader<json> &R) {
    ModelFacts M;
    R.optional("id", M.Id);
    M.Temperature = truth(R, "temperature");
    R.optional("api_version", M.ApiVersion);
    M.Schema = truth(R, "schema");
    M.ContextTokens = count(R, "context");
    M.OutputTokens = count(R, "output");
    if (const json *Cost = R.raw("price"))
      prices(*Cost, M, R.join("price"));
    return M;
  }

private:
  static std::optional<bool> truth(FieldReader<json> &R, const char *Name) {
    if (!R.has(Name))
      return std::nullopt;
    bool Value = false;
    R.required(Name, Value);
    return Value;
  }
  static std::optional<uint64_t> count(FieldReader<json> &R, const char *Name) {
    if (!R.has(Name))
      return std::nullopt;
    uint64_t Value = 0;
    R.required(Name, Value);
    return Value;
  }

  static int64_t amount(FieldReader<json> &R, const char *Name) {
    double Dollars = 0;
    R.required(Name, Dollars);
    if (R.good() && !(Dollars >= 0 && Dollars < 1e6))
      R.fail(Name, std::to_string(Dollars), "USD per million tokens");
    return R.good() ? int64_t(std::llround(Dollars * 1000)) : 0;
  }
  static Price price(FieldReader<json> &R) {
    Price P;
    P.Input = amount(R, "input");
    P.Output = amount(R, "output");
    if (R.has("cache_read"))
      P.CacheRead = amount(R, "cache_read");
    if (R.has("cache_write"))
      P.CacheWrite = amount(R, "cache_write");
    return P;
  }
  void prices(const json &Cost, ModelFacts &M, const std::string &Path) {
    FieldReader<json> R(Cost, File, Path);
    M.Cost = price(R);
    if (const json *Above = R.raw("above")) {
      FieldReader<json> A(*Above, File, R.join("above"));
      uint64_t Prompt = 0;
      A.required("prompt", Prompt);
      M.LongPromptTokens = Prompt;
      M.LongPromptCost = price(A);
      Problem = A.problem();
    }
    if (Problem.empty())
      Problem = R.problem();
  }

  std::string File;
};
} // namespace

llvm::Error ModelTable::add(llvm::StringRef Text, llvm::StringRef File) {
  json Root = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Root.is_discarded())
    return usageError(File + ": is not JSON; wanted a table of models");
  TableReader Reader(File);
  FieldReader<json> R(Root, File.str(), "");
  uint64_t Version = 0;
  R.required("version", Version);
  if (R.good() && Version != 1)
    R.fail("version", std::to_string(Version), "1");
  std::string Note;
  R.optional("note", Note);
  R.required("as_of", Date);
  const json *NewProviders = R.raw("providers");
  const json *NewFamilies = R.raw("families");
  const json *NewModels = R.raw("models");
  if (std::string Problem = R.problem(); !Problem.empty())
    return usageError(Problem);
  // Later entries are found first.
  Reader.each(NewProviders, "providers", [&](FieldReader<json> &F) {
    Providers.insert(Providers.begin(), Reader.provider(F));
  });
  Reader.each(NewFamilies, "families", [&](FieldReader<json> &F) {
    Family New;
    F.required("match", New.Pattern);
    New.Facts = Reader.model(F);
    Families.insert(Families.begin(), std::move(New));
  });
  Reader.each(NewModels, "models", [&](FieldReader<json> &F) {
    ModelFacts New = Reader.model(F);
    if (New.Id.empty())
      F.fail("id", "nothing", "the name of a model");
    Models.insert(Models.begin(), std::move(New));
  });
  if (!Reader.Problem.empty())
    return usageError(Reader.Problem);
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
