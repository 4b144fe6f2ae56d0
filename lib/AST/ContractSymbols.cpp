//===- ContractSymbols.cpp - Signatures and exported symbols -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractFindings.h"
#include "SourceSymbols.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace stark;
using llvm::StringRef;

namespace {
class SymbolComparison {
public:
  SymbolComparison(const ContractText &Source, const ContractText &Candidate,
                   StringRef Entry, EntryUsed As, bool Unsure)
      : Old(symbolsOf(Source.Source)), New(symbolsOf(Candidate.Source)),
        Candidate(Candidate), Entry(Entry), Unsure(Unsure) {
    // Of a kernel and a host function of one name the other is no entry.
    bool Kernel = As == EntryUsed::Launched;
    for (const Symbol &S : Old)
      if (S.Defined && hasEntryName(S) && isKernel(S) == Kernel)
        EntryIsKernel = Kernel;
  }

  std::vector<Violation> run() {
    entry();
    for (const Symbol &S : Old)
      if (S.Defined && !isEntry(S))
        kept(S);
    for (const Symbol &S : New)
      if (exported(S) && !find(Old, S, true) && !hasEntryName(S))
        added(S);
    return std::move(Violations);
  }

private:
  /// A symbol that the linker shows to other files.
  static bool exported(const Symbol &S) {
    return S.Defined && S.External && !S.Template && !S.Inline &&
           (S.Variable || S.Where == Side::Host);
  }

  /// One of \p In with S's name and, when \p Exact, its type.
  static const Symbol *find(const std::vector<Symbol> &In, const Symbol &S,
                            bool Exact) {
    const Symbol *Found = nullptr;
    for (const Symbol &Other : In)
      if (Other.Name == S.Name && Other.Variable == S.Variable &&
          (!Exact || Other.Type == S.Type))
        if (!Found || likeness(Other, S) > likeness(*Found, S))
          Found = &Other;
    return Found;
  }

  static bool isKernel(const Symbol &S) { return S.Where == Side::Kernel; }

  /// Of two of a name, how well \p Other stands for \p S.
  static int likeness(const Symbol &Other, const Symbol &S) {
    return 2 * Other.Defined + (isKernel(Other) == isKernel(S));
  }

  void complain(unsigned Line, ViolationKind Kind, const Symbol &S,
                SymbolRole Role, StringRef Was = "", StringRef Is = "") {
    Violation V{Kind, Line, S.Name};
    V.Role = Role;
    V.Was = Was.str();
    V.Is = Is.str();
    Violations.push_back(std::move(V));
  }

  bool isEntry(const Symbol &S) const {
    return hasEntryName(S) && (!EntryIsKernel || isKernel(S) == *EntryIsKernel);
  }

  /// Of a launcher and its kernel the other one: neither is used as the other.
  bool isNamesake(const Symbol &S) const {
    return hasEntryName(S) && !isEntry(S);
  }

  bool hasEntryName(const Symbol &S) const {
    StringRef Name = StringRef(Entry).split('<').first;
    Name.consume_front("::");
    return !Entry.empty() && !S.Variable && S.Called.count(Name.str());
  }

  /// Without namespaces and template arguments.
  static StringRef plainName(StringRef Qualified) {
    StringRef Name = Qualified.split('<').first;
    return Name.substr(
        Name.rfind(':') == StringRef::npos ? 0 : Name.rfind(':') + 1);
  }

  bool spelled(StringRef Qualified) const {
    StringRef Name = plainName(Qualified);
    for (const Piece &P : Candidate.Pieces)
      if (P.Name == Name)
        return true;
    return false;
  }

  void entry() {
    if (Entry.empty())
      return;
    bool Any = false;
    for (const Symbol &S : Old)
      if (isEntry(S) && S.Defined) {
        Any = true;
        keptEntry(S);
      }
    if (!Any)
      Violations.push_back({ViolationKind::NoSuchEntry, 0, Entry});
  }

  void keptEntry(const Symbol &S) {
    const Symbol *Now = find(New, S, true);
    const Symbol *Named = Now ? Now : find(New, S, false);
    if (!Named || !Named->Defined) {
      if (!Unsure || !spelled(S.Name))
        complain(0, ViolationKind::SymbolMissing, S, SymbolRole::Entry,
                 std::to_string(S.Line));
      return;
    }
    auto Say = [&](ViolationKind Kind, StringRef Was = "", StringRef Is = "") {
      complain(Named->Line, Kind, S, SymbolRole::Entry, Was, Is);
    };
    if (!Now)
      return Say(ViolationKind::TypeChanged, S.Type, Named->Type);
    if (Now->Where != S.Where)
      Say(ViolationKind::SideChanged, sideName(S.Where), sideName(Now->Where));
    if (Now->ExternC != S.ExternC)
      Say(S.ExternC ? ViolationKind::LinkageLost
                    : ViolationKind::LinkageGained);
    if (Now->External != S.External)
      Say(S.External ? ViolationKind::BecameInternal
                     : ViolationKind::BecameVisible);
    if (Now->Template != S.Template)
      Say(S.Template ? ViolationKind::TemplateLost
                     : ViolationKind::TemplateGained);
    if (Now->Inline && !S.Inline)
      Say(ViolationKind::BecameInline);
    if (defaults(New, S) != defaults(Old, S))
      Say(ViolationKind::DefaultsChanged);
    if (moved(S, *Now))
      Say(ViolationKind::ParametersMoved, llvm::join(S.Parameters, ", "),
          llvm::join(Now->Parameters, ", "));
    if (auto [Was, Is] = otherLink(S, *Now); Was != Is)
      Say(ViolationKind::TypeChanged, Was, Is);
    for (const Symbol &Other : New)
      if (isRival(Other, S) && !isNamesake(Other) && !find(Old, Other, true))
        complain(Other.Line, ViolationKind::EntryOverloaded, S,
                 SymbolRole::Entry);
  }

  /// Whether a call of the entry \p S might be one of \p Other, in whatever
  /// namespace that is.
  static bool isRival(const Symbol &Other, const Symbol &S) {
    return !Other.Variable && !Other.Member &&
           plainName(Other.Name) == plainName(S.Name) &&
           (Other.Name != S.Name || Other.Type != S.Type);
  }

  /// Whether the parameters of \p S have changed places, which their types do
  /// not tell. Other names alone change nothing.
  static bool moved(const Symbol &S, const Symbol &Now) {
    return S.Parameters != Now.Parameters &&
           std::is_permutation(S.Parameters.begin(), S.Parameters.end(),
                               Now.Parameters.begin(), Now.Parameters.end());
  }

  /// What callers in other files rely on beside types that are named alike: the
  /// first thing that differs.
  static std::pair<std::string, std::string> otherLink(const Symbol &S,
                                                       const Symbol &Now) {
    if (S.ExternC != Now.ExternC || S.Linked.empty() || Now.Linked.empty())
      return {}; // said already
    size_t Most = std::max(S.Linked.size(), Now.Linked.size());
    for (size_t I = 0; I < Most; ++I) {
      std::string Was = I < S.Linked.size() ? S.Linked[I] : "none",
                  Is = I < Now.Linked.size() ? Now.Linked[I] : "none";
      if (Was != Is)
        return {Was, Is};
    }
    return {};
  }

  /// Of all declarations of \p S together.
  static std::vector<std::string> defaults(const std::vector<Symbol> &In,
                                           const Symbol &S) {
    std::set<std::string> All;
    for (const Symbol &Other : In)
      if (Other.Name == S.Name && Other.Type == S.Type)
        All.insert(Other.Defaults.begin(), Other.Defaults.end());
    return {All.begin(), All.end()};
  }

  static StringRef sideName(Side S) {
    return S == Side::Kernel   ? "a kernel"
           : S == Side::Device ? "a device function"
                               : "a host function";
  }

  /// Other files may use \p S of the source: the candidate must have it too.
  void kept(const Symbol &S) {
    bool Kernel = S.Where == Side::Kernel && S.External && !S.Template;
    bool Device = S.Where == Side::Device && S.External && S.InHeader;
    if (!exported(S) && !Kernel && !Device)
      return;
    SymbolRole Role = S.Variable                ? SymbolRole::Variable
                      : S.Where == Side::Kernel ? SymbolRole::Kernel
                                                : SymbolRole::Function;
    const Symbol *Now = find(New, S, true);
    const Symbol *Named = Now ? Now : find(New, S, false);
    if (!Named || !Named->Defined) {
      // A kernel that became a template keeps its name.
      for (const Symbol &Other : New)
        if (Kernel && !S.ExternC && !S.InHeader && Other.Name == S.Name &&
            isKernel(Other))
          return;
      if (!Unsure || !spelled(S.Name))
        complain(0, ViolationKind::SymbolMissing, S, Role,
                 std::to_string(S.Line));
      return;
    }
    // Kernels are launched from their own file: only what a header or a C name
    // offers to others pins their parameters.
    if (Kernel && !S.ExternC && !S.InHeader)
      return;
    if (!Now)
      complain(Named->Line, ViolationKind::TypeChanged, S, Role, S.Type,
               Named->Type);
    else if (Now->ExternC != S.ExternC)
      complain(Now->Line,
               S.ExternC ? ViolationKind::LinkageLost
                         : ViolationKind::LinkageGained,
               S, Role);
    else if (!Now->External)
      complain(Now->Line, ViolationKind::BecameInternal, S, Role);
    else if (Now->Template || Now->Inline)
      complain(Now->Line, ViolationKind::InlineOrTemplate, S, Role);
    else if (moved(S, *Now))
      complain(Now->Line, ViolationKind::ParametersMoved, S, Role,
               llvm::join(S.Parameters, ", "),
               llvm::join(Now->Parameters, ", "));
    else if (auto [Was, Is] = otherLink(S, *Now); Was != Is)
      complain(Now->Line, ViolationKind::TypeChanged, S, Role, Was, Is);
  }

  void added(const Symbol &S) {
    if (find(Old, S, false) && !S.Variable) {
      const Symbol *Before = find(Old, S, false);
      if (exported(*Before) && !find(New, *Before, true))
        return; // said already: its type changed
    }
    complain(S.Line, ViolationKind::SymbolAdded, S,
             S.Variable ? SymbolRole::Variable : SymbolRole::Function);
  }

  std::vector<Symbol> Old, New;
  const ContractText &Candidate;
  std::string Entry;
  std::optional<bool> EntryIsKernel;
  bool Unsure;
  std::vector<Violation> Violations;
};
} // namespace

std::vector<Violation> stark::symbolViolations(const ContractText &Source,
                                               const ContractText &Candidate,
                                               StringRef Entry, EntryUsed As,
                                               bool Unsure) {
  return SymbolComparison(Source, Candidate, Entry, As, Unsure).run();
}
