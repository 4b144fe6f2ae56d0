//===- ExchangeAnswer.cpp - An answer file, checked -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExchangeAnswer.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace stark;

static constexpr const char *KnownKeys =
    "model, id, digest, stop, stop_detail, temperature, input_tokens, "
    "cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, "
    "cost_micro_usd, wall_ms";

namespace {
struct Field {
  llvm::StringRef Key, Value;
};
struct FrontMatter {
  std::vector<Field> Fields;
  llvm::StringRef Rest;
};
} // namespace

static bool isKnown(llvm::StringRef Key) {
  llvm::StringRef Rest = KnownKeys;
  while (!Rest.empty()) {
    auto [Name, After] = Rest.split(", ");
    if (Name == Key)
      return true;
    Rest = After;
  }
  return false;
}

/// An answer may itself begin with a ruled line: it is front matter only when
/// every line up to the closing rule reads "key: value" and one key is known.
static std::optional<FrontMatter> splitFrontMatter(llvm::StringRef Text) {
  if (!Text.consume_front("---\n"))
    return std::nullopt;
  FrontMatter Found;
  bool Known = false;
  for (unsigned Count = 0; Count < 50; ++Count) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (Line.rtrim() == "---") {
      if (!Known)
        return std::nullopt;
      Found.Rest = Rest;
      return Found;
    }
    if (Line.trim().empty() && !Rest.empty())
      continue;
    auto [Key, Value] = Line.split(':');
    Key = Key.trim();
    if (Key.empty() || Line.find(':') == llvm::StringRef::npos ||
        Key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") !=
            llvm::StringRef::npos)
      return std::nullopt;
    Known |= isKnown(Key);
    Found.Fields.push_back({Key, Value.trim()});
  }
  return std::nullopt;
}

static llvm::Error wrong(llvm::StringRef File, const Field &F,
                         llvm::StringRef Wanted) {
  return failed("answer '" + File + "': front matter '" + F.Key + "': got '" +
                F.Value + "', wanted " + Wanted);
}

static llvm::Error readCount(llvm::StringRef File, const Field &F,
                             std::optional<uint64_t> &Count) {
  uint64_t Value = 0;
  if (F.Value.getAsInteger(10, Value) || Value > (uint64_t(1) << 53))
    return wrong(File, F, "a number of 0 or more");
  Count = Value;
  return llvm::Error::success();
}

static llvm::Error readField(llvm::StringRef File, const Field &F,
                             const ChatRequest &Request, ChatReply &R) {
  std::optional<uint64_t> *Count =
      llvm::StringSwitch<std::optional<uint64_t> *>(F.Key)
          .Case("input_tokens", &R.Tokens.Input)
          .Case("cache_read_tokens", &R.Tokens.CacheRead)
          .Case("cache_write_tokens", &R.Tokens.CacheWrite)
          .Case("output_tokens", &R.Tokens.Output)
          .Case("reasoning_tokens", &R.Tokens.Reasoning)
          .Default(nullptr);
  if (Count)
    return readCount(File, F, *Count);
  if (F.Key == "model") {
    R.Model = F.Value.str();
  } else if (F.Key == "id") {
    if (F.Value != Request.Id)
      return failed("answer '" + File + "' is for request '" + F.Value +
                    "', wanted one for '" + Request.Id + "'");
  } else if (F.Key == "digest") {
    std::string Digest = Request.digest();
    if (F.Value.size() < 12 || !llvm::StringRef(Digest).starts_with(F.Value))
      return failed("answer '" + File +
                    "' is for another request: it has "
                    "digest '" +
                    F.Value + "', wanted '" +
                    llvm::StringRef(Digest).take_front(12) + "'");
  } else if (F.Key == "stop") {
    std::optional<StopReason> Stop = valueNamed<StopReason>(F.Value);
    if (!Stop)
      return wrong(File, F, allNames<StopReason>());
    R.Stop = *Stop;
  } else if (F.Key == "stop_detail") {
    R.StopDetail = F.Value.str();
  } else if (F.Key == "temperature") {
    R.Applied.push_back("temperature=" + F.Value.str());
  } else if (F.Key == "cost_micro_usd") {
    std::optional<uint64_t> Cost;
    if (llvm::Error E = readCount(File, F, Cost))
      return E;
    R.CostMicroUsd = int64_t(*Cost);
  } else if (F.Key == "wall_ms") {
    std::optional<uint64_t> Wall;
    if (llvm::Error E = readCount(File, F, Wall))
      return E;
    R.WallMs = *Wall;
  } else {
    return failed("answer '" + File + "': front matter has the unknown key '" +
                  F.Key + "', wanted one of " + KnownKeys);
  }
  return llvm::Error::success();
}

/// Text that can be kept in JSON and compiled: valid UTF-8 without NULs, lines
/// ended by LF. \p Repaired is set when bytes were lost.
static std::string repairText(llvm::StringRef Bytes, bool &Repaired) {
  Bytes.consume_front("\xEF\xBB\xBF");
  std::string Text = repairUtf8(Bytes);
  Repaired |= !isUtf8(Bytes);
  std::string Out;
  Out.reserve(Text.size());
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '\r' && I + 1 < Text.size() && Text[I + 1] == '\n')
      continue;
    if (Text[I] == '\0') {
      Repaired = true;
      Out += "\xEF\xBF\xBD";
      continue;
    }
    Out += Text[I];
  }
  return Out;
}

llvm::Expected<ChatReply> stark::parseAnswer(llvm::StringRef Bytes,
                                             const ChatRequest &Request,
                                             llvm::StringRef File) {
  if (Bytes.starts_with("\xFF\xFE") || Bytes.starts_with("\xFE\xFF"))
    return failed("answer '" + File + "' is UTF-16 text, wanted UTF-8");
  ChatReply R;
  R.Provider = "exchange";
  R.Model = "unknown";
  bool Repaired = false;
  std::string Text = repairText(Bytes, Repaired);
  if (std::optional<FrontMatter> Front = splitFrontMatter(Text)) {
    for (const Field &F : Front->Fields)
      if (llvm::Error E = readField(File, F, Request, R))
        return E;
    R.Text = Front->Rest.str();
  } else {
    R.Text = std::move(Text);
  }
  if (Request.Temperature && R.Applied.empty())
    R.Applied.push_back("temperature=unknown");
  if (Repaired)
    R.Applied.push_back("encoding=repaired");
  return R;
}
