/* Stands between a program and the C library, and lets a chosen call fail.
 *
 * FAULT_CALLS   which calls are counted: a list of open, read, write, sync, rename, reserve, commit
 * FAULT_PATH    only calls on files whose path contains this; 1 is standard output
 * FAULT_AT      the number of the call that fails, from 1 on; 0 for none
 * FAULT_ON      how many calls fail from there on; 0 for all
 * FAULT_HOW     an error (ENOSPC, EIO, EINTR, ENOMEM), SHORT, or a signal: KILL, HALF (kill after half of it), TERM, INT
 * FAULT_COUNT   a file of eight bytes in which the calls are counted
 *
 * Memory is reserved by mmap without access and committed by mprotect: those are the calls of the program's stores.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILES = 4096 };

static const char *calls, *path, *how;
static uint64_t at, on;
static _Atomic uint64_t own_count;
static _Atomic uint64_t *count = &own_count;
static _Atomic char watched[FILES];

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  const char *text;
  calls = getenv("FAULT_CALLS");
  path = getenv("FAULT_PATH");
  how = getenv("FAULT_HOW");
  at = (text = getenv("FAULT_AT")) ? strtoull(text, 0, 10) : 0;
  on = (text = getenv("FAULT_ON")) ? strtoull(text, 0, 10) : 1;
  if (path && !strcmp(path, "1")) watched[1] = 1;
  if ((text = getenv("FAULT_COUNT"))) {
    int (*open_file)(const char *, int, ...) = real("open");
    int file = open_file(text, O_RDWR);
    void *(*map)(void *, size_t, int, int, int, off_t) = real("mmap");
    void *shared = map(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) count = shared;
  }
}

static int concerns(const char *name) { return path && name && strstr(name, path) != 0; }

static int is_watched(int file) { return file >= 0 && file < FILES && watched[file]; }

/* What becomes of a call: 0 it is made, -1 it fails (errno is set), 1 only a part of it is done. */
static int fate(const char *call) {
  const char *listed = calls ? strstr(calls, call) : 0;
  if (!listed) return 0;
  uint64_t number = atomic_fetch_add(count, 1) + 1;
  if (!at || !how || number < at || (on && number >= at + on)) return 0;
  if (!strcmp(how, "KILL")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "TERM")) kill(getpid(), SIGTERM);
  if (!strcmp(how, "INT")) kill(getpid(), SIGINT);
  if (!strcmp(how, "HALF") || !strcmp(how, "SHORT")) return 1;
  errno = !strcmp(how, "ENOSPC") ? ENOSPC : !strcmp(how, "EIO") ? EIO : !strcmp(how, "EINTR") ? EINTR : !strcmp(how, "ENOMEM") ? ENOMEM : 0;
  return errno ? -1 : 0;
}

/* How many of the bytes a call moves. */
static size_t part(int fate, size_t bytes) { return fate == 1 && bytes > 1 ? bytes / 2 : bytes; }

static ssize_t after(int fate, ssize_t moved) {
  if (fate == 1 && !strcmp(how, "HALF")) kill(getpid(), SIGKILL);
  return moved;
}

static int opened(const char *name, int file) {
  if (file >= 0 && file < FILES && file != 1) watched[file] = concerns(name);
  return file;
}

#define OPEN(NAME)                                                      \
  int NAME(const char *name, int flags, ...) {                          \
    va_list more;                                                       \
    va_start(more, flags);                                              \
    mode_t mode = va_arg(more, mode_t);                                 \
    va_end(more);                                                       \
    if (concerns(name) && fate("open") < 0) return -1;                  \
    int (*call)(const char *, int, ...) = real(#NAME);                  \
    return opened(name, call(name, flags, mode));                       \
  }
OPEN(open)
OPEN(open64)

int openat64(int folder, const char *name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if (concerns(name) && fate("open") < 0) return -1;
  int (*call)(int, const char *, int, ...) = real("openat64");
  return opened(name, call(folder, name, flags, mode));
}

#define MOVE(NAME, CALL, BYTES)                                         \
  ssize_t NAME(int file, BYTES bytes, size_t length) {                  \
    int end = is_watched(file) ? fate(CALL) : 0;                        \
    if (end < 0) return -1;                                             \
    ssize_t (*call)(int, BYTES, size_t) = real(#NAME);                  \
    return after(end, call(file, bytes, part(end, length)));            \
  }
MOVE(write, "write", const void *)
MOVE(read, "read", void *)

#define MOVE_AT(NAME, CALL, BYTES)                                      \
  ssize_t NAME(int file, BYTES bytes, size_t length, off64_t place) {   \
    int end = is_watched(file) ? fate(CALL) : 0;                        \
    if (end < 0) return -1;                                             \
    ssize_t (*call)(int, BYTES, size_t, off64_t) = real(#NAME);         \
    return after(end, call(file, bytes, part(end, length), place));     \
  }
MOVE_AT(pwrite, "write", const void *)
MOVE_AT(pwrite64, "write", const void *)
MOVE_AT(pread, "read", void *)
MOVE_AT(pread64, "read", void *)

#define SYNC(NAME)                                                      \
  int NAME(int file) {                                                  \
    int end = is_watched(file) ? fate("sync") : 0;                      \
    if (end < 0) return -1;                                             \
    int (*call)(int) = real(#NAME);                                     \
    return (int)after(end, call(file));                                 \
  }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
  int end = concerns(from) || concerns(to) ? fate("rename") : 0;
  if (end < 0) return -1;
  int (*call)(const char *, const char *) = real("rename");
  return (int)after(end, call(from, to));
}

int close(int file) {
  if (file >= 0 && file < FILES && file != 1) watched[file] = 0;
  int (*call)(int) = real("close");
  return call(file);
}

#define MAP(NAME)                                                                                          \
  void *NAME(void *place, size_t length, int access, int flags, int file, off64_t from) {                  \
    int store = access == PROT_NONE && (flags & MAP_NORESERVE) && !(flags & MAP_FIXED);                    \
    if (store && fate("reserve") < 0) return MAP_FAILED;                                                   \
    void *(*call)(void *, size_t, int, int, int, off64_t) = real(#NAME);                                   \
    return call(place, length, access, flags, file, from);                                                 \
  }
MAP(mmap)
MAP(mmap64)

int mprotect(void *place, size_t length, int access) {
  if (access == (PROT_READ | PROT_WRITE) && fate("commit") < 0) return -1;
  int (*call)(void *, size_t, int) = real("mprotect");
  return call(place, length, access);
}
