//===- FindTest.cpp - Values deep in JSON that nobody vouches for ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Json/Find.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static const json Sample = json::parse(
    R"({"a": {"b": [{"c": "text"}, 7]}, "n": null, "t": true, "i": -1,
        "d": 2.5, "": {"/": "odd"}})");

TEST(Find, AStepThatIsNotThereEndsInNothing) {
  ASSERT_TRUE(valueAt(Sample, "/a/b/0/c"));
  EXPECT_EQ(valueAt(Sample, ""), &Sample);
  for (const char *Nowhere :
       {"/x", "/a/x/y", "/a/b/2", "/a/b/-", "/a/b/01", "/a/b/c", "/a/b/-1",
        "/n", "/n/x", "/t/0", "/d/x"})
    EXPECT_FALSE(valueAt(Sample, Nowhere)) << Nowhere;
  EXPECT_EQ(textAt(Sample, "//~1"), "odd");
}

// A value of another type than was wanted is as good as none.
TEST(Find, ValuesOfAnotherTypeAreNothing) {
  EXPECT_EQ(textAt(Sample, "/a/b/0/c"), "text");
  EXPECT_EQ(textAt(Sample, "/a/b/1"), "");
  EXPECT_EQ(countAt(Sample, "/a/b/1"), 7u);
  for (const char *NoCount : {"/i", "/d", "/t", "/n", "/a", "/a/b/0/c"})
    EXPECT_FALSE(countAt(Sample, NoCount)) << NoCount;
  EXPECT_EQ(elementsAt(Sample, "/a/b").size(), 2u);
  EXPECT_EQ(elementsAt(Sample, "/a").size(), 0u);
  EXPECT_EQ(elementsAt(Sample, "/t").size(), 0u);
}

TEST(Find, WordsAreTextsNumbersAndTruths) {
  EXPECT_EQ(wordAt(Sample, "/a/b/0/c"), "text");
  EXPECT_EQ(wordAt(Sample, "/a/b/1"), "7");
  EXPECT_EQ(wordAt(Sample, "/t"), "true");
  EXPECT_EQ(wordAt(Sample, "/a"), "");
  EXPECT_EQ(wordAt(Sample, "/n"), "");
}
