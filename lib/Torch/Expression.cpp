//===- Expression.cpp - Calls of ATen's operators in C++ ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   arguments in the schema's order -> those that differ from its defaults ->
/// literals of the parameters' types. dtype, layout, device and pin_memory are
/// one TensorOptions in C++.
///
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>

using namespace stark;
using namespace stark::torch;
using K = Constant::Kind;

/// 0.1, 1.0, std::numeric_limits<double>::infinity()
static std::string realLiteral(double Value) {
  if (std::isnan(Value))
    return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(Value))
    return std::string(Value < 0 ? "-" : "") +
           "std::numeric_limits<double>::infinity()";
  char Buffer[64];
  char *End = std::to_chars(Buffer, Buffer + sizeof(Buffer), Value).ptr;
  std::string Text(Buffer, End);
  return Text.find_first_of(".e") == std::string::npos ? Text + ".0" : Text;
}

static std::string integerLiteral(int64_t Value) {
  if (Value == INT64_MAX)
    return "INT64_MAX";
  if (Value == INT64_MIN)
    return "INT64_MIN";
  return std::to_string(Value);
}

/// Nothing that it holds can end the literal.
static std::string textLiteral(llvm::StringRef Text) {
  std::string Out = "\"";
  for (unsigned char C : Text) {
    if (C == '"' || C == '\\')
      Out += std::string("\\") + char(C);
    else if (C >= 0x20 && C < 0x7f)
      Out += char(C);
    else // three octal digits: no more can belong to it
      Out += std::string("\\") + char('0' + C / 64) + char('0' + C / 8 % 8) +
             char('0' + C % 8);
  }
  return Out + "\"";
}

static const char *formatLiteral(llvm::StringRef Format) {
  return Format == "channels_last"      ? "at::MemoryFormat::ChannelsLast"
         : Format == "channels_last_3d" ? "at::MemoryFormat::ChannelsLast3d"
         : Format == "preserve"         ? "at::MemoryFormat::Preserve"
                                        : "at::MemoryFormat::Contiguous";
}

ExpressionWriter::ExpressionWriter(const Graph &G, const Names &N)
    : G(G), N(N) {
  std::vector<unsigned> Parameters = parametersOf(G);
  if (!Parameters.empty())
    Anchor = N.Inputs[Parameters.front()];
}

std::string ExpressionWriter::use(Use U) const {
  if (auto Said = Renamed.find(keyOf(U)); Said != Renamed.end())
    return Said->second;
  if (U.Value < G.Inputs.size())
    return N.Inputs[U.Value];
  const Node &Of = G.Nodes[U.Value - G.Inputs.size()];
  if (Of.IsInPlace)
    return use(Of.Arguments[0].Value.Tensor);
  const std::vector<std::string> &Given = N.Nodes[U.Value - G.Inputs.size()];
  if (!U.Item)
    return Given[0];
  if (Of.Kind == Returns::Tuple)
    return Given[*U.Item];
  return Given[0] + "[" + std::to_string(*U.Item) + "]";
}

std::string ExpressionWriter::list(const Constant &C,
                                   llvm::StringRef Type) const {
  llvm::StringRef Item = Type;
  Item.consume_back("[]");
  std::string Items;
  for (const Constant &I : C.Items)
    Items += (Items.empty() ? "" : ", ") +
             (I.Is == K::None ? "std::nullopt" : constant(I, Item));
  if (Item == "Tensor?")
    return "c10::List<std::optional<at::Tensor>>({" + Items + "})";
  // One in braces is also a tensor, or an integer.
  if (Item == "Tensor")
    return C.Items.size() > 1 ? "{" + Items + "}"
                              : "at::TensorList({" + Items + "})";
  // {0, 0} is also text, {1} an integer or a truth value.
  bool IsPlain =
      C.Items.size() > 1 && (C.Items.size() > 2 || C.Items[0].Integer != 0);
  if (Item == "int")
    return IsPlain ? "{" + Items + "}" : "at::IntArrayRef({" + Items + "})";
  if (Item == "float")
    return "at::ArrayRef<double>({" + Items + "})";
  if (Item == "Scalar")
    return "at::ArrayRef<at::Scalar>({" + Items + "})";
  return "{" + Items + "}";
}

std::string ExpressionWriter::constant(const Constant &C,
                                       llvm::StringRef Type) const {
  if (auto Said = Instead.find(&C); Said != Instead.end())
    return Said->second;
  llvm::StringRef Bare = Type;
  Bare.consume_back("?");
  switch (C.Is) {
  case K::None:
    return Bare == "Tensor" ? "{}" : "std::nullopt";
  case K::Bool:
    return C.Integer ? "true" : "false";
  case K::Integer:
    return Bare == "float" ? realLiteral(double(C.Integer))
                           : integerLiteral(C.Integer);
  case K::Real:
    return realLiteral(C.Real);
  case K::Text:
    return textLiteral(C.Text);
  case K::Element:
    return job::atenName(C.Type);
  case K::Format:
    return formatLiteral(C.Text);
  case K::Layout:
    return "at::kStrided";
  case K::Device:
    return Anchor.empty() ? "at::kCPU" : Anchor + ".device()";
  case K::Tensor:
    return use(C.Tensor);
  case K::List:
    return list(C, Bare);
  }
  return "";
}

/// Where the four arguments begin that are one in C++.
static size_t findOptions(const Node &Of) {
  for (size_t I = 0; I + 3 < Of.Arguments.size(); ++I)
    if (Of.Arguments[I].Name == "dtype" &&
        Of.Arguments[I + 1].Name == "layout" &&
        Of.Arguments[I + 2].Name == "device" &&
        Of.Arguments[I + 3].Name == "pin_memory")
      return I;
  return Of.Arguments.size();
}

std::string ExpressionWriter::options(const Node &Of, size_t First,
                                      bool IsFactory) const {
  const Constant &Type = Of.Arguments[First].Value;
  const Constant &Device = Of.Arguments[First + 2].Value;
  if (IsFactory) {
    // On the device of the call, whichever the module was exported on.
    job::DType Made = Of.Results.empty() ? job::DType::F32 : Of.Results[0].Type;
    return (Anchor.empty() ? "at::TensorOptions()" : Anchor + ".options()") +
           ".dtype(" + job::atenName(Made) + ")";
  }
  std::string Text = "at::TensorOptions()";
  if (Type.Is == K::Element)
    Text += std::string(".dtype(") + job::atenName(Type.Type) + ")";
  if (Device.Is == K::Device)
    Text += ".device(" + constant(Device, "other") + ")";
  return Text;
}

std::string ExpressionWriter::call(const Node &Of) const {
  bool IsFactory = llvm::none_of(Of.Arguments, [](const Argument &A) {
    return llvm::StringRef(A.Type).starts_with("Tensor") &&
           A.Value.Is != K::None;
  });
  size_t Options = findOptions(Of);
  std::vector<std::string> Given;
  size_t Needed = 0; // those after it are what the operator takes anyway
  for (size_t I = 0; I < Of.Arguments.size(); ++I) {
    const Argument &A = Of.Arguments[I];
    bool Default = A.IsDefault;
    if (I == Options) {
      Given.push_back(options(Of, I, IsFactory));
      Default = Given.back() == "at::TensorOptions()" && !IsFactory;
      I += 3;
    } else {
      Given.push_back(constant(A.Value, A.Type));
    }
    if (!Default)
      Needed = Given.size();
  }
  Given.resize(Needed);
  // Parameters are const, as a Tensor's methods are, but no function in place.
  if (Of.IsInPlace && !Of.IsMethod)
    Given[0] = "const_cast<at::Tensor &>(" + Given[0] + ")";
  if (!Of.IsMethod)
    return "at::" + Of.Op + "(" + llvm::join(Given, ", ") + ")";
  return Given[0] + "." + Of.Op + "(" +
         llvm::join(llvm::ArrayRef(Given).drop_front(), ", ") + ")";
}
