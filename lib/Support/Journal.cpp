//===- Journal.cpp - An append-only record, one event a line --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Journal.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/Twine.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace stark;
using nlohmann::json;

static std::string checkOf(uint64_t Number, llvm::StringRef Type,
                           llvm::StringRef Body) {
  return DigestBuilder()
      .add("n", std::to_string(Number))
      .add("event", Type)
      .add("body", Body)
      .finish()
      .substr(0, 16);
}

namespace stark {
namespace {
struct Line {
  JournalEvent Event;
  std::string Check;
};
} // namespace

template <class IO> static void fields(IO &F, Line &L) {
  F.required("n", L.Event.Number);
  F.required("event", L.Event.Type);
  F.required("check", L.Check);
  F.embedded(
      "body", [&] { return L.Event.Body; },
      [&](const std::string &Body) -> std::string {
        L.Event.Body = Body;
        return Body.starts_with("{")
                   ? ""
                   : "line: field 'body': got " + Body + ", wanted an object";
      });
}
} // namespace stark

/// Empty when \p Text is event \p Number, else what is wrong with it.
static std::string parseLine(llvm::StringRef Text, uint64_t Number,
                             JournalEvent &Event) {
  json Object = json::parse(Text.begin(), Text.end(), nullptr, false);
  if (Object.is_discarded())
    return "is not JSON";
  Line L;
  if (std::string Problem = readFields(Object, "line", "", L); !Problem.empty())
    return Problem;
  Event = std::move(L.Event);
  if (Event.Number != Number)
    return "is event " + std::to_string(Event.Number) + ", wanted event " +
           std::to_string(Number);
  if (L.Check != checkOf(Event.Number, Event.Type, Event.Body))
    return "was changed: its check does not match";
  return "";
}

llvm::Expected<JournalContent> stark::readJournal(llvm::StringRef Path) {
  JournalContent Content;
  if (::access(Path.str().c_str(), F_OK) != 0)
    return Content;
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  llvm::StringRef Rest = *Text;
  while (!Rest.empty()) {
    size_t End = Rest.find('\n');
    // append() writes a line with its end in one go, so a line without one is
    // what a kill in the middle of a write leaves.
    if (End == llvm::StringRef::npos) {
      Content.Note = "the last line of the journal was torn and is dropped";
      break;
    }
    JournalEvent Event;
    std::string Problem =
        parseLine(Rest.take_front(End), Content.Events.size(), Event);
    if (!Problem.empty())
      return failed(Path + ":" + llvm::Twine(Content.Events.size() + 1) +
                    ": corrupt journal line: " + Problem);
    Content.Events.push_back(std::move(Event));
    Rest = Rest.drop_front(End + 1);
    Content.GoodBytes += End + 1;
  }
  return Content;
}

namespace {
class FileJournal : public Journal {
public:
  FileJournal(int Descriptor, std::string Path, const JournalContent &Content)
      : Descriptor(Descriptor), Path(std::move(Path)),
        Length(Content.GoodBytes), Next(Content.Events.size()) {}
  ~FileJournal() override { ::close(Descriptor); }

  llvm::Error append(llvm::StringRef Type, llvm::StringRef Body) override {
    json Object = json::parse(Body.begin(), Body.end(), nullptr, false);
    assert(Object.is_object() && "an event's body is a JSON object");
    Line L{{Next, Type.str(), dumpJson(Object)}, ""};
    L.Check = checkOf(Next, Type, L.Event.Body);
    std::string Text = dumpJson(writeFields<json>(L)) + "\n";
    ssize_t Written;
    do
      Written = ::pwrite(Descriptor, Text.data(), Text.size(), off_t(Length));
    while (Written < 0 && errno == EINTR);
    if (Written != ssize_t(Text.size())) {
      std::string Why = Written >= 0 && Written < ssize_t(Text.size())
                            ? "the disk is full"
                            : std::strerror(errno);
      (void)!::ftruncate(Descriptor, off_t(Length));
      return failed("cannot write '" + Path + "': " + Why);
    }
    Length += Text.size();
    ++Next;
    return llvm::Error::success();
  }

  llvm::Error flush() override {
    if (::fsync(Descriptor) != 0)
      return failed("cannot write '" + Path + "': " + std::strerror(errno));
    return llvm::Error::success();
  }

private:
  int Descriptor;
  std::string Path;
  uint64_t Length, Next;
};
} // namespace

llvm::Expected<std::unique_ptr<Journal>>
Journal::open(llvm::StringRef Path, const JournalContent &Content) {
  int Descriptor =
      ::open(Path.str().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (Descriptor < 0 ||
      ::ftruncate(Descriptor, off_t(Content.GoodBytes)) != 0) {
    std::string Why = std::strerror(errno);
    if (Descriptor >= 0)
      ::close(Descriptor);
    return failed("cannot write '" + Path + "': " + Why);
  }
  return std::make_unique<FileJournal>(Descriptor, Path.str(), Content);
}
