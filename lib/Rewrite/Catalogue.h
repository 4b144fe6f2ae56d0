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
/// One is a file of Rewrites/ that ends in STARK_REWRITE(Class) and stands in
/// the list of CMakeLists.txt, which the catalogue is generated from.
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

/// A rewrite that draws up a plan for each place: what was recognised there,
/// which points into the facts and lives no longer than a call. Where the plan
/// cannot be written, as in a macro, the place is refused.
template <typename Plan> class PlannedRewrite : public Rewrite {
public:
  Places prepare(const Facts &F) const final {
    Places Found;
    find(F,
         Visitor{[&](const Plan &P) {
                   Match M = describe(F, P);
                   OrReason<Changes> Try = write(F, P);
                   if (Try)
                     Found.Matches.push_back(std::move(M));
                   else
                     Found.Refusals.push_back({"", M.Site, M.Line, Try.why()});
                 },
                 [&](llvm::StringRef Site, unsigned Line, Reason Why) {
                   Found.Refusals.push_back(
                       {"", Site.str(), Line, std::move(Why)});
                 }});
    return Found;
  }

  OrReason<Changes> apply(const Facts &F, const Match &M) const final {
    std::optional<OrReason<Changes>> Made;
    find(F, Visitor{[&](const Plan &P) {
                      Match Other = describe(F, P);
                      if (Other.Site == M.Site && Other.Variant == M.Variant)
                        Made = write(F, P);
                    },
                    [](llvm::StringRef, unsigned, const Reason &) {}});
    assert(Made && "the match is of other facts");
    return Made ? std::move(*Made) : Changes();
  }

protected:
  using Rewrite::Rewrite;
  /// Gets the places as they are found; only called, never kept.
  struct Visitor {
    llvm::function_ref<void(const Plan &)> fits;
    llvm::function_ref<void(llvm::StringRef Site, unsigned Line, Reason Why)>
        refuseAt;
    void refuse(const Site &At, Reason Why) const {
      refuseAt(At.Id, At.Line, std::move(Why));
    }
  };
  virtual void find(const Facts &F, const Visitor &Out) const = 0;
  virtual Match describe(const Facts &F, const Plan &P) const = 0;
  virtual OrReason<Changes> write(const Facts &F, const Plan &P) const = 0;
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
#define STARK_REWRITE(Class) std::unique_ptr<const Rewrite> make##Class();
#include "Rewrites.def"
#undef STARK_REWRITE

} // namespace stark

/// At the end of a rewrite's file.
#define STARK_REWRITE(Class)                                                   \
  std::unique_ptr<const stark::Rewrite> stark::make##Class() {                 \
    return std::make_unique<Class>();                                          \
  }

#endif
