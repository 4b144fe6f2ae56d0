//===- TextForms.cpp - Sites, anchors and attempts in a prompt ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextForms.h"
#include "Figures.h"
#include "stark/Eval/Verdict.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

/// Lines that a plan agent is shown of the site list.
static constexpr size_t SiteLimit = 220;
/// Lines of a loop, branch or function whose statements are not listed.
static constexpr unsigned ShortSite = 24;
/// Sites before the first kernel of a list that is as the source is, and lines
/// of device functions that another is without.
static constexpr size_t MostBeforeKernel = 40;
static constexpr unsigned ShortFunction = 8;

std::string stark::cleanText(llvm::StringRef Text) {
  Text.consume_front("\xEF\xBB\xBF");
  return repairUtf8(withUnixLines(Text));
}

std::string stark::saying(llvm::StringRef Answer) {
  constexpr size_t Limit = 160;
  std::string Line = cleanText(Answer.trim().split('\n').first.rtrim());
  return Line.empty() ? "" : ", and says '" + shortenUtf8(Line, Limit) + "'";
}

std::string stark::fenced(llvm::StringRef Language, llvm::StringRef Text) {
  std::string Clean = cleanText(Text);
  size_t Longest = 2, Run = 0;
  for (char C : Clean) {
    Run = C == '`' ? Run + 1 : 0;
    Longest = std::max(Longest, Run);
  }
  std::string Fence(Longest + 1, '`');
  if (!Clean.empty() && Clean.back() != '\n')
    Clean += '\n';
  return Fence + Language.str() + "\n" + Clean + Fence + "\n";
}

static std::string lineSpan(unsigned Line, unsigned EndLine) {
  return Line == EndLine
             ? "line " + std::to_string(Line)
             : "lines " + std::to_string(Line) + "-" + std::to_string(EndLine);
}

/// The first line of what stands at \p S, shortened.
static std::string glimpse(llvm::StringRef Text, const Site &S) {
  llvm::StringRef Line =
      Text.substr(S.Bytes.Begin, S.Bytes.size()).split('\n').first.rtrim();
  std::string Clean = cleanText(Line.take_front(72));
  return Line.size() > 72 ? Clean + "..." : Clean;
}

/// Whether a statement or an access need not be listed: what holds it is short
/// and costs nothing to name in its place, or the line is listed already.
static bool isCovered(const Sites &All, const Site &S, unsigned ListedLine) {
  if (!isDetail(S.Kind))
    return false;
  int P = S.Parent;
  while (P >= 0 && isDetail(All.All[size_t(P)].Kind))
    P = All.All[size_t(P)].Parent;
  if (P < 0)
    return false;
  const Site &Holder = All.All[size_t(P)];
  return Holder.editable() &&
         (Holder.EndLine - Holder.Line < ShortSite || S.Line == ListedLine);
}

/// Whether a statement is nothing but the barrier or the launch that is listed
/// below it.
static bool isSaidBelow(const Sites &All, const Site &S) {
  size_t At = size_t(&S - All.All.data());
  if (S.Kind != SiteKind::Statement || At + 1 == All.All.size())
    return false;
  const Site &Next = All.All[At + 1];
  return Next.Parent == int(At) && Next.editable() && !isDetail(Next.Kind) &&
         Next.Line == S.Line && Next.EndLine == S.EndLine;
}

static bool isFunction(const Site &S) {
  return S.Kind == SiteKind::Kernel || S.Kind == SiteKind::Device ||
         S.Kind == SiteKind::Host;
}

/// Whether so much stands before the first kernel that it would drown in it.
static bool isBuried(const Sites &All) {
  size_t Before = 0;
  for (const Site &S : All.All) {
    if (S.Kind == SiteKind::Kernel)
      return Before > MostBeforeKernel;
    Before += S.editable();
  }
  return false;
}

/// Whether the host function at \p At launches something, or is one that other
/// files call.
static bool isLauncher(const Sites &All, size_t At) {
  const Site &F = All.All[At];
  if (F.Kind != SiteKind::Host)
    return false;
  if (!llvm::StringRef(F.Id).contains("::"))
    return true;
  for (size_t I = At + 1; I < All.All.size() && All.All[I].Parent >= 0; ++I)
    if (All.All[I].Kind == SiteKind::Launch)
      return true;
  return false;
}

/// A variable of a function that is in registers, or a type.
static bool isPlainLocal(const Site &S) {
  return S.Kind == SiteKind::Declaration && S.Parent >= 0 && S.Detail.empty();
}

/// The sites in the order in which they are listed where kernels are buried:
/// kernels first, then what launches them, and of all else the longer functions
/// alone.
static std::vector<const Site *> kernelsFirst(const Sites &All,
                                              size_t &ShortFunctions) {
  enum { Kernel, Launcher, Other };
  std::vector<const Site *> Order[3];
  size_t Rank = Other;
  for (size_t I = 0; I < All.All.size(); ++I) {
    const Site &S = All.All[I];
    if (S.Parent < 0)
      Rank = S.Kind == SiteKind::Kernel ? Kernel
             : isLauncher(All, I)       ? Launcher
                                        : Other;
    if (Rank != Other && !isPlainLocal(S)) {
      Order[Rank].push_back(&S);
    } else if (isFunction(S) && S.editable()) {
      if (S.EndLine - S.Line < ShortFunction)
        ++ShortFunctions;
      else
        Order[Other].push_back(&S);
    }
  }
  for (size_t More : {Launcher, Other})
    Order[Kernel].insert(Order[Kernel].end(), Order[More].begin(),
                         Order[More].end());
  return std::move(Order[Kernel]);
}

std::string stark::describeSites(const Sites &All, llvm::StringRef Text) {
  size_t Editable = 0, Locked = 0, Short = 0;
  for (const Site &S : All.All)
    ++(S.editable() ? Editable : Locked);
  bool Buried = isBuried(All);
  std::vector<const Site *> Order;
  if (Buried)
    Order = kernelsFirst(All, Short);
  else
    for (const Site &S : All.All)
      Order.push_back(&S);
  // Of a long list the small sites go first; a larger one covers them.
  bool Details = (Buried ? Order.size() : Editable) <= SiteLimit;
  size_t Shown = 0;
  unsigned ListedLine = 0;
  std::string Out;
  for (const Site *Each : Order) {
    const Site &S = *Each;
    if (S.editable() && isSaidBelow(All, S)) {
      --Editable;
      continue;
    }
    if (!S.editable() || Shown == SiteLimit ||
        (isDetail(S.Kind) && (!Details || isCovered(All, S, ListedLine))))
      continue;
    ++Shown;
    ListedLine = S.Line;
    unsigned Depth = 0;
    for (int P = S.Parent; P >= 0 && Depth < 8; P = All.All[size_t(P)].Parent)
      ++Depth;
    Out += std::string(size_t(2) * Depth, ' ') + S.Id + " | " +
           siteKindName(S.Kind).str() + " | " + lineSpan(S.Line, S.EndLine) +
           " | " + glimpse(Text, S) + "\n";
  }
  if (Out.empty())
    return "No site of this source can be edited.\n";
  Out = fenced("text", Out);
  if (Buried)
    Out = "Kernels come first, then host functions.\n\n" + Out;
  if (Shown + Short < Editable)
    Out += "\n" + std::to_string(Editable - Shown - Short) +
           " smaller sites are not listed; name a site that holds them.\n";
  if (Short)
    Out += "\n" + std::to_string(Short) +
           " short functions are not listed; the id of one is its name, "
           "`class::name` for a member.\n";
  if (Locked)
    Out += "\n" + std::to_string(Locked) +
           " further sites cannot be edited by themselves (in the expansion of "
           "a macro, for instance); name a site that holds them.\n";
  return Out;
}

std::string stark::describeAnchors(const std::vector<Anchor> &Anchors) {
  std::string Out;
  for (size_t I = 0; I < Anchors.size(); ++I) {
    const Anchor &A = Anchors[I];
    Out += "- anchor " + std::to_string(I + 1) + ": " +
           lineSpan(A.Line, A.EndLine) + " of the unmarked text";
    if (!A.SiteIds.empty())
      Out += ", site " + llvm::join(A.SiteIds, ", ");
    Out += "\n";
  }
  return Out;
}

std::string stark::describeObservations(const WindowEntry &Entry,
                                        size_t Limit) {
  std::string Out;
  for (const auto &[Name, Text] :
       {std::pair("Compiler observation", &Entry.Compiler),
        std::pair("Run observation", &Entry.Run)}) {
    Out += std::string("**") + Name + "**\n\n";
    Out += Text->empty() ? "None.\n\n"
                         : fenced("text", trimForWindow(*Text, Limit)) + "\n";
  }
  return Out;
}

/// The text of \p Entry: what it changed of the source when that is much
/// shorter, all of it otherwise.
static std::string describeText(const AgentInput &In,
                                const WindowEntry &Entry) {
  if (Entry.Text.empty())
    return "It gave no candidate.\n\n";
  std::string Source = cleanText(In.Of->SourceText),
              Text = cleanText(Entry.Text);
  if (Text == Source)
    return "Its text is the source's.\n\n";
  std::optional<std::string> Diff = unifiedDiff(Source, Text);
  if (Diff && Diff->size() < Text.size() / 2)
    return "Its changes to the source:\n\n" + fenced("diff", *Diff) + "\n";
  return fenced("cuda", Text) + "\n";
}

/// What came of it says the rest, where anything did.
static std::string describeAdvice(const WindowEntry &Entry) {
  size_t Limit = Entry.Text.empty() ? WindowLimit : AdviceLimit;
  return fenced("text", trimForWindow(Entry.Advice, Limit)) + "\n";
}

std::string stark::describeLatest(const AgentInput &In) {
  const WindowEntry &S = *In.Selected;
  std::string Out;
  if (cleanText(S.Text) == cleanText(In.Of->SourceText)) {
    Out = "The latest attempt is the source as it stands above.\n\n";
  } else {
    Out = "The latest attempt is " + S.Title + ".\n\n";
    if (!S.Advice.empty())
      Out += "The advice that led to it:\n\n" + describeAdvice(S);
    Out +=
        S.Text.empty()
            ? "It gave no candidate.\n\n"
            : fenced("cuda", withoutSharedHead(cleanText(S.Text),
                                               cleanText(In.Of->SourceText))) +
                  "\n";
  }
  return Out + describeObservations(S, LatestLimit) +
         Figures(In).describeOccupancy(In.Of->Load, S.Compiler);
}

std::string stark::describeWindow(const AgentInput &In) {
  if (In.Window.empty())
    return "There are no other attempts to learn from yet.\n";
  std::string Out;
  for (const WindowEntry &Entry : In.Window) {
    Out += "### " + cleanText(Entry.Title) + "\n\n";
    if (!Entry.Advice.empty())
      Out += "**Advice it followed**\n\n" + describeAdvice(Entry);
    Out += "**Code**\n\n" + describeText(In, Entry);
    Out += describeObservations(Entry, WindowLimit);
  }
  return Out;
}
