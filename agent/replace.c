/* Owns the replacing of files by whole ones. */
#include "replace.h"

#include "agent.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512

/* Overwrites a file that has this length and mode already. So few bytes are one sector, which a crash leaves as it was or as it is to be.
 * No block and no inode is taken: a copy of a VM shares what it does not write to with all others. */
static bool overwrite(const char *target, const void *bytes, size_t length, mode_t mode) {
    int fd = open(target, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat file;
    bool done = fd != -1 && length <= SECTOR && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 1 &&
                file.st_size == (off_t)length && (file.st_mode & 07777) == mode &&
                pwrite(fd, bytes, length, 0) == (ssize_t)length && fdatasync(fd) == 0;
    if (fd != -1)
        close(fd);
    return done;
}

bool sync_parent(const char *path) {
    const char *name = strrchr(path, '/');
    char parent[520];
    snprintf(parent, sizeof parent, "%.*s", (int)(name - path), path);
    int directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool done = directory != -1 && sync_directory(directory);
    int error = errno;
    if (directory != -1)
        close(directory);
    errno = error;
    return done;
}

static bool rename_over(const char *target, const void *bytes, size_t length, mode_t mode, bool lasting) {
    char temporary[520];
    snprintf(temporary, sizeof temporary, "%s.new", target);
    unlink(temporary); /* of an attempt that was cut short */
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd == -1)
        return false;
    bool done = write(fd, bytes, length) == (ssize_t)length && fchmod(fd, mode) == 0 && (!lasting || fsync(fd) == 0);
    int error = errno;
    close(fd);
    errno = error;
    if (done && rename(temporary, target) == 0)
        return !lasting || sync_parent(target);
    error = errno;
    unlink(temporary);
    errno = error;
    return false;
}

bool replace_file(const char *path, const void *bytes, size_t length, mode_t mode) {
    const char *target = rooted(path);
    return overwrite(target, bytes, length, mode) || rename_over(target, bytes, length, mode, true);
}

bool replace_file_soon(const char *path, const void *bytes, size_t length, mode_t mode) {
    return rename_over(rooted(path), bytes, length, mode, false);
}
