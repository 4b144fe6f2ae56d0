//===- Proof.cpp - With what a candidate was compared ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Names.h"
#include "stark/Judge/Judge.h"
#include <map>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

std::vector<std::string> judge::proofOf(const Job &J,
                                        const std::vector<bool> &Compared) {
  std::map<Regime, unsigned> Sizes;
  bool Shifted = false;
  for (unsigned I = 0; I < J.Cases.size() && I < Compared.size(); ++I)
    if (Compared[I]) {
      ++Sizes[J.Cases[I].Filling];
      Shifted |= J.Cases[I].Shifted;
    }
  std::vector<std::string> Lines;
  std::string Others;
  for (const auto &[Values, Count] : Sizes)
    if (Values == Regime::Given)
      Lines.push_back("values as the workload says, at " +
                      std::to_string(Count) +
                      (Count == 1 ? " size" : " sizes"));
    else
      Others += std::string(Others.empty() ? "" : ", ") + nameOf(Values);
  if (!Others.empty())
    Lines.push_back(std::string(OtherValues) + Others);
  if (Shifted)
    Lines.push_back("pointers that are aligned to their elements alone");
  return Lines;
}
