//===- SpoolTest.cpp - Working off a folder of jobs ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Gpu/Spool.h"
#include "stark/Job/Names.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Sha256.h"
#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace stark;
using namespace stark::gpu;

namespace {
class SpoolTest : public testing::Test {
public:
  void SetUp() override {
    char Name[] = "/tmp/stark-spool-XXXXXX";
    Folder = mkdtemp(Name);
    Options.Folder = Folder.string();
    Options.Judge = [this](const std::string &Job) {
      ++Judged;
      job::Result R;
      std::ifstream In(Job + "/job.json");
      std::getline(In, R.Id);
      R.End = R.Id.empty() ? job::Outcome::Infrastructure : End;
      R.Diagnostics = R.Id.empty() ? "job.json: not valid JSON" : "";
      return R;
    };
    Options.Probe = [this](DeviceFacts &, std::string &Error) {
      ++Probed;
      Error = DeviceWorks ? "" : "the GPU is gone";
      return DeviceWorks.load();
    };
    Options.Say = Options.Warn = [this](const std::string &Line) {
      std::lock_guard<std::mutex> Held(Lines);
      Said += Line + "\n";
    };
  }
  bool work() {
    std::string Error;
    bool Good = workOffSpool(Options, Time, Error);
    EXPECT_EQ(Good, Error.empty());
    std::lock_guard<std::mutex> Held(Lines);
    Failure = Error;
    return Good;
  }
  void TearDown() override { fs::remove_all(Folder); }

  void add(const std::string &Id, const std::string &Text,
           const char *Place = "jobs") {
    fs::create_directories(Folder / Place / Id);
    std::ofstream(Folder / Place / Id / "job.json") << Text;
  }
  std::string outcomeOf(const std::string &Id) {
    std::ifstream In(Folder / "results" / (Id + ".json"));
    std::stringstream Text;
    Text << In.rdbuf();
    std::string Error;
    job::Result R = job::parseResult(Text.str(), Id, Error);
    EXPECT_EQ(Error.empty() ? R.Id : Id, Id);
    return Error.empty() ? nameOf(R.End) : Error;
  }
  /// A job whose source is among the spool's libraries.
  void share(const std::string &Id, const std::string &Digest) {
    job::Job J;
    J.Id = Id;
    J.Purpose = "attempt";
    J.SourceLibrary = "source.so";
    J.CandidateLibrary = "candidate.so";
    J.SourceDigest = J.CandidateDigest = J.Arch = "x";
    J.SharedSource = Digest;
    J.Seeds = {1};
    job::Leaf N;
    N.Name = "n";
    N.Kind = job::LeafKind::Integer;
    J.Leaves = {N};
    J.Cases.resize(1);
    J.Cases[0].Label = "n=1";
    J.Cases[0].Values.resize(1);
    add(Id, job::printJob(J));
  }
  std::string library(const std::string &Bytes) {
    fs::create_directories(Folder / "libraries");
    std::string Digest = posix::sha256(Bytes);
    std::ofstream(Folder / "libraries" / (Digest + ".so")) << Bytes;
    return Digest;
  }
  /// What each job has for a source.
  std::map<std::string, std::string> placed() {
    std::map<std::string, std::string> Sources;
    Options.Judge = [&](const std::string &Job) {
      std::ifstream In(Job + "/source.so");
      job::Result R;
      R.Id = fs::path(Job).filename().string();
      R.End = job::Outcome::Correct;
      std::getline(In, Sources[R.Id]);
      return R;
    };
    EXPECT_TRUE(work());
    return Sources;
  }
  std::string diagnosticsOf(const std::string &Id) {
    std::ifstream In(Folder / "results" / (Id + ".json"));
    std::stringstream Text;
    Text << In.rdbuf();
    std::string Error;
    return job::parseResult(Text.str(), Id, Error).Diagnostics + Error;
  }
  size_t left(const char *Place) {
    size_t Count = 0;
    for (auto &E : fs::directory_iterator(Folder / Place))
      Count += E.path().filename().string()[0] != '.';
    return Count;
  }

  fs::path Folder;
  SpoolOptions Options;
  FakeClock Time;
  std::mutex Lines;
  std::string Said, Failure;
  job::Outcome End = job::Outcome::Correct;
  std::atomic<unsigned> Judged{0}, Probed{0};
  std::atomic<bool> DeviceWorks{true};
};
} // namespace

TEST_F(SpoolTest, EveryJobGetsAResult) {
  add("a", "a");
  add("b", "b");
  EXPECT_TRUE(work());
  EXPECT_EQ(outcomeOf("a"), "correct");
  EXPECT_EQ(outcomeOf("b"), "correct");
  EXPECT_EQ(left("jobs"), 0u);
  EXPECT_EQ(left("claimed"), 0u);
  EXPECT_TRUE(fs::exists(Folder / "device.json"));
  EXPECT_EQ(Said,
            ", , , copy 0 GB/s, empty event pair 0.00 us, children locked "
            "down by , clocks not watched: NVML is missing or does not say\n"
            "a correct 0 ms\nb correct 0 ms\n");
}

TEST_F(SpoolTest, ACorruptJobDoesNotStopTheOthers) {
  add("bad", "");
  add("good", "good");
  EXPECT_TRUE(work());
  EXPECT_EQ(outcomeOf("bad"), "infrastructure");
  EXPECT_EQ(outcomeOf("good"), "correct");
}

// A worker that may be idle takes what comes meanwhile, and the time begins
// anew.
TEST_F(SpoolTest, AnIdleWorkerWaitsForAnotherJobForSoLong) {
  class Coming : public FakeClock {
  public:
    explicit Coming(SpoolTest &Of) : Of(Of) {}
    void sleep(Duration For) override {
      FakeClock::sleep(For);
      if (!Added && now() - Time() >= std::chrono::seconds(25))
        Of.add("late", "late");
      Added = Added || now() - Time() >= std::chrono::seconds(25);
    }
    SpoolTest &Of;
    bool Added = false;
  };
  Coming Until(*this);
  Options.IdleMs = 30'000;
  std::string Error;
  EXPECT_TRUE(workOffSpool(Options, Until, Error)) << Error;
  EXPECT_EQ(outcomeOf("late"), "correct");
  EXPECT_EQ(Until.now() - Clock::Time(), std::chrono::seconds(55));
}

TEST_F(SpoolTest, AJobUnderAnotherNameIsNotTaken) {
  add("one", "another");
  EXPECT_TRUE(work());
  EXPECT_EQ(outcomeOf("one"), "infrastructure");
}

TEST_F(SpoolTest, AHalfWrittenJobIsLeftAlone) {
  add(".coming", "coming");
  EXPECT_TRUE(work());
  EXPECT_EQ(Judged, 0u);
  EXPECT_TRUE(fs::exists(Folder / "jobs" / ".coming"));
}

TEST_F(SpoolTest, WhatADeadWorkerClaimedIsTakenUpAgain) {
  add("orphan", "orphan", "claimed");
  EXPECT_TRUE(work());
  EXPECT_EQ(outcomeOf("orphan"), "correct");
}

TEST_F(SpoolTest, AJobThatHasAResultIsNotRunAgain) {
  add("a", "a");
  work();
  add("a", "a");
  EXPECT_TRUE(work());
  EXPECT_EQ(Judged, 1u);
  EXPECT_EQ(left("jobs"), 0u);
}

TEST_F(SpoolTest, WithoutADeviceNoJobIsTouched) {
  add("a", "a");
  DeviceWorks = false;
  EXPECT_FALSE(work());
  EXPECT_EQ(left("jobs"), 1u);
  EXPECT_FALSE(fs::exists(Folder / "results" / "a.json"));
}

TEST_F(SpoolTest, AfterACrashTheDeviceIsTried) {
  add("a", "a");
  add("b", "b");
  End = job::Outcome::Crashed;
  EXPECT_TRUE(work());
  EXPECT_EQ(Probed, 3u); // at the start, and after each
  EXPECT_EQ(outcomeOf("b"), "crashed");
}

// What the last job left ends while the next one begins; it is waited for
// before the device is tried, and when there is nothing to do.
TEST_F(SpoolTest, WhatAJobLeftIsWaitedFor) {
  std::string Order;
  auto Judge = Options.Judge;
  Options.Judge = [&](const std::string &Job) {
    Order += "judge ";
    job::Result R = Judge(Job);
    R.End = Order == "judge " ? job::Outcome::Crashed : job::Outcome::Correct;
    return R;
  };
  auto Probe = Options.Probe;
  Options.Probe = [&](DeviceFacts &Facts, std::string &Error) {
    Order += Judged ? "probe " : "";
    return Probe(Facts, Error);
  };
  Options.Settle = [&] { Order += "settle "; };
  Options.Done = [&] { Order += "done "; };
  add("a", "a");
  add("b", "b");
  EXPECT_TRUE(work());
  EXPECT_EQ(Order, "judge settle probe done judge done settle ");
}

TEST_F(SpoolTest, ADeviceThatACrashBrokeEndsTheWork) {
  add("a", "a");
  add("b", "b");
  auto Judge = Options.Judge;
  Options.Judge = [&](const std::string &Job) {
    DeviceWorks = false;
    job::Result R = Judge(Job);
    R.End = job::Outcome::Crashed;
    return R;
  };
  EXPECT_FALSE(work());
  EXPECT_EQ(outcomeOf("a"), "crashed");
  EXPECT_EQ(left("jobs"), 1u); // b waits for a device that works
  EXPECT_EQ(Failure, "the GPU does not work any more: the GPU is gone");
  // Three more chances, a second apart.
  EXPECT_EQ(Probed, 4u);
  EXPECT_EQ(Time.now().time_since_epoch(), std::chrono::seconds(3));
}

TEST_F(SpoolTest, ResultsMayGoElsewhere) {
  add("a", "a");
  Options.Results = (Folder / "out").string();
  EXPECT_TRUE(work());
  EXPECT_TRUE(fs::exists(Folder / "out" / "a.json"));
}

TEST_F(SpoolTest, OfSeveralWorkersOneHasAJob) {
  constexpr unsigned Jobs = 40;
  for (unsigned I = 0; I < Jobs; ++I)
    add("job" + std::to_string(I), "job" + std::to_string(I));
  std::vector<std::thread> Workers;
  for (unsigned I = 0; I < 4; ++I)
    Workers.emplace_back([&] { EXPECT_TRUE(work()); });
  for (std::thread &T : Workers)
    T.join();
  EXPECT_EQ(Judged, Jobs);
  EXPECT_EQ(left("jobs"), 0u);
  for (unsigned I = 0; I < Jobs; ++I)
    EXPECT_EQ(outcomeOf("job" + std::to_string(I)), "correct");
}

// With --watch the folder is looked at again, five times a second.
TEST_F(SpoolTest, AWatcherTakesWhatComesLater) {
  Options.Watch = true;
  std::string Error;
  Options.Judge = [Judge = Options.Judge, this](const std::string &Job) {
    job::Result R = Judge(Job);
    DeviceWorks = R.Id != "last"; // the only way to end it
    R.End = job::Outcome::Crashed;
    return R;
  };
  class Comings : public FakeClock {
  public:
    explicit Comings(SpoolTest &Test) : Test(Test) {}
    void sleep(Duration For) override {
      FakeClock::sleep(For);
      if (now().time_since_epoch() == std::chrono::milliseconds(200))
        Test.add("first", "first");
      if (now().time_since_epoch() == std::chrono::milliseconds(600))
        Test.add("last", "last");
    }
    SpoolTest &Test;
  } Later(*this);
  EXPECT_FALSE(workOffSpool(Options, Later, Error));
  EXPECT_EQ(outcomeOf("first"), "crashed");
  EXPECT_EQ(outcomeOf("last"), "crashed");
}

TEST_F(SpoolTest, JobsShareASourcesLibrary) {
  std::string One = library("one"), Two = library("two");
  share("a", One);
  share("b", Two);
  share("c", One);
  add("own", "own");
  std::ofstream(Folder / "jobs" / "own" / "source.so") << "its own";
  auto Sources = placed();
  EXPECT_EQ(Sources["a"], "one");
  EXPECT_EQ(Sources["b"], "two");
  EXPECT_EQ(Sources["c"], "one");
  EXPECT_EQ(Sources["own"], "its own");
}

// It is read once for many jobs, but no more than eight are kept.
TEST_F(SpoolTest, AFewLibrariesAreKept) {
  std::string First = library("lib");
  share("a", First);
  Options.Watch = false;
  Options.Judge = [&](const std::string &Job) {
    job::Result R;
    R.Id = fs::path(Job).filename().string();
    R.End = job::Outcome::Correct;
    if (R.Id == "a") {
      fs::remove_all(Folder / "libraries");
      share("b", First);
      for (char C = '0'; C < '8'; ++C)
        share(std::string("c") + C, library(std::string(1, C)));
      share("d", First);
    }
    return R;
  };
  EXPECT_TRUE(work());
  EXPECT_EQ(outcomeOf("b"), "correct");
  EXPECT_EQ(outcomeOf("c7"), "correct");
  EXPECT_EQ(outcomeOf("d"), "infrastructure");
}

TEST_F(SpoolTest, ALibraryThatIsMissingOrChangedIsAnErrorOfTheHost) {
  std::string Changed = library("right"), Linked = posix::sha256("elsewhere");
  fs::path Libraries = Folder / "libraries";
  std::ofstream(Libraries / (Changed + ".so")) << "wrong";
  std::ofstream(Folder / "outside.so") << "elsewhere";
  fs::create_symlink(Folder / "outside.so", Libraries / (Linked + ".so"));
  share("changed", Changed);
  share("linked", Linked);
  share("missing", std::string(64, '0'));
  EXPECT_TRUE(placed().empty());
  EXPECT_EQ(outcomeOf("missing"), "infrastructure");
  EXPECT_EQ(diagnosticsOf("missing").rfind(
                "the source's library is not in the spool: ", 0),
            0u)
      << diagnosticsOf("missing");
  EXPECT_EQ(outcomeOf("linked"), "infrastructure");
  EXPECT_EQ(outcomeOf("changed"), "infrastructure");
  EXPECT_EQ(diagnosticsOf("changed"),
            (Libraries / (Changed + ".so")).string() +
                ": the source's library was changed: its SHA-256 is " +
                posix::sha256("wrong"));
}
