//===- NpyTest.cpp - Arrays from .npy files ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Npy.h"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace stark;
using namespace stark::job;

namespace {
struct File {
  std::string Path;
  explicit File(const std::string &Header, size_t DataBytes) {
    char Name[] = "/tmp/stark-npy-XXXXXX";
    close(mkstemp(Name));
    Path = Name;
    std::ofstream Out(Path, std::ios::binary);
    Out.write("\x93NUMPY\x01\x00", 8);
    Out.put(char(Header.size() & 255)).put(char(Header.size() >> 8));
    Out << Header;
    for (size_t I = 0; I < DataBytes; ++I)
      Out.put(char(I));
  }
  ~File() { unlink(Path.c_str()); }
};

std::string errorOf(const File &F, DType Type, std::vector<int64_t> Shape) {
  std::string Error;
  readNpy(F.Path, Type, Shape, Error);
  return Error.empty() ? "" : Error.substr(F.Path.size());
}
} // namespace

TEST(Npy, AnArrayIsReadWhole) {
  File F("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  std::string Error;
  std::vector<char> Data = readNpy(F.Path, DType::F32, {2, 3}, Error);
  EXPECT_EQ(Error, "");
  ASSERT_EQ(Data.size(), 24u);
  EXPECT_EQ(Data[23], 23);
}

TEST(Npy, WhatDoesNotFitIsNamed) {
  File F("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", 20);
  EXPECT_EQ(errorOf(F, DType::F64, {6}), ": holds '<f4', wanted '<f8' for f64");
  EXPECT_EQ(errorOf(F, DType::F32, {2, 3}), ": has shape (6,), wanted (2,3)");
  EXPECT_EQ(errorOf(F, DType::F32, {6}),
            ": its data are cut short: 20 bytes, wanted 24");
  EXPECT_EQ(checkNpy(F.Path, DType::F32, {6}),
            F.Path + ": its data are cut short: 20 bytes, wanted 24");
  File G("{'descr': '<i8', 'fortran_order': True, 'shape': (1, 1), }", 8);
  EXPECT_EQ(errorOf(G, DType::I64, {1, 1}),
            ": is in Fortran order, wanted C order");
  std::string Error;
  readNpy("/nowhere.npy", DType::F32, {1}, Error);
  EXPECT_EQ(Error, "/nowhere.npy: cannot be read");
  readNpy("/proc/self/exe", DType::F32, {1}, Error);
  EXPECT_EQ(Error, "/proc/self/exe: not a .npy file of version 1 to 3");
}

// A header may claim anything: nothing is allocated for what is not there.
TEST(Npy, HugeClaimsAreRefused) {
  File F("{'descr': '|u1', 'fortran_order': False, "
         "'shape': (1099511627776,), }",
         4);
  EXPECT_EQ(errorOf(F, DType::U8, {int64_t(1) << 40}),
            ": its data are cut short: 4 bytes, wanted 1099511627776");
  EXPECT_EQ(errorOf(F, DType::F64, {int64_t(1) << 62, 16}),
            ": holds '|u1', wanted '<f8' for f64");
  File G("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", 8);
  EXPECT_EQ(errorOf(G, DType::F64, {int64_t(1) << 62, 16}),
            ": wanted more than 2^64 bytes");
}

TEST(Npy, WhatIsWrittenIsReadAgain) {
  std::vector<char> Data(2 * 3 * 4);
  for (size_t I = 0; I < Data.size(); ++I)
    Data[I] = char(I * 7);
  for (const std::vector<int64_t> &Shape :
       {std::vector<int64_t>{6}, {2, 3}, {1, 2, 3}}) {
    std::string Text = printNpy(DType::I32, Shape, Data.data());
    EXPECT_EQ((Text.size() - Data.size()) % 64, 0u);
    File F("", 0);
    std::ofstream(F.Path, std::ios::binary) << Text;
    std::string Error;
    EXPECT_EQ(readNpy(F.Path, DType::I32, Shape, Error), Data);
    EXPECT_EQ(Error, "");
  }
}
