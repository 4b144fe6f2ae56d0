//===- PromptTest.cpp - Prompts are data ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Agent/Prompt.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace stark;

static std::string problem(const std::string &Text) {
  llvm::Expected<Prompt> P = parsePrompt(Text, "plan.md");
  EXPECT_FALSE(bool(P));
  return P ? std::string() : llvm::toString(P.takeError());
}

TEST(Prompt, HasFrontMatterSystemAndUser) {
  llvm::Expected<Prompt> P = parsePrompt(
      "---\nrole: plan\nversion: 2\ninputs: who, what\n---\nYou are "
      "{{who}}.\n\n# user\nMake {{what}} and {{what}}.\n",
      "plan.md");
  ASSERT_TRUE(bool(P)) << llvm::toString(P.takeError());
  EXPECT_EQ(P->Role, "plan");
  EXPECT_EQ(P->Version, "2");
  EXPECT_EQ(P->System, "You are {{who}}.");
  EXPECT_EQ(P->User, "Make {{what}} and {{what}}.");
  // What is put in is not looked at again.
  EXPECT_EQ(llvm::cantFail(renderPrompt(P->User, P->Inputs,
                                        {{"who", "x"}, {"what", "{{who}}"}})),
            "Make {{who}} and {{who}}.");
}

// An undeclared or unused placeholder is an error, as is anything malformed.
TEST(Prompt, MistakesAreNamed) {
  std::string Head = "---\nrole: plan\nversion: 1\ninputs: a\n---\n";
  EXPECT_EQ(problem(Head + "{{a}} {{b}}"),
            "prompt 'plan.md': {{b}} is used, but inputs declares only a");
  EXPECT_EQ(problem(Head + "no input"),
            "prompt 'plan.md': input 'a' is declared, but {{a}} is not used");
  EXPECT_EQ(problem(Head + "{{a}} {{ b }}"),
            "prompt 'plan.md': got '{{ b ', wanted {{name}} with a name of a-z "
            "and _");
  EXPECT_EQ(problem("no front matter"),
            "prompt 'plan.md': got no front matter, wanted '---' in the first "
            "line");
  EXPECT_EQ(problem("---\nrole: plan\n"),
            "prompt 'plan.md': the front matter is not closed by '---'");
  EXPECT_EQ(problem("---\nrole: plan\ninputs:\n---\n"),
            "prompt 'plan.md': front matter lacks 'version'");
  EXPECT_EQ(problem("---\nrole: plan\nmodel: x\n---\n"),
            "prompt 'plan.md': front matter has 'model', wanted role, version "
            "and inputs");
}

TEST(Prompt, InputWithoutAValueIsAnError) {
  llvm::Expected<std::string> Text = renderPrompt("{{a}}", {"a"}, {{"b", ""}});
  ASSERT_FALSE(bool(Text));
  EXPECT_EQ(llvm::toString(Text.takeError()), "prompt: input 'a' has no value");
}

// The project's own prompts are well formed; every byte is in the digest.
TEST(Prompt, OwnPromptsLoad) {
  TemporaryFolder Copy = llvm::cantFail(TemporaryFolder::create("prompts"));
  PromptSet Own = llvm::cantFail(loadPrompts(STARK_SOURCE_DIR "/prompts"));
  EXPECT_EQ(Own.Files.size(), 12u);
  EXPECT_EQ(Own.Devices.count("sm_90"), 1u);
  // The lone agent is told what the plan agent is told, less the sites, and how
  // code is answered.
  for (const std::string &Name : Own.Single.Inputs)
    EXPECT_TRUE(Name == "more" || llvm::is_contained(Own.Plan.Inputs, Name))
        << Name;
  for (const auto &[Name, Bytes] : Own.Files)
    ASSERT_FALSE(
        bool(writeFileAtomically((Copy.path() + "/" + Name).str(), Bytes)));
  EXPECT_EQ(llvm::cantFail(loadPrompts(Copy.path())).Digest, Own.Digest);
  ASSERT_FALSE(bool(writeFileAtomically((Copy.path() + "/single.md").str(),
                                        Own.Files["single.md"] + "\n")));
  EXPECT_NE(llvm::cantFail(loadPrompts(Copy.path())).Digest, Own.Digest);

  ASSERT_FALSE(bool(writeFileAtomically((Copy.path() + "/single.md").str(),
                                        Own.Files["plan.md"])));
  llvm::Expected<PromptSet> Wrong = loadPrompts(Copy.path());
  ASSERT_FALSE(bool(Wrong));
  EXPECT_EQ(llvm::toString(Wrong.takeError()),
            "prompt '" + Copy.path().str() +
                "/single.md': got the role 'plan', wanted 'single'");
}

// A folder without them asks for none, as those of earlier runs do.
TEST(Prompt, SchemaAndDiversityMayBeMissing) {
  TemporaryFolder Copy = llvm::cantFail(TemporaryFolder::create("prompts"));
  PromptSet Own = llvm::cantFail(loadPrompts(STARK_SOURCE_DIR "/prompts"));
  EXPECT_NE(Own.PlanSchema, "");
  EXPECT_NE(Own.Diversity, "");
  for (const auto &[Name, Bytes] : Own.Files) {
    bool Optional = Name == "plan.schema.json" || Name == "diversity.md";
    ASSERT_TRUE(Optional ||
                !writeFileAtomically((Copy.path() + "/" + Name).str(), Bytes));
  }
  EXPECT_EQ(llvm::cantFail(loadPrompts(Copy.path())).PlanSchema, "");
  EXPECT_EQ(llvm::cantFail(loadPrompts(Copy.path())).Diversity, "");
  std::string File = (Copy.path() + "/plan.schema.json").str();
  for (const char *Bad : {"", "[]", "{}", "{\"properties\""}) {
    ASSERT_FALSE(bool(writeFileAtomically(File, Bad)));
    llvm::Expected<PromptSet> Wrong = loadPrompts(Copy.path());
    ASSERT_FALSE(bool(Wrong));
    EXPECT_EQ(llvm::toString(Wrong.takeError()),
              "prompt '" + File +
                  "': wanted a JSON schema: an object with 'properties'");
  }
}
