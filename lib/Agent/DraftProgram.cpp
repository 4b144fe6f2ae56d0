//===- DraftProgram.cpp - The program that calls a kernel
//------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source, callers -> as they stand, or cut down to what matters, by lines
/// A file that is short is shown as it stands. Of a long one the entry and what
/// it reaches come first, then main() and host code that it reaches. A line in
/// brackets stands for lines that are not shown.
///
//===----------------------------------------------------------------------===//

#include "DraftTexts.h"
#include "TextForms.h"
#include "stark/AST/CodeText.h"
#include "stark/AST/Extract.h"
#include "stark/AST/Site.h"
#include "stark/Draft/Draft.h"
#include "stark/Eval/Verdict.h"
#include "stark/Support/CodeReach.h"
#include "stark/Support/CodeTokens.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace stark;
namespace path = llvm::sys::path;

/// Bytes of a file that is shown as it stands, of the parts of a longer one,
/// and of all headers together.
static constexpr size_t WholeLimit = 16000, PartLimit = 24000,
                        CallerLimit = 8000, HeadersLimit = 16000;

using LineSet = std::vector<bool>;

/// Whether \p Line, trimmed, is a comment that only draws a line.
static bool isRuler(llvm::StringRef Line) {
  constexpr size_t Shortest = 12;
  return Line.size() >= Shortest && Line.starts_with("/") &&
         Line.find_first_not_of("/*=-_#~+.0123456789 \t") ==
             llvm::StringRef::npos;
}

/// \p Text with its lines where they were, and less of what says nothing: drawn
/// lines, blanks at the ends.
static std::string withoutRulers(llvm::StringRef Text) {
  std::string Out;
  bool InComment = false;
  for (llvm::StringRef Line : llvm::split(Text, '\n')) {
    llvm::StringRef Bare = Line.trim();
    // What begins or ends a comment of several lines stays.
    bool Opens = Bare.starts_with("/*");
    if (!InComment && isRuler(Bare) && (!Opens || Bare.ends_with("*/")))
      Line = "//";
    if (Opens || InComment)
      InComment = !Bare.ends_with("*/");
    Out += (Line.rtrim() + "\n").str();
  }
  return llvm::StringRef(Out).rtrim('\n').str() + "\n";
}

/// "ns::k<float, 4>" -> "ns::k"
static llvm::StringRef withoutArguments(llvm::StringRef Entry) {
  return Entry.split('<').first;
}

/// The lines of \p Text that \p Root and what it reaches stand on; none where
/// words do not tell.
static LineSet reachedLines(llvm::StringRef Text, llvm::StringRef Root) {
  std::optional<CodeReach> Reach = reachOf(Text, Root);
  if (!Reach)
    return {};
  std::vector<CodeToken> Tokens = codeTokens(Text);
  LineSet Lines(Text.count('\n') + 2);
  for (const TokenRange &R : Reach->Kept) {
    if (!R.size())
      continue;
    size_t Begin = Tokens[R.First].Begin, End = Tokens[R.Last - 1].End;
    size_t First = Text.take_front(Begin).count('\n'),
           Last = First + Text.slice(Begin, End).count('\n');
    std::fill(Lines.begin() + long(First), Lines.begin() + long(Last) + 1,
              true);
  }
  return Lines;
}

/// The functions that \p Wanted, by Clang: kernels and what launches them.
static LineSet siteLines(const ParsedSource &Source, llvm::StringRef Text,
                         llvm::function_ref<bool(SiteKind)> Wanted) {
  LineSet Lines(Text.count('\n') + 2);
  for (const Site &S : findSites(Source).All)
    if (S.Parent < 0 && Wanted(S.Kind))
      for (size_t L = S.Line; L && L <= S.EndLine && L < Lines.size(); ++L)
        Lines[L - 1] = true;
  return Lines;
}

/// The lines \p Of \p Text, a line in brackets for each gap of more than two.
static std::string linesOf(llvm::StringRef Text, const LineSet &Of,
                           size_t Limit) {
  llvm::SmallVector<llvm::StringRef> All;
  Text.split(All, '\n');
  if (!All.empty() && All.back().empty())
    All.pop_back();
  std::string Out;
  for (size_t I = 0; I < All.size();) {
    size_t End = I;
    while (End < All.size() && !Of[End])
      ++End;
    if (End - I > 2 || (End == All.size() && End > I))
      Out += "[lines " + std::to_string(I + 1) + " to " + std::to_string(End) +
             " are not shown here]\n";
    else
      for (size_t L = I; L < End; ++L)
        Out += (All[L] + "\n").str();
    for (; End < All.size() && Of[End]; ++End)
      Out += (All[End] + "\n").str();
    I = End;
  }
  return trimForWindow(Out, Limit);
}

/// \p Source with what \p Entry and main() reach, the entry first. Where it is
/// \p Known which entry it is about, other kernels are left out.
static std::string describeFile(const ParsedSource &Source,
                                const std::string &Entry, bool Known,
                                size_t Limit) {
  std::string Text = withoutRulers(cleanText(Source.text()));
  if (Text.size() <= std::min(Limit, WholeLimit))
    return fenced("cuda", Text);
  LineSet Shown(llvm::StringRef(Text).count('\n') + 2);
  std::string Out;
  auto Show = [&](LineSet Lines) {
    for (size_t I = 0; I < Lines.size(); ++I) {
      Lines[I] = Lines[I] && !Shown[I];
      Shown[I] = Shown[I] || Lines[I];
    }
    if (llvm::is_contained(Lines, true))
      Out += std::string(Out.empty() ? "" : "\nFurther lines of it:\n\n") +
             fenced("cuda", linesOf(Text, Lines, Limit));
  };
  if (!Entry.empty())
    Show(reachedLines(Text, withoutArguments(Entry)));
  LineSet Others;
  if (Known && !Out.empty())
    Others = siteLines(Source, Text, [](SiteKind K) {
      return K == SiteKind::Kernel || K == SiteKind::Device;
    });
  LineSet OfMain = reachedLines(Text, "main");
  for (size_t I = 0; I < OfMain.size() && I < Others.size(); ++I)
    OfMain[I] = OfMain[I] && !Others[I];
  Show(std::move(OfMain));
  if (Out.empty())
    Show(siteLines(Source, Text, [](SiteKind) { return true; }));
  return Out.empty() ? fenced("cuda", trimForWindow(Text, Limit)) : Out;
}

static std::string nameFor(llvm::StringRef File, llvm::StringRef Beside) {
  llvm::StringRef Folder = path::parent_path(Beside);
  if (!Folder.empty() && File.consume_front(Folder) && File.consume_front("/"))
    return File.str();
  llvm::StringRef Above = path::parent_path(Folder);
  if (!Above.empty() && File.consume_front(Above) && File.consume_front("/"))
    return ("../" + File).str();
  return path::filename(File).str();
}

static std::string describeHeader(const std::string &Name,
                                  const std::string &Text, size_t &Left) {
  if (Text.size() > Left)
    return "`" + Name + "`, " + std::to_string(Text.size()) +
           " bytes, is not shown.\n\n";
  Left -= Text.size();
  return "Of `" + Name + "`:\n\n" + fenced("cuda", Text) + "\n";
}

/// What the entry and main() reach of headers of the project; all of these
/// where that cannot be told.
static std::string describeHeaders(const DraftQuestion &Q) {
  if (!hasProjectHeaders(Q.Source, Q.Options))
    return "";
  size_t Left = HeadersLimit;
  std::string Out;
  bool HasMain = llvm::StringRef(Q.Source.text()).contains("main");
  std::vector<std::vector<std::string>> Tries;
  if (!Q.Entry.empty() && HasMain)
    Tries.push_back({Q.Entry, "main"});
  if (!Q.Entry.empty())
    Tries.push_back({Q.Entry});
  if (HasMain)
    Tries.push_back({"main"});
  for (const std::vector<std::string> &Entries : Tries) {
    llvm::Expected<Extraction> Made =
        extractEntry(Q.Source, Q.Options, Entries);
    if (!Made) {
      llvm::consumeError(Made.takeError());
      continue;
    }
    for (const ExtractedHeader &H : Made->Headers)
      Out += describeHeader(H.Name, cleanText(H.Text), Left);
    return Out;
  }
  for (const std::string &Header : Q.Source.includedFiles()) {
    llvm::Expected<std::string> Text = readFile(Header);
    if (Text)
      Out += describeHeader(nameFor(Header, Q.Source.path()), cleanText(*Text),
                            Left);
    else
      llvm::consumeError(Text.takeError());
  }
  return Out;
}

/// Main files of \p Text's program have one.
static bool definesMain(const ParsedSource &Source) {
  return definesFunction(Source.text(), "main");
}

std::string stark::describeProgram(const DraftQuestion &Q) {
  std::string Out = describeFile(Q.Source, Q.Entry, Q.Of, PartLimit) + "\n" +
                    describeHeaders(Q);
  std::set<std::string> Shown{absolutePath(Q.Source.path())};
  auto Show = [&](const ParsedSource &Caller, llvm::StringRef Calls) {
    if (Shown.insert(absolutePath(Caller.path())).second)
      Out += "`" + nameFor(Caller.path(), Q.Source.path()) +
             "`, a file of the same project that calls " + Calls.str() +
             ":\n\n" + describeFile(Caller, "", /*Known=*/false, CallerLimit) +
             "\n";
  };
  for (const auto &Caller : Q.Callers)
    Show(*Caller, "it");
  // Sizes may be those of who calls them in turn.
  if (llvm::none_of(Q.Callers,
                    [](const auto &Caller) { return definesMain(*Caller); }))
    for (const auto &Caller : Q.Callers)
      for (const auto &Outer : findCallers(*Caller, Q.Options))
        if (definesMain(*Outer))
          Show(*Outer, "`" + path::filename(Caller->path()).str() + "`");
  return llvm::StringRef(Out).rtrim().str() + "\n";
}
