/* Owns terminal sessions.
 *
 * A session runs from its start to the moment when its first process (with respawn: the last of those) has been waited
 * for. Its output goes to its ring, from which viewers are sent; a viewer that gets nothing for a second is not waited for. */
#include "pty.h"

#include "agent.h"
#include "launch.h"
#include "user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SESSION_LIMIT 64
#define KEPT_MS (10 * 60 * 1000)
#define QUICK_MS 10000 /* a process that ends sooner has ended quickly */
#define QUICK_LIMIT 3
#define PATIENCE_MS 1000           /* with a viewer that gets nothing */
#define LAG_LIMIT (RING_LIMIT * 3 / 4) /* of a viewer that is waited for; the rest is for what the terminal still holds */
#define DRAIN_LIMIT (128 * 1024)   /* more than a terminal holds: somebody writes on */
#define LEFT_LIMIT 16              /* viewers that have left and typed more than was taken */
#define HANGUP_MS 500              /* from SIGHUP to SIGKILL */
#define KILL_ROUNDS 20

static struct link sessions = {&sessions, &sessions}, closing = {&closing, &closing};
static unsigned count;
static uint64_t last_number;

/* Finding */

static struct session *session_of(struct link *link) {
    return link == &sessions ? NULL : CONTAINER(link, struct session, link);
}

struct session *session_next(const struct session *after) {
    struct session *next = session_of(after == NULL ? sessions.next : after->link.next);
    while (next != NULL && next->fault.code != NULL)
        next = session_of(next->link.next);
    return next;
}

struct session *session_find(uint64_t number) {
    struct session *at = session_next(NULL);
    while (at != NULL && at->number != number)
        at = session_next(at);
    return at;
}

struct session *session_find_slug(const char *slug) {
    struct session *at = session_next(NULL);
    while (at != NULL && strcmp(at->slug, slug) != 0)
        at = session_next(at);
    return at;
}

/* Viewers */

static void viewer_free(struct viewer *viewer) {
    list_remove(&viewer->link);
    input_close(&viewer->input);
    free(viewer->description);
    free(viewer);
}

struct viewer *viewer_new(struct session *session, struct stream *stream, struct fault *fault) {
    struct viewer *viewer = calloc(1, sizeof *viewer);
    if (viewer == NULL) {
        fault_set(fault, "FAILED", "out of memory");
        return NULL;
    }
    viewer->stream = stream;
    viewer->session = session;
    viewer->moved_at = now_ms();
    viewer->input.pipe.fd = -1;
    /* A descriptor of its own, because each viewer waits for room on its own. */
    int fd = session->ended ? -1 : fcntl(session->terminal.fd, F_DUPFD_CLOEXEC, 3);
    if (!session->ended && (fd == -1 || input_begin(&viewer->input, fd) == -1)) {
        fault_set(fault, "FAILED", "cannot attach to the terminal: %s", strerror(errno));
        free(viewer);
        return NULL;
    }
    list_append(&session->viewers, &viewer->link);
    return viewer;
}

static unsigned count_left(const struct session *session) {
    unsigned left = 0;
    for (const struct link *at = session->viewers.next; at != &session->viewers; at = at->next)
        left += CONTAINER(at, struct viewer, link)->stream == NULL;
    return left;
}

void viewer_leave(struct viewer *viewer) {
    viewer->stream = NULL;
    if (viewer->session == NULL || viewer->input.bytes == NULL || count_left(viewer->session) > LEFT_LIMIT)
        viewer_free(viewer);
}

static bool is_watched(const struct session *session) {
    for (const struct link *at = session->viewers.next; at != &session->viewers; at = at->next)
        if (CONTAINER(at, struct viewer, link)->stream != NULL)
            return true;
    return false;
}

/* Output */

/* How long the terminal is not read, for the sake of viewers that are behind but moving; 0: it is. */
static int hold_ms(const struct session *session) {
    uint64_t now = now_ms();
    int longest = 0;
    for (const struct link *at = session->viewers.next; at != &session->viewers; at = at->next) {
        const struct viewer *viewer = CONTAINER(at, struct viewer, link);
        if (viewer->stream == NULL || !viewer->described || session->ring.end - viewer->sent <= LAG_LIMIT)
            continue;
        uint64_t until = viewer->moved_at + PATIENCE_MS;
        if (until > now && (int)(until - now) > longest)
            longest = (int)(until - now);
    }
    return longest;
}

static ssize_t read_terminal(struct session *session) {
    uint8_t bytes[8192]; /* a terminal gives no more than 4096 at once */
    ssize_t length = read(session->terminal.fd, bytes, sizeof bytes);
    if (length > 0)
        ring_append(&session->ring, bytes, (size_t)length);
    return length;
}

static void terminal_ready(struct watch *watch, uint32_t events) {
    (void)events;
    struct session *session = CONTAINER(watch, struct session, terminal);
    for (int i = 0; i < 8; i++) {
        if (hold_ms(session) > 0) {
            session->held = true;
            watch_change(watch, 0);
            return;
        }
        if (read_terminal(session) <= 0)
            return;
    }
}

void session_write(uint64_t number, const uint8_t *bytes, size_t length) {
    struct session *session = session_find(number);
    if (session == NULL)
        return;
    for (size_t at = 0; at < length;) {
        const uint8_t *line = memchr(bytes + at, '\n', length - at);
        size_t part = line != NULL ? (size_t)(line - bytes) - at : length - at;
        ring_append(&session->ring, bytes + at, part);
        if (line != NULL)
            ring_append(&session->ring, (const uint8_t *)"\r\n", 2);
        at += part + (line != NULL);
    }
}

/* Processes */

static bool spawn(struct session *session, struct fault *fault);

static void session_end(struct session *session, int status) {
    session->ended = true;
    session->status = status;
    session->ended_at = now_ms();
    watch_end(&session->terminal);
    close(session->slave);
    for (struct link *at = session->viewers.next; at != &session->viewers; at = at->next)
        input_close(&CONTAINER(at, struct viewer, link)->input);
    ring_trim(&session->ring);
}

/* The child has become the program, or says why not. */
static void take_start(struct session *session) {
    struct fault fault;
    ssize_t length = session->start.fd == -1 ? -1 : read(session->start.fd, &fault, sizeof fault);
    if (length == sizeof fault && !session->started)
        session->fault = fault;
    else if (length >= 0)
        session->started = true;
    if (length >= 0)
        watch_end(&session->start);
}

static void start_ready(struct watch *watch, uint32_t events) {
    (void)events;
    take_start(CONTAINER(watch, struct session, start));
}

static bool may_respawn(struct session *session) {
    bool quick = now_ms() - session->begun_at < QUICK_MS;
    session->quick_ends = quick ? session->quick_ends + 1 : 0;
    return session->respawn && session->fault.code == NULL && session->quick_ends < QUICK_LIMIT;
}

static void process_ready(struct watch *watch, uint32_t events) {
    (void)events;
    struct session *session = CONTAINER(watch, struct session, process);
    int status;
    if (waitpid(session->pid, &status, WNOHANG) != session->pid)
        return;
    watch_end(&session->process);
    take_start(session);
    watch_end(&session->start);
    if (session->terminal.fd == -1) {
        session->ended = true; /* closed before */
        return;
    }
    for (ssize_t length, all = 0; all < DRAIN_LIMIT && (length = read_terminal(session)) > 0;)
        all += length;
    struct fault fault;
    if (!may_respawn(session) || !spawn(session, &fault))
        session_end(session, status);
}

/* Leaves the session as it was when it fails. */
static bool spawn(struct session *session, struct fault *fault) {
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC) == -1)
        return fault_set(fault, "FAILED", "cannot make a pipe: %s", strerror(errno));
    fcntl(pipe[0], F_SETFL, O_NONBLOCK);
    struct fields request = {.present = {false}};
    request.text[TAG_USER] = session->user;
    request.text[TAG_COMMAND] = session->command;
    request.text_length[TAG_COMMAND] = session->command != NULL ? strlen(session->command) : 0;
    pid_t pid = launch_terminal(&request, session->slave, pipe[1], fault);
    close(pipe[1]);
    int process = pid != -1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    bool watched = process != -1 && watch_begin(&session->process, process, EPOLLIN, process_ready) == 0;
    if (watched && watch_begin(&session->start, pipe[0], EPOLLIN, start_ready) == 0) {
        session->pid = pid;
        session->begun_at = now_ms();
        return true;
    }
    if (pid != -1) {
        fault_set(fault, "FAILED", "cannot watch the terminal's process: %s", strerror(errno));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    if (watched)
        watch_end(&session->process);
    else
        close(pipe[0]);
    return false;
}

/* Sessions */

static void dismiss_viewers(struct session *session) {
    for (struct link *at = session->viewers.next, *next; at != &session->viewers; at = next) {
        struct viewer *viewer = CONTAINER(at, struct viewer, link);
        next = at->next;
        list_remove(at);
        list_init(at);
        viewer->session = NULL;
        input_close(&viewer->input);
        if (viewer->stream == NULL)
            viewer_free(viewer);
    }
}

static void session_free(struct session *session) {
    list_remove(&session->link);
    watch_end(&session->terminal);
    watch_end(&session->process);
    watch_end(&session->start);
    dismiss_viewers(session);
    ring_free(&session->ring);
    free(session->command);
    free(session);
}

static bool make_room(struct fault *fault) {
    struct session *oldest = NULL;
    if (count < SESSION_LIMIT)
        return true;
    for (struct session *at = session_next(NULL); at != NULL; at = session_next(at))
        if (at->ended && !is_watched(at) && (oldest == NULL || at->ended_at < oldest->ended_at))
            oldest = at;
    if (oldest == NULL)
        return fault_set(fault, "TOO_MANY", "there are %u terminals; close one of them", count);
    count--;
    session_free(oldest);
    return true;
}

static bool take_request(struct session *session, const struct fields *request, const char *slug, struct fault *fault) {
    const char *command = request->text[TAG_COMMAND];
    uint64_t columns = request->present[TAG_COLUMNS] ? request->number[TAG_COLUMNS] : 80;
    uint64_t rows = request->present[TAG_ROWS] ? request->number[TAG_ROWS] : 24;
    if (columns < 1 || columns > 1000 || rows < 1 || rows > 1000)
        return fault_set(fault, "BAD_REQUEST", "a terminal has 1 to 1000 columns and rows");
    if (slug != NULL && (*slug == 0 || strlen(slug) >= SLUG_LIMIT))
        return fault_set(fault, "BAD_REQUEST", "a slug has 1 to %d characters", SLUG_LIMIT - 1);
    const char *user = request->text[TAG_USER];
    if (user == NULL) {
        const struct passwd *found = user_find(NULL, fault);
        if (found == NULL)
            return false;
        user = found->pw_name;
    }
    if (strlen(user) >= USER_LIMIT)
        return fault_set(fault, "NO_SUCH_USER", "there is no user %.100s", user);
    if (command != NULL && (session->command = strdup(command)) == NULL)
        return fault_set(fault, "FAILED", "out of memory");
    snprintf(session->user, sizeof session->user, "%s", user);
    snprintf(session->slug, sizeof session->slug, "%s", slug != NULL ? slug : "");
    session->columns = (unsigned)columns;
    session->rows = (unsigned)rows;
    session->respawn = request->number[TAG_RESPAWN] != 0;
    return true;
}

/* The pair of a new pseudo-terminal. */
static bool open_terminal(struct session *session, struct fault *fault) {
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), unlocked = 0;
    if (master == -1)
        return fault_set(fault, "FAILED", "cannot make a terminal: %s", strerror(errno));
    struct winsize size = {.ws_col = (unsigned short)session->columns, .ws_row = (unsigned short)session->rows};
    if (ioctl(master, TIOCSPTLCK, &unlocked) == -1 || ioctl(master, TIOCSWINSZ, &size) == -1 ||
        (session->slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) == -1) {
        fault_set(fault, "FAILED", "cannot open a terminal: %s", strerror(errno));
        close(master);
        return false;
    }
    if (watch_begin(&session->terminal, master, EPOLLIN, terminal_ready) == 0)
        return true;
    fault_set(fault, "FAILED", "cannot watch a terminal: %s", strerror(errno));
    close(session->slave);
    return false;
}

struct session *session_open(const struct fields *request, const char *slug, struct fault *fault) {
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        fault_set(fault, "FAILED", "out of memory");
        return NULL;
    }
    session->terminal.fd = session->process.fd = session->start.fd = -1;
    list_init(&session->link);
    list_init(&session->viewers);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    session->created = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (!take_request(session, request, slug, fault) || !make_room(fault) || !open_terminal(session, fault)) {
        session_free(session);
        return NULL;
    }
    if (!spawn(session, fault)) {
        close(session->slave);
        session_free(session);
        return NULL;
    }
    session->number = ++last_number;
    list_append(&sessions, &session->link);
    count++;
    return session;
}

struct session *session_obtain(const struct fields *request, const char *slug, bool *fresh, struct fault *fault) {
    struct session *session = slug != NULL ? session_find_slug(slug) : NULL;
    *fresh = session == NULL;
    if (session == NULL)
        return session_open(request, slug, fault);
    const char *user = request->text[TAG_USER];
    if (user == NULL) {
        const struct passwd *found = user_find(NULL, fault);
        if (found == NULL)
            return NULL;
        user = found->pw_name;
    }
    if (strcmp(user, session->user) == 0)
        return session;
    fault_set(fault, "SLUG_TAKEN", "terminal %.63s is of another user, %.63s", slug, session->user);
    return NULL;
}

void session_resize(struct session *session, unsigned columns, unsigned rows) {
    session->columns = columns;
    session->rows = rows;
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    if (!session->ended)
        ioctl(session->terminal.fd, TIOCSWINSZ, &size);
}

void session_interrupt(struct session *session) {
    if (!session->ended)
        ioctl(session->terminal.fd, TIOCSIG, SIGINT);
}

void session_close(struct session *session) {
    count--;
    if (session->ended) {
        session_free(session);
        return;
    }
    list_remove(&session->link);
    list_append(&closing, &session->link); /* until its process has been waited for */
    watch_end(&session->terminal);
    close(session->slave);
    dismiss_viewers(session);
    ring_free(&session->ring);
}

/* Sends a signal to each process of the session that lives; returns how many there are. */
static unsigned signal_all(pid_t id, int signal) {
    DIR *directory = opendir("/proc");
    unsigned found = 0;
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char path[300], line[512], state;
        int pid = atoi(entry->d_name), session;
        if (pid <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = fd == -1 ? -1 : read(fd, line, sizeof line - 1);
        if (fd != -1)
            close(fd);
        line[length > 0 ? length : 0] = 0;
        const char *end = strrchr(line, ')'); /* the name before it may hold anything */
        if (end == NULL || sscanf(end + 1, " %c %*d %*d %d", &state, &session) != 2 || session != id || state == 'Z')
            continue;
        found++;
        if (signal != 0)
            kill(pid, signal);
        if (signal == SIGHUP)
            kill(pid, SIGCONT); /* a stopped one could not heed it */
    }
    if (directory != NULL)
        closedir(directory);
    return found;
}

void session_kill(const struct session *session, bool is_closing) {
    struct timespec step = {.tv_nsec = 20 * 1000000};
    if (is_closing && signal_all(session->pid, SIGHUP) > 0)
        for (int waited = 0; waited < HANGUP_MS && signal_all(session->pid, 0) > 0; waited += 20)
            nanosleep(&step, NULL);
    for (int i = 0; i < KILL_ROUNDS && signal_all(session->pid, SIGKILL) > 0; i++)
        nanosleep(&step, NULL); /* until none is left that could have started another one */
}

/* Time */

static int sooner(int timeout, uint64_t milliseconds) {
    int bounded = milliseconds < INT32_MAX ? (int)milliseconds : INT32_MAX;
    return timeout == -1 || bounded < timeout ? bounded : timeout;
}

static int session_tick(struct session *session, uint64_t now) {
    for (struct link *at = session->viewers.next, *next; at != &session->viewers; at = next) {
        struct viewer *viewer = CONTAINER(at, struct viewer, link);
        next = at->next;
        if (viewer->stream == NULL && viewer->input.bytes == NULL)
            viewer_free(viewer);
    }
    if (session->ended) {
        bool failed = session->fault.code != NULL;
        if (!is_watched(session) && (failed || session->ended_at + KEPT_MS <= now)) {
            count--;
            session_free(session);
            return -1;
        }
        return failed || session->ended_at + KEPT_MS <= now ? -1 : sooner(-1, session->ended_at + KEPT_MS - now);
    }
    int hold = session->held ? hold_ms(session) : 0;
    if (session->held && hold == 0) {
        session->held = false;
        watch_change(&session->terminal, EPOLLIN);
    }
    return hold > 0 ? hold : -1;
}

int terminals_tick(void) {
    uint64_t now = now_ms();
    int timeout = -1;
    for (struct link *at = sessions.next, *next; at != &sessions; at = next) {
        next = at->next;
        int wanted = session_tick(CONTAINER(at, struct session, link), now);
        if (wanted != -1)
            timeout = sooner(timeout, (uint64_t)wanted);
    }
    for (struct link *at = closing.next, *next; at != &closing; at = next) {
        struct session *session = CONTAINER(at, struct session, link);
        next = at->next;
        if (session->ended)
            session_free(session);
    }
    return timeout;
}
