//===- NcuReportTest.cpp - What ncu says of kernels -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProfileText.h"
#include "gtest/gtest.h"

using namespace stark;
using namespace stark::gpu;

namespace {
constexpr char Head[] = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\","
                        "\"gpu__time_duration.sum\",\"dram__bytes.sum\"\n"
                        "\"\",\"\",\"\",\"\",\"ns\",\"byte\"\n";
constexpr char SourceHead[] =
    "\"File Path\",\"/tmp/x/k.cu\"\n\"Function Name\",\"k\"\n"
    "\"Line No\",\"Source\",\"Address\",\"Source\","
    "\"Warp Stall Sampling (All Samples)\",\"stall_wait\"\n";

std::string row(const std::string &Id, const std::string &Kernel,
                const std::string &Ns) {
  return "\"" + Id + "\",\"" + Kernel + "\",\"(256, 1, 1)\",\"(8, 1, 1)\",\"" +
         Ns + "\",\"1,024\"\n";
}

NcuLaunch launch(const std::string &Kernel, double Us,
                 std::map<std::string, double> Metrics = {}) {
  NcuLaunch L{Kernel, "(8, 1, 1)", "(256, 1, 1)", std::move(Metrics)};
  L.Metrics["gpu__time_duration.sum"] = Us * 1000;
  return L;
}
} // namespace

// Rows of launches follow names and units; numbers have commas.
TEST(NcuReport, Launches) {
  std::vector<NcuLaunch> L =
      launchesIn("==PROF== Connected\n" + std::string(Head) +
                 row("0", "k(int)", "2,048.5") + row("1", "j(int)", "n/a"));
  ASSERT_EQ(L.size(), 2u);
  EXPECT_EQ(L[0].Kernel, "k(int)");
  EXPECT_EQ(L[0].Grid, "(8, 1, 1)");
  EXPECT_EQ(L[0].Block, "(256, 1, 1)");
  EXPECT_EQ(L[0].metric("gpu__time_duration.sum"), 2048.5);
  EXPECT_EQ(L[1].metric("gpu__time_duration.sum"), std::nullopt);
  EXPECT_EQ(L[1].metric("dram__bytes.sum"), 1024);
}

// A file that a kill cut off gives what is whole.
TEST(NcuReport, Torn) {
  std::string All =
      std::string(Head) + row("0", "k(int)", "5") + row("1", "j(int)", "7");
  for (size_t Cut = 0; Cut < All.size(); ++Cut) {
    std::vector<NcuLaunch> L = launchesIn(All.substr(0, Cut));
    ASSERT_LE(L.size(), 2u) << Cut;
    if (!L.empty()) {
      EXPECT_EQ(L[0].Kernel, "k(int)");
    }
  }
  EXPECT_TRUE(launchesIn("").empty());
  EXPECT_TRUE(launchesIn("\"ID\",\"what\"\n\"0\",\"1\"\n").empty());
}

// Names of kernels are a candidate's own.
TEST(NcuReport, HostileNames) {
  std::string Long(100000, 'n');
  std::vector<NcuLaunch> L = launchesIn(
      std::string(Head) +
      row("0", "a\"\",\"\"1\"\"\n\"\"2\"\",\"\"forged\x1b[31m", "5") +
      row("1", Long, "6") + row("2", "torn\",\"off", "7") +
      row("3", "good", "8"));
  ASSERT_EQ(L.size(), 3u);
  EXPECT_EQ(L[0].Kernel, "a\",\"1\"?\"2\",\"forged?[31m");
  EXPECT_EQ(L[1].Kernel.size(), 200u);
  EXPECT_EQ(L[2].Kernel, "good");
  std::string Many = Head;
  for (unsigned I = 0; I < 1000; ++I)
    Many += row(std::to_string(I), "k", "1");
  EXPECT_EQ(launchesIn(Many).size(), 64u);
  EXPECT_TRUE(launchesIn(std::string(1 << 20, '"')).empty());
  EXPECT_TRUE(launchesIn(std::string(1 << 20, ',')).empty());
}

// Lines of one kernel, in whichever file, most samples first.
TEST(NcuReport, Lines) {
  std::string Page = std::string(SourceHead) +
                     "\"4\",\"  x = \"\"y\"\";\",\"-\",\"-\",\"10\",\"9\"\n"
                     "\"\",\"\",\"0x10\",\"FADD\",\"10\",\"9\"\n"
                     "\"7\",\"z\",\"-\",\"-\",\"1,000\",\"1\"\n"
                     "\"8\",\"idle\",\"-\",\"-\",\"0\",\"0\"\n"
                     "\"9\",\"torn\",\"-\"\n"
                     "\"-3\",\"odd\",\"-\",\"-\",\"50\",\"50\"\n";
  std::string Other = Page;
  Other.replace(Other.find("k.cu"), 4, "h.cu");
  Other.replace(Other.find("1,000"), 5, "1,001");
  std::vector<NcuLine> L = linesIn(Page + Other + Page, "void a::k<4>(int)");
  ASSERT_EQ(L.size(), 4u);
  EXPECT_EQ(L[0].File, "k.cu");
  EXPECT_EQ(L[0].Line, 7u);
  EXPECT_EQ(L[0].Samples, 2000);
  EXPECT_EQ(L[1].File, "h.cu");
  EXPECT_EQ(L[1].Samples, 1001);
  EXPECT_EQ(L[2].Text, "x = \"y\";");
  EXPECT_EQ(L[2].Reason, "wait");
  EXPECT_TRUE(linesIn(Page, "other(int)").empty());
  EXPECT_TRUE(linesIn("no page", "k").empty());
  for (const char *Kernel :
       {"<unnamed>::k(int)", "void (anonymous namespace)::k<2>(int)", "k"})
    EXPECT_EQ(linesIn(Page, Kernel).size(), 2u) << Kernel;
}

TEST(NcuReport, Errors) {
  std::string Log = "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user "
                    "does not have permission\n==ERROR== more\n";
  EXPECT_EQ(errorIn(Log),
            "ERR_NVGPUCTRPERM - The user does not have permission");
  EXPECT_TRUE(isOfPermission(errorIn(Log)));
  EXPECT_EQ(errorIn("==PROF== Connected\n"), "");
  EXPECT_FALSE(isOfPermission("Failed to find metric"));
}

// It is about the kernel that takes longest in all its launches.
TEST(ProfileText, MainKernel) {
  std::vector<NcuLaunch> L = {launch("a", 6), launch("b", 4), launch("b", 5)};
  MainKernel M = mainKernelOf(L);
  EXPECT_EQ(M.Longest, &L[2]);
  EXPECT_EQ(M.Us, 9);
  EXPECT_EQ(M.AllUs, 15);
}

static std::string bound(double Sm, double Memory, double Dram, double L2) {
  std::string Text = describeProfile(
      {"n=1"},
      {launch("k", 1,
              {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", Sm},
               {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_"
                "elapsed",
                Memory},
               {"dram__throughput.avg.pct_of_peak_sustained_elapsed", Dram},
               {"lts__throughput.avg.pct_of_peak_sustained_elapsed", L2}})},
      {});
  size_t At = Text.find("bound by ");
  return At == Text.npos ? "" : Text.substr(At, Text.find(';', At) - At);
}

TEST(ProfileText, Bound) {
  EXPECT_EQ(bound(20, 91, 91, 40),
            "bound by memory, of which DRAM is nearest to its peak");
  EXPECT_EQ(bound(20, 80, 30, 80),
            "bound by memory, of which L2 is nearest to its peak");
  EXPECT_EQ(bound(85, 40, 10, 40), "bound by the SMs' units");
  EXPECT_EQ(bound(30, 40, 10, 40),
            "bound by latency: neither memory nor the SMs' units are near "
            "their peak");
}

/// The line of a profile that begins with \p Begin; empty: there is none.
static std::string lineOf(const std::string &Text, const std::string &Begin) {
  size_t At = ("\n" + Text).find("\n" + Begin);
  return At == Text.npos ? "" : Text.substr(At, Text.find('\n', At) - At);
}

// The floor is of the time that was measured without a profiler; all launches
// count for the traffic.
TEST(ProfileText, Floor) {
  std::vector<NcuLaunch> L = {launch("k", 5, {{"dram__bytes.sum", 6e6}}),
                              launch("j", 4, {{"dram__bytes.sum", 3e6}})};
  EXPECT_EQ(lineOf(describeProfile({"n=1", "", 10, 6e6, 1000}, L, {}), "floor"),
            "floor: its 6.0 MB at the copy rate take 6.0 us, 60 % of the "
            "measured 10.0 us; 9.0 MB to and from DRAM, 1.50 times as much as "
            "has to be moved");
  EXPECT_EQ(lineOf(describeProfile({"n=1", "", 10, 0, 1000}, L, {}), "9.0"),
            "9.0 MB to and from DRAM");
  EXPECT_NE(describeProfile({"n=1", "", 10, 12e6, 1000}, L, {})
                .find("0.75 times as much as has to be moved (the rest was "
                      "written last, and is still in L2)"),
            std::string::npos);
}

// A unit of memory that is near its peak bounds a kernel, whatever the mean;
// and nothing limits a kernel that may have all warps.
TEST(ProfileText, WhatIsNearItsPeak) {
  std::string Text = describeProfile(
      {"n=1"},
      {launch("k", 1,
              {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 23},
               {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_"
                "elapsed",
                53},
               {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 80},
               {"sm__warps_active.avg.pct_of_peak_sustained_active", 89},
               {"sm__maximum_warps_per_active_cycle_pct", 100},
               {"launch__occupancy_limit_registers", 4}})},
      {});
  EXPECT_NE(Text.find("bound by memory, of which L2"), Text.npos) << Text;
  EXPECT_NE(Text.find("100 % possible (blocks an SM: registers 4)"), Text.npos)
      << Text;
}

// Spills are named, and what was not counted is left out.
TEST(ProfileText, LocalMemoryAndTensorCores) {
  constexpr char Local[] = "local memory", Tensor[] = "tensor cores";
  std::string Text = describeProfile({"n=1"}, {launch("k", 1)}, {});
  EXPECT_EQ(std::count(Text.begin(), Text.end(), '\n'), 1) << Text;
  Text = describeProfile(
      {"n=1"},
      {launch("k", 1,
              {{"smsp__inst_executed_op_local_ld.sum", 12},
               {"smsp__inst_executed_op_local_st.sum", 0},
               {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_"
                "active",
                43.2}})},
      {});
  EXPECT_EQ(lineOf(Text, Local),
            "local memory (spills, or arrays that are indexed by variables): "
            "12 loads and 0 stores of warps");
  EXPECT_EQ(lineOf(Text, Tensor), "tensor cores: busy in 43 % of the cycles");
}

// One size that does not fit is left out, and the others stay.
TEST(ProfileText, LeavesOutASizeThatDoesNotFit) {
  std::string Text;
  addProfile(Text, std::string(job::MaxProfileBytes - 10, 'a'));
  addProfile(Text, "eleven char");
  addProfile(Text, "ten chars.");
  EXPECT_EQ(Text, std::string(job::MaxProfileBytes - 10, 'a') + "ten chars.");
}

// Whatever a report has, the paragraph is short.
TEST(ProfileText, IsShort) {
  std::vector<NcuLaunch> L;
  std::vector<NcuLine> Lines;
  for (unsigned I = 0; I < 64; ++I) {
    L.push_back(
        launch(std::string(200, char('a' + I % 26)), 64 - I,
               {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 1e300}}));
    Lines.push_back(
        {"k.cu", I + 1, std::string(80, 'x'), 10, std::string(40, 'y')});
  }
  for (const char *Stall : NcuStalls)
    L[0].Metrics[stallMetric(Stall)] = 1e300;
  std::string Text = describeProfile(
      {std::string(500, 'n'), "k.cu", 1e9, 1e18, 1e-9, true}, L, Lines);
  EXPECT_LE(size_t(std::count(Text.begin(), Text.end(), '\n')),
            job::MaxProfileLines);
  EXPECT_LE(Text.size(), job::MaxProfileBytes);
  EXPECT_NE(Text.find("line 1: 2 % of the samples"), Text.npos) << Text;
}
