//===- NcuReport.cpp - What ncu says of kernels ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcuReport.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

using namespace stark;
using namespace stark::gpu;

namespace {
constexpr size_t MostLaunches = 64, MostColumns = 4096, MostLines = 100000;
/// Of a field that is shown, in bytes.
constexpr size_t NameLimit = 200, TextLimit = 80, ErrorLimit = 300;

using Row = std::vector<std::string>;

/// RFC 4180, row by row. A field goes on over line ends where it is quoted.
class CsvReader {
public:
  explicit CsvReader(std::string_view Text) : Left(Text) {}
  /// False at the end.
  bool next(Row &Into);

private:
  std::string field();
  std::string_view Left;
};

std::string CsvReader::field() {
  std::string Text;
  if (Left.empty() || Left.front() != '"') {
    size_t End = std::min(Left.find_first_of(",\n"), Left.size());
    Text = Left.substr(0, End);
    Left.remove_prefix(End);
    if (!Text.empty() && Text.back() == '\r')
      Text.pop_back();
    return Text;
  }
  Left.remove_prefix(1);
  while (!Left.empty()) {
    size_t Quote = std::min(Left.find('"'), Left.size());
    Text += Left.substr(0, Quote);
    Left.remove_prefix(std::min(Quote + 1, Left.size()));
    if (Left.empty() || Left.front() != '"')
      break;
    Text += '"';
    Left.remove_prefix(1);
  }
  // What stands between the quote and the next comma is no CSV.
  size_t End = std::min(Left.find_first_of(",\n"), Left.size());
  Left.remove_prefix(End);
  return Text;
}

bool CsvReader::next(Row &Into) {
  Into.clear();
  if (Left.empty())
    return false;
  while (true) {
    std::string Field = field();
    if (Into.size() < MostColumns)
      Into.push_back(std::move(Field));
    if (Left.empty())
      return true;
    bool Ends = Left.front() == '\n';
    Left.remove_prefix(1);
    if (Ends)
      return true;
  }
}

std::string printable(std::string_view Text, size_t Limit) {
  size_t First = std::min(Text.find_first_not_of(" \t"), Text.size());
  std::string Out(Text.substr(First, Limit));
  for (char &C : Out)
    if ((unsigned char)C < 32 || (unsigned char)C > 126)
      C = '?';
  return Out;
}

/// "1,048,576.5"; unset for "n/a" and whatever else is no number.
std::optional<double> numberIn(std::string_view Field) {
  std::string Digits;
  for (char C : Field.substr(0, 64))
    if (C != ',')
      Digits += C;
  char *End = nullptr;
  double Value = std::strtod(Digits.c_str(), &End);
  if (Digits.empty() || *End || !std::isfinite(Value))
    return std::nullopt;
  return Value;
}

std::optional<size_t> find(const Row &Header, std::string_view Name,
                           size_t From = 0) {
  for (size_t I = From; I < Header.size(); ++I)
    if (Header[I] == Name)
      return I;
  return std::nullopt;
}

/// "softmax" of "void ns::softmax<4>(const float *)": a page of source lines
/// may have no more of it.
std::string baseOf(std::string Kernel) {
  for (std::string_view Unnamed : {"(anonymous namespace)::", "<unnamed>::"})
    if (size_t At = Kernel.find(Unnamed); At != Kernel.npos)
      Kernel.erase(0, At + Unnamed.size());
  Kernel.resize(std::min(Kernel.find_first_of("<("), Kernel.size()));
  return Kernel.substr(Kernel.find_last_of(": ") + 1);
}

std::string fileOf(const std::string &Path) {
  return Path.substr(Path.rfind('/') + 1);
}

/// The columns of a page of source lines.
struct SourceColumns {
  std::optional<size_t> Samples; ///< unset: the reasons' sum
  std::vector<std::pair<size_t, std::string>> Reasons;
  explicit SourceColumns(const Row &Header);
};

SourceColumns::SourceColumns(const Row &Header) {
  for (const char *Name : {"Warp Stall Sampling (All Samples)", "# Samples",
                           "smsp__pcsamp_sample_count"})
    if (!Samples)
      Samples = find(Header, Name);
  for (size_t I = 0; I < Header.size(); ++I)
    for (std::string_view Prefix :
         {"stall_", "smsp__pcsamp_warps_issue_stalled_"}) {
      const std::string &Name = Header[I];
      // Beside each there is one of samples in which nothing was issued.
      if (Name.compare(0, Prefix.size(), Prefix) == 0 &&
          Name.find("not_issued") == Name.npos && Name.find("Not") == Name.npos)
        Reasons.push_back({I, Name.substr(Prefix.size())});
    }
}

/// Samples of the line \p Next by reason.
std::map<std::string, double> reasonsIn(const Row &Next,
                                        const SourceColumns &Columns) {
  std::map<std::string, double> Reasons;
  for (const auto &[At, Reason] : Columns.Reasons)
    if (std::optional<double> Of = numberIn(Next[At]); Of && *Of > 0)
      Reasons[Reason] += *Of;
  return Reasons;
}
} // namespace

std::string gpu::stallMetric(const std::string &Stall) {
  return "smsp__average_warps_issue_stalled_" + Stall +
         "_per_issue_active.ratio";
}

std::optional<double> NcuLaunch::metric(const std::string &Name) const {
  auto Found = Metrics.find(Name);
  if (Found == Metrics.end())
    return std::nullopt;
  return Found->second;
}

std::vector<NcuLaunch> gpu::launchesIn(std::string_view RawPage) {
  std::vector<NcuLaunch> Launches;
  CsvReader Reader(RawPage);
  Row Header, Next;
  while (Reader.next(Header))
    if (Header[0] == "ID" && find(Header, "Kernel Name"))
      break;
  std::optional<size_t> Kernel = find(Header, "Kernel Name"),
                        Grid = find(Header, "Grid Size"),
                        Block = find(Header, "Block Size");
  if (!Kernel)
    return Launches;
  while (Launches.size() < MostLaunches && Reader.next(Next)) {
    // The row of units has no number.
    if (Next.size() != Header.size() || !numberIn(Next[0]))
      continue;
    NcuLaunch &L = Launches.emplace_back();
    L.Kernel = printable(Next[*Kernel], NameLimit);
    L.Grid = Grid ? printable(Next[*Grid], 40) : "";
    L.Block = Block ? printable(Next[*Block], 40) : "";
    for (size_t I = 0; I < Header.size(); ++I)
      if (Header[I].find("__") != Header[I].npos)
        if (std::optional<double> Value = numberIn(Next[I]))
          L.Metrics[Header[I]] = *Value;
  }
  return Launches;
}

std::vector<NcuLine> gpu::linesIn(std::string_view SourcePage,
                                  const std::string &Kernel) {
  struct Sum {
    std::string Text;
    double Samples = 0;
    std::map<std::string, double> Reasons;
  };
  std::map<std::pair<std::string, unsigned>, Sum> Sums;
  std::string File;
  CsvReader Reader(SourcePage);
  Row Next, Header;
  std::optional<SourceColumns> Columns;
  bool OfKernel = false;
  for (size_t Rows = 0; Rows < MostLines && Reader.next(Next); ++Rows) {
    if (Next.size() >= 2 &&
        (Next[0] == "File Path" || Next[0] == "File Name")) {
      File = printable(fileOf(Next[1]), NameLimit);
      Columns.reset();
    } else if (Next.size() >= 2 &&
               (Next[0] == "Function Name" || Next[0] == "Kernel Name")) {
      OfKernel = baseOf(printable(Next[1], NameLimit)) == baseOf(Kernel);
      Columns.reset();
    } else if (Next[0] == "Line No") {
      Header = Next;
      Columns.emplace(Header);
    } else if (OfKernel && Columns && Next.size() == Header.size()) {
      // A line of source has a number, and what its instructions have in all;
      // those follow it, without one.
      std::optional<double> Line = numberIn(Next[0]);
      if (!Line || *Line < 1 || *Line > 1e7)
        continue;
      std::map<std::string, double> Reasons = reasonsIn(Next, *Columns);
      double Samples = 0;
      for (const auto &[Reason, Of] : Reasons)
        Samples += Of;
      if (Columns->Samples)
        Samples = numberIn(Next[*Columns->Samples]).value_or(0);
      if (Samples <= 0)
        continue;
      Sum &S = Sums[{File, unsigned(*Line)}];
      S.Text = printable(Next[1], TextLimit);
      S.Samples += Samples;
      for (const auto &[Reason, Of] : Reasons)
        S.Reasons[Reason] += Of;
    }
  }
  std::vector<NcuLine> Lines;
  for (auto &[Place, S] : Sums) {
    NcuLine L{Place.first, Place.second, std::move(S.Text), S.Samples, ""};
    double Most = 0;
    for (const auto &[Reason, Of] : S.Reasons)
      if (Of > Most)
        std::tie(Most, L.Reason) = std::pair(Of, printable(Reason, 40));
    Lines.push_back(std::move(L));
  }
  std::stable_sort(
      Lines.begin(), Lines.end(),
      [](const NcuLine &A, const NcuLine &B) { return A.Samples > B.Samples; });
  return Lines;
}

std::string gpu::errorIn(std::string_view Log) {
  constexpr std::string_view Mark = "==ERROR==";
  size_t At = Log.find(Mark);
  if (At == Log.npos)
    return "";
  Log.remove_prefix(At + Mark.size());
  return printable(Log.substr(0, Log.find('\n')), ErrorLimit);
}

bool gpu::isOfPermission(std::string_view Error) {
  return Error.find("ERR_NVGPUCTRPERM") != Error.npos;
}
