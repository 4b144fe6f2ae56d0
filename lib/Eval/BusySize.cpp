//===- BusySize.cpp - A timed size that keeps a GPU busy ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BusySize.h"
#include "llvm/Support/FormatVariadic.h"

using namespace stark;

void stark::offerBusySize(Draft &D, SmallSize Form, ModelledTimes TimesOf) {
  // A launch is some 2 us. What arrays of 16 MiB are in moves them for longer
  // than the launch takes.
  constexpr double MostlyLaunchUs = 5, BusyUs = 20, MiB = double(1 << 20),
                   LargeBytes = 16 * MiB;
  if (D.timedBytes() >= LargeBytes)
    return;
  // By degrees: of what needs the square of its arrays' size the first is
  // enough, and the last would take minutes to simulate.
  double Kept = 0;
  ModelledUs At;
  for (double Bytes : {1 * MiB, 8 * MiB, 80 * MiB, 320 * MiB}) {
    bool HardlyAny = Kept && At.LastUs < 0.7 * MostlyLaunchUs;
    if (Bytes < 2 * D.timedBytes() || (HardlyAny && Bytes < 10 * Kept))
      continue;
    if (!D.enlarge(Bytes))
      break;
    std::optional<ModelledUs> Now = TimesOf(D.text(Form, DraftSizes::Own));
    if (!Now)
      break;
    Kept = Bytes;
    At = *Now;
    if (At.FirstUs >= MostlyLaunchUs || At.LastUs >= BusyUs)
      break;
  }
  D.keepSize();
  // What grows no longer than this is bound by something else.
  if (At.FirstUs >= MostlyLaunchUs || At.LastUs < MostlyLaunchUs ||
      !D.enlarge(Kept))
    return;
  D.Notes.push_back(
      llvm::formatv("at the program's size it takes {0:F1} us on a simulated "
                    "GPU, of which a launch is most; a second timed size of "
                    "{1:F1} us was added: take out the one that is not of use",
                    At.FirstUs, At.LastUs)
          .str());
}
