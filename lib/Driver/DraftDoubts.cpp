//===- DraftDoubts.cpp - What says little of an entry ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftDoubts.h"
#include "stark/Support/CodeReach.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;

/// The words of all strings below \p J that are values.
static void addWords(const ordered_json &J, llvm::StringSet<> &Words) {
  if (J.is_string())
    for (const auto &Word : wordsOf(J.get<std::string>()))
      Words.insert(Word.getKey());
  if (J.is_structured())
    for (const auto &Item : J.items())
      addWords(Item.value(), Words);
}

static std::vector<std::string> idleSizes(const ordered_json &Root) {
  std::vector<std::string> Idle;
  if (!Root.contains("sizes") || !Root["sizes"].is_array() ||
      Root["sizes"].empty() || !Root["sizes"][0].is_object())
    return Idle;
  llvm::StringSet<> Words;
  for (const char *Part : {"arguments", "symbols", "launch"})
    if (Root.contains(Part))
      addWords(Root[Part], Words);
  for (const auto &Item : Root["sizes"][0].items())
    if (Item.key() != "check_only" && !Words.count(Item.key()))
      Idle.push_back(Item.key());
  return Idle;
}

/// The role of argument or symbol \p Name, as a leaf has it.
static std::string roleOf(const ordered_json &Root, llvm::StringRef Name) {
  const char *Part = Name.consume_front("symbols.") ? "symbols" : "arguments";
  if (!Root.contains(Part) || !Root[Part].contains(Name.str()))
    return "";
  const ordered_json &A = Root[Part][Name.str()];
  return A.is_object() ? A.value("role", "input") : std::string();
}

std::vector<std::string> stark::doubtsOf(llvm::StringRef Workload,
                                         const WorkloadProof &Proof) {
  std::vector<std::string> Doubts;
  ordered_json Root = ordered_json::parse(Workload.begin(), Workload.end(),
                                          nullptr, false, true);
  if (!Root.is_object())
    return Doubts;
  for (const std::string &Name : idleSizes(Root))
    Doubts.push_back("no shape, value or launch depends on the size '" + Name +
                     "'");
  if (!Proof.Found || !Proof.Found->correct())
    return Doubts;
  std::string Said = degeneraciesIn(Proof.Found->Run);
  for (llvm::StringRef Line : llvm::split(Said, '\n'))
    if (size_t At = Line.find("): "); At != llvm::StringRef::npos)
      Doubts.push_back(Line.drop_front(At + 3).str());
  if (!Proof.Seen)
    return Doubts;
  for (const std::string &Name : Proof.Seen->Alike)
    if (roleOf(Root, Name) != "input" &&
        !llvm::StringRef(Said).contains("'" + Name + "'"))
      Doubts.push_back("output '" + Name +
                       "' holds one value alone, or nearly so");
  // What a kernel reads of a variable of the device is not counted.
  for (const std::string &Name : Proof.Seen->Untouched)
    if (std::string Role = roleOf(Root, Name);
        (Role == "input" || Role == "inout") &&
        !llvm::StringRef(Name).starts_with("symbols."))
      Doubts.push_back("the entry reads nothing of '" + Name + "'");
  return Doubts;
}
