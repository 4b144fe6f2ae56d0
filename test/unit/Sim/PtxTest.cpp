//===- PtxTest.cpp - Inline PTX as code -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"
#include "stark/Job/Npy.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <random>

using namespace stark::sim;

namespace {
/// An asm statement with two outputs and four inputs, translated.
std::string translated(const std::string &Ptx) {
  std::string Escaped;
  for (unsigned char C : Ptx)
    if (C < 32 || C > 126 || C == '"' || C == '\\') {
      char Hex[8];
      std::snprintf(Hex, sizeof(Hex), "\\%02X", C);
      Escaped += Hex;
    } else {
      Escaped += char(C);
    }
  std::string Text =
      "define void @k(ptr %p, i32 %a, float %f, i16 %h, ptr %out) {\n"
      "  %r = call { i32, float } asm sideeffect \"" +
      Escaped +
      "\", \"=r,=x,r,r,x,r,i,~{memory}\"(ptr %p, i32 %a, float %f, i16 %h, "
      "i32 16)\n"
      "  store { i32, float } %r, ptr %out\n"
      "  ret void\n}\n";
  llvm::LLVMContext C;
  llvm::SMDiagnostic Problem;
  std::unique_ptr<llvm::Module> M = llvm::parseAssemblyString(Text, Problem, C);
  if (!M)
    return "cannot be read: " + Problem.getMessage().str();
  translatePtx(*M);
  std::string Wrong;
  llvm::raw_string_ostream Out(Wrong);
  if (llvm::verifyModule(*M, &Out))
    return "invalid: " + Wrong;
  for (llvm::GlobalVariable &V : M->globals())
    if (V.hasInitializer())
      if (auto *Said =
              llvm::dyn_cast<llvm::ConstantDataArray>(V.getInitializer()))
        return Said->getAsCString().str();
  return "known";
}

// Operands: $0 i32 and $1 float are written; $2 pointer, $3 i32, $4 float,
// $5 i16, $6 the immediate 16.
const char *const Forms[] = {
    "mov.u32 $0, %tid.x;",
    "$( .reg .b16 lo, hi; mov.b32 $(lo, hi$), $3; mov.b32 $0, $(hi, lo$); $)",
    "ld.global.nc.L1::no_allocate.v2.f32 $($1, _$), [$2+8];",
    "st.shared.v4.b32 [$3+$6], $($3, $3, 0, 1$);",
    "fma.rn.ftz.sat.f32 $1, $4, $4, 0f3F800000;",
    "@$3 lop3.b32 $0, $3, $3, $0, 0xE8;",
    "$(.reg .pred p; setp.lt.f32 p, $4, $1; @!p bfi.b32 $0, $3, $0, 3, 40;$)",
    "cvt.rn.bf16x2.f32 $0, $4, $1;",
    "cvt.rzi.s32.f32 $0, $4;",
    "cvt.f32.f16 $1, $5;",
    "shfl.sync.down.b32 $0, $3, 4, 0x181f, 0xffffffff;",
    "atom.global.cas.b32 $0, [$2], $3, 7;",
    "red.shared.add.f32 [$3], $4;",
    "cp.async.cg.shared.global [$3], [$2], $6;",
    "bar.sync 1, 64; membar.gl; redux.sync.min.s32 $0, $3, -1;",
    "prmt.b32 $0, $3, $3, $3; shf.r.clamp.b32 $0, $0, $3, 40;",
    "div.s32 $0, $3, 0; shl.b32 $0, $0, 99; mul.wide.u16 $0, $5, $5;",
    "ex2.approx.ftz.f32 $1, $4; sqrt.rn.f32 $1, $1; vote.sync.any.pred $0, $3, "
    "-1;"};
} // namespace

TEST(Ptx, KnownFormsBecomeCode) {
  for (const char *Form : Forms)
    EXPECT_EQ(translated(Form), "known") << Form;
}

TEST(Ptx, WhatIsNotKnownIsNamed) {
  EXPECT_EQ(translated("mov.u32 $0, 1;\n\twgmma.fence.sync.aligned;"),
            "\"wgmma.fence.sync.aligned\"");
  for (const char *Form :
       {"add.rz.f32 $1, $4, $4;", "ld.param.u32 $0, [$2];",
        "mov.u32 $0, %nsmid;", "mov.b32 $0, $(lo, hi$);", "bra done;",
        "cvt.rni.s64.f32 $0, $4;", "shfl.sync.idx.b32 $0, $3, 0, $3, -1;",
        "atom.global.inc.u32 $0, [$2], $3;", "mov.u32 $9, 1;", "ld.u32 $0, $2;",
        "ld.pred $0, [$2];", "add.s32 $0;", "setp.eq.s32 $0, 1;"})
    EXPECT_EQ(translated(Form).substr(0, 1), "\"") << Form;
}

// A text that is not PTX must end as unknown, or as valid code, never badly.
TEST(Ptx, AlteredTextsDoNoHarm) {
  std::mt19937_64 Random(7);
  const std::string Letters = "$%.,;{}[]()+-@!:0123456789xfbsup_ \n";
  for (unsigned Round = 0; Round < 3000; ++Round) {
    std::string Text = Forms[Random() % std::size(Forms)];
    if (Random() % 4 == 0)
      Text += Forms[Random() % std::size(Forms)];
    for (unsigned Changes = 1 + Random() % 3; Changes > 0; --Changes) {
      size_t At = Random() % Text.size();
      char Letter = Letters[Random() % Letters.size()];
      if (Random() % 3 == 0)
        Text.erase(At, 1);
      else if (Random() % 2)
        Text[At] = Letter;
      else
        Text.insert(At, 1, Letter);
      if (Text.empty())
        Text = ";";
    }
    std::string Said = translated(Text);
    EXPECT_TRUE(Said == "known" || Said.substr(0, 1) == "\"" ||
                Said.substr(0, 14) == "cannot be read")
        << Text << "\n"
        << Said;
  }
}
