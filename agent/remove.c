/* Owns what file.remove does: a walk that holds on to directories, never to paths, and follows no link. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_LEVELS 32            /* the deepest that are open; those above are found again by their .. */
#define LEVEL_LIMIT (1u << 20)    /* a level takes 40 bytes */
#define RETRIES 16                /* of a directory into which somebody goes on to write */
#define RESOLVE_NO_XDEV 0x01
#define RESOLVE_NO_SYMLINKS 0x04

struct open_how_0 { /* the first version of the kernel's struct open_how, which older headers lack */
    uint64_t flags, mode, resolve;
};

struct level {
    DIR *directory; /* NULL: closed for now */
    char *name;     /* of the entry that the level below is; NULL when not known */
    dev_t device;
    ino_t inode;
    unsigned tries;
};

struct walk {
    struct level *levels;
    unsigned depth, capacity;
};

/* A directory right below, no mount point and no link; -1 with errno. */
static int open_below(int directory, const char *name) {
    struct open_how_0 how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                             .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
}

/* Takes the descriptor over. */
static bool push(struct walk *walk, int fd) {
    if (walk->depth == walk->capacity) {
        unsigned capacity = walk->capacity == 0 ? 64 : 2 * walk->capacity;
        struct level *grown = capacity <= LEVEL_LIMIT ? realloc(walk->levels, capacity * sizeof *grown) : NULL;
        if (grown == NULL) {
            close(fd);
            errno = ENOMEM;
            return false;
        }
        walk->levels = grown;
        walk->capacity = capacity;
    }
    struct stat file;
    struct level level = {.directory = NULL};
    if (fstat(fd, &file) == -1 || (level.directory = fdopendir(fd)) == NULL) {
        close(fd);
        return false;
    }
    level.device = file.st_dev;
    level.inode = file.st_ino;
    walk->levels[walk->depth++] = level;
    if (walk->depth > OPEN_LEVELS) {
        struct level *above = &walk->levels[walk->depth - 1 - OPEN_LEVELS];
        closedir(above->directory);
        free(above->name);
        above->directory = NULL;
        above->name = NULL;
    }
    return true;
}

/* Back to the level above, by .. where it is closed: only if that is still the directory that we came from. */
static bool pop(struct walk *walk) {
    struct level *level = &walk->levels[walk->depth - 1];
    int fd = -1;
    bool reopen = walk->depth > 1 && level[-1].directory == NULL;
    if (reopen) {
        struct stat file;
        fd = openat(dirfd(level->directory), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        bool same = fd != -1 && fstat(fd, &file) == 0 && file.st_dev == level[-1].device && file.st_ino == level[-1].inode;
        if (!same || (level[-1].directory = fdopendir(fd)) == NULL) {
            if (fd != -1)
                close(fd);
            errno = same ? errno : EAGAIN; /* moved away under us */
            return false;
        }
    }
    closedir(level->directory);
    free(level->name);
    walk->depth--;
    return true;
}

/* Removes one entry, or begins with its content. */
static bool remove_entry(struct walk *walk, const char *name) {
    struct level *level = &walk->levels[walk->depth - 1];
    int directory = dirfd(level->directory);
    if (unlinkat(directory, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM) /* some file systems say EPERM of a directory */
        return false;
    int error = errno;
    if (unlinkat(directory, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return true;
    if (errno == ENOTDIR) {
        errno = error;
        return false;
    }
    if (errno != ENOTEMPTY && errno != EEXIST)
        return false;
    if (level->name != NULL && strcmp(level->name, name) == 0) {
        if (++level->tries > RETRIES)
            return false;
    } else {
        free(level->name);
        level->name = strdup(name);
        if (level->name == NULL)
            return false;
    }
    int fd = open_below(directory, name);
    if (fd == -1)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP; /* it is something else by now: it comes again */
    return push(walk, fd);
}

/* Everything in the directory at the bottom of the walk. */
static bool empty(struct walk *walk) {
    while (walk->depth > 0) {
        struct level *level = &walk->levels[walk->depth - 1];
        if (level->name != NULL) { /* the level below has been emptied */
            char *name = level->name;
            unsigned depth = walk->depth;
            if (unlinkat(dirfd(level->directory), name, AT_REMOVEDIR) == -1 && errno != ENOENT) {
                if (!remove_entry(walk, name))
                    return false;
                if (walk->depth > depth)
                    continue;
            }
            level->name = NULL;
            level->tries = 0;
            free(name);
        }
        errno = 0;
        struct dirent *entry = readdir(level->directory);
        if (entry == NULL && errno != 0)
            return false;
        if (entry == NULL && !pop(walk))
            return false;
        if (entry != NULL && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !remove_entry(walk, entry->d_name))
            return false;
    }
    return true;
}

static bool remove_tree(int parent, const char *name) {
    if (unlinkat(parent, name, 0) == 0)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    int error = errno;
    for (int tries = 0; tries < RETRIES; tries++) {
        if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
            return true;
        if (errno == ENOTDIR)
            errno = error;
        if (errno != ENOTEMPTY && errno != EEXIST)
            return false;
        struct walk walk = {.levels = NULL};
        int fd = open_below(parent, name);
        if (fd == -1 || !push(&walk, fd) || (!empty(&walk) && errno != EAGAIN))
            return false;
    }
    errno = EAGAIN;
    return false;
}

static void remove_file(const struct fields *request, struct ends ends, struct outcome *outcome) {
    (void)ends;
    char *path = request->text[TAG_PATH];
    size_t length = strlen(path);
    while (length > 0 && (path[length - 1] == '/' || (path[length - 1] == '.' && path[length - 2] == '/')))
        path[--length] = 0;
    char *slash = strrchr(path, '/');
    if (length == 0 || slash == NULL) {
        fault_set(&outcome->fault, "BAD_REQUEST", "/ cannot be removed");
        return;
    }
    *slash = 0;
    int parent = open(slash == path ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (parent != -1 && remove_tree(parent, slash + 1))
        return;
    if (errno == EBUSY || errno == EXDEV)
        fault_set(&outcome->fault, "FAILED", "cannot remove %.80s: something is mounted there or below; unmount it first", path);
    else
        file_failed(&outcome->fault, "remove", path);
}

const struct transfer_kind file_remove = {.work = remove_file};
