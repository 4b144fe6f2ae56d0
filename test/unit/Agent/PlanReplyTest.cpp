//===- PlanReplyTest.cpp - Plans as models write them ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Agent/Reply.h"
#include <gtest/gtest.h>

using namespace stark;

static PlanReply plan(const std::string &Text) {
  llvm::Expected<PlanReply> P = parsePlanReply(Text);
  EXPECT_TRUE(bool(P)) << llvm::toString(P.takeError()) << "\nin:\n" << Text;
  return P ? *P : PlanReply();
}

static std::string problem(const std::string &Text) {
  llvm::Expected<PlanReply> P = parsePlanReply(Text);
  EXPECT_FALSE(bool(P)) << Text.substr(0, 200);
  return P ? std::string() : llvm::toString(P.takeError());
}

using Ids = std::vector<std::string>;

TEST(PlanReply, FormAsked) {
  PlanReply P = plan("Let me see.\n\n## Advice\n\nUse `float4`:\n\n"
                     "```cuda\nfloat4 v = p[i];\n```\n\nMind the tail.\n\n"
                     "```json\n{\"title\": \"Vector loads\", \"sites\": "
                     "[\"k:loop1\", \"launch:launch1\"]}\n```\n");
  EXPECT_EQ(P.Title, "Vector loads");
  EXPECT_EQ(P.Advice, "Use `float4`:\n\n```cuda\nfloat4 v = p[i];\n```\n\nMind "
                      "the tail.");
  EXPECT_EQ(P.SiteIds, (Ids{"k:loop1", "launch:launch1"}));
  EXPECT_TRUE(P.Marked.empty());
}

// Each of these is the same plan.
TEST(PlanReply, JsonAsModelsWriteIt) {
  for (const char *Text : {
           "```json\n{\"title\":\"T\",\"advice\":\"A\",\"sites\":[\"k\"]}\n```",
           "~~~~json\r\n{\"title\":\"T\",\r\n\"advice\":\"A\","
           "\"sites\":[\"k\"]}\r\n~~~~\r\n",
           "```\n{\"title\": \"T\", \"advice\": \"A\", \"sites\": \"k\"}\n```",
           "```JSON\n{\"title\":\"T\", // why\n /* so */ \"advice\":\"A\","
           "\"sites\":[\"k\",],}\n```",
           "Sure! {\"title\":\"T\",\"advice\":\"A\",\"sites\":[\"k\"]} Bye!",
           "```json\n{\"title\":\"T\",\"advice\":[\"A\"],\"sites\":[{\"id\":"
           "\"k\",\"why\":\"hot\"}]}",
           "\xEF\xBB\xBF```json\n{\"title\":\"T\",\"advice\":\"A\","
           "\"sites\":[\"`k`\"]}\n```",
           "<think>maybe {\"title\":\"no\",\"sites\":[\"x\"]}?</think>\n"
           "```json\n{\"title\":\"T\",\"advice\":\"A\",\"sites\":[\"k\"]}\n```",
           "````markdown\n```json\n{\"title\":\"T\",\"advice\":\"A\","
           "\"sites\":[\"k\"]}\n```\n````\n",
           "First\n```json\n{\"title\":\"x\",\"advice\":\"y\",\"sites\":"
           "[\"z\"]}\n```\nNo, rather\n```json\n{\"title\":\"T\","
           "\"advice\":\"A\",\"sites\":[\"k\"]}\n```",
       }) {
    PlanReply P = plan(Text);
    EXPECT_EQ(P.Title, "T") << Text;
    EXPECT_EQ(P.Advice, "A") << Text;
    EXPECT_EQ(P.SiteIds, (Ids{"k"})) << Text;
  }
}

TEST(PlanReply, StringsAreMadeGood) {
  PlanReply P = plan("```json\n{\"title\":\"a\\d \\\"q\\\" \\u00e9\","
                     "\"advice\":\"line 1\nline 2\tx\\n{[,]}\","
                     "\"sites\":[\"k\"]}\n```");
  EXPECT_EQ(P.Title, "a\\d \"q\" \xC3\xA9");
  EXPECT_EQ(P.Advice, "line 1\nline 2\tx\n{[,]}");
}

TEST(PlanReply, MarkedSource) {
  std::string Code =
      "__global__ void k() {\n/* <<<IMPROVE BEGIN>>> */\n  f();\n"
      "/* <<<IMPROVE END>>> */\n}\n";
  PlanReply P =
      plan("# Vector loads\n\nUse `float4`.\n\n```cuda\n" + Code + "```\n");
  EXPECT_EQ(P.Title, "Vector loads");
  EXPECT_EQ(P.Marked, Code);
  EXPECT_TRUE(P.SiteIds.empty());
  EXPECT_NE(P.Advice.find("Use `float4`."), std::string::npos);

  P = plan("## Advice\nUse `float4`.\n```cuda\n" + Code +
           "```\n```json\n{\"title\":\"T\"}\n```\n");
  EXPECT_EQ(P.Title, "T");
  EXPECT_EQ(P.Marked, Code);
  EXPECT_EQ(P.Advice, "Use `float4`.");
}

// A title and an advice are found when the model leaves one out.
TEST(PlanReply, TitleFromTheAdvice) {
  PlanReply P = plan("**Vector loads**\nUse them.\n```json\n{\"sites\":"
                     "[\"k\"]}\n```");
  EXPECT_EQ(P.Title, "Vector loads");
}

// What cannot be used is one sentence that says what is wanted.
TEST(PlanReply, ProblemsAreTheReask) {
  std::string Wanted =
      "; wanted the advice as text and then one ```json block {\"title\": "
      "\"...\", \"sites\": [\"...\"]} with ids from the list of sites, or the "
      "whole text with <<<IMPROVE BEGIN>>> and <<<IMPROVE END>>> marks in one "
      "```cuda block";
  EXPECT_EQ(problem(" \n"), "the answer is empty" + Wanted);
  EXPECT_EQ(problem("I would use float4."),
            "the answer names no sites, and says 'I would use float4.'" +
                Wanted);
  EXPECT_EQ(problem("A\n```json\n{\"title\":\"T\"}\n```"),
            "the JSON object has no 'sites'" + Wanted);
  EXPECT_EQ(problem("A\n```json\n{\"title\":\"T\",\"sites\":[]}\n```"),
            "'sites' is empty" + Wanted);
  EXPECT_EQ(problem("A\n```json\n{\"title\":\"T\",\"sites\":[1]}\n```"),
            "'sites' holds something that is no string, wanted ids from the "
            "list of sites" +
                Wanted);
  EXPECT_EQ(problem("A\n```json\n{\"title\":\"T\",\"sites\":[\"k\"\n```"),
            "the JSON object is not closed" + Wanted);
  EXPECT_EQ(problem("```json\n{\"title\":\"T\",\"sites\":[\"k\"]}\n```"),
            "the answer gives no advice" + Wanted);
}

// Nothing a model sends may crash the tool or take long.
TEST(PlanReply, HostileTexts) {
  std::string Deep(1000000, '[');
  EXPECT_NE(problem("```json\n{\"sites\":" + Deep).find("nested more than 32"),
            std::string::npos);
  std::string Braces;
  for (unsigned I = 0; I < 300000; ++I)
    Braces += "{\"sites\":";
  problem(Braces);
  problem(std::string(10 << 20, '{'));
  problem(std::string(10 << 20, '`'));
  problem(std::string(10 << 20, '\0'));
  problem(std::string(1 << 20, '\xFF') + "\n```json\n");
  std::string Fences;
  for (unsigned I = 0; I < 400000; ++I)
    Fences += "```json\n";
  problem(Fences);
  std::string Many = "A\n```json\n{\"title\":\"T\",\"sites\":[\"k\"";
  for (unsigned I = 0; I < 100; ++I)
    Many += ",\"k" + std::to_string(I) + "\"";
  EXPECT_NE(
      problem(Many + "]}\n```").find("names 101 sites, wanted at most 64"),
      std::string::npos);
  // A long advice is cut, and stays valid UTF-8.
  std::string Long;
  while (Long.size() < 100000)
    Long += "\xC3\xA9";
  PlanReply P = plan("a" + Long + "\n```json\n{\"sites\":[\"k\"]}\n```");
  EXPECT_LE(P.Advice.size(), 32000u);
  EXPECT_LE(P.Title.size(), 120u);
}

// Held to a schema: one object, and what looks like JSON or a block inside of
// its advice is advice.
TEST(PlanReply, OneObject) {
  PlanReply P = plan(
      R"( {"advice":"Do `if (x) { y(); }`:\n\n```json\n{\"sites\":[\"no\"]}\n```\n\nThen {","sites":["k","l"],"title":"Loads"}
)");
  EXPECT_EQ(P.Title, "Loads");
  EXPECT_EQ(P.SiteIds, (Ids{"k", "l"}));
  EXPECT_EQ(P.Advice, "Do `if (x) { y(); }`:\n\n```json\n{\"sites\":[\"no\"]}\n"
                      "```\n\nThen {");
  EXPECT_EQ(problem(R"({"advice":"Do it.","sites":[],"title":"T"})"),
            "'sites' is empty; wanted one id at least from the list of sites");
}
