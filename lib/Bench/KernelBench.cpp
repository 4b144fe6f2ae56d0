//===- KernelBench.cpp - Which of KernelBench's tasks ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Bench/KernelBench.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Level and id.
using TaskId = std::pair<unsigned, unsigned>;

/// LEVEL1_REPRESENTATIVE_IDS and its kin in KernelBench's dataset.py.
static const std::vector<TaskId> Representative = {
    {1, 1},  {1, 3},  {1, 6},  {1, 18}, {1, 23}, {1, 26}, {1, 33},
    {1, 36}, {1, 40}, {1, 42}, {1, 48}, {1, 54}, {1, 57}, {1, 65},
    {1, 77}, {1, 82}, {1, 86}, {1, 87}, {2, 1},  {2, 2},  {2, 8},
    {2, 18}, {2, 23}, {2, 28}, {2, 33}, {2, 43}, {3, 1},  {3, 5},
    {3, 8},  {3, 11}, {3, 20}, {3, 21}, {3, 33}, {3, 38}, {3, 43}};
/// Not in STARK's tables, whose shares are of 14, 8 and 8 tasks. Level 3's was
/// not listed yet; that it is these of level 1 is inferred, from their size.
static const std::vector<TaskId> NotInPaper = {
    {1, 23}, {1, 26}, {1, 36}, {1, 87}, {3, 21}};

static std::string nameOf(TaskId Of) {
  return std::to_string(Of.first) + "/" + std::to_string(Of.second);
}

/// The files of levels 1 to 3 by level and id.
static llvm::Expected<std::map<TaskId, std::string>>
listTasks(llvm::StringRef Clone) {
  std::string Root = (Clone + "/KernelBench").str();
  if (!fs::is_directory(Root))
    Root = Clone.str();
  std::map<TaskId, std::string> Files;
  for (unsigned Level = 1; Level <= 3; ++Level) {
    std::error_code Code;
    for (fs::directory_iterator
             It(Root + "/level" + std::to_string(Level), Code),
         End;
         It != End && !Code; It.increment(Code)) {
      llvm::StringRef Base = path::filename(It->path());
      unsigned Id = 0;
      if (!Base.ends_with(".py") || Base.consumeInteger(10, Id) ||
          !Base.starts_with("_"))
        continue;
      auto [Old, New] = Files.try_emplace({Level, Id}, It->path());
      if (!New)
        return usageError("--kernelbench: '" + Old->second + "' and '" +
                          It->path() + "' are both task " +
                          nameOf({Level, Id}));
    }
  }
  if (Files.empty())
    return usageError("--kernelbench: got '" + Clone +
                      "', wanted a clone of KernelBench, with level1 to "
                      "level3");
  return Files;
}

static llvm::Expected<std::vector<TaskId>> parseIds(llvm::StringRef List) {
  std::vector<TaskId> Ids;
  llvm::SmallVector<llvm::StringRef> Words;
  List.split(Words, ',');
  for (llvm::StringRef Word : Words) {
    auto [Level, Id] = Word.split('/');
    TaskId Of;
    if (Level.getAsInteger(10, Of.first) || Id.getAsInteger(10, Of.second))
      return usageError("--subset: got '" + Word +
                        "', wanted representative, paper, all or ids such as "
                        "1/3,2/33");
    if (llvm::is_contained(Ids, Of))
      return usageError("--subset: got '" + Word + "' twice");
    Ids.push_back(Of);
  }
  return Ids;
}

llvm::Expected<std::vector<KernelBenchTask>>
stark::findKernelBenchTasks(llvm::StringRef Clone, llvm::StringRef Subset) {
  llvm::Expected<std::map<TaskId, std::string>> Files = listTasks(Clone);
  if (!Files)
    return Files.takeError();
  std::vector<TaskId> Ids;
  if (Subset == "all") {
    for (const auto &[Of, File] : *Files)
      Ids.push_back(Of);
  } else if (Subset == "representative" || Subset == "paper") {
    for (TaskId Of : Representative)
      if (Subset != "paper" || !llvm::is_contained(NotInPaper, Of))
        Ids.push_back(Of);
  } else {
    llvm::Expected<std::vector<TaskId>> Given = parseIds(Subset);
    if (!Given)
      return Given.takeError();
    Ids = std::move(*Given);
  }
  std::vector<KernelBenchTask> Tasks;
  for (TaskId Of : Ids) {
    auto Found = Files->find(Of);
    if (Found == Files->end())
      return usageError("--subset: '" + Clone + "' has no task " + nameOf(Of));
    std::string Level = std::to_string(Of.first);
    Tasks.push_back({Of.first, Of.second, Found->second,
                     "level" + Level + "-" + path::stem(Found->second).str(),
                     "level " + Level});
  }
  return Tasks;
}
