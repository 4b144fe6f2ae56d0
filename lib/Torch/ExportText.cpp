//===- ExportText.cpp - Literals of Python, C++ and Markdown --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text of anybody's -> a literal that can end nowhere but at its end
///
//===----------------------------------------------------------------------===//

#include "ExportText.h"
#include "stark/AST/Torch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace stark;
using namespace stark::torch;

static bool isKeyLetter(char C) { return llvm::isUpper(C) || C == '_'; }

std::string torch::fillTemplate(llvm::StringRef Template,
                                const TextValues &Values) {
  std::string Out;
  while (!Template.empty()) {
    size_t At = Template.find('@');
    Out += Template.substr(0, At);
    if (At == llvm::StringRef::npos)
      break;
    Template = Template.substr(At + 1);
    llvm::StringRef Key = Template.take_while(isKeyLetter);
    // "@property" and a lone "@" are the template's own.
    if (Key.empty() || Template.size() == Key.size() ||
        Template[Key.size()] != '@') {
      Out += '@';
      continue;
    }
    auto Found = Values.find(Key.str());
    assert(Found != Values.end() && "a template has a key without a value");
    if (Found != Values.end())
      Out += Found->second;
    Template = Template.substr(Key.size() + 1);
  }
  return Out;
}

/// \p C inside of a literal of Python that is not raw.
static void writeEscaped(unsigned char C, char Quote, llvm::raw_ostream &OS) {
  if (C == '\\' || C == Quote)
    OS << '\\' << C;
  else if (C < 0x20 || C == 0x7f)
    OS << llvm::format("\\x%02x", C);
  else
    OS << C;
}

std::string torch::pythonText(llvm::StringRef Text) {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  OS << '"';
  for (unsigned char C : Text)
    writeEscaped(C, '"', OS);
  OS << '"';
  return Out;
}

std::string torch::pythonList(const std::vector<std::string> &Items) {
  std::string Out;
  for (const std::string &Item : Items)
    Out += (Out.empty() ? "" : ", ") + pythonText(Item);
  return "[" + Out + "]";
}

static bool isWordLetter(char C) {
  return llvm::isAlnum(C) || C == '_' || (unsigned char)C >= 0x80;
}

/// The length of the word that \p Text begins with, if it is one that
/// KernelBench's check would take for a statement of Python's, else 0.
static size_t suspectedWord(llvm::StringRef Text) {
  for (llvm::StringRef Word : {"pass", "except", "try"})
    if (Text.starts_with(Word) &&
        (Text.size() == Word.size() || !isWordLetter(Text[Word.size()])) &&
        (Word != "try" || Text.drop_front(3).ltrim().starts_with(":")))
      return Word.size();
  return 0;
}

std::string torch::pythonBlock(llvm::StringRef Text) {
  std::string Escaped;
  llvm::raw_string_ostream OS(Escaped);
  bool CanBeRaw =
      !Text.contains("'''") && !Text.ends_with("'") && !Text.ends_with("\\");
  for (size_t I = 0; I < Text.size(); ++I) {
    bool Begins = I == 0 || !isWordLetter(Text[I - 1]);
    if (Begins && suspectedWord(Text.substr(I))) {
      OS << llvm::format("\\x%02x", (unsigned char)Text[I]);
      CanBeRaw = false;
    } else if (Text[I] == '\n' || Text[I] == '\t') {
      OS << Text[I];
    } else {
      CanBeRaw &= (unsigned char)Text[I] >= 0x20;
      writeEscaped((unsigned char)Text[I], '\'', OS);
    }
  }
  return CanBeRaw ? "r'''" + Text.str() + "'''" : "'''" + Escaped + "'''";
}

std::string torch::pythonType(job::DType E) {
  switch (E) {
  case job::DType::F32:
    return "torch.float32";
  case job::DType::F64:
    return "torch.float64";
  case job::DType::F16:
    return "torch.float16";
  case job::DType::BF16:
    return "torch.bfloat16";
  case job::DType::I8:
    return "torch.int8";
  case job::DType::I16:
    return "torch.int16";
  case job::DType::I32:
    return "torch.int32";
  case job::DType::I64:
    return "torch.int64";
  case job::DType::U8:
    return "torch.uint8";
  case job::DType::Bool:
    return "torch.bool";
  case job::DType::C64:
    return "torch.complex64";
  case job::DType::C128:
    return "torch.complex128";
  }
  llvm_unreachable("every element type has a name");
}

std::string torch::pythonShape(const TensorType &T) {
  std::string Out;
  for (int64_t Extent : T.Shape)
    Out += (Out.empty() ? "" : ", ") + std::to_string(Extent);
  return "(" + Out + (T.Shape.size() == 1 ? ",)" : ")");
}

std::string torch::markdownText(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text) {
    if (llvm::StringRef("\\`*_{}[]<>#|&!~$").contains(C))
      Out += '\\';
    Out += (unsigned char)C < 0x20 || C == 0x7f ? ' ' : C;
  }
  return Out;
}

/// \p Source without comments; literals stay, and "//" in one is none.
static std::string withoutComments(llvm::StringRef Source) {
  std::string Out;
  for (size_t I = 0; I < Source.size();) {
    llvm::StringRef Rest = Source.substr(I);
    if (Rest.starts_with("//")) {
      I = Source.find('\n', I);
    } else if (Rest.starts_with("/*")) {
      size_t End = Source.find("*/", I + 2);
      I = End == llvm::StringRef::npos ? End : End + 2;
      Out += ' ';
    } else if (Rest.starts_with("\"")) {
      size_t End = I + 1;
      while (End < Source.size() && Source[End] != '"' && Source[End] != '\n')
        End += Source[End] == '\\' ? 2 : 1;
      Out += Source.slice(I, End + 1);
      I = End + 1;
    } else {
      Out += Source[I++];
    }
  }
  return Out;
}

std::string torch::withGivenHeaders(llvm::StringRef Source) {
  posix::Libtorch Torch;
  Torch.Cuda = usesCuda(Source);
  std::string Headers = torchHeaders(Torch), Code = withoutComments(Source);
  llvm::StringSet<> Own;
  for (llvm::StringRef Line : llvm::split(Code, '\n'))
    Own.insert(includedName(Line));
  std::string Text;
  for (llvm::StringRef Line : llvm::split(Headers, '\n'))
    if (!Own.contains(includedName(Line)) && !Line.empty())
      Text += (Line + "\n").str();
  if (Text.empty())
    return Source.str();
  return "// Of the headers that it was judged with, those that it does not "
         "include:\n" +
         Text + "\n" + Source.str();
}

bool torch::usesCuda(llvm::StringRef Source) {
  std::string Code = llvm::StringRef(withoutComments(Source)).lower();
  return llvm::any_of(
      llvm::ArrayRef<llvm::StringRef>{"cuda", "<<<", "__global__", "cublas",
                                      "cudnn", "cutlass", "cute::", "thrust"},
      [&](llvm::StringRef Word) {
        return llvm::StringRef(Code).contains(Word);
      });
}
