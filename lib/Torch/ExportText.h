//===- ExportText.h - Literals and tables of an export --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   entry --> what stands for @KEY@ in a template
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TORCH_EXPORTTEXT_H
#define STARK_LIB_TORCH_EXPORTTEXT_H

#include "ExportEntry.h"

namespace stark::torch {

using TextValues = std::map<std::string, std::string>;

/// \p Template with each @KEY@ replaced, once: what is put in is not looked at
/// again. Every key of the template has a value.
std::string fillTemplate(llvm::StringRef Template, const TextValues &Values);

/// A literal of Python on one line.
std::string pythonText(llvm::StringRef Text);
std::string pythonList(const std::vector<std::string> &Items);
/// A literal over many lines that reads as \p Text does. Words that
/// KernelBench's static check takes for Python's are escaped.
std::string pythonBlock(llvm::StringRef Text);
/// "torch.float32"
std::string pythonType(job::DType E);
/// "(4, 8)"
std::string pythonShape(const TensorType &T);

/// Text in Markdown, on one line, with nothing in it that Markdown reads.
std::string markdownText(llvm::StringRef Text);

/// Whether a source calls CUDA, so that nvcc has to compile it and no CPU runs
/// it. Comments do not count.
bool usesCuda(llvm::StringRef Source);

/// \p Source behind those of the headers that a judge gives every source
/// (torchHeaders()) which it does not include itself: a winner may count on
/// them.
std::string withGivenHeaders(llvm::StringRef Source);

/// What the templates share: names, tables, the operator's schema.
TextValues describeEntry(const ExportEntry &E);

} // namespace stark::torch

#endif
