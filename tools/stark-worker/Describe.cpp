//===- Describe.cpp - Diagnostics as a programmer wants them -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   first bad index, got, wanted, how many of how many, with which size and
///   seed
///
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

using namespace stark;
using namespace stark::job;
using namespace stark::worker;

static std::string number(double Value) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.9g", Value);
  return Text;
}

std::string worker::describeSituation(const Job &J, const Situation &S) {
  return S.What + " with size '" + J.Cases[S.Case].Label + "', seed " +
         std::to_string(S.Seed);
}

/// "y[3][17] (flat 3089)": the index along each dimension.
static std::string place(const Leaf &L, const LeafValue &V, uint64_t Flat) {
  std::string Indices;
  uint64_t Rest = Flat;
  for (size_t I = V.Shape.size(); I-- > 0;) {
    Indices = "[" + std::to_string(Rest % uint64_t(V.Shape[I])) + "]" + Indices;
    Rest /= uint64_t(V.Shape[I]);
  }
  std::string Out = L.Name + Indices;
  return V.Shape.size() > 1 ? Out + " (flat index " + std::to_string(Flat) + ")"
                            : Out;
}

std::string worker::describeMismatch(const Job &J, const Situation &S,
                                     unsigned LeafIndex, const Comparison &C) {
  const Leaf &L = J.Leaves[LeafIndex];
  const LeafValue &V = J.Cases[S.Case].Values[LeafIndex];
  char Share[16];
  std::snprintf(Share, sizeof(Share), "%.3g",
                100.0 * double(C.Mismatches) / double(C.Count));
  std::string Text =
      "output '" + L.Name + "' is wrong (" + describeSituation(J, S) + ").\n" +
      std::to_string(C.Mismatches) + " of " + std::to_string(C.Count) +
      " elements (" + Share + " %) differ from the source's.\n" +
      "First: " + place(L, V, C.FirstBad) + " = " + number(C.Got) +
      ", wanted " + number(C.Wanted) + ".\n";
  if (C.Unwritten)
    Text += std::to_string(C.Unwritten) +
            " elements were never written; they still hold the pattern that "
            "outputs are filled with before a call.\n";
  bool Floating =
      L.Type != DType::I32 && L.Type != DType::I64 && L.Type != DType::U8;
  if (Floating)
    Text += "Allowed: |got - wanted| <= " + number(L.Tolerance) +
            " * (rms of the row + |wanted|)" +
            (C.WorstError > 0 ? "; the worst element is at " +
                                    number(C.WorstError) + " times that.\n"
                              : ".\n");
  return Text;
}

std::string worker::describeDeath(const Answer &A, const std::string &Printed) {
  std::string Text;
  if (A.Signal == SIGSYS)
    Text = "the entry made a system call that is not allowed (a new process or "
           "program, or reaching into another process)";
  else if (A.Signal == SIGSEGV || A.Signal == SIGBUS)
    Text = std::string("the host code of the entry crashed: ") +
           strsignal(A.Signal) + "; device pointers cannot be read on the host";
  else if (A.Signal)
    Text = std::string("the entry ended the process: ") + strsignal(A.Signal);
  else
    Text = "the entry ended the process with exit code " +
           std::to_string(A.ExitCode);
  if (!Printed.empty()) {
    std::string Cut = Printed.substr(0, 600);
    // What was printed reaches a prompt: keep it to text.
    for (char &C : Cut)
      if ((unsigned char)C < 32 && C != '\n' && C != '\t')
        C = '?';
    Text += "\nIt printed:\n" + Cut;
  }
  return Text;
}
