//===- Catalogue.h - The rewrites -----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   facts -> prepare: matches and refusals
///   facts + one of those matches -> apply: the changes
/// A rewrite holds nothing between the two: what prepare found is found again.
/// One is a file of Rewrites/ that has the functions find, describe and write
/// of a PlannedRewrite, ends in STARK_REWRITE, and stands in the list of
/// CMakeLists.txt, which the catalogue is generated from.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_CATALOGUE_H
#define STARK_LIB_REWRITE_CATALOGUE_H

#include "Analysis/Facts.h"
#include "Changes.h"
#include "stark/Rewrite/Rewrite.h"

namespace stark {

/// Where a rewrite applies and where it does not, in source order.
struct Places {
  std::vector<Match> Matches;
  std::vector<Refusal> Refusals;
};

class Rewrite {
public:
  virtual ~Rewrite() = default;
  llvm::StringRef name() const { return Name; }
  /// Where it applies. Reads the AST only: milliseconds for a usual source.
  virtual Places prepare(const Facts &F) const = 0;
  /// What \p M, one of prepare's matches of the same facts, changes.
  virtual OrReason<Changes> apply(const Facts &F, const Match &M) const = 0;

protected:
  explicit Rewrite(llvm::StringLiteral Name) : Name(Name) {}

private:
  const llvm::StringLiteral Name; ///< "vector-access"
};

/// Gets the places as they are found; only called, never kept.
template <typename Plan> struct Visitor {
  llvm::function_ref<void(const Plan &)> fits;
  llvm::function_ref<void(llvm::StringRef Site, unsigned Line, Reason Why)>
      refuseAt;
  void refuse(const Site &At, Reason Why) const {
    refuseAt(At.Id, At.Line, std::move(Why));
  }
};

/// A rewrite that draws up a plan for each place: what was recognised there,
/// which points into the facts and lives no longer than a call. Find goes over
/// the source, Describe and Write make a match and the changes of a plan. Where
/// a plan cannot be written, as in a macro, the place is refused.
template <typename Plan> class PlannedRewrite : public Rewrite {
public:
  PlannedRewrite(llvm::StringLiteral Name,
                 void (*Find)(const Facts &, const Visitor<Plan> &),
                 Match (*Describe)(const Facts &, const Plan &),
                 OrReason<Changes> (*Write)(const Facts &, const Plan &))
      : Rewrite(Name), Find(Find), Describe(Describe), Write(Write) {}

  Places prepare(const Facts &F) const final {
    Places Found;
    auto Fits = [&](const Plan &P) {
      Match M = Describe(F, P);
      OrReason<Changes> Try = Write(F, P);
      if (Try)
        Found.Matches.push_back(std::move(M));
      else
        Found.Refusals.push_back({"", M.Site, M.Line, Try.why()});
    };
    auto Refuse = [&](llvm::StringRef Site, unsigned Line, Reason Why) {
      Found.Refusals.push_back({"", Site.str(), Line, std::move(Why)});
    };
    Find(F, {Fits, Refuse});
    return Found;
  }

  OrReason<Changes> apply(const Facts &F, const Match &M) const final {
    std::optional<OrReason<Changes>> Made;
    auto Fits = [&](const Plan &P) {
      Match Other = Describe(F, P);
      if (Other.Site == M.Site && Other.Variant == M.Variant)
        Made = Write(F, P);
    };
    auto Refuse = [](llvm::StringRef, unsigned, const Reason &) {};
    Find(F, {Fits, Refuse});
    assert(Made && "the match is of other facts");
    return Made ? std::move(*Made) : Changes();
  }

private:
  void (*const Find)(const Facts &F, const Visitor<Plan> &Out);
  Match (*const Describe)(const Facts &F, const Plan &P);
  OrReason<Changes> (*const Write)(const Facts &F, const Plan &P);
};

/// A match at \p At, for which \p Sites have to change.
inline Match matchAt(const Site &At, std::vector<std::string> Sites,
                     unsigned Promise, std::string Title, std::string Advice) {
  Match M;
  M.Site = At.Id;
  M.Line = At.Line;
  M.Sites = std::move(Sites);
  M.Promise = Promise;
  M.Title = std::move(Title);
  M.Advice = std::move(Advice);
  return M;
}

/// "`a`, `b`".
template <typename Range, typename Name>
std::string quotedList(const Range &All, Name NameOf) {
  std::string List;
  for (const auto &Each : All)
    List += (List.empty() ? "`" : ", `") + NameOf(Each) + "`";
  return List;
}

/// Every rewrite, the most promising first.
const std::vector<std::unique_ptr<const Rewrite>> &rewriteCatalogue();

// One function a rewrite.
#define STARK_REWRITE(Name) std::unique_ptr<const Rewrite> make##Name();
#include "Rewrites.def"
#undef STARK_REWRITE

} // namespace stark

/// At the end of the file of the rewrite \p Name, which is called \p Key, such
/// as "unroll", and whose functions are find, describe and write.
#define STARK_REWRITE(Name, Key)                                               \
  std::unique_ptr<const stark::Rewrite> stark::make##Name() {                  \
    return std::unique_ptr<const Rewrite>(                                     \
        new PlannedRewrite(Key, find, describe, write));                       \
  }

#endif
