//===- AnchorTree.cpp - The nodes that an anchor can consist of ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnchorTree.h"
#include "MainFile.h"
#include "Pieces.h"
#include "SkippedText.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include <algorithm>
#include <utility>

using namespace stark;
using namespace clang;

namespace {

class TreeBuilder {
public:
  TreeBuilder(const ParsedSource &Source, const SourceTokens &Tokens)
      : T(Tokens), Unit(Source.unit()), SM(Unit.getSourceManager()),
        Skipped(skippedText(Source)) {}

  AnchorNode build() {
    for (auto I = Unit.top_level_begin(), E = Unit.top_level_end(); I != E; ++I)
      declaration(*I);
    std::sort(Functions.begin(), Functions.end(), before);

    AnchorNode Root;
    Root.Kind = AnchorNode::Declaration;
    Root.Tokens = {0, T.All.size()};
    size_t Next = 0;
    for (const Piece &P : findPieces(T)) {
      if (P.Kind == PieceKind::Open || P.Kind == PieceKind::Close) {
        // A namespace is no place to stop at: what it holds are siblings.
        AnchorNode Brace;
        Brace.Kind = AnchorNode::Directive;
        Brace.Tokens = P.Tokens;
        Root.Children.push_back(std::move(Brace));
        continue;
      }
      if (T.All[P.Tokens.Begin].InDirective) {
        Root.Children.push_back(directive(P.Tokens));
        continue;
      }
      AnchorNode Node;
      Node.Kind = AnchorNode::Declaration;
      Node.Tokens = P.Tokens;
      while (Next < Functions.size() &&
             Functions[Next].Tokens.Begin < P.Tokens.Begin)
        ++Next;
      std::vector<AnchorNode> Inner;
      while (Next < Functions.size() &&
             Functions[Next].Tokens.End <= P.Tokens.End)
        Inner.push_back(std::move(Functions[Next++]));
      if (P.Kind == PieceKind::Function && Inner.size() == 1)
        Node.Children = std::move(Inner[0].Children);
      else
        Node.Children = std::move(Inner);
      if (skipped(P.Tokens.Begin))
        Node.Kind = AnchorNode::Skipped;
      if (P.Kind != PieceKind::Function && Node.Children.empty())
        Node.Macro = macroCall(P.Tokens);
      Root.Children.push_back(std::move(Node));
    }
    return Root;
  }

private:
  static bool before(const AnchorNode &A, const AnchorNode &B) {
    return A.Tokens.Begin < B.Tokens.Begin;
  }

  /// Main-file tokens from \p R, macro expansions taken whole.
  bool tokensOf(SourceRange R, Range &Out) const {
    if (!isInMainFile(SM, R.getBegin()) || !isInMainFile(SM, R.getEnd()))
      return false;
    size_t Begin =
        SM.getFileOffset(SM.getExpansionRange(R.getBegin()).getBegin());
    size_t Last = SM.getFileOffset(SM.getExpansionRange(R.getEnd()).getEnd());
    Out = {T.firstAt(Begin), T.firstAt(Last + 1)};
    // The end of a `>>` that closes two lists lies inside a token.
    return Out.Begin < Out.End;
  }

  /// Where \p L is written in a file, out of all macros: in an argument, else
  /// at the call's first token or, if \p Last, its last. \p Made: a macro's own
  /// text was left on the way.
  SourceLocation written(SourceLocation L, bool Last, bool &Made) const {
    while (L.isMacroID()) {
      if (SM.isMacroArgExpansion(L)) {
        L = SM.getImmediateSpellingLoc(L);
        continue;
      }
      Made = true;
      CharSourceRange Call = SM.getImmediateExpansionRange(L);
      L = Last ? Call.getEnd() : Call.getBegin();
    }
    return L;
  }

  /// Main-file tokens from \p R as they are written; \p Made as above.
  bool writtenTokensOf(SourceRange R, Range &Out, bool &Made) const {
    SourceLocation Begin = written(R.getBegin(), /*Last=*/false, Made);
    SourceLocation End = written(R.getEnd(), /*Last=*/true, Made);
    if (Begin.isInvalid() || End.isInvalid() || !SM.isInMainFile(Begin) ||
        !SM.isInMainFile(End))
      return false;
    Out = {T.firstAt(SM.getFileOffset(Begin)),
           T.firstAt(SM.getFileOffset(End) + 1)};
    return Out.Begin < Out.End;
  }

  bool skipped(size_t Token) const {
    return isSkipped(Skipped, T.All[Token].Bytes.Begin);
  }

  void declaration(Decl *D) {
    if (!D || D->isImplicit() || !isInMainFile(SM, D->getLocation()))
      return;
    if (auto *Template = dyn_cast<TemplateDecl>(D))
      D = Template->getTemplatedDecl();
    if (!D)
      return;
    if (auto *Context = dyn_cast<DeclContext>(D);
        Context && (isa<NamespaceDecl>(D) || isa<LinkageSpecDecl>(D) ||
                    isa<CXXRecordDecl>(D)))
      for (Decl *Inner : Context->decls())
        declaration(Inner);
    if (auto *F = dyn_cast<FunctionDecl>(D))
      function(F);
  }

  void function(FunctionDecl *F) {
    if (!F->doesThisDeclarationHaveABody() ||
        F->getTemplateInstantiationPattern())
      return;
    AnchorNode Node;
    Node.Kind = AnchorNode::Declaration;
    SourceRange Whole = wholeRange(*F);
    if (isOneExpansion(Whole, SM) || !tokensOf(Whole, Node.Tokens))
      return;
    if (auto *Body = dyn_cast_or_null<CompoundStmt>(F->getBody()))
      if (!Body->getLBracLoc().isMacroID() && !Body->getRBracLoc().isMacroID())
        addStatement(Body, Node.Children);
    Functions.push_back(std::move(Node));
  }

  void addStatement(const Stmt *S, std::vector<AnchorNode> &Out) {
    AnchorNode Node;
    bool Made = false;
    if (!S ||
        !(InArgument ? writtenTokensOf(S->getSourceRange(), Node.Tokens, Made)
                     : tokensOf(S->getSourceRange(), Node.Tokens)))
      return;
    // A loop with a #pragma: the line is a node of its own.
    if (T.All[Node.Tokens.Begin].InDirective) {
      if (auto *Attributed = dyn_cast<AttributedStmt>(S))
        addStatement(Attributed->getSubStmt(), Out);
      return;
    }
    if (InArgument ? Made : isOneExpansion(S->getSourceRange(), SM))
      Node.Macro = T.text(Node.Tokens.Begin);
    bool EndsInBrace = T.is(Node.Tokens.End - 1, "}");
    if (T.is(Node.Tokens.End, ";") && !T.is(Node.Tokens.End - 1, ";") &&
        (!EndsInBrace || isa<Expr>(S) || isa<ReturnStmt>(S) ||
         !Node.Macro.empty()))
      ++Node.Tokens.End;
    if (auto *Compound = dyn_cast<CompoundStmt>(S)) {
      for (const Stmt *Child : Compound->body())
        addStatement(Child, Node.Children);
      if (Node.Tokens.size() >= 2 && Node.Macro.empty())
        fillHoles(Node);
    } else if (isGoverning(S)) {
      for (const Stmt *Child : S->children())
        if (Child && isBody(S, Child))
          addStatement(Child, Node.Children);
    } else {
      addLambdas(S, Node);
    }
    std::sort(Node.Children.begin(), Node.Children.end(), before);
    // What one macro expansion made is one node.
    if (!Out.empty() && Node.Tokens.Begin < Out.back().Tokens.End) {
      AnchorNode &Last = Out.back();
      Last.Tokens.End = std::max(Last.Tokens.End, Node.Tokens.End);
      Last.Children.clear();
      if (T.is(Last.Tokens.End, ";"))
        ++Last.Tokens.End;
      return;
    }
    Out.push_back(std::move(Node));
  }

  /// The bodies of the lambdas that \p S holds. A macro may make several
  /// lambdas of one that it was given.
  void addLambdas(const Stmt *S, AnchorNode &Into) {
    if (auto *Lambda = dyn_cast<LambdaExpr>(S)) {
      const Stmt *Body = Lambda->getBody();
      Range Tokens;
      bool Made = false;
      if (Body && writtenTokensOf(Body->getSourceRange(), Tokens, Made) &&
          !Made) {
        for (const AnchorNode &Known : Into.Children)
          if (Known.Tokens.overlaps(Tokens))
            return;
        bool Was = std::exchange(InArgument,
                                 InArgument || Body->getBeginLoc().isMacroID());
        addStatement(Body, Into.Children);
        InArgument = Was;
        return;
      }
    }
    for (const Stmt *Child : S->children())
      if (Child)
        addLambdas(Child, Into);
  }

  static bool isGoverning(const Stmt *S) {
    return isa<ForStmt>(S) || isa<WhileStmt>(S) || isa<DoStmt>(S) ||
           isa<CXXForRangeStmt>(S) || isa<IfStmt>(S) || isa<SwitchStmt>(S) ||
           isa<SwitchCase>(S) || isa<LabelStmt>(S) || isa<AttributedStmt>(S) ||
           isa<CXXTryStmt>(S) || isa<CXXCatchStmt>(S);
  }

  /// Whether \p S is one of \p Kinds that has \p Child as its body.
  template <class... Kinds>
  static bool isBodyOf(const Stmt *S, const Stmt *Child) {
    return ((isa<Kinds>(S) && cast<Kinds>(S)->getBody() == Child) || ...);
  }
  /// Likewise, of those that stand before a statement.
  template <class... Kinds>
  static bool isBehind(const Stmt *S, const Stmt *Child) {
    return ((isa<Kinds>(S) && cast<Kinds>(S)->getSubStmt() == Child) || ...);
  }
  static bool isBody(const Stmt *S, const Stmt *Child) {
    if (auto *If = dyn_cast<IfStmt>(S))
      return Child == If->getThen() || Child == If->getElse();
    return isBodyOf<ForStmt, CXXForRangeStmt, WhileStmt, DoStmt, SwitchStmt>(
               S, Child) ||
           isBehind<SwitchCase, LabelStmt, AttributedStmt>(S, Child) ||
           isa<CXXTryStmt>(S) || isa<CXXCatchStmt>(S);
  }

  /// The macro of a top-level piece that is nothing but its call, else empty.
  std::string macroCall(Range Tokens) const {
    size_t End = Tokens.End - (T.is(Tokens.End - 1, ";") ? 1 : 0);
    bool Call = End - Tokens.Begin >= 3 &&
                T.All[Tokens.Begin].Kind == SourceToken::Word &&
                T.is(Tokens.Begin + 1, "(") && T.is(End - 1, ")");
    return Call ? T.text(Tokens.Begin).str() : "";
  }

  AnchorNode directive(Range Tokens) const {
    AnchorNode Node;
    Node.Kind = AnchorNode::Directive;
    Node.Tokens = Tokens;
    llvm::StringRef Word = T.text(Tokens.Begin + 1);
    Node.Pragma = Word == "pragma";
    Node.Branch = conditionalOf(Word);
    return Node;
  }

  /// Adds the directives between the statements of a block, and what is left.
  void fillHoles(AnchorNode &Block) const {
    std::vector<AnchorNode> Filled;
    size_t At = Block.Tokens.Begin + 1;
    auto Fill = [&](size_t End) {
      while (At < End) {
        size_t Begin = At;
        bool Directive = T.All[At].InDirective;
        if (Directive) {
          while (At < End && T.All[At].Kind != SourceToken::EndOfDirective)
            ++At;
          At = std::min(At + 1, End);
          Filled.push_back(directive({Begin, At}));
          continue;
        }
        while (At < End && !T.All[At].InDirective)
          ++At;
        AnchorNode Hole;
        if (skipped(Begin)) // else it is just not understood
          Hole.Kind = AnchorNode::Skipped;
        Hole.Tokens = {Begin, At};
        if (At - Begin == 1 && T.is(Begin, ";") && !Filled.empty() &&
            Filled.back().Kind == AnchorNode::Statement)
          Filled.back().Tokens.End = At; // of a macro call or an expression
        else
          Filled.push_back(std::move(Hole));
      }
    };
    for (AnchorNode &Child : Block.Children) {
      Fill(Child.Tokens.Begin);
      At = std::max(At, Child.Tokens.End);
      Filled.push_back(std::move(Child));
    }
    Fill(Block.Tokens.End - 1);
    Block.Children = std::move(Filled);
  }

  const SourceTokens &T;
  ASTUnit &Unit;
  const SourceManager &SM;
  std::vector<AnchorNode> Functions;
  std::vector<Range> Skipped;
  bool InArgument = false; ///< of a macro, in a lambda that is written there
};
} // namespace

AnchorNode stark::anchorTree(const ParsedSource &Source,
                             const SourceTokens &Tokens) {
  return TreeBuilder(Source, Tokens).build();
}
