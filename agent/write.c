/* Owns what file.write does: the bytes go into a file that has no name yet, and only a file that is whole and on disk
 * takes the place of what was there. */
#include "crc32c.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK (256 * 1024)
#define ATTEMPTS 5 /* where somebody else removes the directories that we are in */

struct writing {
    const struct fields *request;
    const char *path;
    int fd;
    struct place place;  /* where the file was begun */
    bool named;          /* as `temporary` there: the file system has no files without names */
    char temporary[32];
};

/* What a writer that is told to stop removes. */
static struct writing *stoppable;

static void stop(int signal) {
    unlinkat(stoppable->place.directory, stoppable->temporary, 0);
    _exit(128 + signal);
}

static void make_temporary_name(char name[32]) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == -1)
        random = (uint64_t)getpid(); /* names that exist are refused anyway */
    snprintf(name, 32, ".coppice-%06llx", (unsigned long long)(random & 0xFFFFFF));
}

static bool open_file(struct writing *writing, struct fault *fault) {
    writing->fd = openat(writing->place.directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (writing->fd != -1)
        return true;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return file_failed(fault, "write beside", writing->path);
    stoppable = writing;
    for (int i = 0; i < 100 && writing->fd == -1; i++) {
        make_temporary_name(writing->temporary);
        sigset_t term;
        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        sigprocmask(SIG_BLOCK, &term, NULL);
        writing->fd = openat(writing->place.directory, writing->temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (writing->fd != -1)
            signal(SIGTERM, stop);
        sigprocmask(SIG_UNBLOCK, &term, NULL);
        if (writing->fd == -1 && errno != EEXIST)
            break;
    }
    writing->named = writing->fd != -1;
    return writing->named || file_failed(fault, "write beside", writing->path);
}

/* Whether there is a file already, and one that may be replaced. */
static bool check_target(const struct place *place, const char *path, struct stat *file, bool *exists, struct fault *fault) {
    *exists = place->missing[0] == 0 && fstatat(place->directory, place->name, file, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*exists)
        return true;
    if (!S_ISREG(file->st_mode))
        return fault_set(fault, "NOT_A_FILE", "%.100s is %s", path, S_ISDIR(file->st_mode) ? "a directory" : "a special file");
    /* A rename needs no right to the file itself, but whoever may not write it shall not replace it either. */
    if (faccessat(place->directory, place->name, W_OK, 0) == -1)
        return file_failed(fault, "replace", path);
    return true;
}

/* Bytes until END; more than `size` are a fault as soon as they come. */
static bool receive(const struct writing *writing, struct conduit_exit *body, uint64_t size, struct fault *fault) {
    const uint8_t *bytes;
    uint64_t got = 0;
    for (size_t length; (length = conduit_await(body, &bytes)) > 0; conduit_release(body, length)) {
        got += length;
        if (got > size)
            break;
        if (!write_all(writing->fd, bytes, length))
            return file_failed(fault, "write", writing->path);
    }
    return got == size || fault_set(fault, "BAD_REQUEST", "%s bytes came than the %llu that were announced", got < size ? "fewer" : "more",
                                    (unsigned long long)size);
}

/* From the disk, not from the memory that it was written from. */
static bool read_back(const struct writing *writing, uint32_t wanted, struct fault *fault) {
    posix_fadvise(writing->fd, 0, 0, POSIX_FADV_DONTNEED);
    uint8_t *buffer = malloc(CHUNK);
    uint32_t sum = 0;
    off_t at = 0;
    ssize_t length = -1;
    while (buffer != NULL && (length = pread(writing->fd, buffer, CHUNK, at)) > 0) {
        sum = crc32c(sum, buffer, (size_t)length);
        at += length;
    }
    free(buffer);
    if (length == -1)
        return file_failed(fault, "read back", writing->path);
    if (sum != wanted)
        return fault_set(fault, "CHECKSUM_MISMATCH", "%.90s did not arrive as it was sent; nothing was changed", writing->path);
    return true;
}

/* Who may not give a file away keeps it, without the rights that it would lend to others. */
static bool dress(const struct writing *writing, const struct stat *old, struct fault *fault) {
    const struct fields *request = writing->request;
    mode_t mode = request->present[TAG_MODE] ? (mode_t)request->number[TAG_MODE] : old != NULL ? old->st_mode & 07777 : 0600;
    struct stat file;
    if (fstat(writing->fd, &file) == -1)
        return file_failed(fault, "look at", writing->path);
    if (old != NULL && file.st_gid != old->st_gid && fchown(writing->fd, (uid_t)-1, old->st_gid) == -1)
        mode &= ~(mode_t)S_ISGID;
    if (old != NULL && file.st_uid != old->st_uid && fchown(writing->fd, old->st_uid, (gid_t)-1) == -1)
        mode &= ~(mode_t)S_ISUID;
    if (fchmod(writing->fd, mode & 07777) == -1)
        return file_failed(fault, "set the mode of", writing->path);
    return fsync(writing->fd) == 0 || file_failed(fault, "write out", writing->path);
}

/* Gives the file its name; false with errno, and then it has none. */
static bool put(struct writing *writing, const struct place *place, bool exists) {
    if (writing->named) {
        if (renameat(writing->place.directory, writing->temporary, place->directory, place->name) == -1)
            return false;
        writing->named = false;
        return true;
    }
    char own[64], temporary[32];
    snprintf(own, sizeof own, "/proc/self/fd/%d", writing->fd);
    if (!exists && linkat(AT_FDCWD, own, place->directory, place->name, AT_SYMLINK_FOLLOW) == 0)
        return true;
    if (!exists && errno != EEXIST)
        return false;
    int linked = -1;
    for (int i = 0; i < 100 && linked == -1 && (i == 0 || errno == EEXIST); i++) {
        make_temporary_name(temporary);
        linked = linkat(AT_FDCWD, own, place->directory, temporary, AT_SYMLINK_FOLLOW);
    }
    if (linked == -1)
        return false;
    if (renameat(place->directory, temporary, place->directory, place->name) == 0)
        return true;
    int error = errno;
    unlinkat(place->directory, temporary, 0);
    errno = error;
    return false;
}

/* Looks for the place once more: the tree may have changed while the bytes came. */
static bool take_place(struct writing *writing, bool *again, struct fault *fault) {
    struct place place = {.directory = -1, .base = -1};
    struct stat old;
    bool exists = false;
    bool done = place_find(&place, writing->path, fault) && check_target(&place, writing->path, &old, &exists, fault) &&
                dress(writing, exists ? &old : NULL, fault) && place_make(&place, fault);
    if (done && !put(writing, &place, exists)) {
        *again = errno == ENOENT;
        done = file_failed(fault, exists ? "replace" : "make", writing->path);
        if (exists && (errno == EPERM || errno == EACCES))
            fault_set(fault, "ACCESS_DENIED", "cannot replace %.80s: the kernel lets only its owner do so here", writing->path);
        place_unmake(&place);
    } else if (done && !sync_directory(place.directory)) {
        done = file_failed(fault, "write out the directory of", writing->path);
    }
    place_close(&place);
    return done;
}

static bool finish(struct writing *writing, struct fault *fault) {
    const struct fields *request = writing->request;
    signal(SIGTERM, SIG_IGN); /* from here on it is short, and shall be whole */
    if (fsync(writing->fd) == -1)
        return file_failed(fault, "write out", writing->path);
    if (request->present[TAG_CHECKSUM] && !read_back(writing, (uint32_t)request->number[TAG_CHECKSUM], fault))
        return false;
    bool again = true, done = false;
    for (int i = 0; i < ATTEMPTS && again && !done; i++) {
        again = false;
        done = take_place(writing, &again, fault);
    }
    if (done)
        fault->code = NULL;
    return done;
}

/* Better now than after gigabytes. */
static bool has_room(int fd, uint64_t size) {
    struct statvfs system;
    return fstatvfs(fd, &system) == -1 || system.f_blocks == 0 || system.f_frsize == 0 || system.f_bfree >= size / system.f_frsize;
}

static void write_file(const struct fields *request, struct ends ends, struct outcome *outcome) {
    struct writing writing = {.request = request, .path = request->text[TAG_PATH], .fd = -1, .place = {.directory = -1, .base = -1}};
    struct fault *fault = &outcome->fault;
    uint64_t size = request->number[TAG_SIZE];
    struct stat old;
    bool exists;
    if (!request->present[TAG_SIZE] || size > INT64_MAX) {
        fault_set(fault, "BAD_REQUEST", "file.write needs the size of the file");
        return;
    }
    bool written = place_find(&writing.place, writing.path, fault) && check_target(&writing.place, writing.path, &old, &exists, fault) &&
                   open_file(&writing, fault);
    if (written && !has_room(writing.fd, size)) {
        errno = ENOSPC;
        written = file_failed(fault, "find room for", writing.path);
    }
    written = written && receive(&writing, ends.input, size, fault) && finish(&writing, fault);
    if (writing.named)
        unlinkat(writing.place.directory, writing.temporary, 0);
    outcome->has_size = written;
    outcome->size = size;
}

const struct transfer_kind file_write = {.work = write_file, .takes_body = true};
