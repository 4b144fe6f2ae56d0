//===- Task.cpp - All that a search needs --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Task.h"
#include "stark/AST/Extract.h"
#include "stark/AST/SourceFile.h"
#include "stark/AST/Torch.h"
#include "stark/Job/Npy.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "stark/Task/ExtractedTask.h"
#include "stark/Task/Outputs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace stark;
namespace path = llvm::sys::path;

/// Folder-independent: contents and file names only. Flags that name folders
/// count through the headers that they find.
static std::string digestOf(const Task &T,
                            llvm::ArrayRef<std::string> HeaderTexts,
                            llvm::ArrayRef<std::string> ArrayDigests) {
  DigestBuilder Digest;
  Digest.add("format", "task 1");
  Digest.add("name", path::filename(T.SourcePath));
  Digest.add("source", T.SourceText);
  Digest.add("workload", T.WorkloadText);
  // In an order that the folders' names have no part in.
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> Headers;
  for (size_t I = 0; I < HeaderTexts.size(); ++I)
    Headers.emplace_back(path::filename(T.Headers[I]), HeaderTexts[I]);
  llvm::sort(Headers);
  for (const auto &[Name, Text] : Headers)
    Digest.add("header", Name).add("text", Text);
  for (const std::string &Array : ArrayDigests)
    Digest.add("array", Array);
  bool FolderFollows = false;
  for (const std::string &Flag : T.NvccFlags) {
    llvm::StringRef F = Flag;
    bool NamesFolder = F.starts_with("-I") || F.starts_with("-isystem") ||
                       F.starts_with("-iquote");
    if (!NamesFolder && !FolderFollows)
      Digest.add("flag", F);
    FolderFollows = F == "-I" || F == "-isystem" || F == "-iquote";
  }
  return Digest.finish();
}

/// \p File is relative to the workload's folder.
static std::string besideWorkload(const Task &T, llvm::StringRef File) {
  if (path::is_absolute(File))
    return File.str();
  llvm::StringRef Beside =
      T.Load.File.empty() ? llvm::StringRef(T.SourcePath) : T.Load.File;
  llvm::SmallString<256> Path(path::parent_path(Beside));
  path::append(Path, File);
  return Path.str().str();
}

llvm::Expected<std::string>
stark::readArray(const Task &T, const job::Leaf &L,
                 const std::vector<int64_t> &Shape) {
  auto A = llvm::find_if(T.Load.Arguments, [&](const Argument &Each) {
    return Each.Name == L.Name;
  });
  assert(A != T.Load.Arguments.end() && "only arguments have arrays");
  std::string Path = besideWorkload(T, L.Fill.File);
  if (!A->FromWeights) {
    if (std::string Why = job::checkNpy(Path, L.Type, Shape); !Why.empty())
      return failed(Why);
    return readFile(Path);
  }
  uint64_t Bytes = job::dtypeBytes(L.Type);
  for (int64_t Extent : Shape)
    Bytes *= uint64_t(Extent);
  auto Part = llvm::MemoryBuffer::getFileSlice(Path, Bytes, *A->Offset);
  if (!Part || (*Part)->getBufferSize() < Bytes)
    return failed(Path + ": has no " + llvm::Twine(Bytes) + " bytes at " +
                  llvm::Twine(*A->Offset));
  return job::printNpy(L.Type, Shape, (*Part)->getBufferStart());
}

/// Checks each array for every case, and digests its bytes.
static llvm::Expected<std::vector<std::string>>
checkArrays(const Task &T, llvm::ArrayRef<job::Case> Cases) {
  std::vector<std::string> Digests;
  std::vector<job::Leaf> Leaves = makeLeaves(T);
  for (size_t I = 0; I < Leaves.size(); ++I) {
    if (Leaves[I].Kind != job::LeafKind::Buffer ||
        Leaves[I].Fill.Kind != job::InitKind::File)
      continue;
    std::string Digest;
    for (const job::Case &C : Cases) {
      llvm::Expected<std::string> Bytes =
          readArray(T, Leaves[I], C.Values[I].Shape);
      if (!Bytes)
        return usageError(T.Load.File + ": field 'arguments." + Leaves[I].Name +
                          ".init': size '" + C.Label +
                          "': " + llvm::toString(Bytes.takeError()));
      Digest = sha256(*Bytes);
    }
    Digests.push_back(Digest);
  }
  return Digests;
}

static bool sameShape(const Parameter &L, const Parameter &R) {
  if (L.Kind != R.Kind || L.Element != R.Element || L.Untyped != R.Untyped ||
      L.Fields.size() != R.Fields.size())
    return false;
  for (size_t I = 0; I < L.Fields.size(); ++I)
    if (!sameShape(L.Fields[I], R.Fields[I]))
      return false;
  return true;
}

/// The reference is called with the entry's arguments, one by one.
static llvm::Error checkReference(const Task &T) {
  const Signature &Entry = T.Entry, &Other = T.Reference;
  auto Differs = [&](const llvm::Twine &Got, const llvm::Twine &Wanted) {
    return usageError(T.Load.File + ": field 'reference': '" + Other.Name +
                      "' " + Got + ", but '" + Entry.Name + "' " + Wanted);
  };
  if (Other.IsKernel != Entry.IsKernel)
    return Differs(Other.IsKernel ? "is a kernel" : "is a host function",
                   Entry.IsKernel ? "is a kernel" : "is a host function");
  if (Other.Parameters.size() != Entry.Parameters.size())
    return Differs("has " + llvm::Twine(Other.Parameters.size()) +
                       " parameters",
                   "has " + llvm::Twine(Entry.Parameters.size()));
  for (size_t I = 0; I < Entry.Parameters.size(); ++I)
    if (!sameShape(Entry.Parameters[I], Other.Parameters[I]))
      return Differs("takes '" + Other.Parameters[I].Type + " " +
                         Other.Parameters[I].Name + "'",
                     "takes '" + Entry.Parameters[I].Type + " " +
                         Entry.Parameters[I].Name + "' in its place");
  return llvm::Error::success();
}

/// Gives \p Entry the variables of the device that \p W sets.
static llvm::Error resolveSymbols(const ParsedSource &Source, Signature &Entry,
                                  const Workload &W) {
  for (const Argument &A : W.Arguments) {
    llvm::StringRef Name = A.Name;
    if (!Name.consume_front(SymbolPrefix))
      continue;
    llvm::Expected<Parameter> P = findSymbol(Source, Name);
    if (!P)
      return P.takeError();
    P->Name = A.Name;
    Entry.Symbols.push_back(std::move(*P));
  }
  return llvm::Error::success();
}

/// All but what its text says.
static llvm::Expected<Task> readTask(llvm::StringRef SourcePath,
                                     llvm::StringRef WorkloadPath,
                                     const ParseOptions &Options) {
  Task T;
  T.SourcePath = absolutePath(SourcePath);
  T.Name = path::stem(T.SourcePath).str();
  llvm::Expected<std::string> Source = readSource(SourcePath);
  if (!Source)
    return Source.takeError();
  T.SourceText = std::move(*Source);
  llvm::Expected<std::string> WorkloadText = readText(WorkloadPath);
  if (!WorkloadText)
    return WorkloadText.takeError();
  llvm::Expected<Workload> Load = parseWorkload(*WorkloadText, WorkloadPath);
  if (!Load)
    return Load.takeError();
  T.Load = std::move(*Load);
  T.WorkloadText = std::move(*WorkloadText);
  T.Parse = Options;
  T.NvccFlags = Options.Flags;

  if (includesTorch(T.SourceText))
    if (auto Torch = torchFor(Options); !Torch)
      return withContext(Torch.takeError(),
                         "'" + SourcePath + "' includes libtorch's headers");
  auto Parsed = parseSource(T.SourcePath, T.SourceText, Options);
  if (!Parsed)
    return Parsed.takeError();
  T.Parsed = std::move(*Parsed);
  return T;
}

/// Entry, reference, headers and digest, of its text.
static llvm::Error completeTask(Task &T, llvm::StringRef WorkloadPath) {
  llvm::Expected<Signature> Entry =
      findEntry(*T.Parsed, T.Load.Entry, T.Load.entryUsed());
  if (!Entry)
    return withContext(Entry.takeError(), WorkloadPath);
  T.Entry = std::move(*Entry);
  resolveTensors(T.Entry, T.Load);
  if (llvm::Error E = resolveSymbols(*T.Parsed, T.Entry, T.Load))
    return withContext(std::move(E), WorkloadPath);
  if (llvm::Error E = checkWorkload(T.Load, T.Entry))
    return E;
  if (!T.Load.Reference.empty()) {
    llvm::Expected<Signature> Other =
        findEntry(*T.Parsed, T.Load.Reference, T.Load.entryUsed());
    if (!Other)
      return withContext(Other.takeError(),
                         WorkloadPath + ": field 'reference'");
    T.Reference = std::move(*Other);
    resolveTensors(T.Reference, T.Load);
    if (llvm::Error E = checkReference(T))
      return E;
  }
  llvm::Expected<std::vector<job::Case>> Cases = makeCases(T);
  if (!Cases)
    return Cases.takeError();
  llvm::Expected<std::vector<std::string>> Arrays = checkArrays(T, *Cases);
  if (!Arrays)
    return Arrays.takeError();

  T.Headers = T.Parsed->includedFiles();
  std::vector<std::string> HeaderTexts;
  for (const std::string &Header : T.Headers) {
    llvm::Expected<std::string> Text = readFile(Header);
    if (!Text)
      return Text.takeError();
    HeaderTexts.push_back(std::move(*Text));
  }
  T.Digest = digestOf(T, HeaderTexts, *Arrays);
  return llvm::Error::success();
}

llvm::Expected<Task> stark::loadTask(llvm::StringRef SourcePath,
                                     llvm::StringRef WorkloadPath,
                                     const ParseOptions &Options) {
  TraceScope Traced("load task");
  llvm::Expected<Task> T = readTask(SourcePath, WorkloadPath, Options);
  if (!T)
    return T;
  if (llvm::Error E = completeTask(*T, WorkloadPath))
    return E;
  return T;
}

/// A candidate of an entry without outputs would be right whatever it does.
static llvm::Error wantOutputs(const Task &T) {
  if (isTensorEntry(T.Entry) || hasOutputs(T.Load))
    return llvm::Error::success();
  return usageError(T.Load.File + ": field 'arguments': got no argument with "
                                  "role output or inout, which simulate alone "
                                  "takes: there is nothing to compare");
}

/// Puts what was extracted in the place of \p Loaded's text, if there is
/// something to gain, else says why not.
static llvm::Error extractTask(ExtractedTask &Loaded) {
  Task &T = Loaded.Of;
  std::vector<std::string> Entries{T.Load.Entry};
  if (!T.Load.Reference.empty())
    Entries.push_back(T.Load.Reference);
  llvm::Expected<Extraction> Made = extractEntry(*T.Parsed, T.Parse, Entries);
  if (!Made) {
    llvm::Error E = Made.takeError();
    // An entry that is not there is said as it always was.
    if (errorKind(E) != ErrorKind::Usage)
      Loaded.Note = llvm::toString(std::move(E));
    llvm::consumeError(std::move(E));
    return llvm::Error::success();
  }
  if (!Made->DeviceCode)
    return llvm::Error::success();
  if (Made->Text.size() > LongestExtracted) {
    Loaded.Note = "what " + T.Load.Entry +
                  " reaches in headers is not "
                  "extracted: it has " +
                  std::to_string(Made->Text.size()) + " bytes, and at most " +
                  std::to_string(LongestExtracted) + " are shown to a model";
    return llvm::Error::success();
  }
  auto Parsed = parseSource(T.SourcePath, Made->Text, T.Parse);
  if (!Parsed)
    return Parsed.takeError();
  auto Users = std::make_shared<UsersSource>();
  Users->Text = std::exchange(T.SourceText, std::move(Made->Text));
  Users->Headers = T.Parsed->includedFiles();
  for (const ExtractedHeader &Header : Made->Headers)
    Users->Taken.push_back(Header.Name);
  Users->Parsed = std::exchange(T.Parsed, std::move(*Parsed));
  Loaded.Users = std::move(Users);
  return llvm::Error::success();
}

llvm::Expected<ExtractedTask>
stark::loadExtractedTask(llvm::StringRef SourcePath,
                         llvm::StringRef WorkloadPath,
                         const ParseOptions &Options) {
  TraceScope Traced("load task");
  llvm::Expected<Task> T = readTask(SourcePath, WorkloadPath, Options);
  if (!T)
    return T.takeError();
  ExtractedTask Loaded{std::move(*T), nullptr, ""};
  if (hasProjectHeaders(*Loaded.Of.Parsed, Options))
    if (llvm::Error E = extractTask(Loaded))
      return E;
  if (llvm::Error E = completeTask(Loaded.Of, WorkloadPath))
    return E;
  if (llvm::Error E = wantOutputs(Loaded.Of))
    return E;
  return Loaded;
}

llvm::Expected<ExtractedTask> stark::loadWith(bool Extract,
                                              llvm::StringRef SourcePath,
                                              llvm::StringRef WorkloadPath,
                                              const ParseOptions &Options) {
  if (Extract)
    return loadExtractedTask(SourcePath, WorkloadPath, Options);
  llvm::Expected<Task> T = loadTask(SourcePath, WorkloadPath, Options);
  if (!T)
    return T.takeError();
  if (llvm::Error E = wantOutputs(*T))
    return E;
  return ExtractedTask{std::move(*T), nullptr, ""};
}

static bool includesTaken(const UsersSource &Users, llvm::StringRef Text) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    if (llvm::is_contained(Users.Taken, includedName(Line)))
      return true;
    Text = Rest;
  }
  return false;
}

llvm::Expected<ExtractedTask>
stark::loadTaskOf(llvm::ArrayRef<std::string> Forms, llvm::StringRef SourcePath,
                  llvm::StringRef WorkloadPath, const ParseOptions &Options) {
  llvm::Expected<ExtractedTask> T =
      loadExtractedTask(SourcePath, WorkloadPath, Options);
  if (!T || !T->Users || llvm::none_of(Forms, [&](const std::string &Text) {
        return includesTaken(*T->Users, Text);
      }))
    return T;
  return loadWith(/*Extract=*/false, SourcePath, WorkloadPath, Options);
}

std::string stark::describeExtracted(const UsersSource &Users) {
  return "searching one source with what the entry reaches of " +
         llvm::join(Users.Taken, ", ") + "; --no-extract leaves headers alone";
}
