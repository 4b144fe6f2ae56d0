//===- RunPageTest.cpp - Pages of runs that were torn or made up ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/RunPage.h"
#include "../Search/Trees.h"
#include "stark/Report/Comparison.h"
#include "stark/Report/NodeView.h"
#include "stark/Report/Plot.h"
#include "stark/Report/Report.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace stark;

namespace {
/// A run folder of the source and what is added to it.
class RunPageTest : public testing::Test {
protected:
  RunPageTest()
      : Temporary(llvm::cantFail(TemporaryFolder::create("run-page"))),
        Folder(Temporary.path()) {
    Identity.TaskName = "scale";
    Identity.Entry = "launch_scale";
    Identity.TaskDigest = Identity.PromptsDigest = std::string(64, '0');
    Identity.Arch = "sm_90";
    Identity.Provider = Identity.Evaluator = "fake";
    write("run.json", printIdentity(Identity));
    Lines = llvm::cantFail(Journal::open(journal(), JournalContent()));
    judge(0, -1, correctIn(100), "__global__ void k() {}\n");
  }

  std::string journal() const { return Folder + "/journal.jsonl"; }
  void write(const std::string &Name, llvm::StringRef Bytes) {
    std::string Path = Folder + "/" + Name;
    llvm::cantFail(createFolders(llvm::StringRef(Path).rsplit('/').first));
    llvm::cantFail(writeFileAtomically(Path, Bytes));
  }
  template <class Event> void add(const Event &E) {
    llvm::cantFail(Lines->append(Event::Type, printEvent(E)));
  }
  void judge(unsigned Number, int Parent, const Verdict &Found,
             const std::string &Text) {
    VerdictEvent V{Number, Number, VerdictEvent::By::Attempt, sha256(Text),
                   Found};
    add(V);
    NodeEvent E;
    E.Attempt = E.N.Number = Number;
    E.N.Parent = E.N.Base = Parent;
    E.Kind = Found.Kind;
    E.File = candidateFile(Number);
    E.Candidate = V.Candidate;
    write(E.File, Text);
    add(E);
  }
  void attempt(unsigned Number, unsigned Parent, const Verdict &Found,
               const std::string &Text = "__global__ void k() { }\n") {
    SelectEvent S;
    S.Attempt = Number;
    S.Chosen.Node = Parent;
    S.Chosen.Reason = "best leaf";
    add(S);
    judge(Number, int(Parent), Found, Text);
  }
  void confirmAndEnd(unsigned Winner, const Verdict &Found) {
    add(VerdictEvent{Winner + 1, Winner, VerdictEvent::By::Confirm, "", Found});
    add(EndEvent{int(Winner), Winner, {"1 attempt"}});
  }

  /// Every form that a run is shown in, one after the other.
  std::string allForms(const RecordedRun &Run) const {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    printRunPage(Run, Folder, OS);
    printTree(Run, /*Explain=*/true, OS);
    for (unsigned N = 0; N < Run.Nodes.size(); ++N)
      printNode(Run, N, OS);
    for (ReportFormat F :
         {ReportFormat::Text, ReportFormat::Markdown, ReportFormat::Json,
          ReportFormat::Sarif, ReportFormat::Remarks})
      llvm::cantFail(printReport(Run, F, OS));
    return Text;
  }
  std::string page(const RecordedRun &Run) const {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    printRunPage(Run, Folder, OS);
    return Text;
  }

  TemporaryFolder Temporary;
  const std::string Folder;
  RunIdentity Identity;
  std::unique_ptr<Journal> Lines;
};

size_t countOf(llvm::StringRef Text, llvm::StringRef Part) {
  return Text.count(Part);
}
} // namespace

// A journal that ends at any of its bytes is the run until its last whole line,
// and where a line was torn, the page says so.
TEST_F(RunPageTest, IsRightWhereverTheJournalEnds) {
  attempt(1, 0, failing());
  attempt(2, 0, correctIn(50));
  confirmAndEnd(2, correctIn(50));
  std::string Whole = llvm::cantFail(readFile(journal()));
  std::map<std::pair<size_t, bool>, bool> Shown;
  for (size_t Bytes = 0; Bytes <= Whole.size(); ++Bytes) {
    llvm::StringRef Head = llvm::StringRef(Whole).take_front(Bytes);
    bool Torn = Bytes && !Head.ends_with("\n");
    llvm::cantFail(writeFileAtomically(journal(), Head));
    llvm::Expected<RecordedRun> Run = readRun(Folder);
    ASSERT_TRUE(bool(Run)) << Bytes << ": " << llvm::toString(Run.takeError());
    llvm::StringRef Intact = Head.take_front(Head.rfind('\n') + 1);
    EXPECT_EQ(Run->Nodes.size(), Intact.count("\"event\":\"node\"")) << Bytes;
    EXPECT_EQ(!Run->Note.empty(), Torn) << Bytes;
    EXPECT_EQ(Run->End.has_value(), Intact.contains("\"event\":\"end\""));
    // The same lines are the same page.
    if (!Shown.emplace(std::pair(Intact.size(), Torn), true).second)
      continue;
    std::string Text = allForms(*Run);
    EXPECT_EQ(countOf(Text, "<article"), Run->Nodes.size()) << Bytes;
    EXPECT_EQ(llvm::StringRef(Text).contains("</html>"), true) << Bytes;
    if (Torn && Run->Nodes.size()) {
      EXPECT_NE(Text.find("the last line of the journal was torn"),
                std::string::npos)
          << Bytes;
    }
  }
  EXPECT_EQ(Shown.size(), 2 * llvm::StringRef(Whole).count('\n') + 1)
      << "each line, whole and torn, and nothing at all";
}

// A line that was changed at any place is an error, and never another run.
TEST_F(RunPageTest, ADamagedLineIsAnError) {
  attempt(1, 0, correctIn(50));
  std::string Whole = llvm::cantFail(readFile(journal()));
  size_t LastLine = llvm::StringRef(Whole).drop_back().rfind('\n') + 1;
  for (size_t At = 0; At < LastLine; At += 7) {
    std::string Changed = Whole;
    Changed[At] = Changed[At] == 'x' ? 'y' : 'x';
    llvm::cantFail(writeFileAtomically(journal(), Changed));
    llvm::Expected<RecordedRun> Run = readRun(Folder);
    EXPECT_FALSE(bool(Run)) << At;
    if (!Run) {
      EXPECT_TRUE(llvm::StringRef(llvm::toString(Run.takeError()))
                      .contains("journal.jsonl"));
    }
  }
}

// Figures that no judge gives are shown as what they are, or as none: a picture
// holds numbers alone, and has an end.
TEST_F(RunPageTest, FiguresOfAnySizeAreDrawn) {
  Verdict Odd = correctIn(50);
  unsigned Number = 0;
  for (double Figure : {-1.0, 0.0, 1e-300, 1e300, 1.7e308}) {
    job::Timing &T = Odd.Timings[0];
    T.Speedup = T.SpeedupLow = T.SpeedupHigh = T.IqrUs = T.SourceIqrUs = Figure;
    ++Number;
    attempt(Number, 0, Odd, "// " + std::to_string(Number) + "\n");
    T.SourceMedianUs = 1e300;
  }
  Verdict Untimed = correctIn(50);
  Untimed.Timings.clear();
  attempt(++Number, 0, Untimed, "// untimed\n");
  confirmAndEnd(Number - 1, failing());
  RecordedRun Run = llvm::cantFail(readRun(Folder));
  EXPECT_FALSE(allForms(Run).empty());
  std::string Page = page(Run);
  for (const char *NoNumber : {"nan", "\"-\"", "inf,", "M-,", ",-\""})
    EXPECT_EQ(llvm::StringRef(Page).split("<svg").second.find(NoNumber),
              llvm::StringRef::npos)
        << NoNumber;
  EXPECT_LT(makeAxis(1, 1e308 * 10, "", "", true).Ticks.size(), 60u);
  EXPECT_LT(makeAxis(-1e308 * 10, 1e308 * 10, "").Ticks.size(), 60u);
}

// The end of a run may name a node that is not correct; nothing is said to be
// won then.
TEST_F(RunPageTest, AWinnerIsNotBelievedIn) {
  attempt(1, 0, failing());
  add(EndEvent{1, 1, {"1 attempt"}});
  llvm::Expected<RecordedRun> Run = readRun(Folder);
  if (Run)
    EXPECT_EQ(page(*Run).find("times as fast as before"), std::string::npos);
  else
    llvm::consumeError(Run.takeError());
}

// Folders and models have names that are no markup in a comparison, either, and
// move no cursor.
TEST(ComparisonTest, QuotesNames) {
  const char *Evil = "a/\x1b[2J<b>|@octocat\n# x";
  std::vector<ComparedRun> Runs(2);
  for (ComparedRun &R : Runs) {
    R.Folder = Evil;
    R.Run.Identity.TaskName = R.Run.Identity.Provider = Evil;
    R.Run.Nodes = TreeBuilder().T;
  }
  for (bool Markdown : {true, false}) {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    printComparison(Runs, Markdown, OS);
    EXPECT_EQ(Text.find('\x1b'), std::string::npos) << Text;
    EXPECT_EQ(Text.find("\n# x"), std::string::npos) << Text;
    EXPECT_EQ(Text.find(Markdown ? "<b>" : "<b>|"), std::string::npos) << Text;
    EXPECT_EQ(Markdown && Text.find("@octocat") != std::string::npos, false);
  }
}

// A chain of attempts may be of any length: no form follows it by recursion,
// and none goes on to the right for ever.
TEST(DeepTreeTest, IsPrintedInLinesThatEnd) {
  constexpr unsigned Length = 60000;
  RecordedRun Run;
  Run.Identity.TaskName = "scale";
  TreeBuilder B;
  for (unsigned I = 0; I < Length; ++I)
    B.add(int(I), failing());
  Run.Nodes = B.T;
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printTree(Run, /*Explain=*/false, OS);
  EXPECT_NE(Text.find("60000 (of 59999) plan: wrong"), std::string::npos);
  for (llvm::StringRef Rest = Text; !Rest.empty();
       Rest = Rest.split('\n').second)
    ASSERT_LT(Rest.split('\n').first.size(), 100u);
  std::string Report;
  llvm::raw_string_ostream Other(Report);
  llvm::cantFail(printReport(Run, ReportFormat::Text, Other));
  EXPECT_NE(Report.find("60000 (of 59999) wrong"), std::string::npos);
}
