//===- EventStream.cpp - Server-sent events from bytes -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EventStream.h"
#include "stark/Support/Error.h"

using namespace stark;

llvm::Error EventStream::feed(llvm::StringRef Bytes) {
  for (char C : Bytes) {
    bool LateLineFeed = AfterReturn && C == '\n';
    AfterReturn = C == '\r';
    if (LateLineFeed)
      continue;
    if (C == '\r' || C == '\n') {
      if (llvm::Error E = takeLine())
        return E;
      continue;
    }
    if (Line.size() + Event.Data.size() >= Limit)
      return failed("the event stream has an event of more than " +
                    llvm::Twine(Limit) + " bytes");
    Line += C;
  }
  return llvm::Error::success();
}

llvm::Error EventStream::finish() {
  if (!Line.empty())
    if (llvm::Error E = takeLine())
      return E;
  return dispatch();
}

llvm::Error EventStream::takeLine() {
  std::string Taken;
  Taken.swap(Line);
  llvm::StringRef Text = Taken;
  if (FirstLine)
    Text.consume_front("\xEF\xBB\xBF");
  FirstLine = false;
  if (Text.empty())
    return dispatch();
  auto [Field, Value] = Text.split(':');
  Value.consume_front(" ");
  if (Field == "event") {
    Event.Type = Value.str();
  } else if (Field == "data") {
    if (HasData)
      Event.Data += '\n';
    Event.Data += Value;
    HasData = true;
  }
  // Comments (an empty field), "id", "retry" and unknown fields say nothing
  // about the answer.
  return llvm::Error::success();
}

llvm::Error EventStream::dispatch() {
  StreamEvent Whole;
  std::swap(Whole, Event);
  bool Dispatch = HasData;
  HasData = false;
  if (!Dispatch)
    return llvm::Error::success();
  if (Whole.Type.empty())
    Whole.Type = "message";
  return OnEvent(Whole);
}
