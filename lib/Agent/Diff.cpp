//===- Diff.cpp - What an attempt changed ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Myers' O(ND) algorithm over lines, with a bound on D: past it a diff is no
/// shorter than the text, and memory would grow with its square.
///
//===----------------------------------------------------------------------===//

#include "stark/Agent/Quote.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

using namespace stark;

static constexpr int MaxEdits = 600;
static constexpr size_t Context = 3;

namespace {
using Lines = llvm::SmallVector<llvm::StringRef, 0>;
struct Edit {
  char Kind; ///< ' ', '-' or '+'
  llvm::StringRef Line;
};
} // namespace

static Lines splitLines(llvm::StringRef Text) {
  Lines Out;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Out.push_back(Line);
    Text = Rest;
  }
  return Out;
}

/// The shortest script from \p A to \p B, unset when longer than MaxEdits.
static std::optional<std::vector<Edit>> shortestEdits(const Lines &A,
                                                      const Lines &B) {
  int N = int(A.size()), M = int(B.size());
  int Bound = std::min(MaxEdits, N + M), Offset = Bound + 1;
  std::vector<int> Furthest(size_t(2 * Bound + 3), 0);
  std::vector<std::vector<int>> Trace;
  auto Down = [&](const std::vector<int> &V, int K, int D) {
    return K == -D ||
           (K != D && V[size_t(Offset + K - 1)] < V[size_t(Offset + K + 1)]);
  };
  int Edits = -1;
  for (int D = 0; D <= Bound && Edits < 0; ++D) {
    Trace.push_back(Furthest);
    for (int K = -D; K <= D; K += 2) {
      int X = Down(Furthest, K, D) ? Furthest[size_t(Offset + K + 1)]
                                   : Furthest[size_t(Offset + K - 1)] + 1;
      while (X < N && X - K < M && A[size_t(X)] == B[size_t(X - K)])
        ++X;
      Furthest[size_t(Offset + K)] = X;
      if (X >= N && X - K >= M) {
        Edits = D;
        break;
      }
    }
  }
  if (Edits < 0)
    return std::nullopt;
  std::vector<Edit> Script;
  int X = N, Y = M;
  for (int D = Edits; D >= 0; --D) {
    const std::vector<int> &V = Trace[size_t(D)];
    int K = X - Y;
    bool Insert = Down(V, K, D);
    int FromK = Insert ? K + 1 : K - 1;
    int FromX = D == 0 ? 0 : V[size_t(Offset + FromK)];
    int FromY = D == 0 ? 0 : FromX - FromK;
    while (X > FromX && Y > FromY) {
      Script.push_back({' ', A[size_t(X - 1)]});
      --X, --Y;
    }
    if (D == 0)
      break;
    if (Insert)
      Script.push_back({'+', B[size_t(Y - 1)]});
    else
      Script.push_back({'-', A[size_t(X - 1)]});
    X = FromX;
    Y = FromY;
  }
  std::reverse(Script.begin(), Script.end());
  return Script;
}

static std::string printHunks(const std::vector<Edit> &Script) {
  std::string Out;
  size_t OldLine = 1, NewLine = 1, I = 0;
  while (I < Script.size()) {
    // The next change, with context before it.
    size_t First = I;
    while (First < Script.size() && Script[First].Kind == ' ')
      ++First;
    if (First == Script.size())
      break;
    size_t Begin = First - std::min(First - I, Context);
    OldLine += Begin - I;
    NewLine += Begin - I;
    size_t End = First, Same = 0;
    while (End < Script.size() && Same <= 2 * Context)
      Same = Script[End++].Kind == ' ' ? Same + 1 : 0;
    End -= Same > Context ? Same - Context : 0;
    size_t Old = 0, New = 0;
    std::string Body;
    for (size_t J = Begin; J < End; ++J) {
      Old += Script[J].Kind != '+';
      New += Script[J].Kind != '-';
      Body += Script[J].Kind;
      Body += Script[J].Line;
      Body += '\n';
    }
    Out += "@@ -" + std::to_string(OldLine) + "," + std::to_string(Old) + " +" +
           std::to_string(NewLine) + "," + std::to_string(New) + " @@\n" + Body;
    OldLine += Old;
    NewLine += New;
    I = End;
  }
  return Out;
}

std::optional<std::string> stark::unifiedDiff(llvm::StringRef Old,
                                              llvm::StringRef New) {
  std::optional<std::vector<Edit>> Script =
      shortestEdits(splitLines(Old), splitLines(New));
  if (!Script)
    return std::nullopt;
  return printHunks(*Script);
}
