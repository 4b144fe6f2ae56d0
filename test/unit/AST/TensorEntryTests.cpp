//===- TensorEntryTests.cpp - Sources that use ATen ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Signature.h"
#include "stark/AST/Torch.h"
#include "stark/Support/File.h"
#include <gtest/gtest.h>

using namespace stark;

namespace {
/// As much of ATen, and of a standard library, as a signature needs.
constexpr const char *Aten = R"(
namespace std {
inline namespace __1 {
template <class T> class allocator {};
template <class T, class A = allocator<T>> class vector {};
template <class T> class optional {};
template <class... T> class tuple {};
}
template <class T> class other {};
}
namespace c10 {
template <class T> class ArrayRef {};
}
namespace at {
class Tensor { public: Tensor(const Tensor &); };
using TensorList = c10::ArrayRef<Tensor>;
namespace inner { class Tensor { public: Tensor(const Tensor &); }; }
}
)";

Signature signatureOf(const std::string &Declaration) {
  ParseOptions Options;
  Options.Toolkit = "none";
  auto Source = parseSource("/tensors.cpp", Aten + Declaration, Options);
  EXPECT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  llvm::Expected<Signature> Entry = findEntry(**Source, "f");
  EXPECT_TRUE(bool(Entry));
  return Entry ? std::move(*Entry) : Signature();
}

ParameterKind kindOf(const std::string &Type) {
  return signatureOf("void f(" + Type + " p) {}").Parameters.front().Kind;
}
} // namespace

TEST(TorchSignature, Parameters) {
  for (const char *Type : {"at::Tensor", "const at::Tensor &", "at::Tensor &"})
    EXPECT_EQ(kindOf(Type), ParameterKind::Tensor) << Type;
  for (const char *Type :
       {"at::TensorList", "const at::TensorList &", "std::vector<at::Tensor>",
        "const std::vector<at::Tensor> &", "c10::ArrayRef<at::Tensor>"})
    EXPECT_EQ(kindOf(Type), ParameterKind::TensorList) << Type;
  for (const char *Type :
       {"std::optional<at::Tensor>", "const std::optional<at::Tensor> &"})
    EXPECT_EQ(kindOf(Type), ParameterKind::OptionalTensor) << Type;
  // What looks like one, and is none.
  for (const char *Type :
       {"at::inner::Tensor", "std::vector<int> &", "std::other<at::Tensor> &",
        "std::optional<std::vector<at::Tensor>> &",
        "std::tuple<at::Tensor, at::Tensor> &"})
    EXPECT_EQ(kindOf(Type), ParameterKind::Unsupported) << Type;
  EXPECT_EQ(kindOf("double"), ParameterKind::Scalar);
}

TEST(TorchSignature, Returns) {
  for (const char *Type :
       {"at::Tensor", "std::vector<at::Tensor>", "std::tuple<at::Tensor>",
        "std::tuple<at::Tensor, at::Tensor>"}) {
    Signature S = signatureOf(std::string(Type) + " g(); " + Type +
                              " f() { return g(); }");
    EXPECT_TRUE(S.ReturnsTensors) << Type;
    EXPECT_TRUE(isTensorEntry(S)) << Type;
  }
  for (const char *Type : {"std::tuple<at::Tensor, int>", "std::vector<int>",
                           "std::optional<at::Tensor>", "std::tuple<>"}) {
    Signature S = signatureOf(std::string(Type) + " g(); " + Type +
                              " f() { return g(); }");
    EXPECT_FALSE(S.ReturnsTensors) << Type;
    EXPECT_FALSE(isTensorEntry(S)) << Type;
  }
  EXPECT_TRUE(isTensorEntry(signatureOf("void f(at::Tensor &x) {}")));
  EXPECT_FALSE(isTensorEntry(signatureOf("void f(float *x) {}")));
}

// A pointer to 16-bit integers has a dtype.
TEST(TorchSignature, ShortIntegers) {
  Parameter P = signatureOf("void f(const short *p) {}").Parameters.front();
  EXPECT_EQ(P.Kind, ParameterKind::Pointer);
  EXPECT_EQ(P.Element, ScalarType::I16);
}

TEST(IncludesTorch, ByItsDirectives) {
  for (const char *Text :
       {"#include <ATen/ATen.h>\n", "#include \"torch/extension.h\"",
        "int i;\n  #  include <c10/util/Half.h>\n",
        "#include<ATen/ATen.h>\r\n"})
    EXPECT_TRUE(includesTorch(Text)) << Text;
  for (const char *Text :
       {"", "#include", "#include <vector>\n", "// #include <ATen/ATen.h>\n",
        "#include \"my/ATen/ATen.h\"\n", "#define ATen/ATen.h\n",
        "at::Tensor f();\n"})
    EXPECT_FALSE(includesTorch(Text)) << Text;
}

TEST(TorchHeaders, OfCudaWhereItHasIt) {
  posix::Libtorch Torch;
  EXPECT_EQ(torchHeaders(Torch), "#include <ATen/ATen.h>\n");
  Torch.Cuda = true;
  EXPECT_NE(torchHeaders(Torch).find("#include <ATen/cuda/CUDAContext.h>\n"),
            std::string::npos);
}

// The one that is named, then the one whose headers the flags find.
TEST(TorchFor, OptionsAndFlags) {
  auto Made = TemporaryFolder::create("torch");
  ASSERT_TRUE(bool(Made));
  std::string Folder = Made->path().str();
  for (const char *Root : {"a", "b"})
    for (const char *File : {"lib/libtorch.so", "include/ATen/ATen.h",
                             "include/torch/headeronly/version.h"})
      llvm::cantFail(writeFileAtomically(
          Folder + "/" + Root + "/" + File,
          std::string("#define TORCH_VERSION_MAJOR ") +
              (*Root == 'a' ? "3" : "4") +
              "\n#define TORCH_VERSION_MINOR 1\n#define TORCH_VERSION_PATCH "
              "0\n"));
  auto Version = [&](std::vector<std::string> Flags, std::string Given = "") {
    ParseOptions Options;
    Options.Flags = std::move(Flags);
    Options.Folder = Folder;
    Options.Torch = std::move(Given);
    llvm::Expected<posix::Libtorch> Found = torchFor(Options);
    return Found ? Found->Version : llvm::toString(Found.takeError());
  };
  std::string A = Folder + "/a/include", B = Folder + "/b/include";
  EXPECT_EQ(Version({"-I" + A}), "3.1.0");
  EXPECT_EQ(Version({"-O2", "-isystem", B}), "4.1.0");
  EXPECT_EQ(Version({"-isystem" + B}), "4.1.0");
  EXPECT_EQ(Version({"-Ia/include"}), "3.1.0");
  EXPECT_EQ(Version({"-I", "nowhere", "-I=" + B, "-I" + A}), "4.1.0");
  EXPECT_EQ(Version({"-I" + A}, Folder + "/b"), "4.1.0");
  EXPECT_EQ(Version({}, Folder + "/c").substr(0, 15), "no libtorch in ");
}
