//===- AnchorSnap.cpp - From a marked region to whole nodes --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnchorSnap.h"
#include "stark/Support/Error.h"
#include <algorithm>

using namespace stark;

/// Sibling nodes First..Last of a parent.
namespace {
struct Run {
  const AnchorNode *Parent;
  size_t First, Last;
  Range tokens() const {
    return {Parent->Children[First].Tokens.Begin,
            Parent->Children[Last].Tokens.End};
  }
};
} // namespace

/// Takes in siblings until #if and #endif pair up; false when they cannot.
static bool pairConditionals(Run &R) {
  for (;;) {
    int Open = 0, Lowest = 0;
    bool Else = false; // an #else whose #if lies before the run
    for (size_t I = R.First; I <= R.Last; ++I) {
      Conditional C = R.Parent->Children[I].Branch;
      Else |= C == Conditional::Else && Open == 0 && Lowest == 0;
      Open += ifStep(C);
      Lowest = std::min(Lowest, Open);
    }
    if (Lowest < 0 || Else) {
      if (R.First == 0)
        return false;
      --R.First;
    } else if (Open > 0) {
      if (R.Last + 1 == R.Parent->Children.size())
        return false;
      ++R.Last;
    } else {
      return true;
    }
  }
}

/// The smallest run of whole siblings below \p Node that covers \p Region.
static bool cover(const AnchorNode &Node, Range Region, Run &Best) {
  const std::vector<AnchorNode> &C = Node.Children;
  size_t First = 0;
  while (First < C.size() && C[First].Tokens.End <= Region.Begin)
    ++First;
  size_t Last = First;
  while (Last + 1 < C.size() && C[Last + 1].Tokens.Begin < Region.End)
    ++Last;
  if (First >= C.size() || Region.Begin < C[First].Tokens.Begin ||
      C[Last].Tokens.End < Region.End)
    return false;
  if (First == Last && !(C[First].Tokens == Region) &&
      cover(C[First], Region, Best))
    return true;
  Run R{&Node, First, Last};
  // A #pragma belongs to the statement after it.
  while (C[R.Last].Pragma && R.Last + 1 < C.size() &&
         C[R.Last].Tokens.End == C[R.Last + 1].Tokens.Begin &&
         C[R.First].Kind == AnchorNode::Directive)
    ++R.Last;
  if (!pairConditionals(R))
    return false;
  Best = R;
  return true;
}

static std::string linesOf(const SourceTokens &T, Range Tokens) {
  unsigned First = T.line(T.All[Tokens.Begin].Bytes.Begin);
  unsigned Last = T.line(T.All[Tokens.End - 1].Bytes.Begin);
  return First == Last
             ? "line " + std::to_string(First)
             : "lines " + std::to_string(First) + " to " + std::to_string(Last);
}

llvm::Expected<Snapped> stark::snapRegion(const AnchorNode &Root,
                                          const SourceTokens &Tokens,
                                          Range Region, llvm::StringRef What) {
  auto Refuse = [&](const llvm::Twine &Why) {
    return failed(What + " (" + linesOf(Tokens, Region) + " of the source) " +
                  Why);
  };
  Run R{&Root, 0, 0};
  if (!cover(Root, Region, R))
    R = {&Root, 0, Root.Children.size() - 1}; // an #if without #endif
  bool Code = false, Skipped = true;
  for (size_t I = R.First; I <= R.Last; ++I) {
    const AnchorNode &N = R.Parent->Children[I];
    if (N.Kind == AnchorNode::Directive)
      continue;
    Code = true;
    Skipped &= N.Kind == AnchorNode::Skipped;
  }
  if (!Code) {
    size_t Word = R.Parent->Children[R.First].Tokens.Begin + 1;
    bool Brace = !Tokens.All[Word - 1].InDirective;
    return Refuse(Brace ? llvm::Twine("hold only the beginning or end of a "
                                      "namespace, which is no place to change")
                        : "hold only preprocessor directives (#" +
                              Tokens.text(Word) +
                              "); mark statements or declarations");
  }
  if (Skipped)
    return Refuse("hold only text that the preprocessor skips");
  if (R.First == R.Last) {
    const AnchorNode &N = R.Parent->Children[R.First];
    bool Statements = false;
    for (size_t I = N.Tokens.Begin; I + 1 < N.Tokens.End; ++I)
      Statements |= Tokens.is(I, "{") || Tokens.is(I, ";");
    bool Whole = N.Tokens.End == Region.End ||
                 (N.Tokens.End == Region.End + 1 && Tokens.is(Region.End, ";"));
    if (!N.Macro.empty() && (Statements || R.Parent == &Root) &&
        !(N.Tokens.Begin == Region.Begin && Whole))
      return Refuse("lie inside the expansion of macro '" + N.Macro +
                    "'; mark the whole of it or nothing of it");
  }
  return Snapped{R.tokens(), Region};
}

/// The outermost sites inside \p Bytes, else the innermost one around it.
static std::vector<std::string> siteIds(const Sites &BaseSites, Range Bytes) {
  std::vector<std::string> Ids;
  Range Taken{0, 0};
  const Site *Around = nullptr;
  std::vector<const Site *> Inside;
  for (const Site &S : BaseSites.All) {
    if (S.Bytes.size() == 0)
      continue;
    if (Bytes.contains(S.Bytes))
      Inside.push_back(&S);
    else if (S.Bytes.contains(Bytes) &&
             (!Around || S.Bytes.size() <= Around->Bytes.size()))
      Around = &S;
  }
  std::stable_sort(Inside.begin(), Inside.end(),
                   [](const Site *A, const Site *B) {
                     return A->Bytes.Begin != B->Bytes.Begin
                                ? A->Bytes.Begin < B->Bytes.Begin
                                : A->Bytes.End > B->Bytes.End;
                   });
  for (const Site *S : Inside) {
    if (Taken.size() && Taken.contains(S->Bytes))
      continue;
    Ids.push_back(S->Id);
    Taken = S->Bytes;
  }
  if (Ids.empty() && Around)
    Ids.push_back(Around->Id);
  return Ids;
}

std::vector<Anchor> stark::anchorsOf(const AnchorNode &Root,
                                     const SourceTokens &Tokens,
                                     const Sites &BaseSites,
                                     std::vector<Snapped> Runs) {
  auto Order = [](const Snapped &A, const Snapped &B) {
    return A.Tokens.Begin < B.Tokens.Begin;
  };
  for (bool Joined = true; Joined;) {
    Joined = false;
    std::stable_sort(Runs.begin(), Runs.end(), Order);
    for (size_t I = 0; I + 1 < Runs.size(); ++I) {
      Snapped &A = Runs[I];
      const Snapped &B = Runs[I + 1];
      if (!A.Tokens.overlaps(B.Tokens))
        continue;
      A.Region = {std::min(A.Region.Begin, B.Region.Begin),
                  std::max(A.Region.End, B.Region.End)};
      Range All{A.Tokens.Begin, std::max(A.Tokens.End, B.Tokens.End)};
      Run R{&Root, 0, Root.Children.size() - 1};
      if (!(All == A.Tokens) && cover(Root, All, R))
        All = R.tokens();
      A.Tokens = All;
      Runs.erase(Runs.begin() + I + 1);
      Joined = true;
      break;
    }
  }
  std::vector<Anchor> Anchors;
  for (const Snapped &S : Runs) {
    Anchor A;
    A.Bytes = Tokens.bytes(S.Tokens);
    A.Line = Tokens.line(A.Bytes.Begin);
    A.EndLine = Tokens.line(A.Bytes.End - 1);
    A.GrewBefore = S.Region.Begin - S.Tokens.Begin;
    A.GrewAfter = S.Tokens.End - S.Region.End;
    A.SiteIds = siteIds(BaseSites, A.Bytes);
    Anchors.push_back(std::move(A));
  }
  return Anchors;
}
