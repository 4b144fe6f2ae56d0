//===- Protocol.cpp - Between the simulator and its host process ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/SimHost/Protocol.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

using namespace stark;

namespace {
/// Room for the descriptors of one record.
constexpr int MostFiles = 8;

struct Envelope {
  iovec Part{};
  alignas(cmsghdr) char Control[CMSG_SPACE(MostFiles * sizeof(int))] = {};
  msghdr Header{};

  Envelope(void *Data, size_t Bytes, size_t ControlBytes) {
    Part = {Data, Bytes};
    Header.msg_iov = &Part;
    Header.msg_iovlen = 1;
    if (!ControlBytes)
      return;
    Header.msg_control = Control;
    Header.msg_controllen = ControlBytes;
  }
};

void takeFiles(msghdr &Header, int *Files, int FileCount) {
  for (cmsghdr *C = CMSG_FIRSTHDR(&Header); C; C = CMSG_NXTHDR(&Header, C)) {
    if (C->cmsg_level != SOL_SOCKET || C->cmsg_type != SCM_RIGHTS)
      continue;
    int Came = int((C->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int I = 0; I < Came; ++I) {
      int File = -1;
      std::memcpy(&File, CMSG_DATA(C) + size_t(I) * sizeof(int), sizeof(int));
      if (I < FileCount)
        Files[I] = File;
      else
        close(File);
    }
  }
}
} // namespace

bool simhost::sendRecord(int Socket, const void *Data, size_t Bytes,
                         const int *Files, int FileCount) {
  size_t Room = FileCount ? CMSG_SPACE(size_t(FileCount) * sizeof(int)) : 0;
  Envelope E(const_cast<void *>(Data), Bytes, Room);
  if (FileCount) {
    cmsghdr *C = CMSG_FIRSTHDR(&E.Header);
    C->cmsg_level = SOL_SOCKET;
    C->cmsg_type = SCM_RIGHTS;
    C->cmsg_len = CMSG_LEN(size_t(FileCount) * sizeof(int));
    std::memcpy(CMSG_DATA(C), Files, size_t(FileCount) * sizeof(int));
  }
  ssize_t Sent;
  do
    Sent = sendmsg(Socket, &E.Header, MSG_NOSIGNAL);
  while (Sent < 0 && errno == EINTR);
  return Sent == ssize_t(Bytes);
}

bool simhost::receiveRecord(int Socket, void *Data, size_t Bytes, int *Files,
                            int FileCount) {
  std::fill(Files, Files + FileCount, -1);
  Envelope E(Data, Bytes, FileCount ? sizeof(Envelope::Control) : 0);
  ssize_t Got;
  do
    Got = recvmsg(Socket, &E.Header, MSG_CMSG_CLOEXEC);
  while (Got < 0 && errno == EINTR);
  if (Got > 0 && FileCount)
    takeFiles(E.Header, Files, FileCount);
  return Got == ssize_t(Bytes) && !(E.Header.msg_flags & MSG_TRUNC);
}

void simhost::setText(char *To, size_t Size, const std::string &From) {
  size_t Length = std::min(From.size(), Size - 1);
  std::memcpy(To, From.data(), Length);
  To[Length] = 0;
}
