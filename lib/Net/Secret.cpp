//===- Secret.cpp - A key that is never printed --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Net/Secret.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace stark;

/// What vendors' keys begin with.
static constexpr llvm::StringLiteral KeyShapes[] = {"sk-", "AIza", "gsk_",
                                                    "hf_", "Bearer "};

Secret &Secret::operator=(Secret &&Other) noexcept {
  if (this != &Other) {
    wipe();
    Value = Other.Value;
    Other.wipe();
  }
  return *this;
}

void Secret::wipe() {
  if (!Value.empty())
    explicit_bzero(Value.data(), Value.size());
  Value.clear();
}

/// Headers carry a key as it is: anything but printable ASCII would be another
/// header, or no header.
static llvm::Error checkKey(llvm::StringRef Key, const llvm::Twine &From) {
  for (char C : Key)
    if (C <= ' ' || C > '~')
      return usageError(From + ": the key has a character in it that no key " +
                        "has (a blank, a line end or no ASCII)");
  return llvm::Error::success();
}

static std::string octal(unsigned Mode) {
  char Text[8];
  snprintf(Text, sizeof(Text), "%o", Mode);
  return Text;
}

llvm::Expected<Secret> stark::readSecretFile(llvm::StringRef Path,
                                             llvm::StringRef Of) {
  struct stat Status;
  if (::stat(Path.str().c_str(), &Status) != 0)
    return usageError(Of + ": cannot read '" + Path +
                      "': " + llvm::StringRef(strerror(errno)));
  if (Status.st_mode & 077)
    return usageError(Of + ": '" + Path + "' may be read by others: got mode " +
                      octal(Status.st_mode & 0777) + ", wanted 600");
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  Secret Key(llvm::StringRef(*Text).trim().str());
  explicit_bzero(Text->data(), Text->size());
  if (Key.empty())
    return usageError(Of + ": '" + Path + "' is empty");
  if (llvm::Error E = checkKey(Key.reveal(), Of))
    return E;
  return Key;
}

/// Keys that were taken out of the environment, by variable. The environment is
/// the process's, and so are they.
static std::map<std::string, Secret> &takenKeys() {
  static std::map<std::string, Secret> Keys;
  return Keys;
}

/// From here on no core is written, and no other process of the user may look
/// into this one's memory.
static void closeProcess() {
  prctl(PR_SET_DUMPABLE, 0);
  struct rlimit None = {0, 0};
  setrlimit(RLIMIT_CORE, &None);
}

llvm::Expected<Secret> stark::findSecret(llvm::StringRef Variable) {
  static std::mutex Lock;
  std::lock_guard<std::mutex> Guard(Lock);
  std::string Name = Variable.str();
  if (const char *File = std::getenv((Name + "_FILE").c_str()); File && *File) {
    llvm::Expected<Secret> Key = readSecretFile(File, Name + "_FILE");
    if (Key)
      closeProcess();
    return Key;
  }
  if (char *Given = std::getenv(Name.c_str()); Given && *Given) {
    Secret Key(llvm::StringRef(Given).trim().str());
    if (llvm::Error E = checkKey(Key.reveal(), Variable))
      return E;
    closeProcess();
    // Children (compilers, and what a model wrote) inherit the environment.
    explicit_bzero(Given, strlen(Given));
    unsetenv(Name.c_str());
    takenKeys()[Name] = std::move(Key);
  }
  auto Taken = takenKeys().find(Name);
  return Secret(Taken == takenKeys().end() ? std::string()
                                           : Taken->second.reveal());
}

static bool isKeyCharacter(char C) {
  return llvm::isAlnum(C) || C == '-' || C == '_' || C == '.';
}

std::string stark::redact(llvm::StringRef Text, const Secret &Key) {
  std::string Result;
  for (size_t I = 0; I < Text.size();) {
    llvm::StringRef Rest = Text.substr(I);
    size_t Length = 0;
    if (!Key.empty() && Rest.starts_with(Key.reveal()))
      Length = Key.reveal().size();
    for (llvm::StringRef Shape : KeyShapes)
      if (!Length && Rest.starts_with(Shape) &&
          (!I || !isKeyCharacter(Text[I - 1]))) {
        size_t End = Shape.size();
        while (End < Rest.size() && isKeyCharacter(Rest[End]))
          ++End;
        // Shorter words only look like keys.
        Length = End >= Shape.size() + 12 ? End : 0;
      }
    // "https://user:password@host": what stands before the "@".
    if (!Length && I >= 3 && Text.substr(I - 3, 3) == "://") {
      size_t End = Rest.find_first_of("/ \t\r\n\"'");
      size_t At = Rest.substr(0, End).rfind('@');
      Length = At == llvm::StringRef::npos ? 0 : At;
    }
    if (!Length) {
      Result += Text[I++];
      continue;
    }
    Result += "[redacted]";
    I += Length;
  }
  return Result;
}
