//===- TokenDigest.cpp - One digest for the same tokens ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceTokens.h"
#include "stark/AST/Footprint.h"
#include "stark/Support/Digest.h"

using namespace stark;

std::string stark::tokenDigest(llvm::StringRef Text) {
  Spellings Names;
  SourceTokens Tokens(Text, Names);
  DigestBuilder Digest;
  for (size_t I = 0; I < Tokens.All.size(); ++I)
    Digest.add(Tokens.All[I].Kind == SourceToken::EndOfDirective ? "end"
                                                                 : "token",
               Tokens.text(I));
  return Digest.finish();
}
