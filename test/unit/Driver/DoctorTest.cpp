//===- DoctorTest.cpp -----------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/Doctor.h"
#include "gtest/gtest.h"

using namespace stark;

static std::vector<Diagnosis> findings() {
  return {{"toolkit", Diagnosis::State::Ok, "CUDA 13.0", ""},
          {"nvcc", Diagnosis::State::Missing, "none", "install it"},
          {"worker", Diagnosis::State::Absent, "none", "no GPU without it"}};
}

// Advice stands below what it is about.
TEST(DoctorTest, Text) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printDiagnoses(findings(), OS);
  EXPECT_EQ(Text, "ok      toolkit        CUDA 13.0\n"
                  "missing nvcc           none\n"
                  "                       install it\n"
                  "absent  worker         none\n"
                  "                       no GPU without it\n");
}

// Only what is needed makes it unusable; no advice is no field.
TEST(DoctorTest, Json) {
  std::vector<Diagnosis> All = findings();
  std::string Text = diagnosesJson(All);
  EXPECT_NE(Text.find("\"usable\": false"), std::string::npos) << Text;
  All.erase(All.begin() + 1);
  Text = diagnosesJson(All);
  EXPECT_EQ(Text, R"({
  "findings": [
    {
      "found": "CUDA 13.0",
      "state": "ok",
      "what": "toolkit"
    },
    {
      "advice": "no GPU without it",
      "found": "none",
      "state": "absent",
      "what": "worker"
    }
  ],
  "usable": true,
  "version": 1
})");
}
