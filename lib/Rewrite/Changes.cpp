//===- Changes.cpp - What a rewrite changes in a source -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Changes.h"
#include "stark/Support/Error.h"
#include "clang/Format/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace clang;
using tooling::Replacement;
using tooling::Replacements;

static Replacement replacement(Range Bytes, llvm::StringRef Text) {
  return Replacement("", unsigned(Bytes.Begin), unsigned(Bytes.size()), Text);
}

void Changes::replace(Range Bytes, llvm::StringRef Text) {
  All.push_back({replacement(Bytes, Text), false});
}

void Changes::write(Range Bytes, llvm::StringRef Code) {
  All.push_back({replacement(Bytes, Code), true});
}

void Changes::add(const Changes &Others) {
  for (const Change &Each : Others.All)
    if (!llvm::is_contained(All, Each))
      All.push_back(Each);
}

/// LLVM's, with the indentation of the first line of \p Text that is indented
/// as code is.
static format::FormatStyle styleOf(llvm::StringRef Text, llvm::StringRef Path) {
  format::FormatStyle Style = format::getLLVMStyle();
  llvm::StringRef Before;
  for (llvm::StringRef Left = Text; !Left.empty();) {
    auto [Line, Rest] = Left.split('\n');
    llvm::StringRef Code = Line.ltrim(" \t");
    size_t Width = Line.size() - Code.size();
    if (Width && Before.rtrim().ends_with("{")) {
      bool Tabs = Line.starts_with("\t");
      Style.IndentWidth = Tabs ? Style.TabWidth : unsigned(Width);
      Style.UseTab =
          Tabs ? format::FormatStyle::UT_Always : format::FormatStyle::UT_Never;
      break;
    }
    Before = Line;
    Left = Rest;
  }
  llvm::Expected<format::FormatStyle> Own = format::getStyle(
      "file", Path, "none", Text, nullptr, /*AllowUnknownOptions=*/true);
  if (!Own) {
    llvm::consumeError(Own.takeError());
    return Style;
  }
  return Own->DisableFormat ? Style : *Own;
}

/// \p Text with Windows' line ends where it has none yet.
static std::string withReturns(llvm::StringRef Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '\n' && (I == 0 || Text[I - 1] != '\r'))
      Out += '\r';
    Out += Text[I];
  }
  return Out;
}

llvm::Expected<std::string> Changes::applyTo(llvm::StringRef Text,
                                             llvm::StringRef Path) const {
  bool Returns = Text.count("\r\n") * 2 > Text.count('\n');
  // Insertions at one place are one, since a set of replacements has no order.
  std::vector<Change> Merged;
  for (const Change &Each : All) {
    const Replacement &R = Each.Made;
    if (R.getOffset() + size_t(R.getLength()) > Text.size())
      return failed("a change of the rewrite lies outside of the text");
    std::string New = R.getReplacementText().str();
    auto Same = llvm::find_if(Merged, [&](const Change &Other) {
      return !R.getLength() && !Other.Made.getLength() &&
             Other.Made.getOffset() == R.getOffset();
    });
    bool Layout = Each.Layout;
    if (Same != Merged.end()) {
      New = Same->Made.getReplacementText().str() + New;
      Layout |= Same->Layout;
      Merged.erase(Same);
    }
    Range Bytes{R.getOffset(), R.getOffset() + size_t(R.getLength())};
    Merged.push_back({replacement(Bytes, New), Layout});
  }
  Replacements Set;
  for (Change &Each : Merged) {
    if (Returns)
      Each.Made = Replacement("", Each.Made.getOffset(), Each.Made.getLength(),
                              withReturns(Each.Made.getReplacementText()));
    if (llvm::Error E = Set.add(Each.Made)) {
      llvm::consumeError(std::move(E));
      return failed("two changes of the rewrite overlap");
    }
  }
  llvm::Expected<std::string> Changed =
      tooling::applyAllReplacements(Text, Set);
  if (!Changed)
    return Changed;
  llvm::stable_sort(Merged, [](const Change &A, const Change &B) {
    return std::pair(A.Made.getOffset(), A.Made.getLength()) <
           std::pair(B.Made.getOffset(), B.Made.getLength());
  });
  std::vector<tooling::Range> NewCode;
  size_t Moved = 0; // wraps around where text was taken away
  for (const Change &Each : Merged) {
    size_t Length = Each.Made.getReplacementText().size();
    if (Each.Layout)
      NewCode.emplace_back(unsigned(Each.Made.getOffset() + Moved),
                           unsigned(Length));
    Moved += Length - Each.Made.getLength();
  }
  if (NewCode.empty())
    return Changed;
  return tooling::applyAllReplacements(
      *Changed, format::reformat(styleOf(Text, Path), *Changed, NewCode, Path));
}

std::optional<std::string>
stark::substituted(llvm::StringRef Source, Range Whole,
                   llvm::ArrayRef<Substitute> Instead) {
  Replacements Set;
  for (const Substitute &Each : Instead) {
    Range Within{Each.Bytes.Begin - Whole.Begin, Each.Bytes.End - Whole.Begin};
    if (llvm::Error E = Set.add(replacement(Within, Each.Text))) {
      llvm::consumeError(std::move(E));
      return std::nullopt;
    }
  }
  llvm::Expected<std::string> Text =
      tooling::applyAllReplacements(Source.slice(Whole.Begin, Whole.End), Set);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return std::nullopt;
  }
  return std::move(*Text);
}
