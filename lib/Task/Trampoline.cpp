//===- Trampoline.cpp - The call of an entry from plain pointers ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLeaves.h"
#include "TensorTrampoline.h"
#include "stark/Task/Task.h"
#include "stark/Task/Together.h"

using namespace stark;

namespace {
/// The entry is called through a pointer of its own type, so that what is
/// judged is what the user's code calls. Each argument is a class whose
/// conversion takes the parameter's own type, so that no type has to be
/// spelled: names of types may lie in namespaces, be local to the file or be
/// template parameters. Every name has a prefix of its own, because the source
/// may have macros called T, Value or Real.
constexpr const char *Conversions = R"(
struct stark_pointer {
  void *stark_leaf;
  template <class stark_T> operator stark_T *() const {
    return *static_cast<stark_T **>(stark_leaf);
  }
};
struct stark_inside {
  void *stark_leaf, *stark_before;
  long long stark_bytes;
  template <class stark_T> operator stark_T *() const {
    return reinterpret_cast<stark_T *>(
        *static_cast<char **>(stark_leaf) +
        *static_cast<long long *>(stark_before) * stark_bytes);
  }
};
template <class stark_T, decltype(sizeof(0)) stark_N>
using stark_array_of = stark_T (&)[stark_N];
struct stark_array {
  void *stark_leaf;
  template <class stark_T, decltype(sizeof(0)) stark_N>
  operator stark_array_of<stark_T, stark_N>() const {
    return **static_cast<stark_T (**)[stark_N]>(stark_leaf);
  }
};
struct stark_integer {
  void *stark_leaf;
  template <class stark_T> operator stark_T() const {
    return static_cast<stark_T>(*static_cast<long long *>(stark_leaf));
  }
};
struct stark_real {
  void *stark_leaf;
  template <class stark_T> operator stark_T() const {
    return static_cast<stark_T>(*static_cast<double *>(stark_leaf));
  }
};
template <class stark_R, class... stark_P>
void stark_only(stark_R (*)(stark_P...)) {}
template <class stark_T, class stark_F>
void stark_set(stark_T &stark_field, stark_F stark_value) {
  stark_T stark_copy = stark_value;
  stark_field = stark_copy;
}
template <class stark_T, class stark_F>
void stark_put(unsigned char *stark_at, stark_F stark_value) {
  stark_T stark_copy = stark_value;
  __builtin_memcpy(stark_at, &stark_copy, sizeof(stark_T));
}
)";

/// The parameters' types are the kernel's own: arguments are converted to them.
constexpr const char *CooperativeLaunch = R"(
template <class stark_T> struct stark_same {
  using stark_type = stark_T;
};
template <class... stark_P>
void stark_launch_together(void (*stark_kernel)(stark_P...), dim3 stark_grid,
                           dim3 stark_block, size_t stark_shared,
                           cudaStream_t stark_stream,
                           typename stark_same<stark_P>::stark_type... stark_p) {
  void *stark_all[] = {const_cast<void *>(
                           reinterpret_cast<const volatile void *>(&stark_p))...,
                       nullptr};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(stark_kernel),
                              stark_grid, stark_block, stark_all, stark_shared,
                              stark_stream);
}
)";

/// The classes' own conversions may be switched off by macros.
std::string narrowConversion(llvm::StringRef Class, llvm::StringRef Function) {
  return ("struct " + Class +
          " {\n  void *stark_leaf;\n  template <class stark_T> operator "
          "stark_T() const {\n    return " +
          Function + "(*static_cast<double *>(stark_leaf));\n  }\n};\n")
      .str();
}

class TrampolineWriter {
public:
  TrampolineWriter(const Task &Of, const Signature &Callee,
                   llvm::StringRef Symbol)
      : Of(Of), Callee(Callee), Symbol(Symbol.str()),
        Scope(Symbol.str() + "_arguments"), Together(launchesTogether(Of)) {}
  std::string write();

private:
  std::string argument(const Parameter &P, llvm::StringRef Leaves);
  std::string structArgument(const Parameter &P);
  std::string launch(const std::string &Name, const std::string &Arguments);
  /// Empty, unless a kernel and a host function have the callee's name.
  std::string pointerType() const {
    return entryPointer(*Of.Parsed, Callee.Name, Of.Load.entryUsed());
  }
  std::optional<unsigned> beforeLeaf(const Parameter &P) const;
  std::string symbols();
  bool isWritten(const Parameter &Symbol) const;

  const Task &Of;
  const Signature &Callee;
  std::string Symbol, Scope, Classes;
  const bool Together; ///< launchesTogether(), which walks the source
  std::string After;   ///< the call: what the kernels put into variables
  unsigned Leaf = 0, Structs = 0;
  bool NeedsHalf = false, NeedsBFloat = false;
};
} // namespace

/// The number among the leaves of how many elements lie before \p P, if any do.
std::optional<unsigned> TrampolineWriter::beforeLeaf(const Parameter &P) const {
  unsigned At = leavesOf(Of.Entry).size();
  for (const Argument &A : Of.Load.Arguments) {
    if (A.Before.empty())
      continue;
    if (A.Name == P.Name)
      return At;
    ++At;
  }
  return std::nullopt;
}

/// The expression that converts to parameter \p P, the next leaf.
std::string TrampolineWriter::argument(const Parameter &P,
                                       llvm::StringRef Leaves) {
  const char *Class = P.Count ? "stark_array" : "stark_pointer";
  if (std::optional<unsigned> Before = beforeLeaf(P)) {
    unsigned Bytes = 0;
    for (const Argument &A : Of.Load.Arguments)
      if (A.Name == P.Name)
        Bytes = job::dtypeBytes(A.Type);
    return Scope + "::stark_inside{" + Leaves.str() + "[" +
           std::to_string(Leaf++) + "], " + Leaves.str() + "[" +
           std::to_string(*Before) + "], " + std::to_string(Bytes) + "}";
  }
  if (P.Kind == ParameterKind::Scalar) {
    Class = isReal(P) ? "stark_real" : "stark_integer";
    if (P.Element == ScalarType::F16)
      Class = "stark_half";
    if (P.Element == ScalarType::BF16)
      Class = "stark_bfloat";
    NeedsHalf |= P.Element == ScalarType::F16;
    NeedsBFloat |= P.Element == ScalarType::BF16;
  }
  return Scope + "::" + Class + "{" + Leaves.str() + "[" +
         std::to_string(Leaf++) + "]}";
}

/// What a field of \p P's type is to who copies its bytes.
static const char *typeOfBytes(const Parameter &P) {
  if (P.Kind != ParameterKind::Scalar)
    return "void *";
  switch (P.Element) {
  case ScalarType::Bool:
    return "bool";
  case ScalarType::I8:
    return "signed char";
  case ScalarType::U8:
    return "unsigned char";
  case ScalarType::I16:
    return "short";
  case ScalarType::U16:
    return "unsigned short";
  case ScalarType::I32:
    return "int";
  case ScalarType::U32:
    return "unsigned";
  case ScalarType::F16:
    return "__half";
  case ScalarType::BF16:
    return "__nv_bfloat16";
  case ScalarType::F32:
    return "float";
  case ScalarType::F64:
    return "double";
  default:
    return "long long";
  }
}

std::string TrampolineWriter::structArgument(const Parameter &P) {
  std::string Name = "stark_struct" + std::to_string(Structs++);
  Classes += "struct " + Name +
             " {\n  void **stark_leaves;\n"
             "  template <class stark_T> operator stark_T() const {\n";
  Classes += P.OfBytes ? "    alignas(stark_T) unsigned char "
                         "stark_bytes[sizeof(stark_T)] = {};\n"
                       : "    stark_T stark_value{};\n";
  for (const Parameter &F : P.Fields)
    Classes += (P.OfBytes ? "    stark_put<" + std::string(typeOfBytes(F)) +
                                ">(stark_bytes + " + std::to_string(F.Offset)
                          : "    stark_set(stark_value." +
                                F.Name.substr(P.Name.size() + 1)) +
               ", " + argument(F, "stark_leaves") + ");\n";
  Classes += P.OfBytes
                 ? "    return *reinterpret_cast<stark_T *>(stark_bytes);\n"
                 : "    return stark_value;\n";
  Classes += "  }\n};\n";
  return Scope + "::" + Name + "{stark_leaves}";
}

/// The launch of a bare kernel; its grid, block and shared memory are the last
/// leaves.
std::string TrampolineWriter::launch(const std::string &Name,
                                     const std::string &Arguments) {
  auto At = [&](unsigned I) {
    return "*static_cast<long long *>(stark_leaves[" +
           std::to_string(Leaf + I) + "])";
  };
  auto Triple = [&](unsigned I) {
    return "dim3(unsigned(" + At(I) + "), unsigned(" + At(I + 1) +
           "), unsigned(" + At(I + 2) + "))";
  };
  std::string Type = pointerType(), Pointer = "&" + Name, Called = Name, Text;
  if (!Type.empty()) {
    Pointer = Called = "stark_kernel";
    Text = "  auto stark_kernel = static_cast<" + Type + ">(&" + Name + ");\n";
  }
  // More dynamic shared memory than 48 KiB has to be asked for.
  Text += "  " + Scope + "::stark_only(" + Pointer +
          ");\n  long long stark_shared = " + At(6) +
          ";\n"
          "  if (stark_shared > 49152)\n"
          "    cudaFuncSetAttribute(reinterpret_cast<const void *>(" +
          Pointer +
          "), cudaFuncAttributeMaxDynamicSharedMemorySize, "
          "int(stark_shared));\n";
  std::string Stream = "*static_cast<cudaStream_t *>(stark_leaves[" +
                       std::to_string(Leaf + 7) + "])";
  if (Together)
    return Text + "  " + Scope + "::stark_launch_together(" + Pointer + ", " +
           Triple(0) + ", " + Triple(3) + ", size_t(stark_shared), " + Stream +
           (Arguments.empty() ? "" : ", ") + Arguments + ");\n";
  return Text + "  " + Called + "<<<" + Triple(0) + ", " + Triple(3) +
         ", size_t(stark_shared), " + Stream + ">>>(" + Arguments + ");\n";
}

bool TrampolineWriter::isWritten(const Parameter &Symbol) const {
  return llvm::any_of(Of.Load.Arguments, [&](const Argument &A) {
    return A.Name == Symbol.Name && A.Use != job::Role::Input;
  });
}

/// What the host would set before the call: copied from buffers, in the order
/// of the stream that the call is made on. What it would read after the call is
/// copied to them.
std::string TrampolineWriter::symbols() {
  std::string Text, Stream = "0";
  std::vector<job::Leaf> Leaves = makeLeaves(Of);
  for (size_t I = 0; I < Leaves.size(); ++I)
    if (Leaves[I].Kind == job::LeafKind::Stream)
      Stream = "*static_cast<cudaStream_t *>(stark_leaves[" +
               std::to_string(I) + "])";
  for (const Parameter &P : Of.Entry.Symbols) {
    llvm::StringRef Name = P.Name;
    Name.consume_front(SymbolPrefix);
    std::string Called = "::" + Name.ltrim(':').str();
    std::string Buffer =
        "*static_cast<void **>(stark_leaves[" + std::to_string(Leaf++) + "])";
    std::string Rest = ", sizeof(" + Called +
                       "), 0, cudaMemcpyDeviceToDevice, " + Stream + ");\n";
    Text += "  cudaMemcpyToSymbolAsync(" + Called + ", " + Buffer + Rest;
    if (isWritten(P))
      After += "  cudaMemcpyFromSymbolAsync(" + Buffer + ", " + Called + Rest;
  }
  for (const Argument &A : Of.Load.Arguments)
    Leaf += !A.Before.empty();
  return Text;
}

std::string TrampolineWriter::write() {
  std::string Arguments;
  // Leaves are numbered in the order of the entry, which the callee shares.
  for (const Parameter &P : Callee.Parameters) {
    Arguments += Arguments.empty() ? "" : ", ";
    Arguments += P.Kind == ParameterKind::Struct ? structArgument(P)
                                                 : argument(P, "stark_leaves");
  }
  std::string Called = "::" + llvm::StringRef(Callee.Name).ltrim(':').str();
  std::string Text = "\n#line 1 \"" + Symbol + "\"\nnamespace " + Scope + " {";
  Text += Conversions;
  if (NeedsHalf)
    Text += narrowConversion("stark_half", "__double2half");
  if (NeedsBFloat)
    Text += narrowConversion("stark_bfloat", "__double2bfloat16");
  if (Together)
    Text += CooperativeLaunch;
  Text += Classes + "} // namespace " + Scope +
          "\nextern \"C\" __attribute__((visibility(\"default\"))) void " +
          Symbol + "(void **stark_leaves) {\n  (void)stark_leaves;\n" +
          symbols();
  if (Of.Load.Launch)
    Text += launch(Called, Arguments);
  else if (std::string Type = pointerType(); !Type.empty())
    Text += "  (void)static_cast<" + Type + ">(&" + Called + ")(" + Arguments +
            ");\n";
  else
    Text += "  (void)" + Called + "(" + Arguments + ");\n";
  return Text + After + "}\n";
}

std::string stark::makeTrampoline(const Task &T) {
  if (isTensorEntry(T.Entry))
    return makeTensorTrampoline(T);
  return TrampolineWriter(T, T.Entry, "stark_call").write();
}

std::string stark::makeReferenceTrampoline(const Task &T) {
  if (isTensorEntry(T.Entry))
    return makeTensorReference(T);
  return T.Load.Reference.empty()
             ? ""
             : TrampolineWriter(T, T.Reference, "stark_reference").write();
}
