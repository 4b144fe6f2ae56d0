//===- HostFlags.cpp - Flags for a host compiler --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostFlags.h"
#include "llvm/ADT/StringExtras.h"

std::vector<std::string>
stark::hostFlagsOf(const std::vector<std::string> &Given) {
  std::vector<std::string> Flags;
  for (size_t I = 0; I < Given.size(); ++I) {
    llvm::StringRef Flag = Given[I];
    bool Follows = Flag == "-D" || Flag == "-U" || Flag == "-I" ||
                   Flag == "-isystem" || Flag == "-iquote" ||
                   Flag == "-include";
    if (Follows && I + 1 < Given.size()) {
      Flags.insert(Flags.end(), {Flag.str(), Given[++I]});
    } else if (Flag.consume_front("-isystem=") || Flag.consume_front("-I=")) {
      // As nvcc takes it; to a host compiler '=' is the system's root.
      Flags.insert(Flags.end(),
                   {Given[I].substr(0, Given[I].find('=')), Flag.str()});
    } else if (Flag.starts_with("-std=") || Flag.starts_with("-D") ||
               Flag.starts_with("-U") || Flag.starts_with("-I") ||
               Flag.starts_with("-isystem") || Flag.starts_with("-O")) {
      Flags.push_back(Flag.str());
    } else if (Flag.consume_front("-Xcompiler=")) {
      for (llvm::StringRef Each : llvm::split(Flag, ','))
        Flags.push_back(Each.str());
    } else if (Flag == "-Xcompiler" && I + 1 < Given.size()) {
      for (llvm::StringRef Each : llvm::split(Given[++I], ','))
        Flags.push_back(Each.str());
    }
  }
  return Flags;
}
