//===- TimeTraceTest.cpp - Where the time goes ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/TimeTrace.h"
#include "stark/Support/File.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace stark;
namespace json = llvm::json;

namespace {
/// Longer than what a trace leaves out.
void spendTime() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

/// What is left of a trace on disk.
struct Written {
  json::Value All = nullptr;

  explicit Written(llvm::StringRef File)
      : All(llvm::cantFail(json::parse(llvm::cantFail(readFile(File))))) {}

  const json::Object *find(llvm::StringRef Name) const {
    for (const json::Value &E : *All.getAsObject()->getArray("traceEvents"))
      if (E.getAsObject()->getString("name") == Name)
        return E.getAsObject();
    return nullptr;
  }
  std::string detail(llvm::StringRef Name) const {
    const json::Object *E = find(Name);
    const json::Object *Args = E ? E->getObject("args") : nullptr;
    auto Text = Args ? Args->getString("detail") : std::nullopt;
    return Text ? Text->str() : "none";
  }
  int64_t number(llvm::StringRef Name, llvm::StringRef Field) const {
    const json::Object *E = find(Name);
    return E ? E->getInteger(Field).value_or(-1) : -1;
  }
};
} // namespace

// Stages of all threads and of other programs are in one trace, each with what
// it was about.
TEST(TimeTrace, StagesOfThreadsAndProgramsAreWritten) {
  TemporaryFolder Folder =
      llvm::cantFail(TemporaryFolder::create("stark-trace"));
  std::string File = (Folder.path() + "/trace.json").str();
  startTimeTrace("stark-test");
  {
    TraceSubject Of("node 7");
    TraceScope Judge("judge");
    std::thread Other(traced([] {
      TraceScope Compile("compile", "kernels");
      spendTime();
    }));
    Other.join();
    {
      TraceScope Short("gate");
    }
    traceForeign("stark-worker", 5000, {{"open", "n=8", 1000, 4000}});
  }
  EXPECT_EQ(TraceSubject::current(), "");
  llvm::cantFail(writeTimeTrace(File));
  Written T(File);
  EXPECT_EQ(T.detail("judge"), "node 7");
  EXPECT_EQ(T.detail("compile"), "node 7, kernels");
  EXPECT_NE(T.number("compile", "tid"), T.number("judge", "tid"));
  EXPECT_TRUE(T.find("Total gate")) << "too short for a bar, but counted";
  EXPECT_EQ(T.detail("open"), "n=8");
  EXPECT_EQ(T.number("open", "dur"), 3000);
  EXPECT_LT(T.number("open", "pid"), 0);
  ASSERT_TRUE(T.find("process_name"));
}

// Without a trace nothing is recorded, and a second one begins empty.
TEST(TimeTrace, RecordsOnlyBetweenStartAndWrite) {
  TemporaryFolder Folder =
      llvm::cantFail(TemporaryFolder::create("stark-trace"));
  std::string File = (Folder.path() + "/trace.json").str();
  {
    TraceScope Before("before");
    spendTime();
  }
  traceForeign("stark-worker", 1, {{"early", "", 0, 1}});
  startTimeTrace("stark-test");
  llvm::cantFail(writeTimeTrace(File));
  Written T(File);
  EXPECT_FALSE(T.find("before"));
  EXPECT_FALSE(T.find("early"));
}

// Where it cannot be written is an error that names the file.
TEST(TimeTrace, AFileThatCannotBeWrittenIsAnError) {
  startTimeTrace("stark-test");
  llvm::Error E = writeTimeTrace("/proc/no/trace.json");
  EXPECT_NE(llvm::toString(std::move(E)).find("/proc/no"), std::string::npos);
}
