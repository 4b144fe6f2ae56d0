//===- Describe.cpp - Diagnostics as a programmer wants them -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   with which size and seed, and how a child died
///
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include <csignal>
#include <cstring>

using namespace stark;
using namespace stark::job;
using namespace stark::worker;

std::string worker::describeSituation(const Job &J, const Situation &S) {
  return S.What + " with size '" + J.Cases[S.Case].Label + "', seed " +
         std::to_string(S.Seed);
}

std::string worker::describeMismatch(const Job &J, const Situation &S,
                                     unsigned LeafIndex, const Comparison &C) {
  return job::describeMismatch(J.Leaves[LeafIndex],
                               J.Cases[S.Case].Values[LeafIndex], C,
                               describeSituation(J, S));
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
