//===- Loops.cpp - Repeated runs of nodes, as loops -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   skeleton of each node -> runs whose skeletons repeat -> how the constants
/// of the first round move in the others -> what is used below the run
///
//===----------------------------------------------------------------------===//

#include "Loops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>

using namespace stark;
using namespace stark::torch;
using K = Constant::Kind;

/// Fewer are read as easily one by one.
static constexpr size_t LeastRounds = 4, LeastNodes = 12, MostPeriod = 128;

/// All that two rounds must have alike: not whole numbers, not tensors.
static void addSkeleton(const Constant &C, std::string &Text) {
  Text += char('a' + int(C.Is));
  switch (C.Is) {
  case K::Integer:
  case K::Tensor:
    break;
  case K::Bool:
    Text += C.Integer ? '1' : '0';
    break;
  case K::Element:
    Text += nameOf(C.Type);
    break;
  case K::List:
    Text += std::to_string(C.Items.size()) + "(";
    for (const Constant &I : C.Items)
      addSkeleton(I, Text);
    break;
  default:
    Text += C.Text + ";";
  }
}

static std::string skeletonOf(const Node &N) {
  std::string Text = N.Op + (N.IsMethod ? "." : ":") +
                     (N.IsInPlace ? "!" : "") + nameOf(N.Kind);
  for (const Argument &A : N.Arguments) {
    Text += " " + A.Name + "=";
    addSkeleton(A.Value, Text);
  }
  for (const TensorType &T : N.Results) {
    Text += std::string(" ") + nameOf(T.Type);
    for (int64_t Extent : T.Shape)
      Text += "," + std::to_string(Extent);
  }
  return Text;
}

static void addMoving(const Constant &C, std::vector<const Constant *> &Into) {
  if (C.Is == K::Integer || C.Is == K::Tensor)
    Into.push_back(&C);
  for (const Constant &I : C.Items)
    addMoving(I, Into);
}

/// Whole numbers and tensors among the arguments of nodes, in order.
static std::vector<const Constant *> movingOf(llvm::ArrayRef<Node> Nodes) {
  std::vector<const Constant *> Found;
  for (const Node &N : Nodes)
    for (const Argument &A : N.Arguments)
      addMoving(A.Value, Found);
  return Found;
}

namespace {
class LoopFinder {
public:
  explicit LoopFinder(const Graph &G) : G(G) {}
  std::vector<Loop> find();

private:
  /// Where a tensor comes from, seen from a round.
  enum class Place { Own, Before, Above, Elsewhere };

  std::optional<Loop> loopAt(size_t First, size_t Period);
  size_t repeats(size_t First, size_t Period) const;
  Use plain(Use U) const;
  Place placeOf(Use U, const Loop &L, size_t Round) const;
  /// The same use as \p U, in the first round.
  Use inFirst(Use U, const Loop &L) const;
  bool matchTensor(Loop &L, size_t I, size_t &Rounds);
  bool matchNumber(Loop &L, size_t I, size_t &Rounds);
  bool matchAbove(Loop &L, size_t I, size_t &Rounds);
  bool matchBelow(Loop &L) const;
  bool matchUseBelow(Loop &L, Use U) const;
  bool matchListBelow(Loop &L, const Constant &C) const;
  size_t carry(Loop &L, Use Value) const;

  unsigned valueOf(size_t Node) const {
    return unsigned(G.Inputs.size() + Node);
  }

  const Graph &G;
  std::vector<unsigned> Skeletons;
  /// Of the candidate: moving constants of each round, and of its Body.
  std::vector<std::vector<const Constant *>> Rounds;
  std::vector<const Constant *> InBody;
};
} // namespace

/// What is changed in place stays what it was.
Use LoopFinder::plain(Use U) const {
  while (U.Value >= G.Inputs.size()) {
    const Node &N = G.Nodes[U.Value - G.Inputs.size()];
    if (!N.IsInPlace)
      break;
    U = N.Arguments[0].Value.Tensor;
  }
  return U;
}

LoopFinder::Place LoopFinder::placeOf(Use U, const Loop &L,
                                      size_t Round) const {
  size_t Begin = valueOf(L.First + Round * L.Period);
  if (U.Value >= Begin)
    return U.Value < Begin + L.Period ? Place::Own : Place::Elsewhere;
  if (U.Value < valueOf(L.First))
    return Place::Above;
  return U.Value + L.Period >= Begin ? Place::Before : Place::Elsewhere;
}

Use LoopFinder::inFirst(Use U, const Loop &L) const {
  size_t In = U.Value - valueOf(L.First);
  U.Value = unsigned(valueOf(L.First) + In % L.Period);
  return U;
}

size_t LoopFinder::carry(Loop &L, Use Value) const {
  auto Found = llvm::find_if(L.Carries, [&](const Loop::Carried &C) {
    return keyOf(C.Value) == keyOf(Value);
  });
  if (Found == L.Carries.end())
    Found = L.Carries.insert(L.Carries.end(), {Value, std::nullopt});
  return size_t(Found - L.Carries.begin());
}

bool LoopFinder::matchNumber(Loop &L, size_t I, size_t &Count) {
  int64_t First = Rounds[0][I]->Integer;
  // As unsigned: what a file says may overflow.
  uint64_t Step = uint64_t(Rounds[1][I]->Integer) - uint64_t(First);
  for (size_t R = 2; R < Count; ++R)
    if (uint64_t(Rounds[R][I]->Integer) != uint64_t(First) + Step * R)
      Count = R;
  if (Step)
    L.Numbers[InBody[I]] = {First, int64_t(Step)};
  return Count >= LeastRounds;
}

/// One and the same tensor, or the items of a list one after the other.
bool LoopFinder::matchAbove(Loop &L, size_t I, size_t &Count) {
  Use First = plain(Rounds[0][I]->Tensor), Second = plain(Rounds[1][I]->Tensor);
  int64_t Step = 0;
  if (First.Item && Second.Item)
    Step = int64_t(*Second.Item) - int64_t(*First.Item);
  for (size_t R = 1; R < Count; ++R) {
    Use Now = plain(Rounds[R][I]->Tensor);
    bool Same = Now.Value == First.Value &&
                Now.Item.has_value() == First.Item.has_value();
    if (Same && First.Item)
      Same = int64_t(*Now.Item) == int64_t(*First.Item) + Step * int64_t(R);
    if (!Same)
      Count = R;
  }
  if (Count < LeastRounds)
    return false;
  if (!Step)
    return true;
  // Only what is in a vector has a number at run time.
  L.Items[InBody[I]] = {int64_t(*First.Item), Step};
  return First.Value >= G.Inputs.size() &&
         G.Nodes[First.Value - G.Inputs.size()].Kind == Returns::List;
}

bool LoopFinder::matchTensor(Loop &L, size_t I, size_t &Count) {
  Use First = plain(Rounds[0][I]->Tensor), Second = plain(Rounds[1][I]->Tensor);
  Place Of = placeOf(Second, L, 1);
  if (Of == Place::Above)
    return placeOf(First, L, 0) == Place::Above && matchAbove(L, I, Count);
  Place Wanted = Of == Place::Before ? Place::Above : Place::Own;
  if (Of == Place::Elsewhere || placeOf(First, L, 0) != Wanted)
    return false;
  UseKey Key = keyOf(inFirst(Second, L));
  if (Of == Place::Own && keyOf(First) != Key)
    return false;
  for (size_t R = 2; R < Count; ++R) {
    Use Now = plain(Rounds[R][I]->Tensor);
    if (placeOf(Now, L, R) != Of || keyOf(inFirst(Now, L)) != Key)
      Count = R;
  }
  if (Of == Place::Own || Count < LeastRounds)
    return Count >= LeastRounds;
  size_t C = carry(L, inFirst(Second, L));
  if (L.Carries[C].Start && keyOf(*L.Carries[C].Start) != keyOf(First))
    return false; // one variable cannot begin as two
  L.Carries[C].Start = First;
  L.FromBefore[InBody[I]] = C;
  return true;
}

bool LoopFinder::matchUseBelow(Loop &L, Use U) const {
  U = plain(U);
  if (U.Value < valueOf(L.First) || U.Value >= valueOf(L.end()))
    return true;
  if (U.Value < valueOf(L.end() - L.Period))
    return false; // of a round in the middle
  // A vector would be copied for each round.
  Use First = inFirst(U, L);
  const Node &N = G.Nodes[First.Value - G.Inputs.size()];
  if (N.Kind == Returns::List)
    return false;
  L.Last[keyOf(U)] = carry(L, First);
  return true;
}

/// All rounds' values of one node, in order; or each item by itself.
bool LoopFinder::matchListBelow(Loop &L, const Constant &C) const {
  if (C.Is == K::Tensor)
    return matchUseBelow(L, C.Tensor);
  bool All = C.Items.size() == L.Rounds && C.Items[0].Is == K::Tensor;
  UseKey Key;
  for (size_t R = 0; All && R < L.Rounds; ++R) {
    All = C.Items[R].Is == K::Tensor;
    if (!All)
      break;
    Use U = plain(C.Items[R].Tensor);
    All = U.Value >= valueOf(L.First) && placeOf(U, L, R) == Place::Own &&
          (R == 0 || keyOf(inFirst(U, L)) == Key);
    if (All)
      Key = keyOf(inFirst(U, L));
  }
  if (!All)
    return llvm::all_of(
        C.Items, [&](const Constant &I) { return matchListBelow(L, I); });
  Use First = plain(C.Items[0].Tensor);
  auto Found = llvm::find_if(L.Collected,
                             [&](Use U) { return keyOf(U) == keyOf(First); });
  L.Lists[&C] = size_t(Found - L.Collected.begin());
  if (Found == L.Collected.end())
    L.Collected.push_back(First);
  return true;
}

bool LoopFinder::matchBelow(Loop &L) const {
  for (size_t N = L.end(); N < G.Nodes.size(); ++N)
    for (const Argument &A : G.Nodes[N].Arguments)
      if (!matchListBelow(L, A.Value))
        return false;
  return llvm::all_of(
      G.Outputs, [&](const Output &O) { return matchUseBelow(L, O.Tensor); });
}

/// How many rounds of \p Period nodes have the same skeletons.
size_t LoopFinder::repeats(size_t First, size_t Period) const {
  size_t N = First + Period;
  while (N < Skeletons.size() && Skeletons[N] == Skeletons[N - Period])
    ++N;
  return (N - First) / Period;
}

std::optional<Loop> LoopFinder::loopAt(size_t First, size_t Period) {
  size_t Count = repeats(First, Period);
  if (Count < LeastRounds || Count * Period < LeastNodes)
    return std::nullopt;
  Loop L;
  L.First = First;
  L.Period = Period;
  L.Body.assign(G.Nodes.begin() + First, G.Nodes.begin() + First + Period);
  InBody = movingOf(L.Body);
  Rounds.clear();
  for (size_t R = 0; R < Count; ++R)
    Rounds.push_back(
        movingOf(llvm::ArrayRef(G.Nodes).slice(First + R * Period, Period)));
  for (size_t I = 0; I < InBody.size(); ++I)
    if (!(InBody[I]->Is == K::Integer ? matchNumber(L, I, Count)
                                      : matchTensor(L, I, Count)))
      return std::nullopt;
  L.Rounds = Count;
  if (Count * Period < LeastNodes || !matchBelow(L))
    return std::nullopt;
  // What moves is never what the operator takes anyway.
  for (Node &N : L.Body)
    for (Argument &A : N.Arguments) {
      std::vector<const Constant *> Found;
      addMoving(A.Value, Found);
      A.IsDefault &= llvm::none_of(
          Found, [&](const Constant *C) { return L.Numbers.count(C); });
    }
  return L;
}

std::vector<Loop> LoopFinder::find() {
  llvm::StringMap<unsigned> Known;
  for (const Node &N : G.Nodes)
    Skeletons.push_back(
        Known.try_emplace(skeletonOf(N), unsigned(Known.size())).first->second);
  std::vector<Loop> Found;
  for (size_t First = 0; First < G.Nodes.size();) {
    std::optional<Loop> L;
    for (size_t Period = 1;
         !L && Period <= std::min(MostPeriod, (G.Nodes.size() - First) / 2);
         ++Period)
      L = loopAt(First, Period);
    First = L ? L->end() : First + 1;
    if (L)
      Found.push_back(std::move(*L));
  }
  return Found;
}

std::vector<Loop> torch::findLoops(const Graph &G) {
  return LoopFinder(G).find();
}
