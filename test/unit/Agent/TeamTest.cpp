//===- TeamTest.cpp - The team asks, re-asks and makes candidates ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "stark/Agent/Agent.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
constexpr const char *Source = R"(#define LIMIT 3.0e38f

__global__ void row_max(const float *x, float *y, int cols) {
  float best = -LIMIT;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    best = best > x[i] ? best : x[i];
  y[threadIdx.x] = best;
}

void launch_max(const float *x, float *y, int cols, cudaStream_t stream) {
  row_max<<<1, 128, 0, stream>>>(x, y, cols);
}
)";

constexpr const char *GoodPlan = "## Advice\n\nUse `float4`.\n\n```json\n"
                                 "{\"title\": \"Vector loads\", "
                                 "\"sites\": [\"row_max\"]}\n```\n";

Parameter parameter(const char *Name, const char *Type, ParameterKind Kind) {
  Parameter P;
  P.Name = Name;
  P.Type = Type;
  P.Kind = Kind;
  return P;
}

Argument buffer(const char *Name, const char *Shape, job::Role Use) {
  Argument A;
  A.Name = Name;
  A.IsBuffer = true;
  A.Shape = {Shape};
  A.Use = Use;
  return A;
}

/// A team over a list of replies; what it asked is kept.
class TeamTest : public ::testing::Test {
protected:
  void SetUp() override { use(Source); }

  void use(const std::string &Text) {
    T.SourcePath = "/nowhere/max.cu";
    T.Name = "max";
    T.SourceText = Text;
    T.Load.Entry = T.Entry.Name = "launch_max";
    T.Entry.ReturnType = "void";
    T.Entry.Parameters = {
        parameter("x", "const float *", ParameterKind::Pointer),
        parameter("y", "float *", ParameterKind::Pointer),
        parameter("cols", "int", ParameterKind::Scalar),
        parameter("stream", "cudaStream_t", ParameterKind::Stream)};
    Argument Cols;
    Cols.Name = "cols";
    Cols.Value = "cols";
    T.Load.Arguments = {buffer("x", "cols", job::Role::Input),
                        buffer("y", "128", job::Role::Output), Cols};
    T.Load.Tolerance = {{job::DType::F32, 1e-4}};
    T.Load.Bytes = "4 * cols";
    Size Timed, Ragged;
    Timed.Names = {{"cols", 1 << 20}};
    Ragged.Names = {{"cols", 1001}};
    Ragged.CheckOnly = true;
    T.Load.Sizes = {Timed, Ragged};
    // One parse a text, whatever the number of tests.
    static std::map<std::string, std::unique_ptr<ParsedSource>> Parses;
    std::unique_ptr<ParsedSource> &Parsed = Parses[Text];
    T.Parse.Toolkit = "none";
    if (!Parsed)
      Parsed = llvm::cantFail(parseSource(T.SourcePath, Text, T.Parse));
    Base = Parsed.get();
    All = findSites(*Base);
    Selected = WindowEntry();
    Selected.Title = "source";
    Selected.Text = Text;
    Selected.Run = "correct\nmedian 812.5 us";
    In = AgentInput();
    In.Attempt = 7;
    In.Of = &T;
    In.Base = Base;
    In.BaseSites = &All;
    In.Selected = &Selected;
    In.Device = "NVIDIA H200, sm_90";
  }

  void answer(const std::string &Text, StopReason Stop = StopReason::End) {
    ChatReply R;
    R.Text = Text;
    R.Stop = Stop;
    Replies.push_back(R);
  }

  std::unique_ptr<AgentTeam> team() {
    llvm::Expected<PromptSet> Prompts =
        loadPrompts(STARK_SOURCE_DIR "/prompts");
    EXPECT_TRUE(bool(Prompts)) << llvm::toString(Prompts.takeError());
    return makeAgentTeam(
        *Prompts, Temperatures(),
        [this](const ChatRequest &R) -> llvm::Expected<ChatReply> {
          Asked.push_back(R);
          if (Replies.empty())
            return suspended("no more replies");
          ChatReply Reply = Replies.front();
          Replies.erase(Replies.begin());
          return Reply;
        });
  }

  /// An instruction with the named sites as anchors.
  void give(const std::vector<std::string> &Ids) {
    Given.Title = "Vector loads";
    Given.Advice = "Use `float4`.";
    llvm::Expected<std::vector<Anchor>> Anchors = groundSites(*Base, All, Ids);
    ASSERT_TRUE(bool(Anchors)) << llvm::toString(Anchors.takeError());
    Given.Anchors = std::move(*Anchors);
    In.Given = &Given;
  }

  template <class V> static V value(llvm::Expected<AgentResult<V>> R) {
    EXPECT_TRUE(bool(R)) << llvm::toString(R.takeError());
    if (!R || !R->Value) {
      ADD_FAILURE() << (R ? R->Problem : "");
      return V();
    }
    return *R->Value;
  }

  template <class V>
  static std::string problem(llvm::Expected<AgentResult<V>> R) {
    EXPECT_TRUE(bool(R)) << llvm::toString(R.takeError());
    EXPECT_FALSE(R && R->Value);
    return R ? R->Problem : std::string();
  }

  Instruction Given;
  Task T;
  ParsedSource *Base = nullptr;
  Sites All;
  WindowEntry Selected;
  AgentInput In;
  std::vector<ChatReply> Replies;
  std::vector<ChatRequest> Asked;
};
} // namespace

TEST_F(TeamTest, PlanIsGrounded) {
  answer(GoodPlan);
  Instruction I = value(team()->plan(In));
  EXPECT_EQ(I.Title, "Vector loads");
  EXPECT_EQ(I.Advice, "Use `float4`.");
  ASSERT_EQ(I.Anchors.size(), 1u);
  EXPECT_EQ(I.Anchors[0].SiteIds, std::vector<std::string>{"row_max"});
  EXPECT_EQ(I.Anchors[0].Line, 3u);

  ASSERT_EQ(Asked.size(), 1u);
  EXPECT_EQ(Asked[0].Id, "0007-plan-1");
  EXPECT_EQ(Asked[0].Role, "plan");
  EXPECT_EQ(Asked[0].Temperature, 0.8);
  ASSERT_EQ(Asked[0].Messages.size(), 1u);
  llvm::StringRef User = Asked[0].Messages[0].Text;
  for (llvm::StringRef Part :
       {"`max.cu`", "`void launch_max(", "NVIDIA H200, sm_90", "227 KB",
        "timed and compared: cols=1048576 (has to move at least 0.0041943 GB; "
        "about 3.4 us)",
        "compared only: cols=1001", "tolerance: f32 0.0001", "2 % faster",
        "row_max<<<1, 128, 0, stream>>>(x, y, cols);", "median 812.5 us",
        "no other attempts", "row_max | kernel | lines 3-8"})
    EXPECT_TRUE(User.contains(Part)) << Part.str();
  EXPECT_FALSE(User.contains("{{"));
}

TEST_F(TeamTest, PlanMayMarkTheSource) {
  std::string Marked = Source;
  Marked.insert(Marked.find("  for ("), "  // <<<IMPROVE BEGIN>>>\n");
  Marked.insert(Marked.find("  y[threadIdx"), "  // <<<IMPROVE END>>>\n");
  answer("## Advice\n\nUnroll.\n\n```cuda\n" + Marked +
         "```\n\n```json\n{\"title\": \"Unroll\"}\n```\n");
  Instruction I = value(team()->plan(In));
  EXPECT_EQ(I.Title, "Unroll");
  EXPECT_EQ(I.Advice, "Unroll.");
  ASSERT_EQ(I.Anchors.size(), 1u);
  EXPECT_EQ(I.Anchors[0].Line, 5u);
  EXPECT_EQ(I.Anchors[0].EndLine, 6u);
}

// A plan that points at nothing is asked for again, in the same conversation,
// with what is wrong.
TEST_F(TeamTest, UngroundedPlanIsAskedForAgain) {
  std::string Bad =
      "A.\n```json\n{\"title\":\"T\",\"sites\":[\"row_max:loop7\"]"
      "}\n```";
  answer(Bad);
  answer(GoodPlan);
  EXPECT_EQ(value(team()->plan(In)).Title, "Vector loads");
  ASSERT_EQ(Asked.size(), 2u);
  EXPECT_EQ(Asked[1].Id, "0007-plan-2");
  EXPECT_EQ(Asked[1].System, Asked[0].System);
  ASSERT_EQ(Asked[1].Messages.size(), 3u);
  EXPECT_EQ(Asked[1].Messages[0].Text, Asked[0].Messages[0].Text);
  EXPECT_EQ(Asked[1].Messages[1].Who, ChatMessage::Speaker::Assistant);
  EXPECT_EQ(Asked[1].Messages[1].Text, Bad);
  EXPECT_EQ(Asked[1].Messages[2].Who, ChatMessage::Speaker::User);
  llvm::StringRef Again = Asked[1].Messages[2].Text;
  EXPECT_TRUE(Again.starts_with("This answer cannot be used: "));
  EXPECT_TRUE(Again.contains("row_max:loop7")) << Again.str();
  EXPECT_TRUE(Again.contains("loop1")) << Again.str();
}

// An agent asks at most twice.
TEST_F(TeamTest, SecondBadAnswerEndsTheAttempt) {
  answer("I would think about it.");
  answer("```cuda\nf();\n```");
  answer(GoodPlan);
  std::string Problem = problem(team()->plan(In));
  EXPECT_EQ(Asked.size(), 2u);
  EXPECT_EQ(Problem.find("the answer names no sites"), 0u) << Problem;
}

TEST_F(TeamTest, StopsThatAreNoAnswers) {
  answer("I cannot help with that.", StopReason::Refusal);
  EXPECT_EQ(problem(team()->plan(In)), "the model refused to answer");
  EXPECT_EQ(Asked.size(), 1u) << "a refusal is not argued with";

  Asked.clear();
  answer("", StopReason::ContextOverflow);
  EXPECT_EQ(problem(team()->plan(In)),
            "the request is longer than the model's context");
  EXPECT_EQ(Asked.size(), 1u);

  // What was cut off may look whole, but is not.
  Asked.clear();
  answer(GoodPlan, StopReason::Length);
  answer(GoodPlan);
  EXPECT_EQ(value(team()->plan(In)).Title, "Vector loads");
  ASSERT_EQ(Asked.size(), 2u);
  EXPECT_EQ(Asked[1].MaxOutputTokens, 2 * Asked[0].MaxOutputTokens);

  // The model's own limit was lower than what was allowed.
  Asked.clear();
  answer(GoodPlan, StopReason::Length);
  Replies[0].Tokens.Output = 200;
  answer(GoodPlan);
  value(team()->plan(In));
  EXPECT_NE(Asked[1].Messages[2].Text.find("cut off at 200 tokens"),
            std::string::npos);

  // Providers refuse empty messages.
  Asked.clear();
  answer("");
  answer("");
  EXPECT_EQ(problem(team()->plan(In)).find("the answer is empty"), 0u);
  EXPECT_EQ(Asked[1].Messages[1].Text, "(no text)");
}

TEST_F(TeamTest, ErrorsOfTheProviderPassThrough) {
  llvm::Expected<AgentResult<Instruction>> Plan = team()->plan(In);
  ASSERT_FALSE(bool(Plan));
  llvm::Error E = Plan.takeError();
  EXPECT_EQ(errorKind(E), ErrorKind::Suspended);
  llvm::consumeError(std::move(E));
}

TEST_F(TeamTest, HugeBadAnswerIsRepeatedInPart) {
  answer(std::string(10 << 20, 'x') + "\n");
  answer(std::string(10 << 20, '\0'));
  problem(team()->plan(In));
  EXPECT_LT(Asked[1].Messages[1].Text.size(), 70000u);
}

TEST_F(TeamTest, CodeReplacesTheAnchors) {
  give({"row_max:loop1"});
  answer("Done.\n```cuda anchor 1\n  best = find(x, cols);\n```\n"
         "```cuda declarations\nstatic __device__ float find(const float *, "
         "int);\n```\n");
  std::string Text = value(team()->code(In));
  EXPECT_EQ(Asked[0].Id, "0007-code-1");
  EXPECT_EQ(Asked[0].Temperature, 0.1);
  std::string Want = Source;
  size_t At = Want.find("for (");
  Want.replace(At, Want.find("  y[thread") - At, "best = find(x, cols);\n");
  At = Want.find("__global__");
  Want.insert(At, "static __device__ float find(const float *, int);\n\n");
  EXPECT_EQ(Text, Want);
  llvm::StringRef User = Asked[0].Messages[0].Text;
  EXPECT_TRUE(User.contains("<<<IMPROVE BEGIN>>>"));
  EXPECT_TRUE(User.contains("- anchor 1: lines 5-6 of the unmarked text, site "
                            "row_max:loop1"));
  EXPECT_TRUE(User.contains("Use `float4`."));
}

TEST_F(TeamTest, CodeMayBeTheWholeFile) {
  give({"row_max"});
  answer("```cuda file\n// <<<IMPROVE BEGIN>>>\nvoid launch_max() {}\n"
         "// <<<IMPROVE END>>>\n```\n");
  EXPECT_EQ(value(team()->code(In)), "void launch_max() {}\n");
}

// Bytes that a reply does not speak of stay as the base has them.
TEST_F(TeamTest, LineEndsAreTheBases) {
  std::string Text = Source, Crlf;
  for (char C : Text)
    Crlf += C == '\n' ? std::string("\r\n") : std::string(1, C);
  Crlf.resize(Crlf.size() - 2);
  use("\xEF\xBB\xBF" + Crlf);
  give({"row_max:loop1"});
  answer("```cuda anchor 1\na();\nb();\n```");
  std::string Got = value(team()->code(In));
  EXPECT_EQ(llvm::StringRef(Got).count('\n'),
            llvm::StringRef(Got).count("\r\n"));
  EXPECT_NE(Got.find("a();\r\nb();\r\n"), std::string::npos);
  EXPECT_EQ(Got.substr(0, 3), "\xEF\xBB\xBF");
  EXPECT_EQ(Got.back(), '}');
  EXPECT_EQ(Asked[0].Messages[0].Text.find('\r'), std::string::npos);

  answer("```cuda file\nvoid launch_max() {}\nint a;\n```");
  EXPECT_EQ(value(team()->code(In)),
            "\xEF\xBB\xBFvoid launch_max() {}\r\nint a;");
}

// A file with parts left out is asked for again.
TEST_F(TeamTest, ElidedCodeIsAskedForAgain) {
  give({"row_max"});
  answer("```cuda file\n#include <x>\n// ... rest of the file unchanged\nvoid "
         "launch_max();\n```\n");
  answer("```cuda file\n// the remaining elements ... one by one\nvoid "
         "launch();\n```\n");
  EXPECT_EQ(problem(team()->code(In)),
            "the file does not define the entry 'launch_max'; wanted the "
            "complete text of the file");
  EXPECT_TRUE(llvm::StringRef(Asked[1].Messages[2].Text)
                  .contains("the file leaves code out ('// ... rest of the "
                            "file unchanged'); wanted its complete text"));
}

// The debug agent sees the failing text, and its anchors are the base's.
TEST_F(TeamTest, DebugStartsFromTheBase) {
  give({"row_max:loop1"});
  Selected.Title = "attempt 5 (child of the source): vectors";
  Selected.Text.replace(Selected.Text.find("best > x[i]"), 11, "worst");
  Selected.Compiler = "max.cu(6): error: identifier \"worst\" is undefined";
  Selected.Run = "not-compiled";
  answer("```cuda anchor 1\na();\n```");
  std::string Text = value(team()->debug(In));
  EXPECT_EQ(Asked[0].Id, "0007-debug-1");
  llvm::StringRef User = Asked[0].Messages[0].Text;
  EXPECT_TRUE(User.contains("best = worst ? best : x[i];"));
  EXPECT_TRUE(User.contains("identifier \"worst\" is undefined"));
  EXPECT_EQ(Text.find("worst"), std::string::npos);
  EXPECT_NE(Text.find("  a();\n  y[threadIdx.x] = best;"), std::string::npos);
}

TEST_F(TeamTest, DebugWithNothingToGoBy) {
  give({"row_max"});
  Selected.Text.clear();
  Given.Anchors.clear();
  EXPECT_EQ(problem(team()->debug(In)),
            "the failed attempt has no instruction to follow");
  EXPECT_TRUE(Asked.empty());
  give({"row_max"});
  answer("```cuda file\nvoid launch_max() {}\n```");
  value(team()->debug(In));
  EXPECT_TRUE(llvm::StringRef(Asked[0].Messages[0].Text)
                  .contains("It gave no candidate that could be judged"));
}

// What is the same in all requests of a run comes first.
TEST_F(TeamTest, StablePrefixIsShared) {
  give({"row_max"});
  answer(GoodPlan);
  answer("```cuda file\nvoid launch_max() {}\n```");
  answer("```cuda file\nvoid launch_max() {}\n```");
  auto Team = team();
  value(Team->plan(In));
  In.Attempt = 8;
  Selected.Text += "// changed\n";
  In.Window = {Selected};
  value(Team->code(In));
  value(Team->debug(In));
  ASSERT_EQ(Asked.size(), 3u);
  auto Prefix = [](const ChatRequest &R) {
    return (R.System + R.Messages[0].Text).substr(0, R.StablePrefix);
  };
  EXPECT_GT(Asked[0].StablePrefix, Asked[0].System.size() + 1000);
  EXPECT_EQ(Prefix(Asked[0]), Prefix(Asked[1]));
  EXPECT_EQ(Prefix(Asked[0]), Prefix(Asked[2]));
  EXPECT_NE(Asked[0].digest(), Asked[1].digest());
}

// Whoever plans can reckon: what the judge measured of its GPU, else what is
// described, and which of the two it is.
TEST_F(TeamTest, FiguresSayWhoseTheyAre) {
  auto Asks = [&] {
    Asked.clear();
    answer(GoodPlan);
    value(team()->plan(In));
    return Asked[0].Messages[0].Text;
  };
  std::string Text = Asks();
  for (llvm::StringRef Part :
       {"(of an NVIDIA H200, which stands for this architecture here, where "
        "no other is named)",
        "together: 4222 GB/s.",
        "A launch of a kernel that does nothing: 2.0 us",
        "blocks of 256 "
        "threads at a time",
        "every buffer begins at a multiple of 256 bytes"})
    EXPECT_TRUE(llvm::StringRef(Text).contains(Part)) << Part.str() << Text;
  Verdict Source;
  Source.Device = "NVIDIA H100 80GB HBM3";
  Source.CopyGBs = 3000;
  Source.EventPairUs = 2.5;
  In.OfSource = &Source;
  T.Load.MultipleOf = {{"cols", 4}};
  Text = Asks();
  for (llvm::StringRef Part :
       {"3000 GB/s (measured on this GPU)", "2.50 us (measured on this GPU)",
        "about 4.3 us", "these are multiples: `cols` of 4"})
    EXPECT_TRUE(llvm::StringRef(Text).contains(Part)) << Part.str() << Text;
  // Without a formula, the arguments say what is moved.
  T.Load.Bytes.clear();
  Source.Device = "simulated NVIDIA H200";
  Source.Modelled = true;
  Text = Asks();
  for (llvm::StringRef Part :
       {"4222 GB/s.", "Figures for estimates (of the GPU that is simulated):",
        "its arguments are 0.00419482 GB, each input read and each output "
        "written once; if all of that moves, about 3.4 us"})
    EXPECT_TRUE(llvm::StringRef(Text).contains(Part)) << Part.str() << Text;
  // Of a GPU that nobody described, nothing is made up.
  T.Parse.Arch = "sm_30";
  In.OfSource = nullptr;
  Text = Asks();
  EXPECT_FALSE(llvm::StringRef(Text).contains("Figures for estimates"));
  EXPECT_FALSE(llvm::StringRef(Text).contains("those of memory alone"));
  T.Parse.Arch = "sm_90";
}

// Which sizes are added, with which values, and what is worth knowing of tensor
// cores, follows from the workload.
TEST_F(TeamTest, SizesSayWhatIsAskedOfThem) {
  auto Asks = [&] {
    Asked.clear();
    answer(GoodPlan);
    value(team()->plan(In));
    return Asked[0].Messages[0].Text;
  };
  auto Has = [](const std::string &Text, llvm::StringRef Part) {
    return llvm::StringRef(Text).contains(Part);
  };
  std::string Text = Asks();
  EXPECT_TRUE(Has(Text, "judge adds, small ones among them, odd and ragged in "
                        "`cols`\n"));
  EXPECT_FALSE(Has(Text, "For products of matrices"));
  T.Load.MultipleOf = {{"cols", 4}};
  T.Load.Arguments[0].Fill.Kind = job::InitKind::Normal;
  T.Load.Arguments[0].Fill.High = 1;
  T.Load.Flops = "64 * cols";
  Text = Asks();
  EXPECT_TRUE(Has(Text, "judge adds, small ones among them, with other "
                        "multiples in `cols`\n"));
  EXPECT_TRUE(Has(Text, "with inputs of other values (tiny, huge, mixed, "));
  EXPECT_TRUE(Has(Text, "For products of matrices"));
  T.Load.Harden = false;
  T.Load.Flops = "63 * cols";
  Text = Asks();
  EXPECT_FALSE(Has(Text, "other values"));
  EXPECT_FALSE(Has(Text, "For products of matrices"));
  T.Load = Workload();
}

// From registers and shared memory follows what an SM holds; where the workload
// launches, the waves do, too.
TEST_F(TeamTest, OccupancyOfTheLatestAttempt) {
  Selected.Compiler = "row_max: 40 registers, 1024 bytes of static shared "
                      "memory, no spills\nodd line\n";
  T.Load.Launch = LaunchRule{"row_max", "ceildiv(cols, 256)", "256", "0"};
  answer(GoodPlan);
  value(team()->plan(In));
  EXPECT_TRUE(llvm::StringRef(Asked[0].Messages[0].Text)
                  .contains("- row_max: 25 blocks of 64, 12 blocks of 128, 6 "
                            "blocks of 256, 3 blocks of 512, 1 block of 1024; "
                            "at cols=1048576 4096 blocks of 256, 6 an SM, 5.17 "
                            "waves\n"))
      << Asked[0].Messages[0].Text;
  T.Load.Launch.reset();
}

// Of a source that the task shows, an implementer is shown the anchors alone.
TEST_F(TeamTest, TheSourceIsShownOnce) {
  std::string Long = Source;
  for (unsigned I = 0; I < 60; ++I)
    Long += "__constant__ int c" + std::to_string(I) + ";\n";
  use(Long);
  give({"row_max:loop1"});
  answer("```cuda file\nvoid launch_max() {}\n```");
  value(team()->code(In));
  llvm::StringRef User = Asked[0].Messages[0].Text;
  EXPECT_EQ(User.count("__constant__ int c30;"), 1u);
  EXPECT_TRUE(User.contains("  float best = -LIMIT;\n"
                            "  // <<<IMPROVE BEGIN>>>\n"
                            "  for (int i = threadIdx.x;"))
      << User.str();
  EXPECT_TRUE(User.contains("[lines 10 to 72 as in the source above]"))
      << User.str();
  // The lines that stand for others are no code.
  answer("```cuda anchor 1\nf();\n[lines 10 to 72 as in the source above]\n"
         "```");
  answer("No.");
  EXPECT_TRUE(llvm::StringRef(problem(team()->code(In)))
                  .contains("the answer holds no code block"));
  EXPECT_TRUE(llvm::StringRef(Asked[2].Messages[2].Text)
                  .contains("the text of anchor 1 leaves code out"));
}

// Kernels and what launches them come first where a library's helpers stand
// before them, in the source and in the list of sites.
TEST_F(TeamTest, BuriedKernelsComeFirst) {
  std::string Long;
  for (unsigned I = 0; I < 30; ++I) {
    std::string N = std::to_string(I);
    Long += "__device__ float f" + N + "(float x) {\n  float y = x + " + N +
            ";\n  y = y * y;\n  return y;\n}\n";
  }
  Long += Source;
  use(Long);
  T.Parsed = std::shared_ptr<ParsedSource>(Base, [](ParsedSource *) {});
  T.NvccFlags = {"-Iinclude", "-I", "more", "-std=c++17", "-use_fast_math"};
  answer(GoodPlan);
  value(team()->plan(In));
  llvm::StringRef User = Asked[0].Messages[0].Text;
  EXPECT_TRUE(User.contains("```cuda\n[lines 1 to 152 stand further below]\n"
                            "__global__ void row_max("))
      << User.str();
  EXPECT_TRUE(User.contains("[lines 153 to 162 stand further above]\n```"))
      << User.str();
  EXPECT_EQ(User.count("__device__ float f7(float x) {\n"), 1u);
  EXPECT_EQ(User.count("  row_max<<<1, 128, 0, stream>>>(x, y, cols);\n}"), 1u);
  EXPECT_TRUE(
      User.contains("then host functions.\n\n```text\nrow_max | kernel"))
      << User.str();
  EXPECT_FALSE(User.contains("f7 | device"));
  EXPECT_TRUE(User.contains("\n30 short functions are not listed"));
  // A folder of headers says nothing of a source that includes none.
  EXPECT_TRUE(User.contains("`nvcc -arch=sm_90 -std=c++17 -use_fast_math`"))
      << User.str();
  // What differs from the source far below does not show it once more.
  Selected.Text.replace(Selected.Text.find("<<<1, 128"), 9, "<<<1, 256");
  answer(GoodPlan);
  value(team()->plan(In));
  User = Asked[1].Messages[0].Text;
  EXPECT_TRUE(User.contains("```cuda\n[lines 1 to 154 as in the source above]"))
      << User.str();
  EXPECT_EQ(User.count("__device__ float f7(float x) {\n"), 1u);
  // No answer may have the lines that stand for others.
  give({"row_max:loop1"});
  for (const char *Line : {"[lines 1 to 152 stand further below]",
                           "[lines 153 to 162 stand further above]"}) {
    answer("```cuda anchor 1\nf();\n" + std::string(Line) + "\n```");
    answer("No.");
    problem(team()->code(In));
    EXPECT_TRUE(llvm::StringRef(Asked.back().Messages[2].Text)
                    .contains("the text of anchor 1 leaves code out"))
        << Asked.back().Messages[2].Text;
  }
  T.Parsed = nullptr;
  T.NvccFlags.clear();
}

// Of many specializations of a library's class template the longest is shown,
// and who writes code is told the others.
TEST_F(TeamTest, RepeatedSpecializations) {
  std::string Long = "template <class T, int N> struct vec;\n";
  for (int N : {1, 2, 4, 8}) {
    std::string Of = "vec<float, " + std::to_string(N) + ">";
    Long += "// float x " + std::to_string(N) + "\ntemplate <> struct " + Of +
            " {\n  float data[" + std::to_string(N) +
            "];\n  __device__ void load(const float *p);\n" +
            (N == 4 ? "  // the longest\n" : "") + "};\n\n__device__ void " +
            Of + "::load(const float *p) {\n" + "  for (int i = 0; i < " +
            std::to_string(N) + "; ++i)\n    data[i] = p[i];\n}\n\n";
  }
  for (unsigned I = 0; I < 50; ++I)
    Long += "__device__ float f" + std::to_string(I) + "(float x);\n";
  Long += Source;
  use(Long);
  T.Parsed = std::shared_ptr<ParsedSource>(Base, [](ParsedSource *) {});
  answer(GoodPlan);
  value(team()->plan(In));
  llvm::StringRef User = Asked[0].Messages[0].Text;
  EXPECT_TRUE(User.contains(
      "// float x 1\n"
      "[lines 3 to 22 are further specializations of vec, like one that is "
      "shown]\n"
      "\n// float x 4\ntemplate <> struct vec<float, 4> {\n  float data[4];\n"))
      << User.str();
  EXPECT_TRUE(User.contains(
      "  // the longest\n};\n\n"
      "[lines 31 to 45 are further specializations of vec, like one that is "
      "shown]\n"
      "\n__device__ float f0(float x);\n"))
      << User.str();
  EXPECT_TRUE(User.contains("stands for lines that are shown elsewhere or are "
                            "like others, and belongs into no answer."))
      << User.str();
  EXPECT_FALSE(User.contains("vec<float, 8> {\n  float data"));
  give({"row_max:loop1"});
  answer("```cuda anchor 1\nf();\n[lines 3 to 22 are further specializations "
         "of vec, like one that is shown]\n```");
  answer("```cuda anchor 1\nf();\n```");
  value(team()->code(In));
  User = Asked[1].Messages[0].Text;
  EXPECT_EQ(User.count("__device__ void vec<float, 8>::load"), 1u);
  EXPECT_TRUE(User.contains("# Lines of the source that are left out above\n\n"
                            "Lines 3 to 22:\n\n```cuda\ntemplate <> struct "
                            "vec<float, 1> {\n"))
      << User.str();
  EXPECT_TRUE(llvm::StringRef(Asked[2].Messages[2].Text)
                  .contains("the text of anchor 1 leaves code out"));
  T.Parsed = nullptr;
}

// Planners that are asked at the same time are told of each other.
TEST_F(TeamTest, PlannersKnowOfEachOther) {
  answer(GoodPlan);
  value(team()->plan(In));
  EXPECT_FALSE(
      llvm::StringRef(Asked[0].Messages[0].Text).contains("# Others at work"));
  In.Beside = {{5, 0, "Vector loads"}, {6, 0, ""}, {8, 3, ""}};
  answer(GoodPlan);
  value(team()->plan(In));
  llvm::StringRef User = Asked[1].Messages[0].Text;
  for (llvm::StringRef Part :
       {"- for the source: Vector loads\n", "- for the source: not known yet\n",
        "- for attempt 3: not known yet\n",
        "Of those that are not known, 1 began from the same text as you"})
    EXPECT_TRUE(User.contains(Part)) << User.str();
  EXPECT_EQ(Asked[0].StablePrefix, Asked[1].StablePrefix);
}

// A statement in a short loop or function needs no line of its own.
TEST_F(TeamTest, ShortSitesStandForTheirStatements) {
  std::string Long = Source;
  std::string Statements;
  for (unsigned I = 0; I < 20; ++I)
    Statements += "  y[" + std::to_string(I) + "] = best;\n";
  Long.insert(Long.find("  y[threadIdx.x]"), Statements);
  answer(GoodPlan);
  value(team()->plan(In));
  EXPECT_FALSE(
      llvm::StringRef(Asked[0].Messages[0].Text).contains("| statement |"));
  use(Long);
  answer(GoodPlan);
  value(team()->plan(In));
  EXPECT_TRUE(
      llvm::StringRef(Asked[1].Messages[0].Text).contains("| statement |"));
}

// A past attempt is shown as a diff when that is much shorter.
TEST_F(TeamTest, WindowShowsDiffsOfLongSources) {
  std::string Long = Source;
  for (unsigned I = 0; I < 60; ++I)
    Long += "__constant__ int c" + std::to_string(I) + ";\n";
  use(Long);
  WindowEntry Near;
  Near.Title = "attempt 3 (child of the source): more threads";
  Near.Text = Long;
  Near.Text.replace(Near.Text.find("128"), 3, "256");
  Near.Advice = "Use 256 threads.";
  Near.Compiler = "32 registers";
  Near.Run = "wrong\n" + std::string(20000, 'x') + "\nlast line";
  WindowEntry Far = Near;
  Far.Title = "attempt 4 (child of the source): anew";
  Far.Text = "// ```\nvoid launch_max() {}\n";
  WindowEntry None;
  None.Title = "attempt 5 (child of the source): ?";
  In.Window = {Near, Far, None};
  answer(GoodPlan);
  value(team()->plan(In));
  llvm::StringRef User = Asked[0].Messages[0].Text;
  EXPECT_TRUE(User.contains(
      "Its changes to the source:\n\n```diff\n@@ -8,7 +8,7 @@\n }\n \n void "
      "launch_max(const float *x, float *y, int cols, cudaStream_t stream) {\n"
      "-  row_max<<<1, 128, 0, stream>>>(x, y, cols);\n"
      "+  row_max<<<1, 256, 0, stream>>>(x, y, cols);\n"
      " }\n __constant__ int c0;\n __constant__ int c1;\n```\n"))
      << User.str();
  // A fence inside code does not end the code.
  EXPECT_TRUE(User.contains("````cuda\n// ```\nvoid launch_max() {}\n````\n"));
  EXPECT_TRUE(User.contains("Use 256 threads."));
  EXPECT_TRUE(User.contains("32 registers"));
  EXPECT_TRUE(User.contains("last line"));
  EXPECT_TRUE(User.contains("It gave no candidate."));
  EXPECT_LT(User.size(), 40000u);
}

// A request can be carried by every provider, whatever bytes the source has.
TEST_F(TeamTest, RequestsAreValidText) {
  use(std::string(Source) + "// caf\xE9\n");
  answer(GoodPlan);
  value(team()->plan(In));
  EXPECT_TRUE(isUtf8(Asked[0].Messages[0].Text));
}

// An agent that works alone answers with the whole file; its account becomes
// the instruction, and it has no anchors.
TEST_F(TeamTest, Single) {
  std::string Changed = Source;
  Changed.replace(Changed.find("128, 0"), 6, "256, 0");
  answer("\n## **Larger blocks**\n\nMore warps.\n\n```cuda file\n" + Changed +
         "```\n");
  SingleAnswer A = value(team()->single(In));
  EXPECT_EQ(A.Text, Changed);
  EXPECT_EQ(A.Given.Title, "Larger blocks");
  EXPECT_NE(A.Given.Advice.find("More warps."), std::string::npos);
  EXPECT_TRUE(A.Given.Anchors.empty());
  ASSERT_EQ(Asked.size(), 1u);
  EXPECT_EQ(Asked[0].Id, "0007-single-1");
  EXPECT_EQ(Asked[0].Role, "single");
  EXPECT_EQ(Asked[0].Temperature, 0.7);
}

// Without a whole file there is one re-ask, then a reason.
TEST_F(TeamTest, SingleWithoutFile) {
  answer("I would use larger blocks.");
  answer("```cuda anchor 1\nint x;\n```\n");
  llvm::Expected<AgentResult<SingleAnswer>> R = team()->single(In);
  ASSERT_TRUE(bool(R));
  EXPECT_FALSE(R->Value.has_value());
  EXPECT_NE(R->Problem.find("anchor 1"), std::string::npos) << R->Problem;
  EXPECT_EQ(Asked.size(), 2u);
}

// Plans are held to the schema of the prompts, also when asked for again; code
// is fenced text.
TEST_F(TeamTest, OnlyPlansHaveASchema) {
  answer("no plan");
  answer(R"({"advice":"Use float4.","sites":["row_max"],"title":"Loads"})");
  Instruction I = value(team()->plan(In));
  EXPECT_EQ(I.Title, "Loads");
  EXPECT_EQ(I.Advice, "Use float4.");
  ASSERT_EQ(Asked.size(), 2u);
  EXPECT_NE(Asked[0].ResponseSchema.find("\"advice\""), std::string::npos);
  EXPECT_EQ(Asked[0].ResponseSchema, Asked[1].ResponseSchema);
  EXPECT_NE(Asked[0].InsteadOfTemperature, "");
  give({"row_max"});
  EXPECT_FALSE(bool(team()->code(In)));
  EXPECT_EQ(Asked[2].ResponseSchema, "");
  EXPECT_EQ(Asked[2].InsteadOfTemperature, "");
}
