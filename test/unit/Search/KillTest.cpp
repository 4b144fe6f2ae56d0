//===- KillTest.cpp - Killed after each event, a run goes on --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What a kill leaves on disk follows from the journal: the files of the
/// events that it has, and of the one that was about to be written. Each of
/// these states is made, and the real search goes on from it.
///
//===----------------------------------------------------------------------===//

#include "SearchFixture.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

namespace {
using Files = std::map<std::string, std::string>; ///< relative path -> bytes

Files filesIn(const std::string &Folder) {
  Files All;
  std::error_code Code;
  for (llvm::sys::fs::recursive_directory_iterator I(Folder, Code), End;
       I != End && !Code; I.increment(Code))
    if (!llvm::sys::fs::is_directory(I->path()))
      All[I->path().substr(Folder.size() + 1)] =
          llvm::cantFail(readFile(I->path()));
  return All;
}

/// The file that is written just before \p Line, a line of a journal; empty
/// when it has none.
std::string fileBefore(llvm::StringRef Line) {
  auto Between = [&](llvm::StringRef Begin, llvm::StringRef End) {
    return Line.split(Begin).second.split(End).first.str();
  };
  if (Line.contains("\"event\":\"reply\""))
    return Between("\"file\":\"", "\"");
  if (Line.contains("\"event\":\"verdict\"") &&
      !Line.contains("\"candidate\":\"\"") &&
      !Line.contains("\"purpose\":\"confirm\""))
    return candidateFile(unsigned(std::stoul(Between("\"node\":", ","))));
  return "";
}

struct KillTest : SearchTest {
  Files Undisturbed;
  std::vector<std::string> Lines;

  /// Makes the run that the others must end as.
  void run() {
    outcome();
    Undisturbed = filesIn(Run);
    llvm::SmallVector<llvm::StringRef> Split;
    llvm::StringRef(Undisturbed["journal.jsonl"])
        .split(Split, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef Line : Split)
      Lines.push_back(Line.str() + "\n");
  }

  /// A run that was killed when its journal had the first \p Events events and
  /// \p Torn bytes of the next one, whose file was written before if
  /// \p FileWritten.
  void kill(size_t Events, size_t Torn, bool FileWritten) {
    Run = Folder.path().str() + "/killed";
    (void)llvm::sys::fs::remove_directories(Run);
    std::string Journal;
    // The workload is written before run.json.
    std::set<std::string> Written = {"run.json", RunWorkloadFile};
    for (size_t I = 0; I < Events + FileWritten && I < Lines.size(); ++I)
      Written.insert(fileBefore(Lines[I]));
    for (size_t I = 0; I < Events; ++I)
      Journal += Lines[I];
    if (Events < Lines.size())
      Journal += Lines[Events].substr(0, Torn);
    for (const auto &[Name, Bytes] : Undisturbed)
      if (Written.count(Name) || llvm::StringRef(Name).starts_with("prompts/"))
        llvm::cantFail(writeFileAtomically(Run + "/" + Name, Bytes));
    llvm::cantFail(writeFileAtomically(Run + "/journal.jsonl", Journal));
  }

  /// Kills after each event, goes on and compares.
  void killAfterEachEvent() {
    run();
    for (size_t Events = 0; Events <= Lines.size(); ++Events)
      for (auto [Torn, FileWritten] :
           {std::pair(0, false), std::pair(0, true), std::pair(25, true)}) {
        kill(Events, size_t(Torn), FileWritten);
        size_t Asked = Model.Asked.size();
        outcome();
        EXPECT_EQ(filesIn(Run), Undisturbed) << "after event " << Events;
        // What was recorded is not asked for again.
        EXPECT_LE(Model.Asked.size() - Asked,
                  std::count_if(Lines.begin() + long(Events), Lines.end(),
                                [](const std::string &Line) {
                                  return Line.find("\"event\":\"reply\"") !=
                                         std::string::npos;
                                }));
      }
  }
};
} // namespace

// A team with a repair, a candidate that is known and one that did not come.
TEST_F(KillTest, Team) {
  Options.Attempts = 5;
  Judge.Of[1] = failing();
  Model.Answers["0003-plan-1"] = Model.Answers["0003-plan-2"] = "no";
  Model.Answers["0004-code-1"] = kernel("x[i] * 3.0f");
  Model.Answers["0005-code-1"] = kernel("x[i] * 3.0f");
  killAfterEachEvent();
  EXPECT_GT(Lines.size(), 20u);
}

// An agent that works alone, and a winner that is not confirmed.
TEST_F(KillTest, Single) {
  Options.Agents = AgentsKind::Single;
  Options.Strictness = Grounding::Off;
  Options.Attempts = 3;
  Model.Answers["single"] = "no";
  Judge.Confirmed[1] = failing();
  killAfterEachEvent();
}

// Variants of the fastest, with one job and with several.
TEST_F(KillTest, Tuned) {
  take(TunableSource);
  Options.Attempts = 1;
  Options.Tune = {/*Candidates=*/3, /*Seconds=*/0};
  Judge.Of[3] = correctIn(30);
  killAfterEachEvent();
  EXPECT_EQ(std::count_if(Lines.begin(), Lines.end(),
                          [](const std::string &Line) {
                            return Line.find("\"action\":\"tune\"") !=
                                   std::string::npos;
                          }),
            3);
}

TEST_F(KillTest, TunedWithSeveralJobs) {
  take(TunableSource);
  Options.Jobs = 2;
  Options.Attempts = 1;
  Options.Tune = {/*Candidates=*/2, /*Seconds=*/0};
  killAfterEachEvent();
}

// A kill before run.json leaves prompts at most, and a half-written file under
// its temporary name.
TEST_F(KillTest, BeforeTheRunBegan) {
  run();
  kill(0, 0, false);
  llvm::cantFail(writeFileAtomically(Run + "/run.json.a1b2c3.tmp", "{"));
  ASSERT_FALSE(llvm::sys::fs::remove(Run + "/run.json"));
  ASSERT_FALSE(llvm::sys::fs::remove(Run + "/journal.jsonl"));
  ASSERT_FALSE(llvm::sys::fs::remove(Run + "/prompts/plan.md"));
  outcome();
  EXPECT_EQ(filesIn(Run), Undisturbed);
}

// Killed between a reply's event and the removal of what earlier answers to the
// request took, a run goes on as if that were gone, and removes it.
TEST_F(KillTest, LostAnswersOfAReply) {
  run();
  kill(4, 0, true);
  ASSERT_NE(Lines[3].find("0001-plan-1"), std::string::npos) << Lines[3];
  llvm::cantFail(writeFileAtomically(
      Run + "/" + lostFile("0001-plan-1"),
      R"({"answers":1,"estimated":true,"input":10,"output":20})"));
  outcome();
  EXPECT_EQ(filesIn(Run), Undisturbed);
}
