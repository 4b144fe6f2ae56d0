// Preloaded, it lets regular files grow by $DISK_BYTES in all; then the disk is
// full.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long room(int fd, size_t size) {
  static long left = -1;
  struct stat status;
  if (left < 0)
    left = getenv("DISK_BYTES") ? atol(getenv("DISK_BYTES")) : 1L << 60;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return (long)size;
  long given = (long)size < left ? (long)size : left;
  left -= given;
  return given;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  long given = room(fd, size);
  if (given == 0 && size) {
    errno = ENOSPC;
    return -1;
  }
  return real(fd, bytes, (size_t)given);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) {
  ssize_t (*real)(int, const void *, size_t, off_t) =
      dlsym(RTLD_NEXT, "pwrite64");
  long given = room(fd, size);
  if (given == 0 && size) {
    errno = ENOSPC;
    return -1;
  }
  return real(fd, bytes, (size_t)given, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  return pwrite64(fd, bytes, size, offset);
}
