// Preloaded, it writes a line to $FSYNC_LOG at each fsync(); the one numbered
// $FSYNC_FAILS, from 1, fails as that of a broken disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int fd) {
  static _Atomic int calls;
  int number = ++calls;
  const char *fails = getenv("FSYNC_FAILS");
  int log = open(getenv("FSYNC_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0644);
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length > 0) {
    name[length] = '\n';
    (void)!write(log, name, (size_t)length + 1);
  }
  close(log);
  if (fails && number == atoi(fails)) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return real(fd);
}
