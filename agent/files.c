/* Owns what file.stat, file.read, file.list and file.mkdir do, in their own process as the request's user. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_LIMIT (16u << 20)
#define CHUNK (64 * 1024)
#define SPLICE (1u << 20)

enum kind_of_file { FILE_REGULAR = 1, FILE_DIRECTORY = 2, FILE_LINK = 3, FILE_OTHER = 4 };

static const char *code_of(int error) {
    switch (error) {
    case ENOENT:
        return "FILE_NOT_FOUND";
    case EACCES:
    case EPERM:
    case EROFS:
        return "ACCESS_DENIED";
    case EISDIR:
        return "NOT_A_FILE";
    case ENOTDIR:
        return "NOT_A_DIRECTORY";
    case ELOOP:
    case ENAMETOOLONG:
        return "BAD_REQUEST";
    case ENOSPC:
    case EDQUOT:
        return "DISK_FULL";
    default:
        return "FAILED";
    }
}

bool file_failed(struct fault *fault, const char *step, const char *path) {
    return fault_set(fault, code_of(errno), "cannot %s %.90s: %s", step, path, strerror(errno));
}

bool write_all(int fd, const void *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        ssize_t written = write(fd, (const uint8_t *)bytes + at, length - at);
        if (written == -1 && errno != EINTR)
            return false;
        if (written > 0)
            at += (size_t)written;
    }
    return true;
}

bool write_whole(int fd, const void *bytes, size_t length, struct fault *fault) {
    return write_all(fd, bytes, length) || fault_set(fault, "FAILED", "cannot send: %s", strerror(errno));
}

/* Descriptions */

static enum kind_of_file kind_of(mode_t mode) {
    return S_ISREG(mode) ? FILE_REGULAR : S_ISDIR(mode) ? FILE_DIRECTORY : S_ISLNK(mode) ? FILE_LINK : FILE_OTHER;
}

static uint8_t *put_name_or_number(uint8_t *at, enum tag tag, const char *name, unsigned number) {
    char text[256];
    if (name != NULL)
        snprintf(text, sizeof text, "%s", name);
    else
        snprintf(text, sizeof text, "%u", number);
    return put_text(at, tag, text);
}

static bool send_description(int fd, const struct stat *file, struct fault *fault) {
    uint8_t fields[1024];
    int64_t modified = (int64_t)file->st_mtim.tv_sec * 1000000000 + file->st_mtim.tv_nsec;
    const struct passwd *owner = getpwuid(file->st_uid);
    const struct group *group = getgrgid(file->st_gid);
    uint8_t *at = put_number(fields, TAG_KIND, kind_of(file->st_mode));
    at = put_number(at, TAG_SIZE, (uint64_t)file->st_size);
    at = put_number(at, TAG_MODE, file->st_mode & 07777);
    at = put_name_or_number(at, TAG_OWNER, owner != NULL ? owner->pw_name : NULL, file->st_uid);
    at = put_name_or_number(at, TAG_GROUP, group != NULL ? group->gr_name : NULL, file->st_gid);
    at = put_number(at, TAG_MODIFIED, modified > 0 ? (uint64_t)modified : 0);
    return write_whole(fd, fields, (size_t)(at - fields), fault);
}

static void stat_file(const struct fields *request, struct ends ends, struct outcome *outcome) {
    const char *path = request->text[TAG_PATH];
    struct stat file;
    if (fstatat(AT_FDCWD, path, &file, request->number[TAG_FOLLOW] ? 0 : AT_SYMLINK_NOFOLLOW) == -1)
        file_failed(&outcome->fault, "look at", path);
    else
        send_description(ends.description, &file, &outcome->fault);
}

const struct transfer_kind file_stat = {.work = stat_file, .answers = true};

/* Reading */

/* Looks first: to open a device may do something to it. */
static int open_regular(const char *path, struct stat *file, struct fault *fault) {
    int fd = -1;
    if (stat(path, file) == -1 ||
        (S_ISREG(file->st_mode) && ((fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) == -1 || fstat(fd, file) == -1)))
        file_failed(fault, "open", path);
    else if (!S_ISREG(file->st_mode))
        fault_set(fault, "NOT_A_FILE", "%.100s is %s", path, S_ISDIR(file->st_mode) ? "a directory" : "a special file");
    else
        return fd;
    return -1;
}

/* For file systems without splice. -1 with errno, 0 at the end of the file. */
static ssize_t copy_part(int fd, off_t *offset, int pipe, size_t length) {
    static uint8_t *buffer;
    if (buffer == NULL && (buffer = malloc(CHUNK)) == NULL)
        return -1;
    ssize_t got = pread(fd, buffer, length < CHUNK ? length : CHUNK, *offset);
    if (got > 0 && !write_all(pipe, buffer, (size_t)got))
        return -1;
    if (got > 0)
        *offset += got;
    return got;
}

static void read_file(const struct fields *request, struct ends ends, struct outcome *outcome) {
    const char *path = request->text[TAG_PATH];
    struct stat file;
    int fd = open_regular(path, &file, &outcome->fault);
    if (fd == -1 || !send_description(ends.description, &file, &outcome->fault))
        return;
    close(ends.description);
    uint64_t size = (uint64_t)file.st_size, from = request->number[TAG_OFFSET];
    uint64_t left = from < size ? size - from : 0;
    if (request->present[TAG_LENGTH] && request->number[TAG_LENGTH] < left)
        left = request->number[TAG_LENGTH];
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    bool splices = true;
    for (off_t at = (off_t)from; left > 0;) {
        size_t part = left < SPLICE ? (size_t)left : SPLICE;
        ssize_t moved = splices ? splice(fd, &at, ends.body, NULL, part, 0) : copy_part(fd, &at, ends.body, part);
        if (moved > 0) {
            left -= (size_t)moved;
        } else if (moved == 0) {
            fault_set(&outcome->fault, "SHRUNK", "%.100s became shorter while it was read", path);
            return;
        } else if (splices && errno == EINVAL) {
            splices = false;
        } else if (errno != EINTR) {
            file_failed(&outcome->fault, "read", path);
            return;
        }
    }
}

const struct transfer_kind file_read = {.work = read_file, .gives_body = true, .describes = true};

/* Listing */

static enum kind_of_file kind_of_entry(int directory, const struct dirent *entry, bool follow) {
    struct stat file;
    if (entry->d_type != DT_UNKNOWN && !(follow && entry->d_type == DT_LNK))
        return kind_of(DTTOIF(entry->d_type));
    if ((follow && fstatat(directory, entry->d_name, &file, 0) == 0) ||
        fstatat(directory, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0)
        return kind_of(file.st_mode);
    return FILE_OTHER;
}

static void list_directory(const struct fields *request, struct ends ends, struct outcome *outcome) {
    const char *path = request->text[TAG_PATH];
    DIR *directory = opendir(path);
    uint8_t *buffer = malloc(CHUNK);
    if (directory == NULL || buffer == NULL) {
        file_failed(&outcome->fault, "list", path);
        return;
    }
    size_t length = 0, total = 0;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        uint8_t *at = put_text(buffer + length, TAG_NAME, entry->d_name);
        at = put_number(at, TAG_KIND, kind_of_entry(dirfd(directory), entry, request->number[TAG_FOLLOW] != 0));
        total += (size_t)(at - buffer) - length;
        length = (size_t)(at - buffer);
        if (total > LIST_LIMIT) {
            fault_set(&outcome->fault, "TOO_LARGE", "%.90s has more entries than a list can have", path);
            return;
        }
        if (CHUNK - length < 1024) {
            if (!write_whole(ends.body, buffer, length, &outcome->fault))
                return;
            length = 0;
        }
    }
    if (errno != 0)
        file_failed(&outcome->fault, "list", path);
    else
        write_whole(ends.body, buffer, length, &outcome->fault);
}

const struct transfer_kind file_list = {.work = list_directory, .gives_body = true};

/* Making directories */

static void make_directory(const struct fields *request, struct ends ends, struct outcome *outcome) {
    (void)ends;
    const char *path = request->text[TAG_PATH];
    struct place place = {.directory = -1, .base = -1};
    struct stat file;
    if (stat(path, &file) == 0) {
        if (!S_ISDIR(file.st_mode))
            fault_set(&outcome->fault, "NOT_A_DIRECTORY", "%.100s is there and is no directory", path);
        return;
    }
    if (errno != ENOENT) {
        file_failed(&outcome->fault, "make", path);
    } else if (place_find(&place, path, &outcome->fault) && place_make(&place, &outcome->fault)) {
        bool made = mkdirat(place.directory, place.name, 0755) == 0;
        if (!made && errno == EEXIST && fstatat(place.directory, place.name, &file, 0) == 0 && S_ISDIR(file.st_mode))
            made = true; /* by somebody else in this moment */
        if (!made || !sync_directory(place.directory)) {
            file_failed(&outcome->fault, "make", path);
            place_unmake(&place);
        }
    }
    place_close(&place);
}

const struct transfer_kind file_mkdir = {.work = make_directory};
