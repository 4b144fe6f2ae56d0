//===- FieldsTest.cpp - One list of fields prints and parses a record -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Json/Fields.h"
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {
enum class Color { Red, Green, Blue };
constexpr Named<Color> ColorNames[] = {
    {Color::Red, "red"}, {Color::Green, "green"}, {Color::Blue, "blue"}};
constexpr std::span<const Named<Color>> namesOf(Color) { return ColorNames; }

/// "3 kg"
struct Weight {
  unsigned Kg = 0;
};
std::string printWord(const Weight &W) { return std::to_string(W.Kg) + " kg"; }
std::string parseWord(const std::string &Text, Weight &W) {
  if (!Text.ends_with(" kg"))
    return "a number of kg";
  W.Kg = unsigned(std::stoul(Text));
  return "";
}

struct Wheel {
  unsigned Spokes = 0;
  double Inches = 0;
};
template <class IO> void fields(IO &F, Wheel &W) {
  F.required("spokes", W.Spokes);
  F.check(W.Spokes >= 3, "spokes", "3 or more");
  F.required("inches", W.Inches);
}

struct Bicycle {
  std::string Name;
  Color Paint = Color::Red;
  Weight Heavy;
  int64_t Balance = 0;
  bool Rusty = false;
  std::optional<uint64_t> Price;
  unsigned Gears = 1;
  std::string Note = "as it was";
  Wheel Front;
  std::vector<Wheel> Spare;
  std::vector<std::string> Owners;
  std::vector<int> Marks;
  std::vector<Color> Stripes;
  std::map<std::string, unsigned> Parts;
  struct {
    bool Locked = false;
  } State;
  std::vector<std::pair<std::string, bool>> Lamps;
};
template <class IO> void fields(IO &F, Bicycle &B) {
  F.format("format", 2);
  F.required("name", B.Name);
  F.check(B.Name != "car", "name", "a bicycle");
  F.required("paint", B.Paint);
  F.required("heavy", B.Heavy);
  F.required("balance", B.Balance);
  F.required("rusty", B.Rusty);
  F.optional("price", B.Price);
  F.sparse("gears", B.Gears, 1u);
  F.optional("note", B.Note, /*Written=*/B.Note != "as it was");
  F.required("front", B.Front);
  F.required("spare", B.Spare);
  F.required("owners", B.Owners);
  F.required("marks", B.Marks);
  F.optional("stripes", B.Stripes);
  F.required("parts", B.Parts);
  F.object("state", [&](auto &S) { S.required("locked", B.State.Locked); });
  F.list("lamps", B.Lamps,
         [&](auto &L, std::pair<std::string, bool> &Lamp, size_t Index) {
           L.required("name", Lamp.first);
           L.required(Index == 0 ? "on" : "also_on", Lamp.second);
         });
  F.ignored("comment");
}

Bicycle example() {
  Bicycle B;
  B.Name = "Rosinante";
  B.Paint = Color::Blue;
  B.Heavy.Kg = 12;
  B.Balance = -5;
  B.Front = {36, 28.5};
  B.Spare = {{20, 26}, {18, 24}};
  B.Owners = {"Don"};
  B.Marks = {-1, 7};
  B.Stripes = {Color::Green};
  B.Parts = {{"bell", 1}};
  B.State.Locked = true;
  B.Lamps = {{"head", true}, {"tail", false}};
  return B;
}

const char *const Printed =
    R"({"balance":-5,"format":2,"front":{"inches":28.5,"spokes":36},)"
    R"("heavy":"12 kg","lamps":[{"name":"head","on":true},)"
    R"({"also_on":false,"name":"tail"}],"marks":[-1,7],"name":"Rosinante",)"
    R"("owners":["Don"],"paint":"blue","parts":{"bell":1},"rusty":false,)"
    R"("spare":[{"inches":26.0,"spokes":20},{"inches":24.0,"spokes":18}],)"
    R"("state":{"locked":true},"stripes":["green"]})";

/// The problem of the example with \p Pointer set to \p Value.
std::string problemWith(const char *Pointer, const json &Value) {
  json Object = json::parse(Printed);
  Object[json::json_pointer(Pointer)] = Value;
  Bicycle B;
  return readFields(Object, "f.json", "", B);
}
std::string problemWithout(const char *Name) {
  json Object = json::parse(Printed);
  Object.erase(Name);
  Bicycle B;
  return readFields(Object, "f.json", "", B);
}
} // namespace

// What the list prints it parses to the same record.
TEST(FieldsTest, PrintsAndParses) {
  Bicycle B = example(), Back;
  EXPECT_EQ(dumpJson(writeFields<json>(B)), Printed);
  EXPECT_EQ(readFields(json::parse(Printed), "f.json", "", Back), "");
  EXPECT_EQ(dumpJson(writeFields<json>(Back)), Printed);
  EXPECT_EQ(Back.Heavy.Kg, 12u);
  EXPECT_EQ(Back.Spare[1].Spokes, 18u);
  EXPECT_EQ(Back.Note, "as it was");
}

// What may be left out is written when it says something, and read.
TEST(FieldsTest, LeavesOutDefaults) {
  Bicycle B = example(), Back;
  B.Price = 0;
  B.Gears = 7;
  B.Note = "new";
  json Object = writeFields<json>(B);
  EXPECT_EQ(Object["price"], 0);
  EXPECT_EQ(Object["gears"], 7);
  EXPECT_EQ(Object["note"], "new");
  EXPECT_EQ(readFields(Object, "f.json", "", Back), "");
  EXPECT_EQ(Back.Price, 0u);
  EXPECT_EQ(Back.Gears, 7u);
  EXPECT_EQ(Back.Note, "new");
  // A record that is read over starts from the default again.
  EXPECT_EQ(readFields(json::parse(Printed), "f.json", "", Back), "");
  EXPECT_EQ(Back.Gears, 1u);
}

// Keys stand in the order of the list where the JSON type keeps an order.
TEST(FieldsTest, KeepsOrder) {
  Wheel W{36, 28};
  EXPECT_EQ(dumpJson(writeFields<ordered_json>(W)),
            R"({"spokes":36,"inches":28.0})");
}

// A figure that could not be formed is 0, as JSON has no infinities.
TEST(FieldsTest, WritesNoInfinities) {
  Wheel W{36, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(dumpJson(writeFields<json>(W)), R"({"inches":0.0,"spokes":36})");
}

// Each wrong field is named with file, place, what was got and what was wanted.
TEST(FieldsTest, NamesWhatIsWrong) {
  EXPECT_EQ(problemWith("/name", 3),
            "f.json: field 'name': got 3, wanted a string");
  EXPECT_EQ(problemWith("/rusty", "no"),
            "f.json: field 'rusty': got \"no\", wanted true or false");
  EXPECT_EQ(problemWith("/balance", 1.5),
            "f.json: field 'balance': got 1.5, wanted an integer");
  EXPECT_EQ(problemWith("/balance", uint64_t(1) << 63),
            "f.json: field 'balance': got 9223372036854775808, wanted an "
            "integer");
  EXPECT_EQ(problemWith("/gears", -1),
            "f.json: field 'gears': got -1, wanted an integer of 0 or more");
  EXPECT_EQ(problemWith("/price", nullptr),
            "f.json: field 'price': got null, wanted an integer of 0 or more");
  EXPECT_EQ(problemWith("/paint", "pink"),
            "f.json: field 'paint': got 'pink', wanted red, green or blue");
  EXPECT_EQ(problemWith("/heavy", "light"),
            "f.json: field 'heavy': got 'light', wanted a number of kg");
  EXPECT_EQ(problemWith("/front", json::array()),
            "f.json: field 'front': got [], wanted an object");
  EXPECT_EQ(problemWith("/front/inches", "big"),
            "f.json: field 'front.inches': got \"big\", wanted a number");
  EXPECT_EQ(problemWith("/spare/1/spokes", "many"),
            "f.json: field 'spare[1].spokes': got \"many\", wanted an integer "
            "of 0 or more");
  EXPECT_EQ(problemWith("/spare", 2),
            "f.json: field 'spare': got 2, wanted an array of objects");
  EXPECT_EQ(problemWith("/owners", json{"Don", 1}),
            "f.json: field 'owners': got [\"Don\",1], wanted an array of "
            "strings");
  EXPECT_EQ(problemWith("/marks/0", uint64_t(1) << 40),
            "f.json: field 'marks': got [1099511627776,7], wanted an array of "
            "integers");
  EXPECT_EQ(problemWith("/stripes/0", 4),
            "f.json: field 'stripes[0]': got 4, wanted red, green or blue");
  EXPECT_EQ(problemWith("/parts/bell", "one"),
            "f.json: field 'parts.bell': got \"one\", wanted an integer of 0 "
            "or more");
  EXPECT_EQ(problemWith("/state/locked", 1),
            "f.json: field 'state.locked': got 1, wanted true or false");
  EXPECT_EQ(problemWith("/lamps/1/also_on", 1),
            "f.json: field 'lamps[1].also_on': got 1, wanted true or false");
  EXPECT_EQ(problemWith("/format", 3),
            "f.json: field 'format': got 3, wanted 2");
  EXPECT_EQ(problemWithout("name"),
            "f.json: field 'name': got nothing, wanted a string");
  EXPECT_EQ(problemWithout("front"),
            "f.json: field 'front': got nothing, wanted an object");
  EXPECT_EQ(problemWithout("spare"),
            "f.json: field 'spare': got nothing, wanted an array of objects");
  EXPECT_EQ(problemWithout("state"),
            "f.json: field 'state': got nothing, wanted an object");
  EXPECT_EQ(problemWithout("lamps"),
            "f.json: field 'lamps': got nothing, wanted an array of objects");
  Wheel W;
  EXPECT_EQ(readFields(json("x"), "f.json", "front", W),
            "f.json: field 'front': got \"x\", wanted an object");
}

// A name that no list has is an error, in nested records too.
TEST(FieldsTest, NamesWhatIsUnknown) {
  EXPECT_EQ(problemWith("/comment", "not looked at"), "");
  EXPECT_EQ(problemWith("/front/spoke", 1),
            "f.json: field 'front.spoke': got an unknown name, wanted one of "
            "inches, spokes");
  EXPECT_NE(problemWith("/lamps/0/also_on", true)
                .find("'lamps[0].also_on': got an unknown name"),
            std::string::npos);
  json Object = {{"spokes", 3}, {"inches", 1}, {"hub", 1}};
  Wheel W;
  EXPECT_EQ(readKnownFields(Object, "f.json", "", W), "");
  EXPECT_EQ(W.Spokes, 3u);
  Object["spokes"] = 2;
  EXPECT_EQ(readKnownFields(Object, "f.json", "front", W),
            "f.json: field 'front.spokes': got 2, wanted 3 or more");
}

// A check is made of what was read and good, and says what was given.
TEST(FieldsTest, ChecksValues) {
  EXPECT_EQ(problemWith("/front/spokes", 2),
            "f.json: field 'front.spokes': got 2, wanted 3 or more");
  EXPECT_EQ(problemWith("/name", "car"),
            "f.json: field 'name': got 'car', wanted a bicycle");
  EXPECT_EQ(problemWith("/front/spokes", false),
            "f.json: field 'front.spokes': got false, wanted an integer of 0 "
            "or more");
}

namespace {
/// A size by names of the user's own.
struct Extents {
  bool Rough = false;
  std::map<std::string, int> Named;
};
template <class IO> void fields(IO &F, Extents &E) {
  F.sparse("rough", E.Rough, false);
  F.others(E.Named);
}
} // namespace

// What has names of its own stands beside the fields that are always there.
TEST(FieldsTest, KeepsOtherNames) {
  Extents E{true, {{"rows", 3}, {"cols", 4}}}, Back;
  json Object = writeFields<json>(E);
  EXPECT_EQ(dumpJson(Object), R"({"cols":4,"rough":true,"rows":3})");
  EXPECT_EQ(readFields(Object, "f.json", "", Back), "");
  EXPECT_TRUE(Back.Rough);
  EXPECT_EQ(Back.Named, E.Named);
  Object["rows"] = "many";
  EXPECT_EQ(readFields(Object, "f.json", "size", Back),
            "f.json: field 'size.rows': got \"many\", wanted an integer");
}

namespace {
/// Its wheel is another library's, which prints and parses it.
struct Cart {
  Wheel Left;
};
template <class IO> void fields(IO &F, Cart &C) {
  F.embedded(
      "left", [&] { return dumpJson(writeFields<json>(C.Left)); },
      [&](const std::string &Text) {
        return readFields(json::parse(Text), "cart", "left", C.Left);
      });
}
} // namespace

// A record with a format of its own stands in another as its object.
TEST(FieldsTest, EmbedsRecords) {
  Cart C{{12, 20}}, Back;
  json Object = writeFields<json>(C);
  EXPECT_EQ(dumpJson(Object), R"({"left":{"inches":20.0,"spokes":12}})");
  EXPECT_EQ(readFields(Object, "f.json", "", Back), "");
  EXPECT_EQ(Back.Left.Spokes, 12u);
  Object["left"]["spokes"] = 1;
  EXPECT_EQ(readFields(Object, "f.json", "", Back),
            "cart: field 'left.spokes': got 1, wanted 3 or more");
  EXPECT_EQ(readFields(json::object(), "f.json", "", Back),
            "f.json: field 'left': got nothing, wanted an object");
}

// One table of names serves printing, parsing and messages.
TEST(NamesTest, NamesValues) {
  EXPECT_STREQ(nameOf(Color::Green), "green");
  EXPECT_STREQ(nameOf(Color(17)), "?");
  EXPECT_EQ(valueNamed<Color>("blue"), Color::Blue);
  EXPECT_EQ(valueNamed<Color>("Blue"), std::nullopt);
  EXPECT_EQ(allNames<Color>(), "red, green or blue");
}
