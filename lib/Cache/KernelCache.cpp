//===- KernelCache.cpp - Where winners are kept --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The on-disk format stands at the top of Entry.cpp.
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/KernelCache.h"
#include "EntryFolder.h"
#include "Headers.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <optional>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using Kind = MissReason::Kind;

LookupResult MissReason::result() const {
  return Is == Kind::NothingFaster ? LookupResult::NothingWon
         : Is == Kind::Damaged     ? LookupResult::Corrupt
                                   : LookupResult::Miss;
}

std::string MissReason::str() const {
  switch (Is) {
  case Kind::NoEntry:
    return "it has no entry";
  case Kind::NothingFaster:
    return "a search found nothing faster";
  case Kind::NoPlan:
    return "entry " + Name + " does not say where its winner was proved";
  case Kind::Damaged:
    return "entry " + Name + " is corrupt: " + Detail;
  case Kind::HeaderChanged:
    return "header " + Name + " changed";
  case Kind::HeaderMissing:
    return "header " + Name + " is missing";
  case Kind::HeaderUnread:
    return Detail;
  case Kind::FileChanged:
    return Name + " changed";
  case Kind::OtherFlags:
    return "its flags were '" + Then + "' and are '" + Now + "'";
  case Kind::OtherArch:
    return "it is for " + Then + ", not " + Now;
  case Kind::OtherTorch:
    break;
  }
  auto Name = [](const std::string &Version) {
    return Version.empty() ? "no torch" : "torch " + Version;
  };
  return "it is of " + Name(Then) + ", not of " + Name(Now);
}

const Unwon *Lookup::open() const {
  for (const Unwon &U : Without)
    if (!U.isSettled())
      return &U;
  return nullptr;
}

static std::string joined(llvm::ArrayRef<std::string> Words) {
  return llvm::join(Words, " ");
}

/// What keeps an entry with another key from being the answer, and how much of
/// the key it shares.
static std::pair<unsigned, MissReason>
differenceOf(const StoredEntry &E, const KeyParts &Now, const CacheInputs &In) {
  unsigned Shared = 0;
  std::optional<MissReason> First;
  auto Part = [&](bool Same, MissReason Why) {
    Shared += Same;
    if (!Same && !First)
      First = std::move(Why);
  };
  Part(E.Source == Now.Source, {Kind::FileChanged, Now.Name});
  Part(E.Workload == Now.Workload,
       {Kind::FileChanged, path::filename(In.WorkloadPath).str()});
  auto Word = [&](Kind Is, const std::string &Then, const std::string &Now) {
    Part(Then == Now, {Is, "", "", Then, Now});
  };
  Part(E.Flags == Now.Flags.Counting,
       {Kind::OtherFlags, "", "", joined(E.Flags), joined(Now.Flags.Counting)});
  Word(Kind::OtherArch, E.Arch, In.Arch);
  Word(Kind::OtherTorch, E.Torch, Now.Torch);
  Shared += !E.Torch.empty() && !Now.Torch.empty(); // another, but one
  return {Shared, First.value_or(MissReason())};
}

static MissReason damaged(llvm::StringRef Folder, std::string How) {
  return {Kind::Damaged, path::filename(Folder).str(), std::move(How)};
}

/// Looks at one entry of the right key; \p Kernel is its winner unless
/// \p Damage says what is wrong with that.
static Lookup tryEntry(llvm::StringRef Folder, const StoredEntry &Entry,
                       std::string Kernel, std::string Damage,
                       const CacheInputs &In, const KeyParts &Now) {
  Lookup L;
  L.From = Folder.str();
  L.Why = checkHeaders(Entry.Headers, In, Now, L.Entry.Headers);
  if (!Damage.empty() && !L.Why)
    L.Why = damaged(Folder, std::move(Damage));
  if (L.Why)
    return L;
  L.Entry.Facts = Entry.Facts;
  L.Entry.Plan = Entry.Plan;
  L.Entry.Arch = Entry.Arch;
  L.Entry.ToolkitVersion = Entry.Toolkit;
  if (Entry.Kernel.empty())
    L.Why = MissReason{Kind::NothingFaster};
  else
    L.Entry.WinnerText = std::move(Kernel);
  return L;
}

/// Makes \p L, a hit for what its entry reaches of a source, one for the source
/// as it is. False where what else the source has could mean something to the
/// winner or to a header.
static bool moveHit(Lookup &L, const CodeReach &Now, llvm::StringRef Entry) {
  std::optional<CodeReach> Winners = reachOf(L.Entry.WinnerText, Entry);
  std::optional<DispatchPlan> Plan = movePlan(L.Entry.Plan, Now.Kept);
  if (!Winners || !Plan)
    return false;
  auto HasOne = [&](const llvm::StringSet<> &Words) {
    return llvm::any_of(Now.LeftOut, [&](const std::string &Name) {
      return Words.contains(Name);
    });
  };
  if (HasOne(wordsOf(Winners->Text)))
    return false;
  for (const std::string &Header : L.Entry.Headers) {
    llvm::Expected<std::string> Text = readFile(Header);
    if (!Text)
      llvm::consumeError(Text.takeError());
    else if (HasOne(wordsUsedIn(*Text)))
      return false;
  }
  L.Entry.Plan = std::move(*Plan);
  L.Moved = true;
  return true;
}

/// The first entry in \p Folders of what \p In's entry reaches, where there is
/// none of the whole source.
static std::optional<Lookup> findMoved(const std::vector<std::string> &Folders,
                                       const CacheInputs &In,
                                       const KeyParts &Now) {
  std::optional<ReachedKey> Reached = makeReachedKey(In, Now);
  if (!Reached)
    return std::nullopt;
  for (const std::string &Folder : Folders)
    for (const std::string &Where : entriesIn(Folder + "/" + Now.Name)) {
      StoredEntry Entry;
      std::string Kernel;
      bool Gone = false;
      if (!readEntry(Where, Entry).empty() || Entry.Reached != Reached->Key)
        continue;
      std::string Damage = readWhole(Where, Entry, Kernel, Gone);
      if (Gone || !Damage.empty() || Entry.Kernel.empty())
        continue;
      Lookup L = tryEntry(Where, Entry, std::move(Kernel), "", In, Now);
      if (!L.Why && moveHit(L, Reached->Reach, Entry.Plan.Name))
        return L;
    }
  return std::nullopt;
}

/// The folder that changes when \p Place does or comes to be.
static void watch(std::vector<std::string> &Watched, const std::string &Folder,
                  const std::string &Place) {
  for (const std::string &Candidate :
       {Place, Folder, path::parent_path(Folder).str()})
    if (fs::is_directory(Candidate)) {
      Watched.push_back(Candidate);
      return;
    }
}

llvm::Expected<Lookup>
stark::findWinner(const CacheInputs &In,
                  const std::vector<std::string> &Folders) {
  llvm::Expected<KeyParts> Now = makeKey(In);
  if (!Now)
    return Now.takeError();
  // The first entry of the key that is no hit says why; without one, the entry
  // that shares the most.
  std::optional<Lookup> Near;
  unsigned Closest = 0;
  MissReason Otherwise;
  std::vector<std::string> Watched;
  if (!Now->TorchFile.empty())
    Watched.push_back(Now->TorchFile);
  for (const std::string &Folder : Folders) {
    std::string Place = Folder + "/" + Now->Name;
    watch(Watched, Folder, Place);
    for (const std::string &Where : entriesIn(Place)) {
      bool Named = path::filename(Where).starts_with(Now->prefix());
      StoredEntry Entry;
      Lookup L;
      bool Gone = false;
      std::string Kernel;
      std::string Damage = Named ? readWhole(Where, Entry, Kernel, Gone)
                                 : readEntry(Where, Entry);
      if (Gone || (!Named && !Damage.empty()))
        continue;
      if (Entry.Key.empty()) {
        L.From = Where;
        L.Why = damaged(Where, std::move(Damage));
      } else if (Entry.Key == Now->Key) {
        L = tryEntry(Where, Entry, std::move(Kernel), std::move(Damage), In,
                     *Now);
      } else {
        auto [Shared, Why] = differenceOf(Entry, *Now, In);
        if (Shared > Closest) {
          Closest = Shared;
          Otherwise = Why;
        }
        continue;
      }
      if (L.result() == LookupResult::Hit ||
          L.result() == LookupResult::NothingWon) {
        L.Watched = std::move(Watched);
        return L;
      }
      if (!Near)
        Near = std::move(L);
    }
  }
  if (std::optional<Lookup> Moved = findMoved(Folders, In, *Now)) {
    Moved->Watched = std::move(Watched);
    return std::move(*Moved);
  }
  if (!Near) {
    Near.emplace();
    Near->Why = std::move(Otherwise);
  }
  Near->Watched = std::move(Watched);
  return std::move(*Near);
}
