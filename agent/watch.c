/* Owns what file.watch does: inotify on every directory of a tree, in a process of its own that waits where the host
 * does not keep up; then the kernel's queue runs over, and the watch ends.
 *
 * The kernel names directories by watch descriptors. Each is a node that knows its parent, so that a directory that is
 * moved takes its tree along. */
#include "agent.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUCKETS 1024
#define QUIET_MS 100  /* between two modifies of one path */
#define PARTNER_MS 20 /* from the first half of a move to the second */
#define RECENT 256    /* paths whose last event is remembered */
#define MOVES 16
#define MASK                                                                                                              \
    (IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | \
     IN_DONT_FOLLOW | IN_EXCL_UNLINK)

enum event { CREATE = 1, MODIFY = 2, DELETE = 3, RENAME = 4 };

struct node {
    struct node *next; /* in its bucket */
    struct node *parent, *children, *sibling;
    int wd;
    char *name; /* in the parent; the whole path of the root */
};

/* A path told as created by a look into its directory: the kernel's own event of it, if there is one, is still to come. */
struct told {
    struct told *next;
    int wd;
    char *name;
};

struct recent {
    char *path;
    enum event event; /* the last that was told, `at` */
    uint64_t at, due; /* when a modify is to be told; 0: none is */
};

struct move {
    uint32_t cookie; /* 0: none */
    struct node *node, *parent; /* the directory that moves, if it is one; where it was */
    char name[256];
    uint64_t at;
};

static int kernel, body;
static struct node *buckets[BUCKETS], *root;
static struct told *told;
static uint64_t position, told_until; /* bytes of the kernel's queue */
static struct recent recent[RECENT];
static struct move moves[MOVES];
static struct fault *fault;

/* Nodes */

static struct node *find_node(int wd) {
    struct node *node = buckets[(unsigned)wd % BUCKETS];
    while (node != NULL && node->wd != wd)
        node = node->next;
    return node;
}

static struct node *find_child(struct node *parent, const char *name) {
    struct node *node = parent->children;
    while (node != NULL && strcmp(node->name, name) != 0)
        node = node->sibling;
    return node;
}

static void detach(struct node *node) {
    if (node->parent == NULL)
        return;
    struct node **at = &node->parent->children;
    while (*at != node)
        at = &(*at)->sibling;
    *at = node->sibling;
    node->parent = NULL;
}

static void attach(struct node *node, struct node *parent, char *name) {
    free(node->name);
    node->name = name;
    node->parent = parent;
    if (parent != NULL) {
        node->sibling = parent->children;
        parent->children = node;
    }
}

static void free_node(struct node *node) {
    struct node **at = &buckets[(unsigned)node->wd % BUCKETS];
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    detach(node);
    for (int i = 0; i < MOVES; i++) {
        if (moves[i].node == node)
            moves[i].node = NULL;
        if (moves[i].parent == node)
            moves[i].cookie = 0;
    }
    free(node->name);
    free(node);
}

/* A tree that is not ours any more, deepest first. */
static void forget(struct node *top) {
    detach(top);
    for (struct node *node = top; node != NULL;) {
        if (node->children != NULL) {
            node = node->children;
            continue;
        }
        struct node *parent = node->parent;
        inotify_rm_watch(kernel, node->wd);
        free_node(node);
        node = parent;
    }
}

/* The path of `name` in the node's directory ("" for itself); false when it is longer than a path can be. */
static bool make_path(const struct node *node, const char *name, char path[4096]) {
    size_t at = 4095, length = strlen(name);
    path[at] = 0;
    if (length > 0) {
        at -= length;
        memcpy(path + at, name, length);
        path[--at] = '/';
    }
    for (; node != NULL; node = node->parent) {
        length = strlen(node->name);
        if (length + 1 > at)
            return false;
        at -= length;
        memcpy(path + at, node->name, length);
        if (node->parent != NULL)
            path[--at] = '/';
    }
    if (path[at] == 0)
        path[--at] = '/'; /* the root's own, whose name is empty before the / */
    memmove(path, path + at, 4096 - at);
    return true;
}

/* Telling */

static bool write_event(enum event event, const char *path) {
    uint8_t fields[4200];
    uint8_t *at = put_text(put_number(fields, TAG_EVENT, event), TAG_PATH, path);
    return write_whole(body, fields, (size_t)(at - fields), fault);
}

static struct recent *recent_of(const char *path) {
    uint32_t hash = 2166136261u;
    for (const char *at = path; *at != 0; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    return &recent[hash % RECENT];
}

static bool say(struct recent *entry, enum event event) {
    entry->event = event;
    entry->at = now_ms();
    entry->due = 0;
    return write_event(event, entry->path);
}

/* The entry of a path, after what another one owes has been told. NULL with the fault. */
static struct recent *remember(const char *path) {
    struct recent *entry = recent_of(path);
    if (entry->path != NULL && strcmp(entry->path, path) == 0)
        return entry;
    if (entry->due != 0 && !say(entry, MODIFY))
        return NULL;
    free(entry->path);
    *entry = (struct recent){.path = strdup(path)};
    if (entry->path == NULL)
        fault_set(fault, "FAILED", "out of memory");
    return entry->path != NULL ? entry : NULL;
}

static bool tell(enum event event, const char *path) {
    struct recent *entry = remember(path);
    if (entry == NULL)
        return false;
    if (event == DELETE)
        entry->due = 0; /* nobody can look at that any more */
    return (entry->due == 0 || say(entry, MODIFY)) && say(entry, event);
}

/* At once when the writer is done, else a little later, together with what follows; never too soon after another. */
static bool tell_modified(const char *path, bool finished) {
    struct recent *entry = remember(path);
    uint64_t now = now_ms();
    if (entry == NULL)
        return false;
    if (entry->event == MODIFY && now - entry->at < QUIET_MS)
        entry->due = entry->at + QUIET_MS;
    else if (finished)
        return say(entry, MODIFY);
    else if (entry->due == 0)
        entry->due = now + QUIET_MS;
    return true;
}

/* Returns the milliseconds until the next is due, or -1. -2: failed. */
static int tell_due(void) {
    uint64_t now = now_ms();
    int timeout = -1;
    for (int i = 0; i < RECENT; i++) {
        if (recent[i].due != 0 && recent[i].due <= now && !say(&recent[i], MODIFY))
            return -2;
        if (recent[i].due > now && (timeout == -1 || recent[i].due - now < (uint64_t)timeout))
            timeout = (int)(recent[i].due - now);
    }
    return timeout;
}

/* Directories that are new */

static void clear_told(void) {
    for (struct told *next; told != NULL; told = next) {
        next = told->next;
        free(told->name);
        free(told);
    }
}

/* Whether the event was told already; once. */
static bool was_told(int wd, const char *name) {
    for (struct told **at = &told; *at != NULL; at = &(*at)->next) {
        struct told *found = *at;
        if (found->wd != wd || strcmp(found->name, name) != 0)
            continue;
        *at = found->next;
        free(found->name);
        free(found);
        return true;
    }
    return false;
}

/* NULL with the fault, or without one where the directory is gone or not the user's to read. */
static struct node *add_directory(struct node *parent, const char *name) {
    char path[4096];
    struct node shape = {.name = (char *)name, .parent = parent};
    if (!make_path(&shape, "", path))
        return NULL; /* no path that the host could ask for */
    int wd = inotify_add_watch(kernel, path, MASK);
    if (wd == -1 && errno == ENOSPC)
        fault_set(fault, "TOO_LARGE", "the tree has more directories than can be watched; see fs.inotify.max_user_watches");
    else if (wd == -1 && (errno == ENOMEM || parent == NULL))
        file_failed(fault, "watch", path);
    if (wd == -1)
        return NULL;
    struct node *node = find_node(wd);
    char *copy = strdup(name);
    if (node == NULL && (node = calloc(1, sizeof *node)) != NULL) {
        node->wd = wd;
        node->next = buckets[(unsigned)wd % BUCKETS];
        buckets[(unsigned)wd % BUCKETS] = node;
    } else if (node == root && root != NULL) {
        free(copy); /* mounted in itself */
        return NULL;
    } else if (node != NULL) {
        detach(node);
    }
    if (node == NULL || copy == NULL) {
        fault_set(fault, "FAILED", "out of memory");
        return NULL;
    }
    attach(node, parent, copy);
    return node;
}

static bool look_at_entry(struct node *node, const struct dirent *entry, int directory, bool tells, struct node **found) {
    char path[4096];
    struct stat file;
    bool is_directory = entry->d_type == DT_DIR || (entry->d_type == DT_UNKNOWN &&
                        fstatat(directory, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(file.st_mode));
    if (tells) {
        struct told *one = malloc(sizeof *one);
        char *name = strdup(entry->d_name);
        if (one == NULL || name == NULL)
            return fault_set(fault, "FAILED", "out of memory");
        *one = (struct told){.next = told, .wd = node->wd, .name = name};
        told = one;
        if (make_path(node, entry->d_name, path) && !tell(CREATE, path))
            return false;
    }
    if (is_directory)
        *found = add_directory(node, entry->d_name);
    return fault->code == NULL;
}

/* Watches what is below a node that is watched. Breadth first: `queue` is a list of the nodes to look into. */
static bool look_into(struct node *top, bool tells) {
    size_t count = 1, capacity = 64, at = 0;
    int *queue = malloc(capacity * sizeof *queue);
    bool fine = queue != NULL || fault_set(fault, "FAILED", "out of memory");
    if (fine)
        queue[0] = top->wd;
    for (; fine && at < count; at++) {
        char path[4096];
        struct node *node = find_node(queue[at]);
        DIR *directory = node != NULL && make_path(node, "", path) ? opendir(path) : NULL;
        struct dirent *entry;
        while (fine && directory != NULL && (entry = readdir(directory)) != NULL) {
            struct node *found = NULL;
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            fine = look_at_entry(node, entry, dirfd(directory), tells, &found);
            if (found == NULL || !fine)
                continue;
            int *grown = count < capacity ? queue : realloc(queue, 2 * capacity * sizeof *queue);
            if (grown == NULL) {
                fine = fault_set(fault, "FAILED", "out of memory");
                continue;
            }
            capacity = count < capacity ? capacity : 2 * capacity;
            queue = grown;
            queue[count++] = found->wd;
        }
        if (directory != NULL)
            closedir(directory);
    }
    free(queue);
    int waiting = 0;
    if (tells && ioctl(kernel, FIONREAD, &waiting) == 0)
        told_until = position + (uint64_t)waiting;
    return fine;
}

/* Events of the kernel */

static bool appeared(struct node *node, const char *name, bool is_directory) {
    char path[4096];
    if (make_path(node, name, path) && !tell(CREATE, path))
        return false;
    struct node *added = is_directory ? add_directory(node, name) : NULL;
    return added != NULL ? look_into(added, true) : fault->code == NULL;
}

static bool disappeared(struct node *node, const char *name) {
    char path[4096];
    return !make_path(node, name, path) || tell(DELETE, path);
}

/* The second half did not come: it went out of the tree. */
static bool moved_out(struct move *move) {
    move->cookie = 0;
    if (!disappeared(move->parent, move->name))
        return false;
    if (move->node != NULL)
        forget(move->node);
    return true;
}

static bool move_begins(struct node *node, const struct inotify_event *event) {
    struct move *move = &moves[0];
    for (int i = 0; i < MOVES && move->cookie != 0; i++)
        if (moves[i].cookie == 0 || moves[i].at < move->at)
            move = &moves[i];
    if (move->cookie != 0 && !moved_out(move))
        return false;
    move->cookie = event->cookie;
    move->node = event->mask & IN_ISDIR ? find_child(node, event->name) : NULL;
    move->parent = node;
    move->at = now_ms();
    snprintf(move->name, sizeof move->name, "%s", event->name);
    return true;
}

static bool move_ends(struct node *node, const struct inotify_event *event) {
    struct move *move = NULL;
    for (int i = 0; i < MOVES; i++)
        if (moves[i].cookie == event->cookie && event->cookie != 0)
            move = &moves[i];
    if (move == NULL)
        return was_told(event->wd, event->name) || appeared(node, event->name, event->mask & IN_ISDIR);
    move->cookie = 0;
    char path[4096], *name = strdup(event->name);
    if (name == NULL)
        return fault_set(fault, "FAILED", "out of memory");
    struct node *replaced = find_child(node, name); /* an empty directory that was there */
    if (replaced != NULL && replaced != move->node)
        forget(replaced);
    if (move->node != NULL) {
        detach(move->node);
        attach(move->node, node, name);
    } else {
        free(name);
    }
    if (make_path(node, event->name, path) && !tell(RENAME, path))
        return false;
    if (!(event->mask & IN_ISDIR) || move->node != NULL)
        return true;
    struct node *added = add_directory(node, event->name); /* moved before we had looked at it */
    return added != NULL ? look_into(added, true) : fault->code == NULL;
}

static bool take_event(const struct inotify_event *event) {
    char path[4096];
    if (event->mask & IN_Q_OVERFLOW)
        return fault_set(fault, "TOO_LARGE", "more happened than was taken from here; look at the tree and watch again");
    struct node *node = find_node(event->wd);
    if (node == NULL)
        return true;
    if (node == root && (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)))
        return fault_set(fault, "FILE_NOT_FOUND", "%.100s is there no more", root->name);
    if (event->mask & IN_IGNORED) {
        while (node->children != NULL)
            forget(node->children);
        free_node(node);
        return true;
    }
    if (event->len == 0)
        return true;
    if (event->mask & IN_CREATE)
        return was_told(event->wd, event->name) || appeared(node, event->name, event->mask & IN_ISDIR);
    if (event->mask & IN_DELETE)
        return disappeared(node, event->name);
    if (event->mask & IN_MOVED_FROM)
        return move_begins(node, event);
    if (event->mask & IN_MOVED_TO)
        return move_ends(node, event);
    if (!(event->mask & IN_ISDIR) && (event->mask & (IN_MODIFY | IN_CLOSE_WRITE)) && make_path(node, event->name, path))
        return tell_modified(path, event->mask & IN_CLOSE_WRITE);
    return true;
}

static bool take_events(void) {
    static char buffer[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t length = read(kernel, buffer, sizeof buffer);
    if (length == -1)
        return errno == EAGAIN || errno == EINTR || fault_set(fault, "FAILED", "cannot watch: %s", strerror(errno));
    position += (uint64_t)length;
    uint64_t at_begin = position - (uint64_t)length;
    for (char *at = buffer; at < buffer + length;) {
        struct inotify_event *event = (struct inotify_event *)at;
        if (!take_event(event))
            return false;
        at += sizeof *event + event->len;
        if (told != NULL && at_begin + (uint64_t)(at - buffer) >= told_until)
            clear_told();
    }
    return true;
}

/* Until it fails: moves whose second half is late have left the tree, owed events are told. */
static void run(void) {
    for (;;) {
        int timeout = tell_due();
        uint64_t now = now_ms();
        for (int i = 0; i < MOVES; i++) {
            if (moves[i].cookie == 0)
                continue;
            if (now - moves[i].at >= PARTNER_MS) {
                if (!moved_out(&moves[i]))
                    return;
            } else if (timeout == -1 || timeout > PARTNER_MS) {
                timeout = PARTNER_MS;
            }
        }
        struct pollfd ready[2] = {{.fd = kernel, .events = POLLIN}, {.fd = body}};
        if (timeout == -2 || (poll(ready, 2, timeout) == -1 && errno != EINTR) || (ready[1].revents & POLLERR))
            return;
        if ((ready[0].revents & POLLIN) && !take_events())
            return;
    }
}

static void watch_tree(const struct fields *request, struct ends ends, struct outcome *outcome) {
    char *path = request->text[TAG_PATH];
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        path[--length] = 0;
    fault = &outcome->fault;
    body = ends.body;
    kernel = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (kernel == -1) {
        fault_set(fault, "TOO_MANY", "cannot watch more trees: %s", strerror(errno));
        return;
    }
    struct stat file;
    if (stat(length > 0 ? path : "/", &file) == -1)
        file_failed(fault, "watch", path);
    else if (!S_ISDIR(file.st_mode))
        fault_set(fault, "NOT_A_DIRECTORY", "%.100s is no directory", path);
    else if ((root = add_directory(NULL, path)) != NULL && look_into(root, false)) {
        close(ends.description);
        run();
    }
    if (fault->code == NULL)
        fault_set(fault, "FAILED", "cannot watch: %s", strerror(errno));
}

const struct transfer_kind file_watch = {.work = watch_tree, .gives_body = true, .describes = true};
