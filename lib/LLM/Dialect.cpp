//===- Dialect.cpp - What all wire formats share -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "stark/Json/Find.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static Fault noJson(llvm::StringRef What, llvm::StringRef Got,
                    const Secret &Key) {
  Fault F;
  F.Kind = FaultKind::Protocol;
  F.Message = redact(
      (What + ": got '" + Got.take_front(80) + "', wanted JSON").str(), Key);
  return F;
}

static json parse(llvm::StringRef Text) {
  return json::parse(Text.begin(), Text.end(), nullptr, false);
}

void AnswerDecoder::addText(llvm::StringRef Delta) {
  if (Delta.empty())
    return;
  Now.Text += Delta;
  if (OnText)
    OnText(Delta);
}

void AnswerDecoder::take(const StreamEvent &E) {
  if (Now.Problem)
    return;
  if (isEnd(E.Data)) {
    Now.Complete = true;
    return;
  }
  const json Data = parse(E.Data);
  if (Data.is_object())
    event(E.Type, Data);
  else
    Now.Problem = noJson("an event of the answer", E.Data, Key);
}

void AnswerDecoder::takeWhole(llvm::StringRef Body) {
  const json Data = parse(Body);
  if (!Data.is_object())
    Now.Problem = noJson("the answer", Body, Key);
  else if (valueAt(Data, "/error"))
    fail(Data);
  else
    whole(Data);
}

void stark::readUsage(const json &Of, const UsageNames &Names, Usage &Into) {
  auto Take = [&](std::optional<uint64_t> &Count, const std::string &Pointer) {
    std::optional<uint64_t> Said =
        Pointer.empty() ? std::nullopt : countAt(Of, Pointer);
    if (Said)
      Count = Said;
    return Said.has_value();
  };
  Take(Into.CacheRead, Names.CacheRead);
  Take(Into.CacheWrite, Names.CacheWrite);
  if (Take(Into.Input, Names.Input) && Names.InputHasCache)
    *Into.Input -= std::min(
        Into.CacheRead.value_or(0) + Into.CacheWrite.value_or(0), *Into.Input);
  Take(Into.Reasoning, Names.Reasoning);
  if (Take(Into.Output, Names.Output) && !Names.OutputHasReasoning)
    *Into.Output += Into.Reasoning.value_or(0);
}

std::string Dialect::baseUrl(llvm::StringRef Given) const {
  Given = Given.rtrim('/');
  Given.consume_back(Said.Version);
  return Given.str();
}

WireRequest Dialect::encode(const ChatRequest &Request,
                            const CallShape &Shape) const {
  WireRequest Wire;
  Wire.Headers = {"content-type: application/json",
                  "accept: text/event-stream"};
  Granted G = {Request.MaxOutputTokens, std::nullopt, nullptr};
  if (Shape.MaxOutputTokens)
    G.OutputTokens = std::min(G.OutputTokens, Shape.MaxOutputTokens);
  if (Request.Temperature) {
    if (Shape.Temperature)
      G.Temperature = Request.Temperature;
    Wire.Applied.push_back(
        "temperature=" +
        (G.Temperature ? printTemperature(*G.Temperature) : "not applied"));
  }
  const json Schema = parse(Request.ResponseSchema);
  if (!Request.ResponseSchema.empty()) {
    if (Shape.Schema && Schema.is_object())
      G.Schema = &Schema;
    Wire.Applied.push_back(G.Schema ? "schema" : "schema=not applied");
  }
  json Body = json::object();
  write(Request, Shape, G, Wire, Body);
  Wire.Body = dumpJson(Body);
  return Wire;
}

llvm::ArrayRef<const Dialect *> stark::dialects() {
  static const Dialect *const All[] = {
#define STARK_DIALECT(Factory) &Factory(),
#include "Dialects.def"
  };
  return All;
}

const Dialect *stark::findDialect(llvm::StringRef Name) {
  for (const Dialect *D : dialects())
    if (D->facts().Name == Name)
      return D;
  return nullptr;
}
