//===- Names.cpp - What tensors are called in the source ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   paths in the tree of modules --> identifiers, each given once
/// What a module returns has the module's name (fc1); what it computes on the
/// way has the operator's after it (attn_transpose).
///
//===----------------------------------------------------------------------===//

#include "stark/Torch/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace stark::torch;

/// Words of the language, namespaces and macros that a generated name must not
/// be.
static constexpr llvm::StringLiteral Taken[] = {
    "alignas",     "alignof",    "and",          "and_eq",
    "asm",         "at",         "auto",         "bitand",
    "bitor",       "bool",       "break",        "c10",
    "case",        "catch",      "char",         "char16_t",
    "char32_t",    "char8_t",    "class",        "co_await",
    "co_return",   "co_yield",   "compl",        "concept",
    "const",       "const_cast", "consteval",    "constexpr",
    "constinit",   "continue",   "decltype",     "default",
    "delete",      "do",         "double",       "dynamic_cast",
    "else",        "enum",       "explicit",     "export",
    "extern",      "false",      "float",        "for",
    "friend",      "goto",       "if",           "inline",
    "int",         "int64_t",    "linux",        "long",
    "main",        "mutable",    "namespace",    "new",
    "noexcept",    "not",        "not_eq",       "nullptr",
    "operator",    "or",         "or_eq",        "private",
    "protected",   "public",     "register",     "reinterpret_cast",
    "requires",    "return",     "short",        "signed",
    "sizeof",      "stark_call", "static",       "static_assert",
    "static_cast", "std",        "struct",       "switch",
    "template",    "this",       "thread_local", "throw",
    "torch",       "true",       "try",          "typedef",
    "typeid",      "typename",   "union",        "unix",
    "unsigned",    "using",      "virtual",      "void",
    "volatile",    "wchar_t",    "while",        "xor",
    "xor_eq",      "EOF",        "NULL",         "INT64_MAX",
    "INT64_MIN",   "assert",     "errno",        "stdin",
    "stdout",      "stderr"};

namespace {
/// Gives each name once.
class Register {
public:
  Register() {
    for (llvm::StringRef Word : Taken)
      Given.insert(Word);
  }
  std::string give(llvm::StringRef Wanted) {
    std::string Name = identifier(Wanted);
    for (unsigned N = 2; !Given.insert(Name).second; ++N)
      Name = identifier(Wanted) + "_" + std::to_string(N);
    return Name;
  }

private:
  static std::string identifier(llvm::StringRef Text) {
    std::string Name;
    for (char C : Text)
      if (llvm::isAlnum(C))
        Name += C;
      else if (!Name.empty() && Name.back() != '_')
        Name += '_'; // two together are the implementation's
    while (!Name.empty() && Name.back() == '_')
      Name.pop_back();
    if (Name.empty() || llvm::isDigit(Name[0]))
      Name = "module" + std::string(Name.empty() ? "" : "_") + Name;
    return Name;
  }
  llvm::StringSet<> Given;
};
} // namespace

/// Paths of modules that have others within.
static llvm::StringSet<> outerModules(const Graph &G) {
  llvm::StringSet<> Outer;
  Outer.insert("");
  for (const Node &N : G.Nodes)
    for (llvm::StringRef Path = N.Path; Path.contains('.');) {
      Path = Path.rsplit('.').first;
      if (!Outer.insert(Path).second)
        break;
    }
  return Outer;
}

/// Whether \p I is the last of its module's nodes in a row that makes a tensor.
static bool isLastOfModule(const Graph &G, size_t I) {
  for (size_t Next = I + 1; Next < G.Nodes.size(); ++Next) {
    if (G.Nodes[Next].Path != G.Nodes[I].Path)
      return true;
    if (!G.Nodes[Next].IsInPlace)
      return false;
  }
  return true;
}

Names torch::chooseNames(const Graph &G, llvm::StringRef Entry) {
  Names N;
  Register All;
  N.Entry = All.give(Entry);
  N.Inputs.resize(G.Inputs.size());
  // What the module is called with keeps its name before any other.
  for (bool Weights : {false, true})
    for (size_t I = 0; I < G.Inputs.size(); ++I)
      if ((G.Inputs[I].Kind != InputKind::Input) == Weights)
        N.Inputs[I] = All.give(Weights ? G.Inputs[I].Path : G.Inputs[I].Name);
  llvm::StringSet<> Outer = outerModules(G);
  for (size_t I = 0; I < G.Nodes.size(); ++I) {
    const Node &Of = G.Nodes[I];
    bool IsModule = !Outer.contains(Of.Path) && isLastOfModule(G, I);
    std::string Wanted =
        IsModule ? Of.Path : Of.Path + (Of.Path.empty() ? "" : ".") + Of.Op;
    std::vector<std::string> &Given = N.Nodes.emplace_back();
    if (Of.IsInPlace || Of.Kind == Returns::Nothing)
      continue; // it has its first argument's
    Given.push_back(All.give(Wanted));
    if (Of.Kind == Returns::Tuple)
      for (size_t R = 1; R < Of.Results.size(); ++R)
        Given.push_back(All.give(Wanted + "_" + std::to_string(R)));
  }
  return N;
}

bool torch::isIdentifier(llvm::StringRef Name) {
  return !Name.empty() && Name.size() <= 200 && !llvm::isDigit(Name[0]) &&
         llvm::all_of(Name,
                      [](char C) { return llvm::isAlnum(C) || C == '_'; });
}

bool torch::isEntryName(llvm::StringRef Name) {
  return isIdentifier(Name) && Name.size() <= 100 && Name[0] != '_' &&
         !Name.contains("__") && !llvm::is_contained(Taken, Name);
}

std::string torch::entryNameFor(llvm::StringRef File) {
  llvm::StringRef Stem = llvm::sys::path::stem(File);
  Stem = Stem.ltrim("0123456789_-. ");
  std::string Name = Register().give(Stem.take_front(90));
  return Name;
}
