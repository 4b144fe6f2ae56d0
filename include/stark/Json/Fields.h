//===- Fields.h - A record's fields, for print and parse alike ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   record --fields(), FieldWriter--> JSON --fields(), FieldReader--> record
/// A record's format is written once, as a list of fields in the record's
/// namespace; the writer and the reader both go through it:
///
///     template <class IO> void fields(IO &F, Timing &T) {
///       F.required("label", T.Label);
///       F.required("median_us", T.MedianUs);
///       F.check(T.MedianUs > 0, "median_us", "a positive time");
///       F.sparse("jobs", T.Jobs, 1u); // left out where it is 1
///     }
///     std::string Line = dumpJson(writeFields<nlohmann::json>(T));
///     std::string Problem = readFields(Object, "run.json", "timing", T);
///
/// A value is a string, bool, number, enum with names (Names.h), word (a type
/// with printWord() and parseWord()), record, or a vector or map of these. What
/// is read may come from anywhere: each missing, wrong or unknown field is an
/// error with file, field, what was got and what was wanted; the first one
/// stands. The JSON type is a template parameter, so that this header includes
/// no JSON library: nlohmann::json, whose keys are sorted, or ordered_json,
/// whose keys stand in the order of the list.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_FIELDS_H
#define STARK_JSON_FIELDS_H

#include "stark/Json/FieldReader.h"
#include "stark/Json/FieldWriter.h"

namespace stark {

/// The JSON object that \p Record is written as.
template <class Json, class T> Json writeFields(const T &Record) {
  FieldWriter<Json> Writer;
  fields(Writer, const_cast<T &>(Record));
  return Writer.take();
}

/// Fills \p Record in from \p Object, which stands at \p Path in \p File (empty
/// for the whole). Returns the first thing that is wrong, empty if nothing is.
template <class Json, class T>
std::string readFields(const Json &Object, const std::string &File,
                       const std::string &Path, T &Record) {
  FieldReader<Json> Reader(Object, File, Path);
  if (Reader.good())
    fields(Reader, Record);
  return Reader.problem();
}

/// The same of an object that may hold more than \p Record has fields for, as
/// one that a newer tool wrote does.
template <class Json, class T>
std::string readKnownFields(const Json &Object, const std::string &File,
                            const std::string &Path, T &Record) {
  FieldReader<Json> Reader(Object, File, Path);
  Reader.allowUnknown();
  if (Reader.good())
    fields(Reader, Record);
  return Reader.problem();
}

} // namespace stark

#endif
