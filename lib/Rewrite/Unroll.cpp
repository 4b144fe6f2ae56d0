//===- Unroll.cpp - Several iterations at once ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to an innermost counting loop without a pragma of its own:
/// `#pragma unroll 4`.
///
/// Faster, because the loads of several iterations can be under way together,
/// and there are fewer branches.
///
/// Kept: everything; the compiler takes care of what is left over. Refused
/// where the loop holds a barrier, and where no line can be put before it.
///
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "Catalogue.h"

using namespace stark;
using namespace clang;

namespace {
class Unroll : public Rewrite {
public:
  llvm::StringRef name() const override { return "unroll"; }
  llvm::StringRef summary() const override {
    return "unroll an innermost loop by four";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

static std::string whyNot(const Facts &F, const Kernel &K, const ForStmt *Loop,
                          size_t At) {
  size_t Line = F.text().rfind('\n', At);
  Line = Line == llvm::StringRef::npos ? 0 : Line + 1;
  if (!F.text().slice(Line, At).trim().empty() ||
      !llvm::isa_and_nonnull<CompoundStmt>(
          K.Parents->getParent(const_cast<ForStmt *>(Loop))))
    return "no line can be put right before it";
  llvm::StringRef Above = F.text().take_front(Line).rtrim();
  if (Above.ends_with("\\"))
    return "it stands in a macro";
  Above = Above.substr(Above.rfind('\n') + 1).trim();
  if (Above.starts_with("#pragma") || Above.starts_with("_Pragma"))
    return "a pragma stands before it";
  std::string Why;
  forEach(Loop->getBody(), [&](const Stmt *N) {
    if (isBlockBarrier(N))
      Why = "it holds a barrier";
    if (llvm::isa<ReturnStmt, BreakStmt>(N))
      Why = "it can end early";
  });
  return Why;
}

void Unroll::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    forEach(K.body(), [&](const Stmt *N) {
      const auto *Loop = llvm::dyn_cast<ForStmt>(N);
      if (!Loop || !Loop->getCond() || !Loop->getInc())
        return;
      bool Innermost = true;
      forEach(Loop->getBody(), [&](const Stmt *Inner) {
        Innermost &= !llvm::isa<ForStmt, WhileStmt, DoStmt>(Inner);
      });
      const Site *At = F.siteAt(SiteKind::Loop, Loop);
      std::optional<Range> R = F.range(Loop);
      if (!Innermost || !At || !R)
        return;
      std::string Why = whyNot(F, K, Loop, R->Begin);
      if (!Why.empty()) {
        Out.refuse(At->Id, At->Line, Why);
        return;
      }
      Match M;
      M.Site = At->Id;
      M.Line = At->Line;
      M.Sites = {K.name()};
      M.Promise = 15;
      M.Title = "Unroll the loop by four";
      M.Advice = "Unroll the loop at line " + std::to_string(At->Line) +
                 " by four, so that the loads of four iterations are under way "
                 "together.";
      size_t Begin = R->Begin;
      std::string Text = "#pragma unroll 4\n" + F.indentAt(Begin);
      Out.offer(std::move(M), std::vector<Edit>{{{Begin, Begin}, Text}});
    });
  }
}

std::unique_ptr<const Rewrite> stark::makeUnroll() {
  return std::make_unique<Unroll>();
}
