//===- ModelsJson.h - The table of models that lies in the program -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_MODELSJSON_H
#define STARK_LIB_LLM_MODELSJSON_H

namespace stark {
/// The content of models.json.
extern const char *const BuiltInModels;
} // namespace stark

#endif
