//===- main.cpp - stark-sim-host ------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/SimHost/Host.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace stark;

static const char Help[] = R"(stark-sim-host CONTROL FILE:FILE:...

Runs the host code of entries that take tensors for stark-sim, which starts it:
LLVM and libtorch are never in one process. CONTROL is the descriptor of a
socket, the files are libtorch's. Of no use by hand.
)";

int main(int Argc, char **Argv) {
  if (Argc == 2 && !std::strcmp(Argv[1], "--help")) {
    std::fputs(Help, stdout);
    return 0;
  }
  char *End = nullptr;
  simhost::HostOptions Options;
  if (Argc == 3) {
    Options.Control = int(std::strtol(Argv[1], &End, 10));
    Options.Preload = Argv[2];
  }
  if (Argc != 3 || *End || Options.Control < 3) {
    std::fputs("error: stark-sim-host is for stark-sim itself\n", stderr);
    return 2;
  }
  return simhost::runHost(Options);
}
