//===- LeadingIncludes.cpp - What a text includes first -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeadingIncludes.h"
#include "SourceTokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;
using llvm::StringRef;

/// Those of the toolkit that Clang takes between 0.1 and 5 s for. A name that
/// ends in '/' is a folder's.
static constexpr llvm::StringLiteral SlowHeaders[] = {"cooperative_groups.h",
                                                      "cooperative_groups/",
                                                      "cub/",
                                                      "thrust/",
                                                      "cuda/",
                                                      "cuda_bf16.h",
                                                      "cuda_fp16.h",
                                                      "cuda_fp8.h",
                                                      "cuda_awbarrier.h",
                                                      "cuda_pipeline.h",
                                                      "mma.h"};

std::vector<LeadingInclude> stark::leadingIncludes(StringRef Text) {
  Spellings Names;
  SourceTokens Tokens(Text, Names);
  std::vector<LeadingInclude> Includes;
  for (size_t I = 0; I + 3 < Tokens.All.size();) {
    auto Is = [&](size_t At, StringRef Word) {
      return At < Tokens.All.size() && Tokens.All[At].InDirective &&
             Tokens.text(At) == Word;
    };
    if (!Is(I, "#") || !Is(I + 1, "include"))
      break;
    size_t First = I + 2, Last = First;
    while (Last < Tokens.All.size() &&
           Tokens.All[Last].Kind != SourceToken::EndOfDirective)
      ++Last;
    if (Last == First)
      break;
    StringRef Name = Text.slice(Tokens.All[First].Bytes.Begin,
                                Tokens.All[Last - 1].Bytes.End);
    bool Angled = Name.consume_front("<") && Name.consume_back(">");
    if (Name.contains('\n') || Name.contains('<') || Name.contains('>') ||
        !(Angled || (Last == First + 1 && Name.consume_front("\"") &&
                     Name.consume_back("\""))))
      break;
    Includes.push_back({Name.str(), Angled});
    I = Last + 1;
  }
  return Includes;
}

static bool isSlow(StringRef Name) {
  return llvm::any_of(SlowHeaders, [&](StringRef Slow) {
    return Slow.ends_with("/") ? Name.starts_with(Slow) : Name == Slow;
  });
}

bool stark::isOfLibrary(StringRef Name) {
  return Name != "cassert" && llvm::all_of(Name, [](char C) {
           return llvm::isAlpha(C) || C == '_';
         });
}

static bool isOfToolkit(StringRef Name, StringRef Root) {
  if (Name.contains("..") || Name.starts_with("/"))
    return false;
  return llvm::sys::fs::exists(Root + "/include/" + Name) ||
         llvm::sys::fs::exists(Root + "/include/cccl/" + Name);
}

SlowOpening stark::slowOpening(StringRef Text, StringRef Root) {
  SlowOpening Found;
  bool Slow = false, Own = false;
  for (const LeadingInclude &I : leadingIncludes(Text)) {
    Own |= !I.Angled;
    if (!I.Angled)
      continue;
    if (!isOfLibrary(I.Name) && !isOfToolkit(I.Name, Root))
      break;
    Found.Includes.push_back(I.Name);
    Slow |= isSlow(I.Name);
    Found.BehindOwn |= Own;
  }
  return Slow ? Found : SlowOpening();
}

bool stark::macrosOf(StringRef Header, std::vector<std::string> &Names) {
  Spellings Words;
  SourceTokens Tokens(Header, Words);
  for (size_t I = 0; I + 1 < Tokens.All.size(); ++I) {
    if (!Tokens.All[I].InDirective || !Tokens.All[I].StartsLine ||
        !Tokens.is(I, "#"))
      continue;
    if (Tokens.is(I + 1, "pragma") && !Tokens.is(I + 2, "once") &&
        !Tokens.is(I + 2, "unroll"))
      return false;
    if (I + 2 < Tokens.All.size() &&
        (Tokens.is(I + 1, "define") || Tokens.is(I + 1, "undef")))
      Names.push_back(Tokens.text(I + 2).str());
  }
  return true;
}
