//===- TerminalBlockTest.cpp - Lines that are drawn again in place --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/TerminalBlock.h"
#include "gtest/gtest.h"

using namespace stark;
using posix::TerminalSize;

namespace {
/// What is sent, with "^" for each escape character.
class TerminalBlockTest : public testing::Test {
protected:
  std::string sent() {
    for (char &C : Text)
      if (C == '\x1b')
        C = '^';
    return std::exchange(Text, "");
  }
  std::string draw(std::vector<std::string> Lines, TerminalSize Size) {
    Block.draw(Lines, Size);
    return sent();
  }

  std::string Text;
  llvm::raw_string_ostream OS{Text};
  TerminalBlock Block{OS};
};
} // namespace

// A block takes the place of the one before it, and nothing of that is left.
TEST_F(TerminalBlockTest, IsDrawnInPlace) {
  EXPECT_EQ(draw({"one", "two"}, {80, 24}), "\rone^[K\ntwo^[K\n^[J");
  EXPECT_EQ(draw({"one", "two"}, {80, 24}), "") << "nothing has changed";
  EXPECT_EQ(draw({"three"}, {80, 24}), "^[2A\rthree^[K\n^[J");
  Block.clear({80, 24});
  EXPECT_EQ(sent(), "^[1A\r^[J");
  EXPECT_EQ(draw({"four"}, {80, 24}), "\rfour^[K\n^[J");
  Block.leave();
  EXPECT_EQ(draw({"five"}, {80, 24}), "\rfive^[K\n^[J") << "below the fourth";
}

// Nothing wraps and nothing scrolls, however small the terminal is.
TEST_F(TerminalBlockTest, FitsTheTerminal) {
  EXPECT_EQ(draw({"0123456789", "b", "c"}, {10, 3}),
            "\r012345...^[K\nb^[K\n^[J");
  EXPECT_EQ(draw({"abc"}, {1, 1}), "^[10A\r.^[K\n^[J")
      << "the nine columns of the old text take nine rows now";
}

// Made narrower, a terminal breaks the lines that it shows: they take more
// rows.
TEST_F(TerminalBlockTest, FollowsAResize) {
  draw({std::string(30, 'x'), "y"}, {80, 24});
  EXPECT_EQ(draw({std::string(30, 'x'), "y"}, {20, 24}),
            "^[3A\r" + std::string(16, 'x') + "...^[K\ny^[K\n^[J");
  EXPECT_EQ(draw({"z"}, {100, 24}), "^[2A\rz^[K\n^[J");
}

// Whatever a line holds, only the block moves the cursor.
TEST_F(TerminalBlockTest, ShowsWhatWouldMoveTheCursor) {
  EXPECT_EQ(draw({"a\x1b[2Jb\nc\r\xe2\x80\xae"}, {80, 24}),
            "\ra\\u{1b}[2Jb c\\u{d}\\u{202e}^[K\n^[J");
}

// Wide characters take two columns each and are not cut in half.
TEST_F(TerminalBlockTest, CountsColumnsAndNotBytes) {
  EXPECT_EQ(draw({"\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\xe5\xbf\x83"}, {8, 24}),
            "\r\xe6\xa0\xb8\xe5\xbf\x83...^[K\n^[J");
}
