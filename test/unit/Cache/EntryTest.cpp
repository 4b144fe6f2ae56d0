//===- EntryTest.cpp - entry.json ----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
StoredEntry exampleEntry() {
  StoredEntry E;
  E.Key = "k";
  E.Source = "s";
  E.Workload = "w";
  E.Flags = {"-DA", "-std=c++17"};
  E.Arch = "sm_90";
  E.Toolkit = "13.0";
  E.Kernel = "d";
  E.Headers = {{"source", "a.cuh", "h"}};
  E.Facts.Title = "t";
  E.Facts.Advice = "a";
  E.Facts.Model = "m";
  E.Facts.Device = "g";
  E.Facts.Timings = {"n=1"};
  E.Facts.RunDigest = "r";
  E.Facts.Speedup = 2.5;
  return E;
}
} // namespace

// A store is committed: its files may not change with the tool.
TEST(EntryTest, IsWrittenAsItAlwaysWas) {
  EXPECT_EQ(printEntry(exampleEntry()), R"({
  "arch": "sm_90",
  "check": "a966ec4aeb5001aad856cbfa2f549e42175b27bcdb95a95f54cdc8d46df4921a",
  "flags": [
    "-DA",
    "-std=c++17"
  ],
  "format": 1,
  "headers": [
    {
      "digest": "h",
      "from": "source",
      "path": "a.cuh"
    }
  ],
  "kernel": "d",
  "key": "k",
  "source": "s",
  "toolkit": "13.0",
  "winner": {
    "advice": "a",
    "device": "g",
    "model": "m",
    "modelled": false,
    "speedup": 2.5,
    "task": "r",
    "timings": [
      "n=1"
    ],
    "title": "t"
  },
  "workload": "w"
}
)");
}

TEST(EntryTest, ReadsBackAsItWas) {
  std::string Text = printEntry(exampleEntry());
  StoredEntry Back;
  EXPECT_EQ(parseEntry(Text, Back), "");
  EXPECT_EQ(printEntry(Back), Text);
}

TEST(EntryTest, OfAnotherFormatIsNotRead) {
  std::string Text = printEntry(exampleEntry());
  Text.replace(Text.find("\"format\": 1"), 11, "\"format\": 2");
  StoredEntry Back;
  EXPECT_EQ(parseEntry(Text, Back),
            "entry.json: field 'format': got 2, wanted 1");
}
