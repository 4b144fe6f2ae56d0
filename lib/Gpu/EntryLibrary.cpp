//===- EntryLibrary.cpp - The functions of a library that is judged -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLibrary.h"
#include <dlfcn.h>
#include <type_traits>

using namespace stark::gpu;

std::string EntryLibrary::load(const std::string &Path, bool WithReference,
                               bool OfTensors) {
  void *Library = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    const char *Why = dlerror();
    return std::string("the library cannot be loaded: ") +
           (Why ? Why : "no reason given");
  }
  auto Find = [&](auto &Function, const char *Name) {
    Function = reinterpret_cast<std::remove_reference_t<decltype(Function)>>(
        dlsym(Library, Name));
  };
  Find(Call, "stark_call");
  Find(LastError, "stark_last_error");
  if (WithReference)
    Find(Reference, "stark_reference");
  if (!Call)
    return "the library has no stark_call()";
  if (!OfTensors)
    return "";
  TensorFunctions &F = Tensors.emplace();
  Find(F.Prepare, "stark_prepare");
  Find(F.Collect, "stark_collect");
  Find(F.Problem, "stark_problem");
  Find(F.Note, "stark_note");
  if (!F.Prepare || !F.Collect || !F.Problem)
    return "the library has no stark_prepare()";
  return "";
}
