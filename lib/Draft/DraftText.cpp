//===- DraftText.cpp - A workload from what an entry does ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   formulas -> the names that are left of them -> sizes, shapes, launch
///
//===----------------------------------------------------------------------===//

#include "DraftText.h"
#include "ArgumentText.h"
#include "BytesText.h"
#include "Dtypes.h"
#include "SizeChoice.h"
#include "stark/AST/BlockLimits.h"
#include "stark/AST/Parse.h"
#include "stark/Job/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::draft;
using nlohmann::ordered_json;

namespace {
class DraftText : public Draft, private SizeChoice {
public:
  DraftText(std::unique_ptr<EntryUse> Of, const ParsedSource &Source);
  const Signature &entry() const override { return Use->Entry; }
  std::string text(SmallSize Small, DraftSizes Sizes) const override;
  bool differs(SmallSize Small) const override { return isAnother(Small); }
  bool fits(SmallSize Small) const override;
  bool fillOutputs() override;
  void keepOutputs() override { Arguments = AsWritten; }
  void countBytes(const WholeArguments &Seen) override {
    Bytes = bytesOf(Arguments, Seen, Notes);
    noteAlike(Arguments, Seen, Notes);
  }
  double timedBytes() const override { return bytesAt(Larger.value_or(Large)); }
  bool enlarge(double ToBytes) override;
  void keepSize() override { Larger.reset(); }

private:
  void findNames();
  bool isOurs(const std::string &Name) const;
  void settleSettings(const std::set<std::string> &Names);
  void settleAll();
  void nameBlocks();
  void rename();
  void askFor(const std::string &Name, int64_t Multiple);
  void writeArguments(const ParsedSource &Source);
  Formula settle(const Formula &F) const;
  bool gridGrows(const Bindings &To) const;

  std::set<std::string> Constants; ///< names that are no sizes
  ordered_json Arguments = ordered_json::object(), AsWritten,
               Symbols = ordered_json::object();
  std::optional<Bindings> Larger; ///< a second timed size
  std::string Bytes;              ///< what a call has to move; empty: not known
  bool KeepsValues = false;
};
} // namespace

Formula DraftText::settle(const Formula &F) const {
  return substitute(F, [&](const std::string &Name) -> Formula {
    if (Constants.count(Name)) {
      auto Found = Use->Names.find(Name);
      return Found == Use->Names.end() ? nullptr : constant(Found->second);
    }
    auto As = Called.find(Name);
    return As == Called.end() ? nullptr : named(As->second);
  });
}

/// Whether nobody gives \p Name a number.
bool DraftText::isOurs(const std::string &Name) const {
  return Use->MadeUpNames.count(Name) || Use->ReadNames.count(Name) ||
         llvm::any_of(Use->Leaves, [&](const LeafUse &L) {
           return L.MadeUp && !L.Array && isName(L.Given.How) &&
                  L.Given.How->Name == Name;
         });
}

/// A name in a block, or one that something depends on in a way that no
/// expression says, is no size.
void DraftText::findNames() {
  std::set<std::string> Unused;
  auto IsBlock = [&](const Formula &B) {
    // What only bounds it, as min(n, 1024), is a size, and what the entry
    // rounds up for itself.
    if (B && (B->Kind == Op::Min || B->Kind == Op::Max ||
              (!Use->Entry.IsKernel && B->Kind != Op::Name)))
      return;
    if (isName(B) && isOurs(B->Name))
      BlockSizes.insert(B->Name);
    else
      collectNames(B, Constants);
  };
  bool Possible =
      threadsOf(Use->Block, Use->Names) <= int64_t(MostThreadsOfBlock);
  for (const Formula &B : Use->Block)
    if (Possible || (isName(B) && isOurs(B->Name)))
      IsBlock(B);
  if (!Use->Entry.IsKernel)
    for (const Launch &L : Use->Run->Launches)
      for (const Value &B : L.Block)
        IsBlock(B.How);
  auto Pin = [&](const Formula &F) { collectNames(F, Unused, &Constants); };
  for (const LeafUse &L : Use->Leaves) {
    Pin(L.Bytes);
    Pin(L.Ahead);
    Pin(L.Given.How);
  }
  for (const Formula &G : Use->Grid)
    Pin(G);
  Pin(Use->Shared);
  // What only the grid has, or only the length of an array, no size changes:
  // the kernel is written with it. What only an argument has is a setting.
  std::set<std::string> InScalars, InGrid, InExtents, InTables, InGuards;
  for (size_t I = 0; I < Use->Leaves.size(); ++I) {
    if (!Use->Leaves[I].Array && Use->Leaves[I].Given.isInteger())
      collectNames(Use->Leaves[I].Given.How, InScalars);
    collectNames(Extents[I], InExtents);
    // Values of other arrays choose from it: as many as the program likes.
    if (Use->Leaves[I].Array && Use->Leaves[I].Array->Used.Inexact)
      collectNames(Extents[I], InTables);
  }
  collectNames(Use->Shared, InExtents);
  for (const Formula &G : Use->Grid)
    collectNames(G, InGrid);
  if (!Use->Entry.IsKernel)
    for (const Launch &L : Use->Run->Launches)
      for (const Value &G : L.Grid)
        collectNames(G.How, InGrid);
  for (const AxisGuard &G : Use->Run->Guards)
    collectNames(G.Limit, InGuards);
  // Where rows lie in a pitch no length says how much of them is gone through.
  if (llvm::any_of(Use->Leaves, [](const LeafUse &L) {
        return !L.Array && isPitch(L.P->Name);
      }))
    InGuards.insert(Use->Run->LoopLimits.begin(), Use->Run->LoopLimits.end());
  std::set<std::string> Settings;
  for (const auto &[Name, Number] : Use->Names)
    if (!InScalars.count(Name)) {
      bool Free = InTables.count(Name) &&
                  (Use->MadeUpNames.count(Name) || Use->ReadNames.count(Name));
      if (!Free && (!InGrid.count(Name) || !InExtents.count(Name)))
        Constants.insert(Name);
    } else if (Use->Followed && !InGrid.count(Name) && !InExtents.count(Name) &&
               !InGuards.count(Name)) {
      Settings.insert(Name);
    }
  settleSettings(Settings);
  for (const auto &[Name, Number] : Use->Run->Choices)
    Constants.insert(Name);
  // 2 to a power that the entry is told as well is no size of its own.
  for (const auto &[Name, Exponent] : Use->Powers)
    if (InScalars.count(Exponent) || InExtents.count(Exponent))
      Constants.insert(Name);
  // The device's own are none.
  for (const std::string &Name : Unused)
    if (!Use->Names.count(Name))
      Constants.insert(Name);
}

/// \p Names, which no array's length, grid or guard follows from, are no sizes:
/// they have the program's values, and those that are not known are 1.
void DraftText::settleSettings(const std::set<std::string> &Names) {
  for (const std::string &Name : Names)
    Constants.insert(Name);
  for (LeafUse &L : Use->Leaves) {
    if (L.Array || !isName(L.Given.How) || !Names.count(L.Given.How->Name))
      continue;
    const std::string &Name = L.Given.How->Name;
    if (!L.MadeUp && !Use->ReadNames.count(Name) &&
        !Use->MadeUpNames.count(Name))
      continue;
    L.Given = Value::integer(1);
    L.MadeUp = false;
    Notes.push_back("argument '" + L.P->Name +
                    "': no array's length follows from it; the value 1 is "
                    "guessed");
  }
}

/// A host's variable is called as the parameter that it is given to.
void DraftText::rename() {
  std::set<std::string> Taken;
  for (const auto &[Name, Number] : Use->Names)
    Taken.insert(Name);
  for (const LeafUse &L : Use->Leaves) {
    if (L.Array || !isName(L.Given.How))
      continue;
    const std::string &Name = L.Given.How->Name;
    std::string Wanted = sizeName(L.P->Name);
    if (Wanted == Name || Called.count(Name) || Constants.count(Name) ||
        !Taken.insert(Wanted).second)
      continue;
    Called[Name] = Wanted;
  }
}

void DraftText::settleAll() {
  for (int I = 0; I < 3; ++I) {
    Grid[I] = settle(Use->Grid[I]);
    Block[I] = settle(Use->Block[I]);
  }
  Shared = settle(Use->Shared);
  for (Formula &Limit : Use->Limits)
    Limit = settle(Limit);
  for (LeafUse &L : Use->Leaves) {
    L.Ahead = settle(L.Ahead);
    for (Object *O : objectsOf(L)) {
      for (Formula *F : {&O->Held.Limit, &O->Held.Only})
        *F = settle(*F);
      for (auto &[Of, Stride] : O->Used.Strides)
        Stride = settle(Stride);
    }
    if (L.Given.isInteger())
      L.Given.How = settle(L.Given.How);
  }
  for (SymbolUse &Symbol : Use->Symbols)
    Symbol.Held.Only = settle(Symbol.Held.Only);
}

/// Rows of blockDim.x elements are as long as the block is.
void DraftText::nameBlocks() {
  const Launch *Inside = Use->Run->Launches.empty() || Use->Entry.IsKernel
                             ? nullptr
                             : &Use->Run->Launches.front();
  auto Block = [&](const std::string &Name) -> Formula {
    if (!llvm::StringRef(Name).starts_with("blockDim."))
      return nullptr;
    int Axis = Name.back() - 'x';
    return Inside ? Inside->Block[Axis].How : Use->Block[Axis];
  };
  for (LeafUse &L : Use->Leaves)
    for (Object *O : objectsOf(L))
      for (auto &[Of, Stride] : O->Used.Strides)
        Stride = substitute(Stride, Block);
}

/// A size that is ours is a multiple from the start.
void DraftText::askFor(const std::string &Name, int64_t Multiple) {
  Multiples[Name] = Multiple;
  auto At = Large.find(Name);
  if (At != Large.end() &&
      (isMadeUp(Name) || Use->ReadNames.count(given(Name))))
    At->second = (At->second + Multiple - 1) / Multiple * Multiple;
}

DraftText::DraftText(std::unique_ptr<EntryUse> Of, const ParsedSource &Source) {
  Use = std::move(Of);
  Extents.resize(Use->Leaves.size());
  nameBlocks();
  if (Use->Entry.IsKernel && !Use->Shared)
    Use->Shared = sharedSeen(*Use);
  // What was seen is told with the names that it was seen with.
  for (size_t I = 0; I < Use->Leaves.size(); ++I) {
    LeafUse &L = Use->Leaves[I];
    if (!L.Array)
      continue;
    // What lies before the pointer counts where the entry reaches there.
    if (L.Ahead && L.Array->Used.Least >= 0) {
      L.Bytes = combine(Op::Sub, L.Bytes, L.Ahead);
      L.Ahead = nullptr;
    }
    Formula Scalars = L.Bytes
                          ? combine(Op::Div, L.Bytes,
                                    constant(job::dtypeBytes(dtypeFor(*L.P))))
                          : extentSeen(L, *Use);
    if (Formula Reached = L.OneOfParts && !L.Array->Used.Inexact
                              ? extentSeen(L, *Use)
                              : reachedOf(L, Scalars, *Use))
      Scalars = Reached;
    Extents[I] = Scalars;
  }
  reachFurther(*Use, Extents);
  growTables(*Use, Extents);
  std::map<std::string, int64_t> Asked = multiplesOf(*Use);
  for (const auto &[Name, Tile] : tilesOf(*Use, Extents, Asked))
    Asked[Name] = Tile;
  findNames();
  rename();
  settleAll();
  for (Formula &E : Extents)
    E = settle(E);
  auto Add = [&](const Formula &F) {
    std::set<std::string> All;
    collectNames(F, All);
    for (const std::string &Name : All)
      if (!llvm::is_contained(Dimensions, Name))
        Dimensions.push_back(Name);
  };
  for (const LeafUse &L : Use->Leaves)
    if (!L.Array)
      Add(L.Given.isInteger() ? L.Given.How : nullptr);
  for (const Formula &E : Extents)
    Add(E);
  for (const Formula &G : Grid)
    Add(G);
  Add(Shared);
  MadeUp = (!Use->Recorded || Use->MadeUp) &&
           (Dimensions.empty() ||
            llvm::any_of(Dimensions, [&](const std::string &Name) {
              return isMadeUp(Name);
            }));
  bool NeedsOne = llvm::any_of(Use->Leaves, [&](const LeafUse &L) {
    return L.Array && !Extents[&L - Use->Leaves.data()];
  });
  NeedsOne |= isTensorEntry(Use->Entry);
  if (Dimensions.empty() && NeedsOne) {
    Dimensions.push_back("n");
    Notes.push_back("no integer parameter looks like a size; buffers have 'n' "
                    "elements");
  } else if (MadeUp) {
    Notes.push_back("integer parameters are taken for sizes; put in "
                    "production sizes");
  }
  chooseSizes(Notes);
  for (const auto &[Name, Multiple] : Asked)
    if (Formula F = settle(named(Name)); isName(F))
      askFor(F->Name, Multiple);
  guessImpossibleBlock();
  makeAffordable();
  writeArguments(Source);
}

void DraftText::writeArguments(const ParsedSource &Source) {
  ArgumentWriter Writer(*Use, Extents, Dimensions, Source, Notes);
  Comparable = Writer.write(Arguments, Symbols);
  KeepsValues = Writer.keepsValues();
  if (!Use->Entry.IsKernel)
    return;
  if (!Use->Recorded)
    Notes.push_back("the entry is a kernel; its launch rule is guessed");
  else if (Use->GridGuessed || Use->BlockGuessed)
    Notes.push_back("what the launch's grid or block comes to is not known; it "
                    "is guessed");
}

bool DraftText::fits(SmallSize Small) const {
  if (!Use->Repeat || Small == SmallSize::None)
    return true;
  Bindings Numbers = Use->Names, Sizes = smallSize(Small);
  for (auto &[Name, Number] : Numbers) {
    auto As = Called.find(Name);
    auto At = Sizes.find(As == Called.end() ? Name : As->second);
    if (At != Sizes.end())
      Number = At->second;
  }
  Bindings Own = Use->Names;
  for (const auto &[From, To] : Called)
    Own.try_emplace(To, Use->Names.at(From));
  for (const auto &[Name, Number] : Sizes)
    Numbers.try_emplace(Name, Number);
  std::unique_ptr<EntryUse> There = Use->Repeat(Numbers);
  std::vector<int64_t> Here = lackOf(*Use, Extents, Own),
                       Then = lackOf(*There, Extents, Numbers);
  for (size_t I = 0; I < Here.size() && I < Then.size(); ++I)
    if (Here[I] == 0 && Then[I] > 0)
      return false;
  return true;
}

bool DraftText::fillOutputs() {
  AsWritten = Arguments;
  bool Any = false;
  for (auto &Item : Arguments.items())
    if (Item.value().is_object() &&
        Item.value().value("role", "") == "output") {
      Item.value()["role"] = "inout";
      Any = true;
    }
  return Any;
}

/// Whether some launch has more blocks at \p To: else sizes are not what the
/// grid is made of, and its threads would leave a part alone.
bool DraftText::gridGrows(const Bindings &To) const {
  if (Use->Entry.IsKernel) {
    Formula Sides[] = {Grid[0], Grid[1], Grid[2]};
    if (!Sides[0] && !Dimensions.empty())
      Sides[0] = combine(Op::CeilDiv, named(Dimensions.front()), constant(256));
    return grows(Sides, To);
  }
  return llvm::any_of(Use->Run->Launches, [&](const Launch &L) {
    std::vector<Formula> Sides;
    for (const Value &G : L.Grid)
      Sides.push_back(settle(G.How));
    return grows(Sides, To);
  });
}

bool DraftText::enlarge(double ToBytes) {
  std::optional<Bindings> Grown = grown(ToBytes);
  if (!Grown || !gridGrows(*Grown))
    return false;
  Larger = std::move(Grown);
  return true;
}

std::string DraftText::text(SmallSize Form, DraftSizes Which) const {
  ordered_json Root;
  if (Use->Entry.IsKernel)
    Root["launch"] = printLaunch();
  else
    Root["entry"] = Use->Entry.Name;
  Root["sizes"] = printSizes(Form, Which, Larger);
  if (ordered_json Unit = printMultiples(Form); !Unit.empty())
    Root["multiple_of"] = std::move(Unit);
  bool AllHold = Form == SmallSize::Ragged || Form == SmallSize::Aligned;
  if ((Which != DraftSizes::All || !AllHold) && !Dimensions.empty())
    Root["added_sizes"] = false;
  if (KeepsValues)
    Root["harden"] = false;
  if (!Comparable) // it can be simulated
    Root["degenerate"] = true;
  Root["arguments"] = Arguments;
  if (!Symbols.empty())
    Root["symbols"] = Symbols;
  if (Use->Entry.ReturnsTensors)
    Root["returns"] =
        ordered_json::array({{{"dtype", "f32"}, {"shape", Dimensions}}});
  if (!Bytes.empty())
    Root["bytes"] = Bytes;
  return Root.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

std::unique_ptr<Draft> draft::makeDraftText(std::unique_ptr<EntryUse> Use,
                                            const ParsedSource &Source) {
  return std::make_unique<DraftText>(std::move(Use), Source);
}
