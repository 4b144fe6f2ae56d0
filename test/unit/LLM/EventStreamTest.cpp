//===- EventStreamTest.cpp - Any split of the bytes, the same events ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EventStream.h"
#include <gtest/gtest.h>

using namespace stark;

/// "type|data;" of every event of \p Bytes, fed in two parts.
static std::string events(llvm::StringRef Bytes, size_t Split = 0,
                          size_t Limit = 1 << 20) {
  std::string Result;
  EventStream Stream(
      [&](const StreamEvent &E) {
        Result += E.Type + "|" + E.Data + ";";
        return llvm::Error::success();
      },
      Limit);
  for (llvm::StringRef Part : {Bytes.take_front(Split), Bytes.substr(Split)})
    if (llvm::Error E = Stream.feed(Part))
      return "error: " + llvm::toString(std::move(E));
  if (llvm::Error E = Stream.finish())
    return "error: " + llvm::toString(std::move(E));
  return Result;
}

TEST(EventStreamTest, ReadsFieldsCommentsAndUnknownNames) {
  EXPECT_EQ(events("event: a\ndata: 1\n\n: ping\n\ndata:2\nid: 7\nretry: 1\n"
                   "data:  3\nnonsense\n\n"),
            "a|1;message|2\n 3;");
}

TEST(EventStreamTest, TypesEndWithTheirEvent) {
  EXPECT_EQ(events("event: a\n\ndata: 1\n\n"), "message|1;");
}

TEST(EventStreamTest, LineEndsOfAnyKindAndAByteOrderMark) {
  EXPECT_EQ(events("\xEF\xBB\xBF"
                   "data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n"),
            "message|1;message|2;message|3;");
}

TEST(EventStreamTest, EmptyDataIsAnEvent) {
  EXPECT_EQ(events("data\n\ndata:\n\n"), "message|;message|;");
}

TEST(EventStreamTest, TheLastEventNeedsNoBlankLine) {
  EXPECT_EQ(events("data: [DONE]"), "message|[DONE];");
}

TEST(EventStreamTest, EverySplitGivesTheSameEvents) {
  const llvm::StringRef Bytes = "\xEF\xBB\xBF"
                                "event: delta\r\ndata: {\"t\": \"\xC3\xA9\"}"
                                "\r\n\r\n:c\r\rdata: x\ndata: y\n\nevent: z\n"
                                "data: \r\n\r\n";
  const std::string Whole = events(Bytes);
  for (size_t I = 0; I <= Bytes.size(); ++I)
    EXPECT_EQ(events(Bytes, I), Whole) << "split at " << I;
}

TEST(EventStreamTest, TooLongIsAnError) {
  EXPECT_EQ(events("data: 0123456789", 3, 8),
            "error: the event stream has an event of more than 8 bytes");
  // However it is cut into lines.
  EXPECT_EQ(events("data:1\ndata:2\ndata:3\ndata:4\ndata:5\n", 0, 8),
            "error: the event stream has an event of more than 8 bytes");
}
