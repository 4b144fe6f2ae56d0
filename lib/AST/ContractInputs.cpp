//===- ContractInputs.cpp - What is written through const -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   casts that drop const, inputs that an entry takes without it -> variables,
/// fields and parameters that hold them -> what is stored through these
/// An input that is changed and put back is one that was changed: who reads it
/// meanwhile has another. A cast alone is none: vectors are read through it.
///
//===----------------------------------------------------------------------===//

#include "ContractPlaces.h"
#include "ContractPtx.h"
#include "EntryFunction.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace stark;
using namespace clang;
using llvm::StringRef;

static StringRef nameOf(const FunctionDecl *F) {
  return F->getDeclName().isIdentifier() ? F->getName() : "";
}

/// What the first argument of is written to.
static bool writesFirst(const FunctionDecl *F) {
  for (StringRef Prefix :
       {"atomic", "cudaMemcpy", "cudaMemset", "memcpy", "memset", "memmove",
        "__stcg", "__stcs", "__stwb", "__stwt"})
    if (nameOf(F).starts_with(Prefix))
      return true;
  return false;
}

/// Are bytes of the host copied, from the second argument to the first?
static bool copiesBytes(const FunctionDecl *F) {
  StringRef Name = nameOf(F);
  Name.consume_front("__builtin_");
  return Name == "memcpy" || Name == "memmove";
}

namespace {
class InputReader : public PlaceReader {
public:
  explicit InputReader(const ContractText &Text) : PlaceReader(Text) {}

  std::vector<Finding> run(StringRef Entry, EntryUsed As,
                           llvm::ArrayRef<EntryInput> Inputs) {
    walk(Source);
    for (const auto &[Kernel, Array] : Launches)
      launched(Kernel, Array);
    if (!Inputs.empty())
      if (const FunctionDecl *F = findEntryFunction(Source, Entry, As))
        for (const EntryInput &Input : Inputs)
          writesInput(Input, F);
    const std::set<Place> Reached = spread(Loose, /*OnlyOnce=*/false);
    for (const auto &[At, L] : Stores)
      if (Reached.count(At))
        Through.insert(L);
    for (SourceLocation L : Through)
      if (!Said.count(L))
        add(L, ViolationKind::WritesConst, "", "");
    return std::move(Findings);
  }

  bool onDecl(Decl *D) override {
    auto *V = dyn_cast<VarDecl>(D);
    if (!V || !V->hasInit() || !isOwn(D->getLocation()))
      return true;
    keep(V, V->getInit());
    ++Times[V];
    give({V}, V->getType(), V->getInit());
    return true;
  }

  bool onStmt(Stmt *S) override {
    if (!isOwn(S->getBeginLoc()))
      return true;
    if (auto *Binary = dyn_cast<BinaryOperator>(S);
        Binary && Binary->isAssignmentOp())
      assigned(Binary);
    else if (auto *Unary = dyn_cast<UnaryOperator>(S);
             Unary && Unary->isIncrementDecrementOp())
      store(Unary->getSubExpr());
    else if (auto *Call = dyn_cast<CallExpr>(S))
      call(Call);
    else if (auto *Return = dyn_cast<ReturnStmt>(S);
             Return && Return->getRetValue() && !Functions.empty())
      give({patternOf(Functions.back())}, Functions.back()->getReturnType(),
           Return->getRetValue());
    else if (auto *Asm = dyn_cast<GCCAsmStmt>(S))
      assembly(Asm);
    return true;
  }

private:
  /// What lies at a pointer is another thing than where that leads.
  static bool isLoaded(const Expr *E) {
    E = E->IgnoreParenImpCasts();
    const auto *Unary = dyn_cast<UnaryOperator>(E);
    return (isa<ArraySubscriptExpr>(E) || (isa<MemberExpr>(E) && !fieldOf(E)) ||
            (Unary && Unary->getOpcode() == UO_Deref &&
             !addressed(Unary->getSubExpr()))) &&
           !E->getType()->isArrayType();
  }

  /// \p To, of type \p Type, then leads where \p From does.
  void give(Place To, QualType Type, const Expr *From) {
    From = plain(From);
    if (Type.isNull() || From->getType().isNull())
      return;
    if (const auto *V = dyn_cast<VarDecl>(To.Root))
      To.Root = sharedBy(V);
    if (auto *List = listOf(From))
      return giveFields(To, List);
    bool Reference = Type->isReferenceType(),
         Struct = Type->isRecordType() && !To.Field;
    // Where the pointer itself is, not what it leads to.
    if (Reference && From->getType()->isPointerType())
      return;
    if (!Reference && !Struct &&
        (isLoaded(From) ||
         !(leadsSomewhere(From) || mayBeAddress(From->getType()))))
      return;
    Origin O = originOf(From);
    if (O.Dropped)
      Loose.insert(To);
    if (O.From.Root)
      Given[O.From].push_back(To);
  }

  /// Of a struct, as it is meant.
  static const InitListExpr *listOf(const Expr *E) {
    if (const auto *Cast = dyn_cast<CXXFunctionalCastExpr>(E))
      E = plain(Cast->getSubExpr());
    const auto *List = dyn_cast<InitListExpr>(E);
    if (List && !List->isSemanticForm())
      List = List->getSemanticForm();
    return List && List->getType()->isRecordType() ? List : nullptr;
  }

  void giveFields(Place To, const InitListExpr *List) {
    const auto *Record = List->getType()->getAsCXXRecordDecl();
    if (!Record || Record->getNumBases())
      return;
    if (Record->isUnion()) {
      if (const FieldDecl *Field = List->getInitializedFieldInUnion();
          Field && List->getNumInits() && mayBeAddress(Field->getType()))
        giveUnion({To.Root, *Record->field_begin()}, Record, List->getInit(0));
      return;
    }
    unsigned I = 0;
    for (const FieldDecl *Field : Record->fields())
      if (!Field->isUnnamedBitField() && I < List->getNumInits())
        give({To.Root, Field}, Field->getType(), List->getInit(I++));
  }

  /// Whatever is put into a union may be read without const, where one of its
  /// fields has none.
  void giveUnion(Place To, const RecordDecl *Union, const Expr *From) {
    for (const FieldDecl *Field : Union->fields()) {
      if (!mayBeAddress(Field->getType()) || leadsToConst(Field->getType()))
        continue;
      if (leadsToConst(From->getType()))
        Loose.insert(To);
      give(To, Field->getType(), From);
    }
  }

  void assigned(const BinaryOperator *E) {
    const Expr *Place = plain(E->getLHS());
    store(Place);
    if (const VarDecl *V = variableOf(Place)) {
      ++Times[V];
      return give({V}, V->getType(), E->getRHS());
    }
    if (const FieldDecl *Field = fieldOf(Place)) {
      const Decl *Root = originOf(Place).From.Root;
      if (Root && Field->getParent()->isUnion())
        giveUnion({Root, Field}, Field->getParent(), E->getRHS());
      else if (Root)
        give({Root, Field}, Field->getType(), E->getRHS());
      return;
    }
    // arguments[1] = &x;
    if (const auto *At = dyn_cast<ArraySubscriptExpr>(Place))
      if (const VarDecl *V = variableOf(At->getBase()->IgnoreImpCasts());
          V && !At->getIdx()->isValueDependent())
        if (auto Index = At->getIdx()->getIntegerConstantExpr(Context))
          Arrays[V][unsigned(Index->getZExtValue())].push_back(E->getRHS());
  }

  /// An array of what a launch is to be given, or what holds one.
  void keep(const VarDecl *V, const Expr *Init) {
    const Expr *E = plain(Init);
    while (const auto *List = dyn_cast<InitListExpr>(E)) {
      if (List->getNumInits() == 1 &&
          isa<InitListExpr>(plain(List->getInit(0)))) {
        E = plain(List->getInit(0));
        continue;
      }
      for (unsigned I = 0; I < List->getNumInits(); ++I)
        Arrays[V][I].push_back(List->getInit(I));
      return;
    }
  }

  /// \p Place is assigned to: is it at a pointer?
  void store(const Expr *Place) {
    const VarDecl *V = variableOf(Place);
    const auto *Member = dyn_cast<MemberExpr>(plain(Place));
    bool OfVariable =
        Member && !Member->isArrow() && variableOf(Member->getBase()) &&
        !variableOf(Member->getBase())->getType()->isReferenceType();
    if (!OfVariable && (!V || V->getType()->isReferenceType()))
      storeTo(Place, Place->getBeginLoc());
  }

  void storeTo(const Expr *Pointer, SourceLocation L) {
    Origin O = originOf(Pointer);
    if (O.Dropped)
      Through.insert(L);
    if (O.From.Root)
      Stores.push_back({O.From, L});
  }

  void assembly(const GCCAsmStmt *Asm) {
    StringRef Ptx = Asm->getAsmString()->getString();
    std::vector<std::string> Targets = storedThrough(Ptx);
    unsigned Outputs = Asm->getNumOutputs();
    for (unsigned I = 0; I < Outputs + Asm->getNumInputs(); ++I) {
      bool Output = I < Outputs;
      const Expr *E =
          Output ? Asm->getOutputExpr(I) : Asm->getInputExpr(I - Outputs);
      StringRef Name =
          Output ? Asm->getOutputName(I) : Asm->getInputName(I - Outputs);
      if (E->isTypeDependent() || !mayBeAddress(E->getType()))
        continue;
      bool Named = llvm::any_of(Targets, [&](StringRef Target) {
        return !Target.empty() &&
               (Target == Name || Target == std::to_string(I));
      });
      if (Named && leadsToConst(E->getType()) && !onlyCalledConst(E))
        Through.insert(Asm->getBeginLoc());
      if (Named || (!Output && llvm::is_contained(Targets, "")))
        storeTo(E, Asm->getBeginLoc());
      for (const Expr *To : Asm->outputs())
        if (const VarDecl *V = variableOf(To);
            V && !Output && !Ptx.contains("ld."))
          copied(V, V->getType(), E, E->getType());
    }
  }

  /// The bits of \p From, of type \p Type, are then \p To's, whatever the types
  /// are.
  void copied(const VarDecl *To, QualType ToType, const Expr *From,
              QualType Type) {
    if (!mayBeAddress(ToType) && !ToType->isRecordType())
      return;
    if (leadsToConst(Type) && !ToType->isRecordType() && !leadsToConst(ToType))
      Loose.insert({sharedBy(To)});
    if (const FieldDecl *Field = fieldOf(plain(From)))
      Given[{originOf(From).From.Root, Field}].push_back({sharedBy(To)});
    else
      give({To}, ToType, From);
  }

  void call(const CallExpr *Call) {
    const FunctionDecl *F = calleeOf(Call);
    if (!F)
      return;
    if (!isOwn(F->getLocation()))
      return callOfLibrary(Call, F);
    unsigned Skipped = isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(F);
    for (unsigned I = Skipped; I < Call->getNumArgs(); ++I)
      if (const VarDecl *P = parameter(F, I - Skipped))
        give({P}, P->getType(), Call->getArg(I));
  }

  void callOfLibrary(const CallExpr *Call, const FunctionDecl *F) {
    unsigned Count = Call->getNumArgs();
    if (copiesBytes(F) && Count > 1)
      if (const Expr *To = addressed(Call->getArg(0)),
          *From = addressed(Call->getArg(1));
          To && From && variableOf(To))
        return copied(variableOf(To), To->getType(), From, From->getType());
    if (Count && writesFirst(F))
      storeTo(Call->getArg(0), Call->getBeginLoc());
    StringRef Name = nameOf(F);
    if (Name == "cudaLaunchKernelExC" && Count > 2)
      launch(Call->getArg(1), Call->getArg(2));
    else if ((Name == "cudaLaunchKernel" ||
              Name == "cudaLaunchCooperativeKernel") &&
             Count > 3)
      launch(Call->getArg(0), Call->getArg(3));
    else if (Name.starts_with("cudaLaunchKernelEx") && Count > 1)
      // cudaLaunchKernelEx(&config, kernel, arguments...)
      for (unsigned I = 2; I < Count; ++I)
        if (const FunctionDecl *Kernel = functionOf(Call->getArg(1)))
          if (const VarDecl *P = parameter(Kernel, I - 2))
            give({P}, P->getType(), Call->getArg(I));
  }

  static const FunctionDecl *functionOf(const Expr *E) {
    for (unsigned Steps = 0; Steps < 4; ++Steps) {
      E = E->IgnoreParenCasts();
      if (const auto *Unary = dyn_cast<UnaryOperator>(E))
        E = Unary->getSubExpr()->IgnoreParenCasts();
      const auto *Ref = dyn_cast<DeclRefExpr>(E);
      if (!Ref)
        return nullptr;
      if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl()))
        return F;
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      if (!V || !V->getInit())
        return nullptr;
      E = V->getInit();
    }
    return nullptr;
  }

  void launch(const Expr *Kernel, const Expr *Arguments) {
    const FunctionDecl *F = functionOf(Kernel);
    const Expr *E = Arguments->IgnoreParenCasts();
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) // .data()
      E = Call->getImplicitObjectArgument()->IgnoreParenCasts();
    if (const Expr *First = addressed(E)) // &arguments[0]
      if (const auto *At = dyn_cast<ArraySubscriptExpr>(First))
        E = At->getBase()->IgnoreParenCasts();
    if (const VarDecl *V = variableOf(E); V && F)
      Launches.push_back({F, V});
  }

  /// A kernel takes bytes from where an array says: its parameters' types are
  /// asked for nowhere.
  void launched(const FunctionDecl *Kernel, const VarDecl *Array) {
    for (const auto &[I, Values] : Arrays[Array]) {
      const VarDecl *P =
          I < Kernel->getNumParams() ? parameter(Kernel, I) : nullptr;
      for (const Expr *Value : Values)
        if (const Expr *From = addressed(Value); P && From)
          copied(P, Kernel->getParamDecl(I)->getType(), From, From->getType());
    }
  }

  /// Where what is at \p Begin leads on. What is given to a struct is given to
  /// its fields. \p OnlyOnce: not by variables that hold first the one and then
  /// another pointer.
  std::set<Place> spread(std::set<Place> Reached, bool OnlyOnce) const {
    std::vector<Place> Left(Reached.begin(), Reached.end());
    auto Reach = [&](Place To) {
      const auto *V = dyn_cast<VarDecl>(To.Root);
      auto Count = V ? Times.find(V) : Times.end();
      if (OnlyOnce && Count != Times.end() && Count->second > 1 &&
          !isa<ParmVarDecl>(V))
        return;
      if (Reached.insert(To).second)
        Left.push_back(To);
    };
    while (!Left.empty()) {
      Place From = Left.back();
      Left.pop_back();
      if (auto It = Given.find(From); It != Given.end())
        for (const Place &To : It->second)
          Reach(To);
      if (auto It = Given.find({From.Root}); From.Field && It != Given.end())
        for (const Place &To : It->second)
          if (!To.Field)
            Reach({To.Root, From.Field});
    }
    return Reached;
  }

  /// What the entry is given as an input, const or not.
  void writesInput(const EntryInput &Input, const FunctionDecl *Entry) {
    const VarDecl *P = parameter(Entry, Input.Position);
    // One that is another pointer later on is no input there.
    if (!P || Times.count(P))
      return;
    const FieldDecl *Field = nullptr;
    if (const auto *Record = P->getType()->getAsCXXRecordDecl();
        Record && !Input.Field.empty())
      for (const FieldDecl *F : Record->fields())
        if (F->getName() == Input.Field)
          Field = F;
    if (!Input.Field.empty() && !Field)
      return;
    std::set<Place> Reached = spread({{P, Field}}, /*OnlyOnce=*/true);
    for (const auto &[At, L] : Stores)
      if (Reached.count(At) && Said.insert(L).second)
        add(L, ViolationKind::WritesInput, Input.Name, "input " + Input.Name);
  }

  std::set<Place> Loose; ///< lead to what was const
  std::map<Place, std::vector<Place>> Given;
  std::vector<std::pair<Place, SourceLocation>> Stores;
  std::set<SourceLocation> Through, Said;    ///< stores to const, to inputs
  std::map<const VarDecl *, unsigned> Times; ///< a pointer was put there
  std::map<const VarDecl *, std::map<unsigned, std::vector<const Expr *>>>
      Arrays;
  std::vector<std::pair<const FunctionDecl *, const VarDecl *>> Launches;
};
} // namespace

std::vector<Finding> stark::inputFindings(const ContractText &Text,
                                          StringRef Entry, EntryUsed As,
                                          llvm::ArrayRef<EntryInput> Inputs) {
  return InputReader(Text).run(Entry, As, Inputs);
}
