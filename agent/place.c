/* Owns the way to where a file shall be: links followed by hand, because the file need not exist, and directories made
 * on the way that are removed again when it comes to nothing. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINK_LIMIT 40 /* the kernel's own */
#define OPEN_DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

static bool enter(struct place *place, int directory) {
    if (directory == -1)
        return false;
    close(place->directory);
    place->directory = directory;
    return true;
}

/* Enters as much of `path`, relative to the place, as exists; the rest is missing. */
static bool descend(struct place *place, char *path) {
    size_t length = strlen(path), whole = length;
    place->missing[0] = 0;
    while (length > 0) {
        char end = path[length];
        path[length] = 0;
        bool entered = enter(place, openat(place->directory, path, OPEN_DIRECTORY));
        path[length] = end;
        if (entered)
            break;
        if (errno != ENOENT)
            return false;
        while (length > 0 && path[length - 1] != '/')
            length--;
        while (length > 0 && path[length - 1] == '/')
            length--;
    }
    if (length < whole)
        snprintf(place->missing, sizeof place->missing, "%s", path + length + strspn(path + length, "/"));
    for (const char *at = place->missing; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == place->missing || at[-1] == '/') && (at[2] == 0 || at[2] == '/')) {
            errno = ENOENT; /* as for everybody who follows this link */
            return false;
        }
    return true;
}

/* One path to its directory and name. */
static bool step(struct place *place, char *path) {
    if (path[0] == '/' && !enter(place, open("/", OPEN_DIRECTORY)))
        return false;
    size_t length = strlen(path);
    while (length > 0 && (path[length - 1] == '/' || (path[length - 1] == '.' && (length == 1 || path[length - 2] == '/'))))
        path[--length] = 0;
    path += strspn(path, "/");
    char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    errno = *name == 0 || strcmp(name, "..") == 0 ? EISDIR : strlen(name) >= sizeof place->name ? ENAMETOOLONG : 0;
    if (errno != 0)
        return false;
    snprintf(place->name, sizeof place->name, "%s", name);
    if (slash == NULL) {
        place->missing[0] = 0;
        return true;
    }
    *slash = 0;
    return descend(place, path);
}

bool place_find(struct place *place, const char *path, struct fault *fault) {
    char rest[4097];
    place->base = -1;
    snprintf(rest, sizeof rest, "%s", path);
    place->directory = open("/", OPEN_DIRECTORY);
    for (int links = 0; place->directory != -1 && step(place, rest); links++) {
        struct stat file;
        if (place->missing[0] != 0)
            return true;
        if (fstatat(place->directory, place->name, &file, AT_SYMLINK_NOFOLLOW) == -1) {
            if (errno == ENOENT)
                return true;
            break;
        }
        if (!S_ISLNK(file.st_mode))
            return true;
        ssize_t length = readlinkat(place->directory, place->name, rest, sizeof rest - 1);
        if (length <= 0 || links == LINK_LIMIT) {
            errno = length == -1 ? errno : length == 0 ? ENOENT : ELOOP;
            break;
        }
        rest[length] = 0;
    }
    return file_failed(fault, "find the place of", path);
}

bool sync_directory(int directory) {
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd != -1 && (fsync(fd) == 0 || errno == EINVAL); /* some file systems have nothing to write out */
    if (fd == -1 && errno == EACCES) { /* one that may be written but not read: then everything */
        sync();
        return true;
    }
    int error = errno;
    if (fd != -1)
        close(fd);
    errno = error;
    return synced;
}

bool place_make(struct place *place, struct fault *fault) {
    if (place->missing[0] == 0)
        return true;
    place->base = dup(place->directory);
    place->made = sizeof place->missing;
    place->made_end = 0;
    if (place->base == -1)
        return file_failed(fault, "make", place->missing);
    for (size_t at = 0; place->missing[at] != 0;) {
        char segment[sizeof place->missing];
        size_t length = strcspn(place->missing + at, "/");
        snprintf(segment, sizeof segment, "%.*s", (int)length, place->missing + at);
        bool made = mkdirat(place->directory, segment, 0755) == 0;
        if (made && at < place->made)
            place->made = at;
        if (made)
            place->made_end = at + length;
        bool entered = (made || errno == EEXIST) && (!made || sync_directory(place->directory)) &&
                       enter(place, openat(place->directory, segment, OPEN_DIRECTORY));
        if (!entered) {
            file_failed(fault, "make directory", place->missing);
            place_unmake(place);
            return false;
        }
        at += length + strspn(place->missing + at + length, "/");
    }
    return true;
}

/* The parent of the directory that ends at `end` in `missing`, reached without links; -1 when it is not there. */
static int open_parent(const struct place *place, size_t end, size_t *begin) {
    int directory = dup(place->base);
    for (size_t at = 0; directory != -1;) {
        size_t length = strcspn(place->missing + at, "/"), next = at + length + strspn(place->missing + at + length, "/");
        *begin = at;
        if (at + length >= end)
            break;
        char segment[sizeof place->missing];
        snprintf(segment, sizeof segment, "%.*s", (int)length, place->missing + at);
        int below = openat(directory, segment, OPEN_DIRECTORY | O_NOFOLLOW);
        close(directory);
        directory = below;
        at = next;
    }
    return directory;
}

void place_unmake(struct place *place) {
    if (place->base == -1)
        return;
    for (size_t end = place->made_end; end > place->made;) {
        size_t begin = 0;
        int parent = open_parent(place, end, &begin);
        char segment[sizeof place->missing];
        snprintf(segment, sizeof segment, "%.*s", (int)(end - begin), place->missing + begin);
        bool gone = parent != -1 && unlinkat(parent, segment, AT_REMOVEDIR) == 0;
        if (parent != -1)
            close(parent);
        if (!gone)
            return; /* somebody else has put something there */
        for (end = begin; end > 0 && place->missing[end - 1] == '/'; end--)
            ;
    }
}

void place_close(struct place *place) {
    if (place->directory != -1)
        close(place->directory);
    if (place->base != -1)
        close(place->base);
    place->directory = place->base = -1;
}
