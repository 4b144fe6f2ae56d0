//===- ArgumentText.h - The arguments of a draft --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_DRAFT_ARGUMENTTEXT_H
#define STARK_LIB_DRAFT_ARGUMENTTEXT_H

#include "Dtypes.h"
#include "EntryUse.h"
#include <nlohmann/json_fwd.hpp>

namespace stark {
class ParsedSource;
}

namespace stark::draft {

/// A number, or an expression.
nlohmann::ordered_json formulaJson(const Formula &F);

/// Whether it points to structs of several types, of which each field can be
/// said what it holds.
bool isGivenByFields(const LeafUse &L);

/// Writes what a workload says of each argument, and what of it is a guess.
class ArgumentWriter {
public:
  /// \p Extents: scalars of each leaf that is an array, null where not known.
  ArgumentWriter(const EntryUse &Use, const std::vector<Formula> &Extents,
                 const std::vector<std::string> &Dimensions,
                 const ParsedSource &Source, std::vector<std::string> &Notes)
      : Use(Use), Extents(Extents), Dimensions(Dimensions), Source(Source),
        Notes(Notes) {}
  /// False when nothing that could be compared is written, which is noted.
  bool write(nlohmann::ordered_json &Arguments,
             nlohmann::ordered_json &Symbols);
  /// Some argument has values that no other may stand for.
  bool keepsValues() const { return Bytes; }

private:
  nlohmann::ordered_json scalar(const LeafUse &L);
  nlohmann::ordered_json buffer(const LeafUse &L, const Formula &Scalars);
  std::optional<nlohmann::ordered_json> tensor(const Parameter &P);
  bool writeSymbols(nlohmann::ordered_json &Symbols, bool OthersWritten);
  std::optional<nlohmann::ordered_json>
  fill(const LeafUse &L, const Formula &Scalars, const std::string &Role);
  nlohmann::ordered_json recordFields(const LeafUse &L, const Formula &Scalars,
                                      const std::string &Role);
  std::optional<nlohmann::ordered_json> places(const LeafUse &L,
                                               const Formula &Scalars);
  std::optional<nlohmann::ordered_json> sides(const LeafUse &L,
                                              const Formula &Scalars) const;
  bool ofSizes(const Formula &F) const;
  Formula strideBeside(const LeafUse &L, const Object *O) const;
  std::string role(const LeafUse &L, const Formula &Scalars);
  nlohmann::ordered_json shape(const LeafUse &L, const Formula &Scalars);
  Formula extentOf(const Object *O) const;
  void note(const Parameter &P, const std::string &What) {
    Notes.push_back("argument '" + P.Name + "': " + What);
  }

  const EntryUse &Use;
  const std::vector<Formula> &Extents;
  const std::vector<std::string> &Dimensions;
  const ParsedSource &Source;
  std::vector<std::string> &Notes;
  bool OthersAreWritten = false, Bytes = false;
};

} // namespace stark::draft

#endif
