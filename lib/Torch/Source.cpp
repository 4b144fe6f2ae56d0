//===- Source.cpp - A graph as a translation unit -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   head -> signature -> one line a node, under the module it belongs to
///
//===----------------------------------------------------------------------===//

#include "stark/Torch/Source.h"
#include "Expression.h"
#include "Loops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using namespace stark::torch;

static void markUsed(const Constant &C, std::vector<bool> &Used) {
  if (C.Is == Constant::Kind::Tensor)
    Used[C.Tensor.Value] = true;
  for (const Constant &I : C.Items)
    markUsed(I, Used);
}

std::vector<unsigned> torch::parametersOf(const Graph &G) {
  std::vector<bool> Used(G.Inputs.size() + G.Nodes.size());
  for (const Node &N : G.Nodes)
    for (const Argument &A : N.Arguments)
      markUsed(A.Value, Used);
  for (const Output &O : G.Outputs)
    Used[O.Tensor.Value] = true;
  std::vector<unsigned> Order;
  for (bool Weights : {false, true})
    for (unsigned I = 0; I < G.Inputs.size(); ++I) {
      bool IsWeight = G.Inputs[I].Kind != InputKind::Input;
      if (IsWeight == Weights && (!IsWeight || Used[I]))
        Order.push_back(I);
    }
  return Order;
}

/// "[128, 64]", "i64 [128]"
static std::string describe(const TensorType &T) {
  std::string Text =
      T.Type == job::DType::F32 ? "" : nameOf(T.Type) + std::string(" ");
  Text += "[";
  for (size_t I = 0; I < T.Shape.size(); ++I)
    Text += (I ? ", " : "") + std::to_string(T.Shape[I]);
  return Text + "]";
}

static std::string describe(const Node &N) {
  std::string Text;
  for (const TensorType &T : N.Results)
    Text += (Text.empty() ? "" : ", ") + describe(T);
  return Text;
}

/// The module that a reader would call the part of: not the layer itself.
static llvm::StringRef partOf(const Node &N) {
  return llvm::StringRef(N.Path).contains('.')
             ? llvm::StringRef(N.Path).rsplit('.').first
             : llvm::StringRef();
}

namespace {
class SourceWriter {
public:
  SourceWriter(const Graph &G, const Names &N)
      : G(G), N(N), Write(G, N), OS(Text) {
    Given.insert(N.Entry);
    for (const std::string &Name : N.Inputs)
      Given.insert(Name);
    for (const std::vector<std::string> &Names : N.Nodes)
      for (const std::string &Name : Names)
        Given.insert(Name);
  }
  std::string write();

private:
  void head();
  void signature();
  void part(const Node &Of);
  /// The line of \p Of, whose names are those of node \p I.
  void node(const Node &Of, size_t I, llvm::StringRef Indent);
  void loop(const Loop &L);
  void results();
  std::string unused(const std::string &Wanted);

  const Graph &G;
  const Names &N;
  ExpressionWriter Write;
  std::string Text;
  llvm::raw_string_ostream OS;
  std::string Part;
  llvm::StringSet<> Given; ///< all names
};
} // namespace

void SourceWriter::head() {
  OS << "// " << G.Module << " of " << G.File
     << " as calls of ATen's operators, in " << G.Mode
     << " mode: stark-tool\n// import, torch " << G.TorchVersion << ".\n";
  for (const std::string &Note : G.Notes)
    OS << "// " << Note << "\n";
  OS << "#include <ATen/ATen.h>\n#include <cstdint>\n#include <limits>\n"
        "#include <optional>\n#include <vector>\n\n";
}

void SourceWriter::signature() {
  OS << (G.Outputs.size() == 1 ? "at::Tensor " : "std::vector<at::Tensor> ")
     << N.Entry << "(";
  bool First = true;
  for (unsigned I : parametersOf(G)) {
    OS << (First ? "\n" : ",\n") << "    const at::Tensor &" << N.Inputs[I]
       << " /* " << describe(G.Inputs[I].Type)
       << (G.Inputs[I].Changed ? ", changed" : "") << " */";
    First = false;
  }
  OS << ") {\n";
}

void SourceWriter::part(const Node &Of) {
  llvm::StringRef Now = partOf(Of);
  if (Now == Part)
    return;
  Part = Now.str();
  OS << "\n";
  if (!Part.empty())
    OS << "  // " << Part << "\n";
}

void SourceWriter::node(const Node &Of, size_t I, llvm::StringRef Indent) {
  OS << Indent;
  if (!Of.IsInPlace && Of.Kind == Returns::Tensor)
    OS << "at::Tensor " << N.Nodes[I][0] << " = ";
  else if (Of.Kind == Returns::List)
    OS << "std::vector<at::Tensor> " << N.Nodes[I][0] << " = ";
  else if (Of.Kind == Returns::Tuple)
    OS << "auto [" << llvm::join(N.Nodes[I], ", ") << "] = ";
  OS << Write.call(Of) << ";";
  if (!Of.IsInPlace && !Of.Results.empty())
    OS << " // " << describe(Of);
  OS << "\n";
}

std::string SourceWriter::unused(const std::string &Wanted) {
  std::string Name = Wanted;
  for (unsigned I = 2; !Given.insert(Name).second; ++I)
    Name = Wanted + "_" + std::to_string(I);
  return Name;
}

/// "3 + 2 * step"
static std::string affine(Loop::Affine A, const std::string &Step) {
  std::string Moved = A.Step == 1 || A.Step == -1
                          ? Step
                          : std::to_string(A.Step) + " * " + Step;
  if (A.Step == -1)
    return std::to_string(A.First) + " - " + Step;
  return (A.First ? std::to_string(A.First) + " + " : "") + Moved;
}

void SourceWriter::loop(const Loop &L) {
  part(G.Nodes[L.First]);
  std::string Step = unused("step");
  std::vector<std::string> Carried, Collected;
  for (const Loop::Carried &C : L.Carries) {
    Carried.push_back(unused("last_" + Write.use(C.Value)));
    OS << "  at::Tensor " << Carried.back();
    if (C.Start)
      OS << " = " << Write.use(*C.Start);
    OS << ";\n";
  }
  for (Use U : L.Collected) {
    Collected.push_back(unused("all_" + Write.use(U)));
    OS << "  std::vector<at::Tensor> " << Collected.back() << ";\n";
  }
  for (const auto &[C, A] : L.Numbers)
    Write.Instead[C] = affine(A, Step);
  for (const auto &[C, A] : L.Items)
    Write.Instead[C] = Write.use({C->Tensor.Value, std::nullopt}) + "[" +
                       affine(A, Step) + "]";
  for (const auto &[C, I] : L.FromBefore)
    Write.Instead[C] = Carried[I];
  OS << "  for (int64_t " << Step << " = 0; " << Step << " < " << L.Rounds
     << "; ++" << Step << ") {\n";
  for (size_t I = 0; I < L.Body.size(); ++I)
    node(L.Body[I], L.First + I, "    ");
  for (size_t I = 0; I < L.Collected.size(); ++I)
    OS << "    " << Collected[I] << ".push_back(" << Write.use(L.Collected[I])
       << ");\n";
  for (size_t I = 0; I < L.Carries.size(); ++I)
    OS << "    " << Carried[I] << " = " << Write.use(L.Carries[I].Value)
       << ";\n";
  OS << "  }\n";
  for (const auto &[C, I] : L.Lists)
    Write.Instead[C] = Collected[I];
  for (const auto &[Key, I] : L.Last)
    Write.Renamed[Key] = Carried[I];
}

void SourceWriter::results() {
  OS << "  return ";
  if (G.Outputs.size() > 1)
    OS << "{";
  for (size_t I = 0; I < G.Outputs.size(); ++I)
    OS << (I ? ", " : "") << Write.use(G.Outputs[I].Tensor);
  OS << (G.Outputs.size() > 1 ? "};\n}\n" : ";\n}\n");
}

std::string SourceWriter::write() {
  head();
  signature();
  std::vector<Loop> Loops = findLoops(G);
  auto Next = Loops.begin();
  for (size_t I = 0; I < G.Nodes.size();) {
    if (Next != Loops.end() && Next->First == I) {
      loop(*Next);
      I = Next++->end();
      continue;
    }
    part(G.Nodes[I]);
    node(G.Nodes[I], I, "  ");
    ++I;
  }
  results();
  return Text;
}

std::string torch::writeSource(const Graph &G, const Names &N) {
  return SourceWriter(G, N).write();
}
