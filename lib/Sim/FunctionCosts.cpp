//===- FunctionCosts.cpp - What a GPU issues for a library function -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   name of a function -> issue slots, as counted in the machine code that
/// nvcc 13.0 makes for sm_90
///
//===----------------------------------------------------------------------===//

#include "Costs.h"
#include "Headers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include <array>
#include <cstdlib>

using namespace llvm;
using namespace stark::sim;

/// What the CUDA math library makes of a call, the path without exceptions: as
/// in the machine code that nvcc 13.0 makes for sm_90 (div, exp, sin counted).
Slots stark::sim::libraryCost(StringRef Name, const Type *Result) {
  Name.consume_front("llvm.");
  StringRef Base = Name.split('.').first;
  bool Double = Result->getScalarType()->isDoubleTy();
  StringRef Plain = Base;
  if (!Double && Plain.ends_with("f") && Plain != "erf")
    Plain = Plain.drop_back();
  auto [Special, Float, Integer] =
      StringSwitch<std::array<float, 3>>(Plain)
          .Cases("fabs", "copysign", {0, 0, 0})
          .Cases("fma", "fmuladd", {0, 1, 0})
          .Cases("fmax", "fmin", "maxnum", "minnum", {0, 0, 1})
          .Cases("floor", "ceil", "trunc", "rint", "nearbyint", "round",
                 {1, 0, 0})
          .Cases("sqrt", "__fsqrt_rn", {1, 6, 4})
          .Cases("rsqrt", "stark_rsqrt", {1, 2, 1})
          .Cases("exp", "exp2", {1, 6, 1})
          .Cases("log", "log2", "log10", {0, 12, 6})
          .Cases("sin", "cos", {1, 14, 14})
          .Cases("tanh", "expm1", {2, 10, 4})
          .Cases("pow", "powr", {2, 35, 10})
          .Cases("erf", "erfc", {1, 20, 5})
          .Default({1, 15, 5});
  Slots S;
  S.Where = Double ? Unit::Double : Special > 0 ? Unit::Special : Unit::Float;
  S.Count = Double ? Special * 10 + Float : Special > 0 ? Special : Float;
  S.Float = Double || Special <= 0 ? 0 : Float;
  S.Integer = Integer;
  return S;
}

namespace {
/// Functions of our headers by the GPU's instructions for them.
const StringMap<Slots> &instructionTable() {
  static const StringMap<Slots> Table = [] {
    StringMap<Slots> T;
    auto Add = [&](Slots S, std::initializer_list<const char *> Names) {
      for (const char *Name : Names)
        T[Name] = S;
    };
    const char *Arithmetic[] = {"add", "sub", "mul", "fma", "neg", "abs", "max",
                                "min", "lt",  "gt",  "le",  "ge",  "eq",  "ne"};
    for (const char *Name : Arithmetic)
      for (const char *Width : {"", "2"})
        for (const char *Form : {"", "_rn", "_sat", "_relu", "_nan"})
          T[std::string("__h") + Name + Width + Form] = {Unit::Half, 1, 0};
    Add({Unit::Integer, 1, 0}, {"__half2float",
                                "__float2half",
                                "__float2half_rn",
                                "__float2half_rz",
                                "__bfloat162float",
                                "__float2bfloat16",
                                "__float2bfloat16_rn",
                                "__float22half2_rn",
                                "__floats2half2_rn",
                                "__float22bfloat162_rn",
                                "__floats2bfloat162_rn",
                                "__byte_perm",
                                "__dp4a",
                                "__dp2a_lo",
                                "__dp2a_hi",
                                "__funnelshift_l",
                                "__funnelshift_r",
                                "__sad",
                                "__usad",
                                "__float2int_rn",
                                "__float2int_rz",
                                "__float2uint_rn",
                                "__float2uint_rz",
                                "__int2float_rn",
                                "__uint2float_rn",
                                "__half2int_rn",
                                "__int2half_rn"});
    Add({Unit::Double, 1, 0}, {"__double2half", "__double2bfloat16"});
    Add({Unit::Multiply, 1, 0}, {"__mul24", "__umul24"});
    Add({Unit::Multiply, 2, 0}, {"__mulhi", "__umulhi"});
    Add({Unit::Integer, 2, 0}, {"__half22float2", "__bfloat1622float2",
                                "__vadd4", "__vsub4", "__vadd2", "__vsub2"});
    // A quarter of the integer rate.
    Add({Unit::Integer, 4, 0}, {"__popc", "__clz", "__ffs", "__brev"});
    Add({Unit::Integer, 8, 0}, {"__popcll", "__clzll", "__ffsll", "__brevll"});
    for (const char *Name : {"__fadd_", "__fsub_", "__fmul_", "__fmaf_"})
      for (const char *Rounding : {"rn", "rz", "ru", "rd"})
        T[std::string(Name) + Rounding] = {Unit::Float, 1, 0};
    for (const char *Name : {"__dadd_", "__dsub_", "__dmul_", "__fma_"})
      for (const char *Rounding : {"rn", "rz", "ru", "rd"})
        T[std::string(Name) + Rounding] = {Unit::Double, 1, 0};
    Add({Unit::Float, 1, 0}, {"__saturatef"});
    Add({Unit::Special, 1, 2, 2}, {"__fdividef"});
    Add({Unit::Special, 2, 1}, {"__powf"});
    Add({Unit::Special, 3, 1}, {"__tanf"});
    Add({Unit::Special, 1, 5}, {"__frcp_rn", "__frcp_rz", "__hdiv"});
    Add({Unit::Special, 1, 8}, {"__fsqrt_rn", "__fsqrt_rz"});
    Add({Unit::Special, 1, 7}, {"__fdiv_rn", "__fdiv_rz"});
    Add({Unit::Special, 1, 2},
        {"hexp", "hexp2", "hlog", "hlog2", "hrcp", "hrsqrt", "hsqrt", "htanh"});
    Add({Unit::Special, 2, 4},
        {"h2exp", "h2exp2", "h2log", "h2log2", "h2rcp", "h2rsqrt", "h2sqrt"});
    return T;
  }();
  return Table;
}

std::string baseName(StringRef Symbol) {
  ItaniumPartialDemangler Parts;
  std::string Mangled = Symbol.str();
  if (Parts.partialDemangle(Mangled.c_str()))
    return Mangled;
  char *Base = Parts.getFunctionBaseName(nullptr, nullptr);
  std::string Name = Base ? Base : "";
  std::free(Base);
  return Name;
}

} // namespace

Slots stark::sim::instructionCost(const Function &F) {
  auto Found = instructionTable().find(baseName(F.getName()));
  return Found == instructionTable().end() ? Slots{Unit::Special, 1, 0}
                                           : Found->second;
}

bool stark::sim::isInstruction(const Function &F) {
  if (F.isDeclaration())
    return false;
  const DISubprogram *Where = F.getSubprogram();
  if (!Where || !Where->getFilename().contains(HeaderFolder))
    return F.getName().contains("__stark_sim_unit_");
  std::string Base = baseName(F.getName());
  return StringRef(Base).starts_with("__stark_sim_unit_") ||
         instructionTable().contains(Base);
}
