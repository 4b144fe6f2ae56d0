//===- Dialect.cpp - A vendor's wire format ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "JsonView.h"
#include <algorithm>

using namespace stark;

static Fault noJson(llvm::StringRef What, llvm::StringRef Got,
                    const Secret &Key) {
  Fault F;
  F.Kind = FaultKind::Protocol;
  F.Message = redact(
      (What + ": got '" + Got.take_front(80) + "', wanted JSON").str(), Key);
  return F;
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
  JsonDocument Data(E.Data);
  if (!Data.root().isObject()) {
    Now.Problem = noJson("an event of the answer", E.Data, Key);
    return;
  }
  event(E, Data.root());
}

void AnswerDecoder::takeWhole(llvm::StringRef Body) {
  JsonDocument Data(Body);
  if (!Data.root().isObject())
    Now.Problem = noJson("the answer", Body, Key);
  else if (Data.root().at("error"))
    Now.Problem = faultOfBody(Data.root(), Key);
  else
    whole(Data.root());
}

uint64_t Dialect::outputLimit(const ChatRequest &Request,
                              const CallShape &Shape) {
  return Shape.MaxOutputTokens
             ? std::min(Request.MaxOutputTokens, Shape.MaxOutputTokens)
             : Request.MaxOutputTokens;
}

std::optional<double> Dialect::temperature(const ChatRequest &Request,
                                           const CallShape &Shape,
                                           WireRequest &Wire) {
  if (!Request.Temperature)
    return std::nullopt;
  Wire.Applied.push_back("temperature=" +
                         (Shape.Temperature
                              ? printTemperature(*Request.Temperature)
                              : "not applied"));
  return Shape.Temperature ? Request.Temperature : std::nullopt;
}

std::string Dialect::schema(const ChatRequest &Request, const CallShape &Shape,
                            WireRequest &Wire) {
  if (Request.ResponseSchema.empty())
    return "";
  bool Sent =
      Shape.Schema && JsonDocument(Request.ResponseSchema).root().isObject();
  Wire.Applied.push_back(Sent ? "schema" : "schema=not applied");
  return Sent ? Request.ResponseSchema : "";
}
