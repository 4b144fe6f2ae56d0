//===- Verbs.cpp - The table of verbs -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

std::vector<stark::tool::Verb> stark::tool::verbs() {
  return {sitesVerb(),    groundVerb(), rewritesVerb(), workloadVerb(),
          optimizeVerb(), reportVerb(), benchVerb(),    buildVerb(),
          doctorVerb(),   askVerb(),    simulateVerb()};
}
