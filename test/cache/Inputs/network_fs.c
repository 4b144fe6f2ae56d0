/* What a network file system may do, put over the one that is there: no locks,
   no exchange of two names, no flushing of folders, folders whose rename is done
   although the answer says that there is none (the reply was lost and the
   request came twice), and now and then a file that is stale. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int every(atomic_uint *count, unsigned n) {
  /* Each process begins elsewhere. */
  return (atomic_fetch_add(count, 1) + (unsigned)getpid()) % n == 0;
}

int flock(int fd, int how) {
  (void)fd, (void)how;
  errno = ENOLCK;
  return -1;
}

static int fcntl_of(const char *name, int fd, int what, void *argument) {
  int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
  if (what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK) {
    errno = ENOLCK;
    return -1;
  }
  return real(fd, what, argument);
}
#define FCNTL(name)                                                            \
  int name(int fd, int what, ...) {                                            \
    va_list rest;                                                              \
    va_start(rest, what);                                                      \
    void *argument = va_arg(rest, void *);                                     \
    va_end(rest);                                                              \
    return fcntl_of(#name, fd, what, argument);                                \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  (void)a, (void)from, (void)b, (void)to, (void)flags;
  errno = EINVAL;
  return -1;
}

int rename(const char *from, const char *to) {
  static atomic_uint count;
  int (*real)(const char *, const char *) =
      (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  struct stat status;
  int folder = lstat(from, &status) == 0 && S_ISDIR(status.st_mode);
  int result = real(from, to);
  if (result == 0 && folder && every(&count, 3)) {
    errno = ENOENT;
    return -1;
  }
  return result;
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = EINVAL;
    return -1;
  }
  return real(fd);
}

static int stale(const char *path) {
  static atomic_uint count;
  const char *name = strrchr(path, '/');
  if (!name || (strcmp(name, "/entry.json") && strcmp(name, "/kernel.cu")))
    return 0;
  return every(&count, 5);
}
#define OPEN(name)                                                             \
  int name(const char *path, int how, ...) {                                   \
    int (*real)(const char *, int, ...) =                                      \
        (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);              \
    va_list rest;                                                              \
    va_start(rest, how);                                                       \
    mode_t mode = how & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;      \
    va_end(rest);                                                              \
    if ((how & O_ACCMODE) == O_RDONLY && stale(path)) {                        \
      errno = ESTALE;                                                          \
      return -1;                                                               \
    }                                                                          \
    return real(path, how, mode);                                              \
  }
OPEN(open)
OPEN(open64)
