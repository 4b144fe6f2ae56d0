//===- Diff.cpp - Which lines of a text changed --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Diff.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

using namespace stark;

static constexpr int MaxEdits = 600;

using Lines = llvm::SmallVector<llvm::StringRef, 0>;

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
static std::optional<std::vector<LineEdit>> shortestEdits(const Lines &A,
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
  std::vector<LineEdit> Script;
  int X = N, Y = M;
  for (int D = Edits; D >= 0; --D) {
    const std::vector<int> &V = Trace[size_t(D)];
    int K = X - Y;
    bool Insert = Down(V, K, D);
    int FromK = Insert ? K + 1 : K - 1;
    int FromX = D == 0 ? 0 : V[size_t(Offset + FromK)];
    int FromY = D == 0 ? 0 : FromX - FromK;
    while (X > FromX && Y > FromY) {
      Script.push_back({LineEdit::Same, A[size_t(X - 1)]});
      --X, --Y;
    }
    if (D == 0)
      break;
    if (Insert)
      Script.push_back({LineEdit::Added, B[size_t(Y - 1)]});
    else
      Script.push_back({LineEdit::Removed, A[size_t(X - 1)]});
    X = FromX;
    Y = FromY;
  }
  std::reverse(Script.begin(), Script.end());
  return Script;
}

std::optional<std::vector<LineEdit>> stark::diffLines(llvm::StringRef Old,
                                                      llvm::StringRef New) {
  return shortestEdits(splitLines(Old), splitLines(New));
}
