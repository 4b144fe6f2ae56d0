//===- HostFlags.cpp - Flags for a host compiler --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include <utility>

/// The parts of "-fPIC,-MF,x.d" that make the host compiler write nothing but
/// its object, and load nothing.
static std::vector<std::string> withoutFiles(llvm::StringRef Parts) {
  static const llvm::StringSet<> WithValue = {
      "-MF",         "-MT",
      "-MQ",         "-o",
      "-aux-info",   "-dumpbase",
      "-wrapper",    "--serialize-diagnostics",
      "-Xclang",     "-Xpreprocessor",
      "-Xassembler", "-dumpdir",
      "-specs",      "-serialize-diagnostics"};
  // Reports, profiles, traces, what is split from the object; and counting,
  // which writes when the code is run.
  static constexpr llvm::StringLiteral Writing[] = {
      "-ftime-trace",
      "-ftime-report",
      "-fprofile",
      "--coverage",
      "-coverage",
      "-ftest-coverage",
      "-fcoverage",
      "-fauto-profile",
      "-fopt-info",
      "-fsave-optimization-record",
      "-foptimization-record",
      "-fstack-usage",
      "-fcallgraph-info",
      "-fcrash-diagnostics",
      "-gsplit-dwarf",
      "-fmodule",
      "-fpass-plugin",
      "-fload",
      "-specs=",
      "@"};
  std::vector<std::string> Kept;
  bool Skip = false;
  for (llvm::StringRef Part : llvm::split(Parts, ',')) {
    bool Value = std::exchange(Skip, WithValue.contains(Part));
    if (Value || Skip || Part.empty() || Part.starts_with("-M") ||
        Part.starts_with("-save-temps") || Part.starts_with("--save-temps") ||
        Part.starts_with("-fdump") || Part.starts_with("-fplugin") ||
        Part == "-E" || Part == "-S" || Part == "-c" ||
        llvm::any_of(Writing, [&](llvm::StringRef Start) {
          return Part.starts_with(Start);
        }))
      continue;
    Kept.push_back(Part.str());
  }
  return Kept;
}

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
      for (std::string &Each : withoutFiles(Flag))
        Flags.push_back(std::move(Each));
    } else if (Flag == "-Xcompiler" && I + 1 < Given.size()) {
      for (std::string &Each : withoutFiles(Given[++I]))
        Flags.push_back(std::move(Each));
    }
  }
  return Flags;
}

std::vector<std::string>
stark::nvccFlagsOf(const std::vector<std::string> &Given) {
  static const llvm::StringSet<> WithValue = {"-arch",
                                              "--gpu-architecture",
                                              "-gencode",
                                              "--generate-code",
                                              "-code",
                                              "--gpu-code",
                                              "-o",
                                              "--output-file",
                                              "-odir",
                                              "--output-directory",
                                              "-MF",
                                              "--dependency-output",
                                              "-MT",
                                              "-MQ",
                                              "-keep-dir",
                                              "--keep-dir",
                                              "-time",
                                              "--time",
                                              "-fdevice-time-trace",
                                              "--fdevice-time-trace"};
  static const llvm::StringSet<> Alone = {
      "-c",         "--compile", "-dc",           "--device-c",  "-dw",
      "--device-w", "-dlink",    "--device-link", "-link",       "--link",
      "-lib",       "--lib",     "-run",          "--run",       "-E",
      "-M",         "-MM",       "-MD",           "-MMD",        "-MP",
      "-ptx",       "--ptx",     "-cubin",        "--cubin",     "-fatbin",
      "--fatbin",   "-shared",   "--shared",      "-keep",       "--keep",
      "-k",         "-dryrun",   "--dryrun",      "-save-temps", "--save-temps",
      "-clean",     "--clean",   "-cuda",         "--cuda"};
  std::vector<std::string> Kept;
  for (size_t I = 0; I < Given.size(); ++I) {
    llvm::StringRef Flag = Given[I];
    auto [Name, Value] = Flag.split('=');
    if (Alone.contains(Flag))
      continue;
    if (WithValue.contains(Name)) {
      I += Name == Flag; // the value is the next word
      continue;
    }
    if (Name != "-Xcompiler" && Name != "--compiler-options") {
      Kept.push_back(Given[I]);
      continue;
    }
    if (Name == Flag && I + 1 < Given.size())
      Value = Given[++I];
    if (std::string Parts = llvm::join(withoutFiles(Value), ",");
        !Parts.empty())
      Kept.insert(Kept.end(), {"-Xcompiler", std::move(Parts)});
  }
  return Kept;
}

bool stark::wantDeviceLinker(const std::vector<std::string> &Given) {
  for (size_t I = 0; I < Given.size(); ++I) {
    auto [Name, Value] = llvm::StringRef(Given[I]).split('=');
    if (Name == "-dc" || Name == "--device-c" || Name == "-dlto" ||
        Name == "--dlink-time-opt")
      return true;
    if (Name != "-rdc" && Name != "--relocatable-device-code")
      continue;
    if (Name == Given[I] && I + 1 < Given.size())
      Value = Given[I + 1];
    return Value != "false";
  }
  return false;
}

bool stark::areOfProcessor(const std::vector<std::string> &Given) {
  return llvm::any_of(
      Given, [](llvm::StringRef Flag) { return Flag.contains("=native"); });
}

bool stark::areKnownToHosts(const std::vector<std::string> &Given) {
  static const llvm::StringSet<> WithValue = {"-D",
                                              "-U",
                                              "-I",
                                              "-isystem",
                                              "-iquote",
                                              "-include",
                                              "-Xcompiler",
                                              "-Xptxas",
                                              "-arch",
                                              "--gpu-architecture",
                                              "-gencode",
                                              "--generate-code",
                                              "-code",
                                              "--gpu-code",
                                              "-maxrregcount",
                                              "--maxrregcount",
                                              "-diag-suppress",
                                              "--diag-suppress",
                                              "-t",
                                              "--threads"};
  static const llvm::StringSet<> ForDevice = {"-use_fast_math",
                                              "--use_fast_math",
                                              "-lineinfo",
                                              "--generate-line-info",
                                              "-G",
                                              "--device-debug",
                                              "-g",
                                              "-w",
                                              "--expt-relaxed-constexpr",
                                              "-expt-relaxed-constexpr",
                                              "--expt-extended-lambda",
                                              "-expt-extended-lambda",
                                              "--extended-lambda",
                                              "-extended-lambda"};
  static constexpr llvm::StringLiteral Joined[] = {
      "-D",         "-U",          "-I",          "-isystem",
      "-std=",      "-O",          "-l",          "-L",
      "-fmad=",     "--fmad=",     "-ftz=",       "--ftz=",
      "-prec-div=", "--prec-div=", "-prec-sqrt=", "--prec-sqrt="};
  for (size_t I = 0; I < Given.size(); ++I) {
    llvm::StringRef Flag = Given[I];
    auto [Name, Value] = Flag.split('=');
    if (WithValue.contains(Name)) {
      I += Name == Flag; // the value is the next word
      continue;
    }
    if (!ForDevice.contains(Flag) &&
        llvm::none_of(Joined, [&](llvm::StringRef Start) {
          return Flag.starts_with(Start);
        }))
      return false;
  }
  return true;
}

std::string stark::pathForHost(llvm::StringRef Path, llvm::StringRef Folder) {
  auto IsPlain = [](char C) {
    return llvm::isAlnum(C) || llvm::StringRef("_-+./=:@%").contains(C);
  };
  if (llvm::all_of(Path, IsPlain))
    return Path.str();
  llvm::SmallString<256> To(Path);
  (void)llvm::sys::fs::make_absolute(To);
  std::string Link = (Folder + "/" + HomeLink).str();
  // It may be there, from the half that was compiled before.
  (void)llvm::sys::fs::create_link(To, Link);
  return Link;
}
