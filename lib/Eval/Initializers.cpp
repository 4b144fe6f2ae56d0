//===- Initializers.cpp - What runs when an object is loaded --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   .init_array -> functions -> all that they ask for
///
//===----------------------------------------------------------------------===//

#include "Initializers.h"
#include "HostDecoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include <map>
#include <set>

using namespace stark;
using namespace llvm::object;
using llvm::Expected;
using llvm::StringRef;

static bool holdsInitializers(StringRef Section) {
  return Section.starts_with(".init_array") || Section.starts_with(".ctors") ||
         Section.starts_with(".preinit_array");
}

/// std::ios_base::Init::Init()
static constexpr StringRef StreamsOpener = "_ZNSt8ios_base4InitC1Ev";

namespace {
/// What something asks for at \p Offset of its section.
struct Asked {
  uint64_t Offset;
  StringRef Name;
  std::optional<SectionRef> In; ///< unset: it lies outside of the object
  uint64_t Address = 0;         ///< in there, less what the processor adds
};

/// What is asked for by each section, and the functions that there are.
class ObjectReader {
public:
  explicit ObjectReader(const ObjectFile &Object) : Object(Object) {}
  llvm::Error read();
  /// Takes from \p Count what only opens the standard streams.
  llvm::Error leaveOutStreams(const HostDecoder &By, unsigned &Count);

private:
  struct Function {
    uint64_t Begin, End;
  };
  const Function *functionAt(const SectionRef &In, uint64_t At) const;
  /// Does the function there, with what it calls, open the standard streams,
  /// have them closed, and do nothing else?
  bool onlyOpensStreams(const HostDecoder &By, const Asked &Entry);
  bool add(const HostDecoder &By, const SectionRef &In, uint64_t At);

  const ObjectFile &Object;
  std::map<uint64_t, std::vector<Asked>> AskedBy; ///< by section's index
  std::map<uint64_t, std::vector<Function>> Functions;
  // Of one initialiser.
  std::set<std::pair<uint64_t, uint64_t>> Seen, Data;
  bool Opens = false;
};
} // namespace

llvm::Error ObjectReader::read() {
  for (const SectionRef &Table : Object.sections()) {
    Expected<section_iterator> Of = Table.getRelocatedSection();
    if (!Of)
      return Of.takeError();
    if (*Of == Object.section_end())
      continue;
    for (const RelocationRef &R : Table.relocations()) {
      Asked A = {R.getOffset(), "", std::nullopt, 0};
      if (symbol_iterator Symbol = R.getSymbol();
          Symbol != Object.symbol_end()) {
        Expected<StringRef> Name = Symbol->getName();
        if (!Name)
          return Name.takeError();
        Expected<section_iterator> In = Symbol->getSection();
        if (!In)
          return In.takeError();
        Expected<uint64_t> Value = Symbol->getValue();
        if (!Value)
          return Value.takeError();
        Expected<int64_t> Addend = ELFRelocationRef(R).getAddend();
        if (!Addend)
          return Addend.takeError();
        A.Name = *Name;
        if (*In != Object.section_end()) {
          A.In = **In;
          A.Address = *Value + uint64_t(*Addend);
        }
      }
      AskedBy[(*Of)->getIndex()].push_back(A);
    }
  }
  for (const SymbolRef &Symbol : Object.symbols()) {
    Expected<SymbolRef::Type> Type = Symbol.getType();
    if (!Type)
      return Type.takeError();
    if (*Type != SymbolRef::ST_Function)
      continue;
    Expected<section_iterator> In = Symbol.getSection();
    if (!In)
      return In.takeError();
    Expected<uint64_t> Value = Symbol.getValue();
    if (!Value)
      return Value.takeError();
    if (*In != Object.section_end())
      Functions[(*In)->getIndex()].push_back(
          {*Value, *Value + ELFSymbolRef(Symbol).getSize()});
  }
  return llvm::Error::success();
}

const ObjectReader::Function *ObjectReader::functionAt(const SectionRef &In,
                                                       uint64_t At) const {
  auto All = Functions.find(In.getIndex());
  if (All == Functions.end())
    return nullptr;
  auto Found = llvm::find_if(All->second, [&](const Function &F) {
    return F.Begin <= At && At < F.End;
  });
  return Found == All->second.end() ? nullptr : &*Found;
}

/// False: it may do something else.
bool ObjectReader::add(const HostDecoder &By, const SectionRef &In,
                       uint64_t At) {
  const Function *F = functionAt(In, At);
  Expected<StringRef> Bytes = In.getContents();
  if (!F || !Bytes || F->End > Bytes->size()) {
    llvm::consumeError(Bytes.takeError());
    return false;
  }
  if (!Seen.insert({In.getIndex(), F->Begin}).second)
    return true;
  std::vector<Asked> Own;
  for (const Asked &A : AskedBy[In.getIndex()])
    if (A.Offset >= F->Begin && A.Offset < F->End)
      Own.push_back(A);
  for (const Asked &A : Own) {
    Opens |= A.Name == StreamsOpener;
    if (A.In && !A.In->isText())
      Data.insert({A.In->getIndex(), A.Address});
    else if (A.In || !llvm::is_contained(
                         {StreamsOpener, StringRef("_ZNSt8ios_base4InitD1Ev"),
                          StringRef("__cxa_atexit"), StringRef("__dso_handle")},
                         A.Name))
      return false;
  }
  llvm::ArrayRef<uint8_t> Code(Bytes->bytes_begin(), Bytes->size());
  for (uint64_t I = F->Begin, Size = 0; I < F->End; I += Size) {
    llvm::MCInst Read;
    if (!By.decode(Code, I, Read, Size))
      return false;
    const llvm::MCInstrDesc &What = By.describe(Read);
    if (!What.isCall() && !What.isBranch())
      continue;
    // What has a relocation was looked at by its name.
    if (llvm::any_of(Own, [&](const Asked &A) {
          return A.Offset >= I && A.Offset < I + Size;
        }))
      continue;
    std::optional<uint64_t> To = By.targetOf(Read, I, Size);
    if (!To || !((*To >= F->Begin && *To < F->End) || add(By, In, *To)))
      return false;
  }
  return true;
}

bool ObjectReader::onlyOpensStreams(const HostDecoder &By, const Asked &Entry) {
  Seen.clear();
  Data.clear();
  Opens = false;
  // The one object that stands for them.
  return Entry.In && add(By, *Entry.In, Entry.Address) && Opens &&
         Data.size() == 1;
}

llvm::Error ObjectReader::leaveOutStreams(const HostDecoder &By,
                                          unsigned &Count) {
  for (const SectionRef &Section : Object.sections()) {
    Expected<StringRef> Name = Section.getName();
    if (!Name)
      return Name.takeError();
    if (holdsInitializers(*Name))
      for (const Asked &Entry : AskedBy[Section.getIndex()])
        Count -= Count && onlyOpensStreams(By, Entry);
  }
  return llvm::Error::success();
}

static Expected<bool> mayOpenStreams(const ObjectFile &Object) {
  for (const SymbolRef &Symbol : Object.symbols()) {
    Expected<StringRef> Name = Symbol.getName();
    if (!Name)
      return Name.takeError();
    if (*Name == StreamsOpener)
      return Object.getArch() == llvm::Triple::x86_64;
  }
  return false;
}

Expected<unsigned> stark::initializersIn(const ObjectFile &Object) {
  unsigned Count = 0;
  for (const SectionRef &Section : Object.sections()) {
    Expected<StringRef> Name = Section.getName();
    if (!Name)
      return Name.takeError();
    if (holdsInitializers(*Name))
      Count += unsigned(Section.getSize() / 8);
  }
  // Few objects have any, and to read instructions takes its time.
  Expected<bool> Streams = Count ? mayOpenStreams(Object) : false;
  if (!Streams)
    return Streams.takeError();
  std::unique_ptr<HostDecoder> By = *Streams ? HostDecoder::make() : nullptr;
  if (!By)
    return Count;
  ObjectReader Reader(Object);
  if (llvm::Error E = Reader.read())
    return E;
  if (llvm::Error E = Reader.leaveOutStreams(*By, Count))
    return E;
  return Count;
}
