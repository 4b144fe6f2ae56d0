//===- SizeChoice.cpp - The sizes of a draft
//-------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the program's sizes, or ours -> those that a GPU can hold -> small ones
///
//===----------------------------------------------------------------------===//

#include "SizeChoice.h"
#include "Dtypes.h"
#include "Sizes.h"
#include "stark/AST/BlockLimits.h"
#include "stark/Job/Job.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace stark;
using namespace stark::draft;

/// Of many sizes, of which arrays are products of two at most, no few.
int64_t SizeChoice::extentOfOurs() const {
  size_t Degree = 0;
  for (size_t I = 0; I < Extents.size(); ++I)
    if (Use->Leaves[I].Array)
      Degree = std::max(Degree, Extents[I] ? factors(Extents[I]).size()
                                           : Dimensions.size());
  int64_t Extent = extentFor(Dimensions.size());
  return Degree <= 2 ? std::max<int64_t>(Extent, 1024) : Extent;
}

std::string SizeChoice::given(const std::string &Name) const {
  for (const auto &[From, To] : Called)
    if (To == Name)
      return From;
  return Name;
}

/// Where nobody calls what launches, it may have numbers of its own.
bool SizeChoice::isMadeUp(const std::string &Name) const {
  std::string Was = given(Name);
  return !Use->Recorded || !Use->Names.count(Was) ||
         Use->MadeUpNames.count(Was) ||
         llvm::any_of(Use->Leaves, [&](const LeafUse &L) {
           return L.MadeUp && isName(L.Given.How) && L.Given.How->Name == Name;
         });
}

void SizeChoice::chooseSizes(std::vector<std::string> &Notes) {
  std::vector<std::string> Guessed, Read;
  for (const std::string &Name : Dimensions) {
    std::string Was = given(Name);
    auto Found = Use->Names.find(Was);
    bool Made = isMadeUp(Name);
    Made |= BlockSizes.count(Was) > 0;
    bool Block = Found != Use->Names.end() &&
                 Found->second <= int64_t(MostThreadsOfBlock);
    Large[Name] = BlockSizes.count(Was)    ? (Block ? Found->second : 256)
                  : Made && isHandful(Was) ? 3
                  : Made                   ? extentOfOurs()
                                           : Found->second;
    bool IsRead = !Made && Use->ReadNames.count(Was);
    if (Made || IsRead)
      Guessed.push_back(Name);
    if (IsRead)
      Read.push_back(Name);
  }
  keepToThreads(Guessed);
  for (const std::string &Name : Read)
    Notes.push_back("size '" + Name + "': the program reads it; " +
                    std::to_string(Large[Name]) +
                    " is guessed; put in production sizes");
}

/// if (i < n) in a grid that the program fixes, or that has to be there at
/// once: n is no more than the threads, where the program has no number for it.
void SizeChoice::keepToThreads(llvm::ArrayRef<std::string> Guessed) {
  constexpr int64_t ThreadsAtOnce = 132 * 2048; // of an H200
  const std::vector<Launch> &Inside = Use->Run->Launches;
  bool Kernel = Use->Entry.IsKernel;
  if (!Kernel && Inside.size() != 1)
    return;
  for (const AxisGuard &G : Use->Run->Guards) {
    const Formula &Blocks =
        Kernel ? Grid[G.Axis] : Inside.front().Grid[G.Axis].How;
    const Formula &Threads =
        Kernel ? Block[G.Axis] : Inside.front().Block[G.Axis].How;
    std::set<std::string> Names;
    collectNames(G.Limit, Names);
    if (G.InLoop || G.Whole || Names.size() != 1 || !isConstant(Threads))
      continue;
    int64_t Most = INT64_MAX;
    if (isConstant(Blocks) && !Use->GridGuessed)
      Most = Blocks->Number * Threads->Number;
    else if (Use->Run->WaitsForGrid)
      Most = ThreadsAtOnce;
    const std::string &Was = *Names.begin();
    auto To = Called.find(Was);
    std::string Name = To == Called.end() ? Was : To->second;
    auto Size = Large.find(Name);
    bool Strides = llvm::any_of(Use->Run->Guards, [&](const AxisGuard &Other) {
      return Other.InLoop && Other.Axis == G.Axis;
    });
    if (Size == Large.end() || Strides || !llvm::is_contained(Guessed, Name))
      continue;
    // The limit may be n - 1.
    auto Limit = evaluate(G.Limit, {{Was, Size->second}});
    if (!Limit || *Limit <= Most)
      continue;
    int64_t Fewer = Size->second - (*Limit - Most);
    auto Then = evaluate(G.Limit, {{Was, Fewer}});
    if (Fewer > 0 && Then && *Then == Most)
      Size->second = Fewer;
  }
}

bool SizeChoice::launchable(const Bindings &Names) const {
  if (!Use->Entry.IsKernel)
    return true;
  int64_t Threads = 1;
  for (int I = 0; I < 3; ++I) {
    if (auto G = evaluate(Grid[I], Names); Grid[I] && (!G || *G < 1))
      return false;
    if (Block[I]) {
      auto B = evaluate(Block[I], Names);
      if (!B || *B < 1)
        return false;
      Threads *= *B;
    }
  }
  return Threads <= int64_t(MostThreadsOfBlock);
}

int64_t draft::threadsOf(llvm::ArrayRef<Formula> Block, const Bindings &Names) {
  int64_t Threads = 1;
  for (const Formula &B : Block)
    Threads *= evaluate(B, Names).value_or(1);
  return Threads;
}

void SizeChoice::guessImpossibleBlock() {
  int64_t Threads = threadsOf(Block, Large);
  if (!Use->Entry.IsKernel ||
      (Threads >= 1 && Threads <= int64_t(MostThreadsOfBlock)))
    return;
  for (int I = 0; I < 3; ++I) {
    const Formula &Limit = Use->Limits[I];
    Block[I] = I == 0 && Limit ? constant(256) : nullptr;
    Grid[I] = Limit ? combine(Op::CeilDiv, Limit, constant(I == 0 ? 256 : 1))
                    : nullptr;
  }
  Use->BlockGuessed = true;
}

/// Sizes of ours, of which a block's memory is made, are no more than it has.
void SizeChoice::fitShared() {
  constexpr int64_t Most = MostSharedOfBlock;
  std::set<std::string> Names;
  collectNames(Shared, Names);
  while (evaluate(Shared, Large).value_or(0) > Most) {
    Bindings Ours;
    for (const std::string &Name : Names)
      if (Large.count(Name) && isMadeUp(Name))
        Ours[Name] = Large.at(Name);
    if (!halveLargest(Ours, 1))
      return;
    for (const auto &[Name, Number] : Ours)
      Large[Name] = Number;
  }
}

/// Sizes that no GPU could hold are not what the program meant.
void SizeChoice::makeAffordable() {
  fitShared();
  constexpr double Most = double(uint64_t(1) << 36),
                   Enough = double(uint64_t(1) << 30);
  if (bytesAt(Large) <= Most)
    return;
  while (bytesAt(Large) > Enough && halveLargest(Large, 1)) {
  }
}

double SizeChoice::bytesAt(const Bindings &Names) const {
  double Sum = 0;
  for (size_t I = 0; I < Extents.size(); ++I)
    if (Use->Leaves[I].Array) {
      auto Elements = evaluate(Extents[I], Names);
      double Count = Elements ? double(*Elements) : 1;
      if (!Elements)
        for (const auto &[Name, Value] : Names)
          Count *= double(Value);
      Sum += Count * job::dtypeBytes(dtypeFor(*Use->Leaves[I].P));
    }
  return Sum;
}

std::optional<Bindings> SizeChoice::grown(double Bytes) const {
  constexpr int64_t MostExtent = int64_t(1) << 28;
  constexpr double MostBytes = double(uint64_t(1) << 30);
  // What is a product of others would no longer be one.
  for (const auto &[Name, Value] : Large)
    for (const auto &[One, Left] : Large)
      for (const auto &[Other, Right] : Large)
        if (Name != One && Name != Other && One != Other && Left > 1 &&
            Right > 1 && Value == Left * Right)
          return std::nullopt;
  int64_t Largest = 0;
  for (const auto &[Name, Value] : Large)
    Largest = std::max(Largest, Value);
  Bindings Grown = Large;
  while (bytesAt(Grown) < Bytes) {
    double Before = bytesAt(Grown);
    for (auto &[Name, Value] : Grown)
      if (Large.at(Name) * 8 >= Largest)
        Value *= 2;
    if (Largest < 1 || bytesAt(Grown) <= Before ||
        llvm::any_of(
            Grown, [&](const auto &Each) { return Each.second > MostExtent; }))
      return std::nullopt;
  }
  if (Grown == Large || bytesAt(Grown) > MostBytes || !launchable(Grown))
    return std::nullopt;
  return Grown;
}

/// Of the block's sides the longest; 32 where the entry makes its own.
int64_t SizeChoice::alignment() const {
  int64_t Most = 32;
  for (const Formula &B : Block)
    if (auto Value = evaluate(B, Large))
      Most = std::max(Most, *Value);
  return Most;
}

/// So small that the simulator runs all of it within seconds.
Bindings SizeChoice::halved() const {
  Bindings Small = Large;
  auto Work = [&] {
    double Product = 1;
    for (const auto &[Name, Value] : Small)
      Product *= double(Value);
    return Product;
  };
  while ((bytesAt(Small) > (1 << 20) || Work() > double(1 << 21)) &&
         halveLargest(Small, 32)) {
  }
  return Small;
}

Bindings SizeChoice::smallSize(SmallSize Form) const {
  Bindings Small = anySmallSize(Form);
  if (Form != SmallSize::None)
    for (const auto &[Name, Multiple] : Multiples)
      if (auto At = Small.find(Name);
          At != Small.end() && Large.at(Name) % Multiple == 0)
        At->second = std::max(At->second / Multiple, int64_t(1)) * Multiple;
  return Small;
}

/// The names of sizes, what a row may not be longer than last, as later ones
/// are made larger.
std::vector<std::string> SizeChoice::inOrder() const {
  std::vector<std::string> Order = Dimensions;
  std::stable_partition(Order.begin(), Order.end(),
                        [](const std::string &Name) { return !isPitch(Name); });
  return Order;
}

Bindings SizeChoice::anySmallSize(SmallSize Form) const {
  const std::vector<std::string> Order = inOrder();
  Bindings Small = Large;
  if (Form == SmallSize::None)
    return Small;
  if (MadeUp && Form == SmallSize::Ragged) {
    // A loop over each of several sizes takes the simulator long.
    // One alone may be run through by each thread.
    const double MostWork = Order.size() == 1 ? 1 << 13 : 1 << 19;
    const int64_t LastPart = Order.size() == 1 ? 512 : 64;
    for (int64_t Part = 8;; Part *= 2) {
      double Work = 1;
      for (size_t I = 0; I < Order.size(); ++I) {
        int64_t Whole = Large.at(Order[I]);
        Small[Order[I]] = std::min(Whole, Whole / Part + 3 + 2 * int64_t(I));
        Work *= double(Small[Order[I]]);
      }
      if (Work <= MostWork || Part >= LastPart)
        return Small;
    }
  }
  Small = halved();
  int64_t Step = alignment();
  for (size_t I = 0; I < Order.size(); ++I) {
    int64_t &Value = Small[Order[I]];
    int64_t Whole = Large.at(Order[I]);
    if (Whole < 8)
      continue;
    // No two the same: not every matrix is square.
    if (Form == SmallSize::Ragged)
      Value = std::min(Whole, (Value * 5 / 8) + 1 + int64_t(2 * I)) | 1;
    else if (Form == SmallSize::Aligned)
      Value = Whole % Step ? Whole : std::max(Value / 2 / Step * Step, Step);
    else
      while (Value & (Value - 1))
        Value &= Value - 1;
    Value = std::min(Value, Whole);
  }
  return Small;
}

bool SizeChoice::isAnother(SmallSize Form) const {
  Bindings Small = smallSize(Form);
  if (!launchable(Small))
    return false;
  for (SmallSize Before :
       {SmallSize::Ragged, SmallSize::Aligned, SmallSize::Powers}) {
    if (Before == Form)
      break;
    if (smallSize(Before) == Small)
      return false;
  }
  return true;
}
