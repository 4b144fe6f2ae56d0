//===- Facts.cpp - Kernels, launches and arguments ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include "stark/Support/Error.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

const ASTContext &Facts::context() const {
  return In.Source->unit().getASTContext();
}

std::optional<Range> Facts::range(SourceRange R) const {
  const SourceManager &SM = context().getSourceManager();
  if (R.isInvalid())
    return std::nullopt;
  CharSourceRange Chars = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(R), SM, context().getLangOpts());
  if (Chars.isInvalid() || !SM.isInMainFile(Chars.getBegin()) ||
      !SM.isInMainFile(Chars.getEnd()))
    return std::nullopt;
  Range Bytes{SM.getFileOffset(Chars.getBegin()),
              SM.getFileOffset(Chars.getEnd())};
  if (Bytes.Begin >= Bytes.End)
    return std::nullopt;
  return Bytes;
}

std::optional<Range> Facts::range(const Stmt *S) const {
  return S ? range(S->getSourceRange()) : std::nullopt;
}

std::optional<Range> Facts::statementRange(const Stmt *S) const {
  std::optional<Range> R = range(S);
  if (!R || text()[R->End - 1] == '}' || text()[R->End - 1] == ';')
    return R;
  size_t At = R->End;
  while (At < text().size() && isspace((unsigned char)text()[At]))
    ++At;
  if (At >= text().size() || text()[At] != ';')
    return std::nullopt;
  R->End = At + 1;
  return R;
}

std::string Facts::text(Range R) const {
  return text().slice(R.Begin, R.End).str();
}

std::string Facts::text(const Stmt *S) const {
  std::optional<Range> R = range(S);
  return R ? text(*R) : std::string();
}

const Site *Facts::siteAt(SiteKind Kind, Range Bytes) const {
  for (const Site &S : In.All->All)
    if (S.Kind == Kind && S.Bytes.Begin == Bytes.Begin)
      return &S;
  return nullptr;
}

const Site *Facts::siteAt(SiteKind Kind, const Stmt *S) const {
  std::optional<Range> R = range(S);
  return R ? siteAt(Kind, *R) : nullptr;
}

unsigned Facts::lineOf(const Stmt *S) const {
  const SourceManager &SM = context().getSourceManager();
  return SM.getExpansionLineNumber(S->getBeginLoc());
}

std::string Facts::indentAt(size_t Offset) const {
  size_t Line = text().rfind('\n', Offset);
  Line = Line == llvm::StringRef::npos ? 0 : Line + 1;
  if (Line > Offset)
    Line = Offset;
  size_t End = Line;
  while (End < Offset && (text()[End] == ' ' || text()[End] == '\t'))
    ++End;
  return text().slice(Line, End).str();
}

bool Facts::hasDirective(Range R) const {
  llvm::StringRef Left = text().slice(R.Begin, R.End);
  while (!Left.empty()) {
    auto [Line, Rest] = Left.split('\n');
    Left = Rest;
    Line = Line.trim();
    if (Line.consume_front("#")) {
      Line = Line.ltrim();
      if (!Line.consume_front("pragma") || !Line.ltrim().starts_with("unroll"))
        return true;
    }
  }
  return false;
}

bool Facts::hasWord(llvm::StringRef Word) const {
  auto InWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
  for (size_t At = code().find(Word); At != llvm::StringRef::npos;
       At = code().find(Word, At + 1)) {
    size_t End = At + Word.size();
    if ((At == 0 || !InWord(code()[At - 1])) &&
        (End >= code().size() || !InWord(code()[End])))
      return true;
  }
  return false;
}

std::string Facts::freshName(llvm::StringRef Name) const {
  std::string Fresh = Name.str();
  for (unsigned N = 2; hasWord(Fresh); ++N)
    Fresh = (Name + llvm::Twine(N)).str();
  return Fresh;
}

size_t Facts::beforeKernel(const Kernel &K) const {
  // Templates have no place in an extern "C" block.
  size_t At = K.Bytes.Begin;
  for (const DeclContext *C = K.F->getLexicalDeclContext(); C;
       C = C->getLexicalParent())
    if (const auto *Linkage = llvm::dyn_cast<LinkageSpecDecl>(C))
      if (std::optional<Range> R = range(Linkage->getSourceRange()))
        At = std::min(At, R->Begin);
  // Comments that belong to the kernel stay with it.
  while (At > 0) {
    size_t Line = text().rfind('\n', At - 1);
    if (Line == llvm::StringRef::npos || Line == 0 ||
        !text().slice(Line + 1, At).trim().empty())
      break;
    size_t Above = text().rfind('\n', Line);
    Above = Above == llvm::StringRef::npos ? 0 : Above + 1;
    if (!text().slice(Above, Line).ltrim().starts_with("//") || Above == 0)
      break;
    At = Above;
  }
  return At;
}

llvm::Expected<std::vector<Edit>>
Facts::declare(const Kernel &K, llvm::StringRef Name,
               llvm::StringRef Declaration) const {
  if (text().contains(Declaration.trim()))
    return std::vector<Edit>();
  if (hasWord(Name))
    return failed("the file uses the name '" + Name +
                  "', which the rewrite needs, for something else");
  size_t At = beforeKernel(K);
  return std::vector<Edit>{{{At, At}, Declaration.str() + "\n"}};
}

std::array<const Expr *, 3> Facts::dimensions(const Expr *E,
                                              const Launch &L) const {
  std::array<const Expr *, 3> Parts{};
  const HostFunction *H = hostOf(L.Host);
  for (unsigned Depth = 0; E && H && Depth < 4; ++Depth) {
    E = strip(E);
    if (E->getType()->isIntegralOrEnumerationType()) {
      Parts[0] = E;
      return Parts;
    }
    if (const VarDecl *V = variableOf(E)) {
      if (!V->hasLocalStorage() || !V->getInit() || llvm::isa<ParmVarDecl>(V) ||
          !isNeverWritten(V, L.Host->getBody(), *H->Parents))
        return {};
      E = V->getInit();
      continue;
    }
    if (const auto *F = llvm::dyn_cast<CXXFunctionalCastExpr>(E)) {
      E = F->getSubExpr();
      continue;
    }
    if (const auto *C = llvm::dyn_cast<ImplicitCastExpr>(E)) {
      E = C->getSubExpr();
      continue;
    }
    if (const auto *List = llvm::dyn_cast<InitListExpr>(E);
        List && List->getNumInits() == 1) {
      E = List->getInit(0);
      continue;
    }
    const auto *Made = llvm::dyn_cast<CXXConstructExpr>(E);
    if (!Made || Made->getNumArgs() > 3 ||
        Made->getType().getUnqualifiedType().getAsString() != "dim3")
      return {};
    for (unsigned I = 0; I < Made->getNumArgs(); ++I)
      if (!llvm::isa<CXXDefaultArgExpr>(Made->getArg(I)))
        Parts[I] = strip(Made->getArg(I));
    return Parts;
  }
  return {};
}

std::optional<uint64_t> Facts::constantOf(const Expr *E,
                                          const Launch &L) const {
  const HostFunction *H = hostOf(L.Host);
  if (!H)
    return std::nullopt;
  return stark::constantOf(E, context(), L.Host->getBody(), *H->Parents);
}

std::optional<uint64_t> Facts::constantOf(const Expr *E,
                                          const Kernel &K) const {
  return stark::constantOf(E, context(), K.body(), *K.Parents);
}

const HostFunction *Facts::hostOf(const FunctionDecl *F) const {
  auto Found = Hosts.find(F);
  return Found == Hosts.end() ? nullptr : &Found->second;
}

std::optional<uint64_t> Facts::blockSize(const Kernel &K,
                                         std::string &Why) const {
  if (!K.LaunchedElsewhere.empty()) {
    Why = K.LaunchedElsewhere;
    return std::nullopt;
  }
  if (K.Launches.empty()) {
    Why = "no launch of it is in this file, so its block size is not known";
    return std::nullopt;
  }
  std::optional<uint64_t> X;
  for (const Launch *L : K.Launches) {
    if (!L->BlockSize)
      Why = "the block size of a launch is no constant";
    else if ((*L->BlockSize)[1] != 1 || (*L->BlockSize)[2] != 1)
      Why = "its blocks have more than one dimension";
    else if (X && *X != (*L->BlockSize)[0])
      Why = "its launches have blocks of different sizes";
    else
      X = (*L->BlockSize)[0];
    if (!Why.empty())
      return std::nullopt;
  }
  return X;
}

const Argument *Facts::bufferOf(const Kernel &K, const ParmVarDecl *P) const {
  if (!In.T)
    return nullptr;
  const Workload &W = In.T->Load;
  auto Named = [&](llvm::StringRef Name) -> const Argument * {
    for (const Argument &A : W.Arguments)
      if (A.Name == Name && A.IsBuffer)
        return &A;
    return nullptr;
  };
  if (W.Launch)
    return K.F->getQualifiedNameAsString() == In.T->Entry.Name
               ? Named(P->getName())
               : nullptr;
  const Argument *Found = nullptr;
  for (const Launch *L : K.Launches) {
    if (L->Host->getQualifiedNameAsString() != In.T->Entry.Name ||
        P->getFunctionScopeIndex() >= L->Call->getNumArgs())
      return nullptr;
    const auto *Given = llvm::dyn_cast_or_null<ParmVarDecl>(
        variableOf(L->Call->getArg(P->getFunctionScopeIndex())));
    const HostFunction *H = hostOf(L->Host);
    if (!Given || !H || !isNeverWritten(Given, L->Host->getBody(), *H->Parents))
      return nullptr;
    const Argument *A = Named(Given->getName());
    if (!A || (Found && Found != A))
      return nullptr;
    Found = A;
  }
  return Found;
}

std::string Facts::whyNotApart(const Kernel &K, const ParmVarDecl *P,
                               const ParmVarDecl *Q) const {
  std::string Names =
      "'" + P->getNameAsString() + "' and '" + Q->getNameAsString() + "'";
  if (!In.T)
    return "only a workload could say that " + Names + " do not overlap";
  if (!K.LaunchedElsewhere.empty() && !In.T->Load.Launch)
    return K.LaunchedElsewhere;
  const Argument *A = bufferOf(K, P), *B = bufferOf(K, Q);
  if (!A || !B)
    return Names + " may overlap: not every launch of '" + K.name() +
           "' gives both of them a buffer of the workload";
  if (A == B)
    return Names + " are the same buffer";
  return "";
}

namespace stark {
struct FactsBuilder : RecursiveASTVisitor<FactsBuilder> {
  explicit FactsBuilder(Facts &F) : F(F), SM(F.context().getSourceManager()) {}

  bool inMainFile(SourceLocation L) const {
    return L.isValid() && SM.isInMainFile(SM.getExpansionLoc(L));
  }

  bool TraverseDecl(Decl *D) {
    if (D && !llvm::isa<TranslationUnitDecl>(D) && D->getLocation().isValid() &&
        !inMainFile(D->getLocation()) && !inMainFile(D->getBeginLoc()) &&
        !inMainFile(D->getEndLoc()))
      return true;
    return RecursiveASTVisitor::TraverseDecl(D);
  }

  bool VisitFunctionDecl(FunctionDecl *D) {
    if (!D->isThisDeclarationADefinition() || !D->getBody() ||
        D->isTemplateInstantiation() || !inMainFile(D->getLocation()))
      return true;
    if (D->hasAttr<CUDAGlobalAttr>())
      kernel(D);
    else if (!D->isDependentContext())
      host(D);
    return true;
  }

  void kernel(FunctionDecl *D) {
    SourceRange Whole = D->getSourceRange();
    if (FunctionTemplateDecl *T = D->getDescribedFunctionTemplate())
      Whole = T->getSourceRange();
    std::optional<Range> Bytes = F.range(Whole);
    const Site *At = Bytes ? F.siteAt(SiteKind::Kernel, *Bytes) : nullptr;
    if (!At)
      return;
    Kernel K;
    K.F = D;
    K.At = At;
    K.Bytes = *Bytes;
    K.Parents = std::make_unique<ParentMap>(D->getBody());
    K.Problem = problemOf(K);
    K.LaunchedElsewhere = launchedElsewhere(D);
    F.AllKernels.push_back(std::move(K));
  }

  std::string problemOf(const Kernel &K) const {
    if (!K.At->editable())
      return K.At->Against.str();
    if (K.F->isDependentContext() || K.F->getDescribedFunctionTemplate())
      return "it is a template, whose types are not known";
    for (const Site &S : F.In.All->All)
      if (K.Bytes.contains(S.Bytes) && S.Against.isError())
        return S.Against.str();
    bool Broken = false, Jumps = false;
    forEach(K.F->getBody(), [&](const Stmt *N) {
      if (const auto *E = llvm::dyn_cast<Expr>(N))
        Broken |= E->containsErrors();
      Jumps |= llvm::isa<GotoStmt, IndirectGotoStmt, LabelStmt, GCCAsmStmt,
                         MSAsmStmt, CXXTryStmt>(N);
    });
    // Whatever tells threads apart must be seen as what it is.
    unsigned Odd = 0;
    forEach(K.F->getBody(), [&](const Stmt *N) {
      if (const auto *P = llvm::dyn_cast<PseudoObjectExpr>(N);
          P && !builtinIndex(P))
        Odd = F.lineOf(N);
      const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
      if (!Ref || !Ref->getDecl()->getIdentifier())
        return;
      llvm::StringRef Name = Ref->getDecl()->getName();
      const Stmt *Up = K.Parents->getParent(const_cast<Stmt *>(N));
      bool Member = llvm::isa_and_nonnull<MemberExpr>(Up) &&
                    builtinIndex(llvm::cast<Expr>(Up));
      if ((Name == "threadIdx" || Name == "blockIdx" || Name == "blockDim" ||
           Name == "gridDim" || Name == "warpSize") &&
          !Member)
        Odd = F.lineOf(N);
    });
    if (Odd)
      return "line " + std::to_string(Odd) +
             " uses threadIdx or its kin in a way that is not understood";
    if (Broken)
      return "Clang cannot make sense of all of it";
    if (Jumps)
      return "it holds inline assembly or jumps";
    if (F.hasDirective(K.Bytes))
      return "it holds preprocessor directives, and one branch of them is all "
             "that is seen";
    return "";
  }

  std::string launchedElsewhere(const FunctionDecl *D) const {
    if (D->isExternC())
      return "it is extern \"C\", so other files may launch it";
    for (const FunctionDecl *R : D->redecls())
      if (!inMainFile(R->getLocation()))
        return "a header declares it, so other files may launch it";
    if (F.In.T && F.In.T->Load.Launch &&
        D->getQualifiedNameAsString() == F.In.T->Entry.Name)
      return "the workload launches it";
    return "";
  }

  void host(FunctionDecl *D) {
    HostFunction H;
    H.F = D;
    H.Parents = std::make_unique<ParentMap>(D->getBody());
    bool Any = false;
    forEach(D->getBody(), [&](const Stmt *N) {
      if (const auto *C = llvm::dyn_cast<CUDAKernelCallExpr>(N)) {
        auto L = std::make_unique<Launch>();
        L->Call = C;
        L->Host = D;
        if (const CallExpr *Config = C->getConfig()) {
          auto Part = [&](unsigned I) -> const Expr * {
            return I < Config->getNumArgs() &&
                           !llvm::isa<CXXDefaultArgExpr>(Config->getArg(I))
                       ? Config->getArg(I)
                       : nullptr;
          };
          L->Grid = Part(0);
          L->Block = Part(1);
          L->Shared = Part(2);
          L->Stream = Part(3);
        }
        L->At = F.siteAt(SiteKind::Launch, C);
        F.AllLaunches.push_back(std::move(L));
        Any = true;
      }
    });
    if (Any)
      F.Hosts.emplace(D, std::move(H));
  }

  /// Anything but a plain launch that names the kernel: its address is taken,
  /// it is launched by a function, or in text that was not understood.
  void uses() {
    std::map<const FunctionDecl *, unsigned> Named;
    struct Counter : RecursiveASTVisitor<Counter> {
      std::map<const FunctionDecl *, unsigned> &Named;
      explicit Counter(std::map<const FunctionDecl *, unsigned> &N)
          : Named(N) {}
      bool VisitDeclRefExpr(DeclRefExpr *E) {
        if (const auto *D = llvm::dyn_cast<FunctionDecl>(E->getDecl()))
          ++Named[D->getCanonicalDecl()];
        return true;
      }
      bool VisitOverloadExpr(OverloadExpr *E) {
        for (const NamedDecl *N : E->decls())
          if (const auto *D =
                  llvm::dyn_cast<FunctionDecl>(N->getUnderlyingDecl()))
            Named[D->getCanonicalDecl()] += 2;
        return true;
      }
    } Count(Named);
    for (Decl *D : F.context().getTraversalScope())
      if (inMainFile(D->getLocation()) || inMainFile(D->getBeginLoc()))
        Count.TraverseDecl(D);
    for (Kernel &K : F.AllKernels) {
      if (Named[K.F->getCanonicalDecl()] > K.Launches.size() &&
          K.LaunchedElsewhere.empty())
        K.LaunchedElsewhere =
            "it is named in other ways than by <<<...>>>, so not all of its "
            "launches are seen";
      // Skipped text and code that Clang does not understand may launch it.
      unsigned Words = 0;
      std::string Name = K.F->getNameAsString();
      auto InWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
      llvm::StringRef Text = F.code();
      for (size_t At = Text.find(Name); At != llvm::StringRef::npos;
           At = Text.find(Name, At + 1)) {
        size_t End = At + Name.size();
        while (End < Text.size() && isspace((unsigned char)Text[End]))
          ++End;
        if ((At == 0 || !InWord(Text[At - 1])) &&
            Text.substr(End).starts_with("<<<"))
          ++Words;
      }
      if (Words > K.Launches.size() && K.LaunchedElsewhere.empty())
        K.LaunchedElsewhere = "a launch of it stands in text that was not "
                              "understood";
    }
  }

  Facts &F;
  const SourceManager &SM;
};
} // namespace stark

/// \p Text with comments blanked.
static std::string withoutComments(const ParsedSource &Source) {
  std::string Code = Source.text().str();
  const SourceManager &SM = Source.unit().getSourceManager();
  Lexer Raw(SM.getLocForStartOfFile(SM.getMainFileID()),
            Source.unit().getLangOpts(), Code.data(), Code.data(),
            Code.data() + Code.size());
  Raw.SetCommentRetentionState(true);
  std::vector<std::pair<size_t, size_t>> Comments;
  for (Token T; !Raw.LexFromRawLexer(T);)
    if (T.is(tok::comment)) {
      size_t Begin = SM.getFileOffset(T.getLocation());
      Comments.emplace_back(Begin, T.getLength());
    }
  for (auto [Begin, Length] : Comments)
    for (size_t I = Begin; I < Begin + Length && I < Code.size(); ++I)
      if (Code[I] != '\n')
        Code[I] = ' ';
  return Code;
}

Facts::Facts(const RewriteInput &In) : In(In) {
  Code = withoutComments(*In.Source);
  FactsBuilder B(*this);
  B.TraverseDecl(In.Source->unit().getASTContext().getTranslationUnitDecl());
  for (const std::unique_ptr<Launch> &L : AllLaunches) {
    std::array<const Expr *, 3> Parts = dimensions(L->Block, *L);
    if (Parts[0]) {
      std::array<uint64_t, 3> Size{1, 1, 1};
      bool Known = true;
      for (unsigned I = 0; I < 3; ++I)
        if (Parts[I]) {
          std::optional<uint64_t> Value = constantOf(Parts[I], *L);
          Known &= Value.has_value();
          Size[I] = Value.value_or(1);
        }
      if (Known)
        L->BlockSize = Size;
    }
    for (Kernel &K : AllKernels)
      if (L->Call->getDirectCallee() &&
          L->Call->getDirectCallee()->getCanonicalDecl() ==
              K.F->getCanonicalDecl())
        K.Launches.push_back(L.get());
  }
  B.uses();
}

Facts::~Facts() = default;
