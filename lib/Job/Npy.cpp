//===- Npy.cpp - Arrays from .npy files ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   magic, version, header length, a Python dict of descr, fortran_order,
///   shape
///
//===----------------------------------------------------------------------===//

#include "stark/Job/Npy.h"
#include "stark/Job/Names.h"
#include <cstring>
#include <fstream>

using namespace stark;
using namespace stark::job;

static const char *descriptorOf(DType T) {
  switch (T) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    return Descriptor;
#include "stark/Job/DTypes.def"
  }
  return "";
}

/// The text after 'Key': up to the end of the value, without spaces.
static std::string valueOf(const std::string &Header, const std::string &Key) {
  size_t At = Header.find("'" + Key + "':");
  if (At == std::string::npos)
    return "";
  std::string Out;
  unsigned Depth = 0;
  for (At += Key.size() + 3; At < Header.size(); ++At) {
    char C = Header[At];
    if (C == ' ' || C == '\'')
      continue;
    if ((C == ',' || C == '}') && Depth == 0)
      break;
    Depth += C == '(';
    Depth -= C == ')' && Depth > 0;
    Out += C;
  }
  return Out;
}

/// Reads the header; \p In then stands at the data, which are \p Bytes long.
static std::string readHeader(std::ifstream &In, const std::string &Path,
                              DType Type, const std::vector<int64_t> &Shape,
                              uint64_t &Bytes) {
  unsigned char Start[12] = {};
  if (!In.read(reinterpret_cast<char *>(Start), 10))
    return Path + ": cannot be read";
  if (std::memcmp(Start, "\x93NUMPY", 6) != 0 || Start[6] < 1 || Start[6] > 3)
    return Path + ": not a .npy file of version 1 to 3";
  size_t Length = Start[8] | Start[9] << 8;
  if (Start[6] > 1) {
    In.read(reinterpret_cast<char *>(Start + 10), 2);
    Length |= size_t(Start[10]) << 16 | size_t(Start[11]) << 24;
  }
  std::string Header(Length < (1u << 20) ? Length : 0, ' ');
  if (Header.empty() || !In.read(Header.data(), std::streamsize(Length)))
    return Path + ": its header is cut short";
  std::string Got = valueOf(Header, "descr");
  if (Got != descriptorOf(Type) &&
      !(Type == DType::U8 && Got == descriptorOf(DType::Bool)))
    return Path + ": holds '" + Got + "', wanted '" + descriptorOf(Type) +
           "' for " + nameOf(Type);
  if (valueOf(Header, "fortran_order") != "False")
    return Path + ": is in Fortran order, wanted C order";
  std::string Wanted = "(";
  Bytes = dtypeBytes(Type);
  for (size_t I = 0; I < Shape.size(); ++I) {
    Wanted += (I ? "," : "") + std::to_string(Shape[I]);
    if (Shape[I] < 0 ||
        __builtin_mul_overflow(Bytes, uint64_t(Shape[I]), &Bytes))
      return Path + ": wanted more than 2^64 bytes";
  }
  Wanted += Shape.size() == 1 ? ",)" : ")";
  if (std::string Has = valueOf(Header, "shape"); Has != Wanted)
    return Path + ": has shape " + Has + ", wanted " + Wanted;
  // Before anything is allocated for them.
  std::streamoff Data = In.tellg();
  In.seekg(0, std::ios::end);
  std::streamoff End = In.tellg();
  if (Data < 0 || End < Data || uint64_t(End - Data) < Bytes)
    return Path + ": its data are cut short: " + std::to_string(End - Data) +
           " bytes, wanted " + std::to_string(Bytes);
  In.seekg(Data);
  return "";
}

std::vector<char> job::readNpy(const std::string &Path, DType Type,
                               const std::vector<int64_t> &Shape,
                               std::string &Error) {
  std::ifstream In(Path, std::ios::binary);
  uint64_t Bytes = 0;
  Error = readHeader(In, Path, Type, Shape, Bytes);
  if (!Error.empty())
    return {};
  std::vector<char> Data(Bytes);
  if (!In.read(Data.data(), std::streamsize(Bytes))) {
    Error = Path + ": its data cannot be read";
    return {};
  }
  return Data;
}

std::string job::checkNpy(const std::string &Path, DType Type,
                          const std::vector<int64_t> &Shape) {
  std::ifstream In(Path, std::ios::binary);
  uint64_t Bytes = 0;
  return readHeader(In, Path, Type, Shape, Bytes);
}

std::string job::printNpy(DType Type, const std::vector<int64_t> &Shape,
                          const char *Data) {
  std::string Header = std::string("{'descr': '") + descriptorOf(Type) +
                       "', 'fortran_order': False, 'shape': (";
  uint64_t Bytes = dtypeBytes(Type);
  for (int64_t Extent : Shape) {
    Header += std::to_string(Extent) + ",";
    Bytes *= uint64_t(Extent);
  }
  if (Shape.size() > 1)
    Header.pop_back();
  Header += "), }";
  // The data begin at a multiple of 64 bytes.
  Header.resize((10 + Header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  Header += '\n';
  std::string Out("\x93NUMPY\x01\x00", 8);
  Out += char(Header.size() & 255);
  Out += char(Header.size() >> 8);
  return Out.append(Header).append(Data, Bytes);
}
