//===- RecordsTest.cpp - Structs, filled and compared field by field ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Records.h"
#include "stark/Judge/Fill.h"
#include "stark/Judge/Judge.h"
#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
struct Point {
  float At[3];
  int Cell;
  char Kind; // and seven bytes of no field
  double Mass;
};

/// 100 of them, which are filled and compared.
Job pointsJob() {
  Job J;
  Leaf L;
  L.Name = "points";
  L.Type = DType::U8;
  L.Use = Role::InOut;
  auto Add = [&](const char *Name, uint64_t Offset, DType Type,
                 uint64_t Count) {
    Field F;
    F.Name = Name;
    F.Offset = Offset;
    F.Type = Type;
    F.Count = Count;
    F.Tolerance = isWhole(Type) ? 0 : 1e-4;
    L.Fields.push_back(F);
  };
  Add("at", offsetof(Point, At), DType::F32, 3);
  Add("cell", offsetof(Point, Cell), DType::I32, 1);
  Add("kind", offsetof(Point, Kind), DType::I8, 1);
  Add("mass", offsetof(Point, Mass), DType::F64, 1);
  L.Fields[1].Fill.Kind = InitKind::Permutation;
  L.Fields[2].Fill.Kind = InitKind::Constant;
  L.Fields[2].Fill.Low = 7;
  RegimeFill Tiny;
  Tiny.Of = Regime::Tiny;
  Tiny.Fill.Times = 1e-6;
  L.Fields[0].Otherwise = {Tiny};
  J.Leaves = {L};
  Case C;
  C.Label = "n=100";
  C.Values.resize(1);
  C.Values[0].Shape = {100, int64_t(sizeof(Point))};
  J.Cases = {C, C};
  J.Cases[1].Filling = Regime::Tiny;
  return J;
}

std::vector<Point> filled(const Job &J, unsigned Case) {
  std::vector<Point> Points(100);
  std::memset(static_cast<void *>(Points.data()), 0xA5,
              Points.size() * sizeof(Point));
  fillLeafOnHost(J.Leaves[0], J.Cases[Case], 0, Points.data(), 7, ~uint64_t(0),
                 /*Shaken=*/false);
  return Points;
}

std::string compared(const Job &J, const std::vector<Point> &Got,
                     const std::vector<Point> &Wanted) {
  MaybeStop S = compareOutputs(
      J, Trial(), "call", {}, [&](unsigned) { return Got.data(); },
      [&](unsigned) { return Wanted.data(); }, [](unsigned) { return 1; },
      Outcome::Wrong);
  return S ? S->Diagnostics : "";
}
} // namespace

// Each field has what is said of it, and what lies between fields is 0.
TEST(Records, AreFilledFieldByField) {
  Job J = pointsJob();
  std::vector<Point> Points = filled(J, 0);
  std::set<int> Cells;
  double Squares = 0;
  for (const Point &P : Points) {
    Cells.insert(P.Cell);
    Squares += double(P.At[2]) * P.At[2];
    EXPECT_EQ(P.Kind, 7);
    char Between[sizeof(Point)];
    std::memcpy(Between, &P, sizeof(P));
    for (size_t I = offsetof(Point, Kind) + 1; I < offsetof(Point, Mass); ++I)
      EXPECT_EQ(Between[I], 0);
  }
  EXPECT_EQ(Cells.size(), 100u);
  EXPECT_EQ(*Cells.rbegin(), 99);
  EXPECT_NEAR(Squares / 100, 1, 0.5);
}

// Other values are those of the fields that have some; whole numbers stay.
TEST(Records, AreFilledOtherwiseFieldByField) {
  Job J = pointsJob();
  std::vector<Point> Given = filled(J, 0), Tiny = filled(J, 1);
  for (size_t I = 0; I < 100; ++I) {
    EXPECT_LT(std::abs(Tiny[I].At[0]), 1e-4);
    EXPECT_EQ(Tiny[I].Cell, Given[I].Cell);
    EXPECT_EQ(Tiny[I].Mass, Given[I].Mass);
  }
}

// A real field may be off by its tolerance, a whole one may not, and what lies
// between fields is not looked at.
TEST(Records, AreComparedFieldByField) {
  Job J = pointsJob();
  std::vector<Point> Wanted = filled(J, 0), Got = Wanted;
  Got[3].At[1] *= 1 + 1e-6f;
  Got[4].Mass *= 1 + 1e-6;
  reinterpret_cast<char *>(&Got[5].Kind)[1] = 1;
  EXPECT_EQ(compared(J, Got, Wanted), "");
  Got[6].Cell += 1;
  std::string Why = compared(J, Got, Wanted);
  EXPECT_NE(Why.find("output 'points.cell' is wrong"), Why.npos) << Why;
  EXPECT_NE(Why.find("First: points.cell[6] = "), Why.npos) << Why;
  Got = Wanted;
  Got[7].At[2] += 1;
  Why = compared(J, Got, Wanted);
  EXPECT_NE(Why.find("First: points.at[7][2] (flat index 23) = "), Why.npos)
      << Why;
}

// A real field that nobody wrote is wrong, however small what the pattern of
// bytes stands for is.
TEST(Records, FieldsThatNobodyWroteAreWrong) {
  Job J = pointsJob();
  J.Leaves[0].Use = Role::Output;
  std::vector<Point> Wanted = filled(J, 0), Got = Wanted;
  for (Point &P : Wanted)
    P.At[0] = P.At[1] = P.At[2] = 0;
  Got = Wanted;
  uint32_t Pattern = poisonPattern(DType::U8, 0);
  std::memcpy(&Got[2].At[1], &Pattern, 4);
  std::string Why = compared(J, Got, Wanted);
  EXPECT_NE(Why.find("1 elements were never written"), Why.npos) << Why;
}
