//===- Review.cpp - A run as a pull request tells it ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run -> result, times, resources, what was checked and what was not; then,
/// folded, the diff and the attempts
/// All of it is as long as GitHub allows: what is long is cut, with where the
/// rest is.
///
//===----------------------------------------------------------------------===//

#include "stark/Report/Review.h"
#include "ReportParts.h"
#include "stark/Agent/Quote.h"
#include "stark/Judge/Judge.h"
#include "stark/Report/NodeView.h"
#include "stark/Report/SearchProgress.h"
#include "stark/Report/Table.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// GitHub takes 65,536 characters for a pull request or a comment.
static constexpr size_t MostBytes = 65000;
/// Of one table, of one list.
static constexpr size_t MostOfPart = 12000;
static constexpr size_t MostOfTitle = 200;

/// Whether \p Text ends with \p Word, which no word goes on with.
static bool endsWithWord(llvm::StringRef Text, llvm::StringRef Word) {
  return Text.ends_with_insensitive(Word) &&
         (Text.size() == Word.size() ||
          !llvm::isAlnum(Text[Text.size() - Word.size() - 1]));
}

std::string stark::quoteMarkdown(llvm::StringRef Text) {
  // A service looks for names, numbers of issues and addresses in what it
  // shows, not in what was written: only a character between hides them.
  static constexpr llvm::StringLiteral Nothing = "&#8203;";
  std::string Line = visibleLine(Text), Out;
  for (size_t I = 0; I < Line.size(); ++I) {
    char C = Line[I], Next = I + 1 < Line.size() ? Line[I + 1] : ' ';
    llvm::StringRef Before = llvm::StringRef(Line).take_front(I);
    bool InWord = I && llvm::isAlnum(Line[I - 1]) && llvm::isAlnum(Next);
    if (C == '.' && endsWithWord(Before, "www"))
      Out += Nothing;
    if (llvm::StringRef("&<>@$").contains(C))
      Out += "&#" + std::to_string(int(C)) + ";";
    else if (llvm::StringRef("\\`*[]#~").contains(C) || (C == '_' && !InWord))
      Out += std::string("\\") + C;
    else
      Out += C;
    if (C == '@' || (C == '#' && llvm::isDigit(Next)) ||
        (C == ':' && Next == '/') ||
        (C == '-' && llvm::isDigit(Next) && endsWithWord(Before, "gh")))
      Out += Nothing;
  }
  return Out;
}

/// The first lines of \p Text, of at most \p Bytes, and how many there are
/// beside them.
static std::string firstLines(llvm::StringRef Text, size_t Bytes,
                              size_t &LeftOut) {
  LeftOut = 0;
  if (Text.size() <= Bytes)
    return Text.str();
  llvm::StringRef Head = Text.take_front(Bytes);
  Head = Head.take_front(Head.rfind('\n') + 1);
  LeftOut = Text.drop_front(Head.size()).count('\n');
  return Head.str();
}

/// What \p Print writes, cut after a line, with how many are left out.
static std::string part(size_t Bytes, llvm::StringRef Where,
                        llvm::function_ref<void(llvm::raw_ostream &)> Print) {
  std::string Whole;
  llvm::raw_string_ostream OS(Whole);
  Print(OS);
  size_t LeftOut = 0;
  std::string Head = firstLines(Whole, Bytes, LeftOut);
  if (LeftOut)
    Head += "\n" + std::to_string(LeftOut) + " lines more: " + Where.str() +
            ".\n\n";
  return Head;
}

/// \p Text in a fence of \p Language.
static std::string fencedPart(llvm::StringRef Language, llvm::StringRef Text,
                              size_t Bytes, llvm::StringRef Where) {
  size_t LeftOut = 0;
  std::string Head =
      fenced(Language.str(), firstLines(Text, Bytes, LeftOut)) + "\n";
  if (LeftOut)
    Head += std::to_string(LeftOut) + " lines more: " + Where.str() + ".\n";
  return Head;
}

namespace {
/// Of one kernel, as lib/Eval/CompilerOutput.cpp puts it.
struct Resources {
  std::string Registers, Shared, Spills;
};
} // namespace

/// By kernel: "softmax_kernel: 20 registers, 1024 bytes of static shared
/// memory, no spills".
static std::map<std::string, Resources> resourcesIn(llvm::StringRef Compiler) {
  std::map<std::string, Resources> Found;
  while (!Compiler.empty()) {
    auto [Line, Rest] = Compiler.split('\n');
    Compiler = Rest;
    auto [Kernel, Used] = Line.split(": ");
    auto [Registers, More] = Used.split(" registers, ");
    auto [Shared, Spills] = More.split(" bytes of static shared memory, ");
    unsigned Number = 0;
    if (Registers.getAsInteger(10, Number) || Shared.getAsInteger(10, Number) ||
        Spills.empty())
      continue;
    Found[Kernel.str()] = {Registers.str(), Shared.str(), Spills.str()};
  }
  return Found;
}

static void printResources(const Verdict &Before, const Verdict &After,
                           llvm::raw_ostream &OS) {
  std::map<std::string, Resources> Old = resourcesIn(Before.Compiler),
                                   New = resourcesIn(After.Compiler);
  std::set<std::string> Kernels;
  for (const auto *All : {&Old, &New})
    for (const auto &[Kernel, Uses] : *All)
      Kernels.insert(Kernel);
  if (Kernels.empty())
    return;
  Table Rows({"kernel", "registers", "after", "shared bytes", "after", "spills",
              "after"},
             {1, 2, 3, 4});
  for (const std::string &Kernel : Kernels) {
    auto Of = [&](std::map<std::string, Resources> &All) {
      auto Found = All.find(Kernel);
      return Found == All.end() ? Resources{"-", "-", "-"} : Found->second;
    };
    Resources Was = Of(Old), Is = Of(New);
    Rows.add({quoteMarkdown(Kernel), Was.Registers, Is.Registers, Was.Shared,
              Is.Shared, Was.Spills, Is.Spills});
  }
  OS << "Registers a thread, static shared memory a block, and spills, in the "
        "source and after; `-` where there is no such kernel.\n\n";
  Rows.print(/*Markdown=*/true, OS);
  OS << "\n";
}

static std::string sizesOf(const Verdict &V) {
  constexpr size_t Most = 12;
  std::vector<std::string> Labels;
  for (const job::Timing &T : V.Timings)
    Labels.push_back(quoteMarkdown(T.Label));
  if (Labels.size() > Most) {
    size_t More = Labels.size() - Most;
    Labels.resize(Most);
    Labels.push_back(std::to_string(More) + " more");
  }
  return llvm::join(Labels, ", ");
}

static void printChecked(const RecordedRun &Run, const Figures &F,
                         llvm::raw_ostream &OS) {
  const Verdict &V = *F.WinnerFound;
  const RunIdentity &I = Run.Identity;
  OS << "**Checked:**\n\n"
     << "* Its outputs are those of the source, within the workload's "
        "tolerances, for every size of the workload that is not named below, "
        "on "
        "random inputs that it could not know";
  OS << (F.Confirmed ? "; judged twice, the second time on inputs that no "
                       "attempt saw.\n"
                     : ". It was judged once.\n");
  std::string Others = otherValues(V);
  if (!Others.empty())
    OS << "* So they are with other values: " << quoteMarkdown(Others) << ".\n";
  for (llvm::StringRef Line : V.Proved)
    if (!Line.starts_with(judge::OtherValues))
      OS << "* Compared with " << quoteMarkdown(Line) << ".\n";
  OS << "* Called twice with the same inputs, it gives the same.\n"
     << "* Signature, linkage and symbols are those of the source, and it "
        "keeps "
        "no state between calls.\n";
  if (I.Options.Strictness != Grounding::Off)
    OS << "* It changes only what its plan named (grounding "
       << groundingName(I.Options.Strictness) << ").\n";
  OS << "\n**Not checked:**\n\n"
     << "* Other sizes, types and values than the workload's"
     << (Others.empty() ? "" : " and those named above")
     << "; it was timed for " << sizesOf(V) << ".\n";
  if (V.Modelled)
    OS << "* How fast it is: times are modelled for " << quoteMarkdown(V.Device)
       << " and were not measured.\n";
  else
    OS << "* Other GPUs than " << quoteMarkdown(V.Device) << " ("
       << quoteMarkdown(I.Arch) << "), other compilers and drivers.\n"
       << "* Races and accesses out of bounds that these inputs do not bring "
          "to light (`stark-tool simulate` looks for them).\n";
  // What the judge says that it left out.
  for (llvm::StringRef Rest = V.Run; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    Rest = After;
    if (Line.starts_with("size '"))
      OS << "* " << quoteMarkdown(Line) << ".\n";
  }
  if (I.Options.Strictness == Grounding::Off)
    OS << "* Whether it changes only what was planned: grounding was off.\n";
  OS << "\n";
}

static void printFolded(llvm::StringRef Title, llvm::StringRef Body,
                        llvm::raw_ostream &OS) {
  OS << "<details>\n<summary>" << Title << "</summary>\n\n"
     << Body << "\n</details>\n\n";
}

static void printWinner(const RecordedRun &Run, const Figures &F,
                        llvm::raw_ostream &OS) {
  const Verdict &V = *F.WinnerFound;
  const Node &N = Run.Nodes.node(unsigned(F.Winner));
  OS << "**" << fixed(V.speedup(), 3)
     << " times as fast** as the source (95 %: " << fixed(V.speedupLow(), 3)
     << " to " << fixed(V.speedupHigh(), 3) << "), "
     << quoteMarkdown(howTaken(V));
  if (std::optional<double> Share = floorShare(V))
    OS << "; moving the data alone would take " << fixed(*Share * 100, 0)
       << " % of its time";
  OS << ".\n\n";
  if (!N.Given.Title.empty())
    OS << "What was changed: "
       << quoteMarkdown(shortenUtf8(N.Given.Title, MostOfTitle)) << " (node "
       << N.Number << ").\n\n";
  llvm::StringRef Where = "`stark-tool show RUN winner` has them";
  OS << part(MostOfPart, Where, [&](auto &Part) {
    printSizes(Run, F, /*Markdown=*/true, Part);
  }) << part(MostOfPart, Where, [&](auto &Part) {
    printResources(Run.Nodes.node(0).Found, V, Part);
  }) << part(MostOfPart, Where, [&](auto &Part) {
    printChecked(Run, F, Part);
  });
}

/// \p Room: bytes.
static std::string searchPart(const RecordedRun &Run, const Figures &F,
                              size_t Room) {
  std::string Tree;
  llvm::raw_string_ostream Branches(Tree);
  printBranches(Run, F, Branches);
  std::string Text =
      part(Room, "", [&](auto &OS) { printOrigin(Run, F, true, OS); });
  std::string Counts =
      part(Room, "", [&](auto &OS) { printCounts(Run, F, OS); });
  Room -= std::min(Room, Text.size() + Counts.size());
  Text += part(Room * 2 / 3, "`stark-tool report RUN` has them",
               [&](auto &OS) { printAttempts(Run, /*Markdown=*/true, OS); });
  Text += "\n" + fencedPart("text", Tree, Room / 3, "`stark-tool tree RUN`");
  return Text + "\n" + Counts;
}

void stark::printReview(const RecordedRun &Run, llvm::raw_ostream &OS) {
  Figures F = countFigures(Run);
  auto Short = [](llvm::StringRef Name) {
    return quoteMarkdown(shortenUtf8(Name, MostOfTitle));
  };
  std::string Head = "# " + Short(Run.Identity.TaskName) +
                     ": a search for a faster " + Short(Run.Identity.Entry) +
                     "\n\n";
  llvm::raw_string_ostream Result(Head);
  if (F.Winner >= 0)
    printWinner(Run, F, Result);
  std::string End = describeEnd(Run, F);
  End[0] = llvm::toUpper(End[0]);
  End = quoteMarkdown(shortenUtf8(End, 1000)) + ".\n";
  // What is left is the diff's and the search's, who both leave what they do
  // not need to the other.
  constexpr size_t Frames = 600;
  size_t Taken = Head.size() + End.size() + Frames,
         Room = MostBytes - std::min(MostBytes, Taken);
  std::string Diff;
  if (F.Winner >= 0) {
    if (auto Whole = nodeDiff(Run, 0, unsigned(F.Winner)))
      Diff = visibleText(*Whole);
    else
      llvm::consumeError(Whole.takeError());
  }
  size_t ForDiff = std::min(Diff.size(), Room / 2);
  std::string Search = searchPart(Run, F, Room - ForDiff);
  ForDiff = Room - std::min(Room, Search.size());
  OS << Head;
  if (!Diff.empty())
    printFolded("The change",
                fencedPart("diff", Diff, ForDiff, "`stark-tool diff RUN`"), OS);
  printFolded("The search", Search, OS);
  OS << End;
}
