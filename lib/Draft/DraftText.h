//===- DraftText.h - A workload from what an entry does ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_DRAFT_DRAFTTEXT_H
#define STARK_LIB_DRAFT_DRAFTTEXT_H

#include "BytesText.h"
#include "EntryUse.h"
#include "SizeChoice.h"
#include "stark/Draft/Draft.h"
#include <nlohmann/json.hpp>

namespace stark::draft {

/// Formulas -> the names that are left of them -> sizes, shapes, launch.
class DraftText : public Draft, private SizeChoice {
public:
  DraftText(std::unique_ptr<EntryUse> Of, const ParsedSource &Source);
  const Signature &entry() const override { return Use->Entry; }
  std::string text(SmallSize Small, DraftSizes Sizes) const override;
  bool differs(SmallSize Small) const override { return isAnother(Small); }
  bool fillOutputs() override;
  void keepOutputs() override { Arguments = AsWritten; }
  void countBytes(const WholeArguments &Seen) override {
    Bytes = bytesOf(Arguments, Seen, Notes);
  }
  double timedBytes() const override { return bytesAt(Larger.value_or(Large)); }
  bool enlarge(double ToBytes) override;
  void keepSize() override { Larger.reset(); }

private:
  void findNames();
  bool isOurs(const std::string &Name) const;
  Formula reachedOf(const LeafUse &L, const Formula &Scalars) const;
  bool isArgument(const Formula &F) const;
  bool halves(const Formula &Part, const Formula &Whole) const;
  void settleSettings(const std::set<std::string> &Names);
  void settleAll();
  void nameBlocks();
  void rename();
  void guessImpossibleBlock();
  void writeArguments(const ParsedSource &Source);
  Formula settle(const Formula &F) const;
  bool gridGrows(const Bindings &To) const;

  std::set<std::string> Constants; ///< names that are no sizes
  nlohmann::ordered_json Arguments = nlohmann::ordered_json::object(),
                         AsWritten, Symbols = nlohmann::ordered_json::object();
  std::optional<Bindings> Larger; ///< a second timed size
  std::string Bytes;              ///< what a call has to move; empty: not known
  bool KeepsValues = false;
};

/// Scalars of an array that a kernel was seen to reach, as a formula over \p
/// Names whose values it was seen with; null: not known. \p Lanes of them make
/// one element.
Formula extentSeen(const LeafUse &L, const EntryUse &Use);

} // namespace stark::draft

#endif
