//===- BytesText.cpp - What a call has to move, of a draft ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   shapes, roles, what a run reached -> a sum of products
///
//===----------------------------------------------------------------------===//

#include "BytesText.h"
#include "stark/Job/Job.h"
#include "stark/Job/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::draft;
using nlohmann::ordered_json;

/// The product of the extents; unset where it is none that "bytes", which is
/// computed in real numbers, would come to as well.
static std::optional<std::string> productOf(const ordered_json &Shape) {
  std::string Product;
  for (const ordered_json &Extent : Shape) {
    std::string Text =
        Extent.is_string() ? Extent.get<std::string>() : Extent.dump();
    if (Text.find_first_of("/%") != std::string::npos)
      return std::nullopt;
    if (Text == "1")
      continue;
    // Products of products are the same without parentheses.
    if (Text.find_first_of("+-<>=?&|") != std::string::npos)
      Text = "(" + Text + ")";
    Product += " * " + Text;
  }
  return Product;
}

void draft::noteAlike(const ordered_json &Arguments, const WholeArguments &Seen,
                      std::vector<std::string> &Notes) {
  for (const std::string &Name : Seen.Alike)
    if (Arguments.contains(Name) &&
        Arguments[Name].value("role", "input") != "input")
      Notes.push_back("argument '" + Name +
                      "': with these values nearly all that the entry writes "
                      "there is one and the same, which a candidate may write "
                      "without a look at its inputs; give the inputs values, "
                      "and the scalars numbers, that tell more");
}

std::string draft::bytesOf(const ordered_json &Arguments,
                           const WholeArguments &Seen,
                           std::vector<std::string> &Notes) {
  std::vector<std::pair<std::string, uint64_t>> Sum; ///< product, its factor
  std::vector<std::string> Counted, InPart;
  for (const auto &Item : Arguments.items()) {
    const ordered_json &A = Item.value();
    if (!A.is_object() || !A.contains("shape") || !A.contains("dtype"))
      continue;
    std::string Role = A.value("role", "input");
    if (Role == "scratch")
      continue;
    // An output's own values are nothing that has to be read.
    unsigned Times = (Role != "output" && Seen.Read.count(Item.key())) +
                     (Role != "input" && Seen.Written.count(Item.key()));
    std::optional<std::string> Product = productOf(A["shape"]);
    std::optional<job::DType> Type =
        valueNamed<job::DType>(A["dtype"].get<std::string>());
    if (!Times || !Product || !Type || A.contains("before")) {
      InPart.push_back(Item.key());
      continue;
    }
    Counted.push_back(Item.key());
    uint64_t Factor = Times * job::dtypeBytes(*Type);
    auto Same = llvm::find_if(
        Sum, [&](const auto &Each) { return Each.first == *Product; });
    if (Same == Sum.end())
      Sum.emplace_back(*Product, Factor);
    else
      Same->second += Factor;
  }
  std::string Text;
  for (const auto &[Product, Factor] : Sum)
    Text += (Text.empty() ? "" : " + ") + std::to_string(Factor) + Product;
  if (!Text.empty())
    Notes.push_back("\"bytes\" counts " + llvm::join(Counted, ", ") +
                    ": the entry was seen to read or write all of it; make it "
                    "less where another one need not");
  if (!InPart.empty())
    Notes.push_back(std::string("\"bytes\" ") +
                    (Text.empty() ? "is left out"
                                  : "leaves out " + llvm::join(InPart, ", ")) +
                    ": the entry was not seen to read or write all of " +
                    (Text.empty() ? llvm::join(InPart, ", ") : "it"));
  return Text;
}

std::string stark::withBytes(llvm::StringRef Workload,
                             const WholeArguments &Seen,
                             std::vector<std::string> &Notes) {
  ordered_json Root = ordered_json::parse(Workload.begin(), Workload.end(),
                                          nullptr, false, true);
  if (!Root.is_object() || !Root.contains("arguments"))
    return Workload.str();
  std::string Bytes = draft::bytesOf(Root["arguments"], Seen, Notes);
  if (!Bytes.empty())
    Root["bytes"] = Bytes;
  return Root.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}
