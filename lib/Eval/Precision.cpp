//===- Precision.cpp - What kernels round with ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Precision.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <set>

using namespace stark;
using llvm::StringRef;

using Parts = llvm::SmallVector<StringRef, 12>;

/// "bf16" of "bf16x2"; empty: no type of fewer bits than f32 has.
static StringRef narrowType(StringRef Part) {
  Part.consume_back("x2");
  Part.consume_back("x4");
  for (StringRef Type :
       {"f16", "bf16", "tf32", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0"})
    if (Part == Type)
      return Type;
  return "";
}

static bool has(const Parts &Of, StringRef Part) {
  return llvm::is_contained(Of, Part);
}

/// wmma names no type where it is f16, and says what it adds up in first.
static std::string tensorClass(const Parts &P) {
  std::string Of;
  for (StringRef Part : P)
    if (StringRef Type = narrowType(Part);
        !Type.empty() && (Of.empty() || Type != "f16"))
      Of = Type.str();
  bool Adds = llvm::any_of(P, [](StringRef Part) {
    return Part == "f32" || Part == "f16" || Part == "f64";
  });
  if (llvm::any_of(P,
                   [](StringRef Part) { return Part.starts_with("kind::"); })) {
    for (StringRef Part : P)
      if (Part.consume_front("kind::"))
        return "mma of kind " + Part.str();
  }
  if (has(P, "f64") && Of.empty())
    return "";
  if (Of.empty())
    return Adds && P[0] == "wmma" ? "mma of f16" : "";
  // Only f16 is added up in less than f32.
  bool IntoHalf = !has(P, "f32") && Of == "f16";
  return "mma of " + Of + (IntoHalf ? " into f16" : "");
}

static void addClasses(const Parts &P, std::set<std::string> &Found) {
  StringRef Name = P[0];
  auto Add = [&](const std::string &Class) {
    if (!Class.empty())
      Found.insert(Class);
  };
  bool Tensor = (Name == "mma" || Name == "wgmma" || Name == "tcgen05" ||
                 (Name == "wmma" && has(P, "mma"))) &&
                !has(P, "ld") && !has(P, "st") && !has(P, "fence");
  if (Tensor)
    return Add(tensorClass(P));
  if (has(P, "ftz"))
    Add("subnormals as zero");
  if (has(P, "approx") || has(P, "full"))
    Add(Name.str() + (has(P, "approx") ? ".approx" : ".full"));
  // The type that is converted to stands before the one it is converted from.
  if (Name == "cvt" && P.size() >= 3) {
    StringRef To = P[P.size() - 2], From = P.back();
    if (StringRef Type = narrowType(To);
        !Type.empty() && narrowType(From) != Type)
      Add("conversion to " + Type.str());
    if (To == "f32" && From == "f64")
      Add("conversion to f32 from f64");
    return;
  }
  static constexpr StringRef Arithmetic[] = {"add", "sub", "mul",
                                             "fma", "red", "atom"};
  if (llvm::is_contained(Arithmetic, Name))
    for (StringRef Part : P)
      if (StringRef Type = narrowType(Part); !Type.empty())
        Add("arithmetic in " + Type.str());
}

/// Assembly of a source's own stands in it as it was written. Names of files
/// stand between quotes and may hold what looks like a comment; where one has a
/// backslash or no end, who knows where it ends for ptxas, and what would be in
/// comments from there on is taken for code.
static std::string withoutComments(StringRef Ptx) {
  std::string Text;
  bool Sure = true;
  while (!Ptx.empty()) {
    size_t At = std::min(
        {Ptx.find("/*"), Ptx.find("//"), Ptx.find("*/"), Ptx.find('"')});
    Text += Ptx.substr(0, At);
    if (At == StringRef::npos)
      break;
    Text += '\n';
    bool Quoted = Ptx[At] == '"', Begins = !Quoted && Ptx[At] == '/';
    StringRef Rest = Ptx.drop_front(At + (Quoted ? 1 : 2));
    if (Quoted && Sure) {
      size_t Close = Rest.find_first_of("\"\\\n");
      Sure = Close != StringRef::npos && Rest[Close] == '"';
      Ptx = Sure ? Rest.drop_front(Close + 1) : Rest;
    } else if (Begins && Sure) {
      StringRef End = Ptx[At + 1] == '*' ? "*/" : "\n";
      size_t Close = Rest.find(End);
      Ptx = Close == StringRef::npos ? StringRef()
                                     : Rest.drop_front(Close + End.size());
    } else {
      Ptx = Rest;
    }
  }
  return Text;
}

/// "ex2.approx.f32", behind labels and a guard.
static StringRef opcodeOf(StringRef Statement) {
  auto IsSpace = [](char C) { return C == ' ' || C == '\t' || C == '\r'; };
  for (;;) {
    Statement = Statement.drop_while(IsSpace);
    StringRef Word =
        Statement.take_until([&](char C) { return IsSpace(C) || C == ','; });
    if (!Word.starts_with("@") && !Word.ends_with(":"))
      return Word;
    Statement = Statement.drop_front(Word.size());
  }
}

std::vector<std::string> stark::precisionOf(StringRef Ptx) {
  std::set<std::string> Found;
  std::string Plain = withoutComments(Ptx);
  llvm::SmallVector<StringRef> Statements;
  llvm::SplitString(Plain, Statements, ";\n{}");
  for (StringRef Statement : Statements) {
    StringRef Opcode = opcodeOf(Statement);
    Parts P;
    Opcode.split(P, '.', -1, /*KeepEmpty=*/false);
    if (!Opcode.starts_with(".") && P.size() > 1)
      addClasses(P, Found);
  }
  return {Found.begin(), Found.end()};
}

bool stark::hasAsyncBarriers(StringRef Ptx) {
  std::string Plain = withoutComments(Ptx);
  llvm::SmallVector<StringRef> Statements;
  llvm::SplitString(Plain, Statements, ";\n{}");
  return llvm::any_of(Statements, [](StringRef Statement) {
    StringRef Opcode = opcodeOf(Statement);
    return Opcode.starts_with("mbarrier.") ||
           Opcode.starts_with("barrier.cluster.");
  });
}

PtxFacts stark::ptxFactsIn(StringRef Folder) {
  PtxFacts Facts;
  std::set<std::string> Found;
  std::error_code Error;
  for (llvm::sys::fs::directory_iterator I(Folder, Error), End;
       !Error && I != End; I.increment(Error)) {
    if (!StringRef(I->path()).ends_with(".ptx"))
      continue;
    llvm::Expected<std::string> Text = readFile(I->path());
    if (!Text) {
      llvm::consumeError(Text.takeError());
      continue;
    }
    for (std::string &Class : precisionOf(*Text))
      Found.insert(std::move(Class));
    Facts.AsyncBarriers |= hasAsyncBarriers(*Text);
  }
  Facts.Precision.assign(Found.begin(), Found.end());
  return Facts;
}

std::vector<std::string>
stark::newPrecision(llvm::ArrayRef<std::string> Candidate,
                    llvm::ArrayRef<std::string> Source) {
  std::vector<std::string> New;
  std::set_difference(Candidate.begin(), Candidate.end(), Source.begin(),
                      Source.end(), std::back_inserter(New));
  return New;
}
