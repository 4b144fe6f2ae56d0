//===- Dispatch.cpp - The code that chooses a winner  --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a winner's code runs is asked of the code itself: the probe's launch
// bounds tell which branch of `#if __CUDA_ARCH__` was compiled into what the
// driver loaded for this device, whatever architectures, real or virtual, the
// target was built for. The compute capability is asked as well: code of
// compute_90 that is compiled for a later device was not proved there.
//
//===----------------------------------------------------------------------===//

#include "Dispatch.h"
#include "stark/AST/DispatchNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace stark;
using llvm::StringRef;

static bool isName(StringRef Text) {
  return !Text.empty() && !llvm::isDigit(Text.front()) &&
         llvm::all_of(Text, [](char C) {
           return llvm::isAlnum(C) || C == '_' || C == '$' || (C & 0x80);
         });
}

std::string stark::checkPlan(const DispatchPlan &Plan) {
  for (const std::vector<std::string> *Names : {&Plan.Renamed, &Plan.Macros})
    for (const std::string &Name : *Names)
      if (!isName(Name))
        return "'" + Name + "' is no name";
  if (!isName("_" + Plan.Suffix) || !isName(Plan.Name))
    return "'" + Plan.Name + "_stark_" + Plan.Suffix + "' is no name";
  for (const std::string &Line : Plan.Includes)
    if (!StringRef(Line).starts_with("#") ||
        Line.find('\n') != std::string::npos)
      return "'" + Line + "' includes no header";
  if (Plan.Guard.empty())
    return "it does not say where it was proved";
  return "";
}

std::optional<DispatchPlan>
stark::movePlan(const DispatchPlan &Plan, const std::vector<TokenRange> &Now) {
  DispatchPlan Moved = Plan;
  // An insertion stands behind the token before it.
  auto Behind = [&](size_t &Place) {
    std::optional<size_t> Before =
        Place ? tokenLike(Plan.Kept, Now, Place - 1) : std::nullopt;
    Place = Before.value_or(0) + 1;
    return Before.has_value();
  };
  for (TokenEdit &E : Moved.Source) {
    size_t Count = E.Last - E.First;
    if (!Behind(E.Last))
      return std::nullopt;
    size_t First = E.First;
    E.First = E.Last - Count;
    if (Count && tokenLike(Plan.Kept, Now, First) != E.First)
      return std::nullopt;
  }
  if (!Behind(Moved.ChoiceAt))
    return std::nullopt;
  Moved.Kept = Now;
  return Moved;
}

/// "sm_90a" -> 90; 0 when it is nothing of the kind.
static unsigned numberOf(StringRef Arch) {
  unsigned Number = 0;
  Arch.consume_front("sm_");
  return Arch.consumeInteger(10, Number) ? 0 : Number;
}

/// Of device code; host code is compiled once for all. Code for `90a` is what
/// was proved for `90` where the winner does not ask for what only the former
/// has.
static std::string provedCondition(const PlannedWinner &W) {
  StringRef Arch = W.Arch;
  std::string Number = std::to_string(numberOf(Arch));
  std::string Text =
      "!defined(__CUDA_ARCH__) || (__CUDA_ARCH__ == " + Number + "0";
  if (Arch.ends_with("a"))
    Text += " && defined(__CUDA_ARCH_FEAT_SM" + Number + "_ALL)";
  else if (Arch.ends_with("f"))
    Text += " && defined(__CUDA_ARCH_FAMILY_SPECIFIC__)";
  else if (StringRef(W.Text).contains("__CUDA_ARCH_FEAT_"))
    Text += " && !defined(__CUDA_ARCH_FEAT_SM" + Number + "_ALL)";
  return Text + ")";
}

/// What a condition may call. Only what is called is written: nvcc warns of
/// what nobody uses.
struct HelperText {
  StringRef Name, Text;
};
static constexpr HelperText Helpers[] = {
    // No judge has called anything with a null pointer.
    {"stark_aligned(", R"(static inline bool stark_aligned(const void *p) {
  return p && (reinterpret_cast<unsigned long long>(p) & 255) == 0;
}
)"},
    {"stark_apart(",
     R"(static inline bool stark_apart(const void *p, unsigned long long p_bytes,
                               const void *q, unsigned long long q_bytes) {
  unsigned long long a = reinterpret_cast<unsigned long long>(p);
  unsigned long long b = reinterpret_cast<unsigned long long>(q);
  return a + p_bytes <= b || b + q_bytes <= a;
}
)"}};

/// The current device; -1 when there is none.
static constexpr StringRef Device = R"(static inline int stark_device() {
  int device = -1;
  if (cudaGetDevice(&device) == cudaSuccess)
    return device;
  (void)cudaGetLastError();
  return -1;
}
)";

/// @S: the suffix; @P: the macro; @C: the condition; @M and @N: the compute
/// capability.
static constexpr StringRef Runs = R"(#if @C
#define @P 1
#else
#define @P 0
#endif
static __global__ void __launch_bounds__(@P ? 64 : 32) stark_probe_@S() {}
static bool stark_runs_@S() {
  static signed char known[64]; // 0: not asked yet
  int device = stark_device();
  if (device < 0 || device >= 64)
    return false;
  if (signed char told = __atomic_load_n(&known[device], __ATOMIC_RELAXED))
    return told > 0;
  if (cudaPeekAtLastError() != cudaSuccess)
    return false;
  // The code may be loaded now, also while a stream is captured.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  int major = 0, minor = 0;
  bool asked =
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                             device) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor,
                             device) == cudaSuccess;
  bool runs = asked && major == @M && minor == @N;
  if (runs) {
    cudaFuncAttributes loaded;
    asked = cudaFuncGetAttributes(&loaded, stark_probe_@S) == cudaSuccess;
    runs = asked && loaded.maxThreadsPerBlock == 64;
  }
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  if (asked)
    __atomic_store_n(&known[device], runs ? 1 : -1, __ATOMIC_RELAXED);
  else
    (void)cudaGetLastError();
  return runs;
}
)";

static void replaceAll(std::string &Text, StringRef What, StringRef With) {
  for (size_t At = Text.find(What.str()); At != std::string::npos;
       At = Text.find(What.str(), At + With.size()))
    Text.replace(At, What.size(), With.str());
}

/// "#pragma push_macro" for all that the source or a winner defines.
static std::string macroLines(StringRef Pragma, Winners All) {
  std::set<std::string> Names;
  for (const PlannedWinner &W : All)
    Names.insert(W.Plan.Macros.begin(), W.Plan.Macros.end());
  std::string Text;
  for (const std::string &Name : Names)
    Text += ("#pragma " + Pragma + "(\"" + Name + "\")\n").str();
  return Text;
}

std::string stark::dispatchPreamble(Winners All) {
  std::string Text;
  for (const HelperText &H : Helpers)
    if (llvm::any_of(All, [&](const PlannedWinner &W) {
          return StringRef(W.Plan.Guard).contains(H.Name);
        }))
      Text += H.Text;
  Text += Device;
  for (const PlannedWinner &W : All) {
    unsigned Number = numberOf(W.Arch);
    std::string One = Runs.str();
    replaceAll(One, "@C", provedCondition(W));
    replaceAll(One, "@P", provedMacro(W.Plan.Suffix));
    replaceAll(One, "@S", W.Plan.Suffix);
    replaceAll(One, "@M", std::to_string(Number / 10));
    replaceAll(One, "@N", std::to_string(Number % 10));
    Text += One;
  }
  return Text + macroLines("push_macro", All);
}

/// The function with the entry's own name, of the winners of one entry.
static std::string choice(llvm::ArrayRef<const PlannedWinner *> Of) {
  const DispatchPlan &P = Of.front()->Plan;
  bool Static = StringRef(P.Head).starts_with("static ");
  std::string Text = "\n", Body;
  for (const PlannedWinner *W : Of) {
    std::string Name = winnersName(P.Name, W->Plan.Suffix);
    Text +=
        (Static ? "" : "static ") + P.Head + Name + " " + P.WinnerTail + ";\n";
    Body += "  if (stark_runs_" + W->Plan.Suffix + "() &&\n      (" +
            W->Plan.Guard + "))\n    return " + Name + "(" + P.Arguments +
            ");\n";
  }
  Text += P.Linkage + P.Head + P.Name + " " + P.Tail + "{\n";
  return Text + Body + "#ifdef " + TrapMacro.str() +
         "\n  __builtin_trap();\n#endif\n  return " + sourcesName(P.Name) +
         "(" + P.Arguments + ");\n}\n";
}

std::vector<TokenEdit> stark::sourceEdits(Winners All) {
  std::vector<TokenEdit> Edits;
  std::set<std::string> Done;
  for (const PlannedWinner &W : All) {
    if (!Done.insert(W.Plan.Name + std::to_string(W.Plan.ChoiceAt)).second)
      continue;
    std::vector<const PlannedWinner *> Same;
    for (const PlannedWinner &Other : All)
      if (Other.Plan.Name == W.Plan.Name &&
          Other.Plan.ChoiceAt == W.Plan.ChoiceAt)
        Same.push_back(&Other);
    Edits.insert(Edits.end(), W.Plan.Source.begin(), W.Plan.Source.end());
    Edits.push_back({W.Plan.ChoiceAt, W.Plan.ChoiceAt, choice(Same)});
  }
  llvm::stable_sort(Edits, [](const TokenEdit &A, const TokenEdit &B) {
    return A.First < B.First;
  });
  return Edits;
}

/// Of what a winner declares only what is compiled for its architecture is
/// used; no compiler is to warn of the rest.
static constexpr StringRef QuietHead = R"(#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
)";
static constexpr StringRef QuietTail = R"(#pragma GCC diagnostic pop
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic pop
#endif
)";

std::string stark::winnerHead(const PlannedWinner &W, Winners All) {
  std::string Text = winnerMark(W.Plan.Suffix) + ", proved on " + W.Arch +
                     "\n" + macroLines("pop_macro", All) +
                     macroLines("push_macro", All);
  for (const std::string &Line : W.Plan.Includes)
    Text += Line + "\n";
  Text += QuietHead;
  for (const std::string &Name : W.Plan.Renamed)
    Text += "#define " + Name + " " + winnersName(Name, W.Plan.Suffix) + "\n";
  return Text;
}

std::string stark::winnerTail(const PlannedWinner &W, Winners All) {
  std::string Text = "\n";
  for (const std::string &Name : W.Plan.Renamed)
    Text += "#undef " + Name + "\n";
  Text += QuietTail;
  return Text + (&W == &All.back() ? macroLines("pop_macro", All) : "");
}
