//===- Finding.cpp - What ends a simulated run early ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Finding.h"

using namespace stark::sim;

namespace {
struct FindingEntry {
  const char *Name;
  Effect Makes;
};
constexpr FindingEntry Findings[] = {
#define STARK_FINDING(Kind, Name, Makes) {Name, Effect::Makes},
#include "stark/Sim/Findings.def"
};

constexpr const char *Phrases[] = {
#define STARK_UNSUPPORTED(Kind, Phrase) Phrase,
#include "stark/Sim/Findings.def"
};
} // namespace

const char *stark::sim::nameOf(FindingKind K) {
  return Findings[unsigned(K)].Name;
}

Effect stark::sim::effectOf(FindingKind K) {
  return Findings[unsigned(K)].Makes;
}

std::string Unsupported::text() const {
  return Phrases[unsigned(Kind)] + Detail;
}
