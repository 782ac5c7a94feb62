/* Terminals: sessions of a process on a pseudo-terminal, and what it has written, until they are forgotten. */
#pragma once

#include "event.h"
#include "fault.h"
#include "fields.h"
#include "input.h"
#include "list.h"
#include "ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SLUG_LIMIT 64
#define USER_LIMIT 256

/* Who looks at a session and types. Outlives its stream until what was typed has been taken. */
struct viewer {
    struct link link;
    struct stream *stream; /* NULL when it has left */
    struct session *session; /* NULL when the session is forgotten */
    struct input input;
    uint64_t sent;           /* the next byte of the session's output that it gets */
    uint64_t moved_at;       /* when it last got some */
    bool fresh;              /* it made the session */
    bool described;          /* `sent` is set */
    uint8_t *description;    /* until the host has it */
    size_t description_length;
};

struct session {
    struct link link; /* in `sessions`, or in `closing` */
    uint64_t number;
    char slug[SLUG_LIMIT], user[USER_LIMIT]; /* slug: empty when it has none */
    char *command;                           /* NULL: the login shell */
    unsigned columns, rows;
    uint64_t created; /* nanoseconds since 1970 */
    bool respawn;
    unsigned quick_ends; /* in a row */
    pid_t pid;           /* also the process group and session; not valid once ended */
    uint64_t begun_at;
    struct watch process;
    struct watch start; /* gives the fault of a child that could not become the program, or ends when it has */
    bool started;
    struct watch terminal; /* the master */
    int slave;             /* held open, so that a moment without a process is no hang-up */
    bool held;             /* not read for now, because of viewers */
    struct ring ring;
    struct link viewers;
    bool ended;
    int status; /* of waitpid(), once ended */
    uint64_t ended_at;
    struct fault fault; /* it could not even start */
};

/* By number or slug; NULL when there is none. */
struct session *session_find(uint64_t number);
struct session *session_find_slug(const char *slug);
struct session *session_next(const struct session *after); /* NULL: the first */

/* Makes one; `slug` may be NULL. NULL with the fault. */
struct session *session_open(const struct fields *request, const char *slug, struct fault *fault);
/* The session of the slug, made when there is none. NULL with the fault, which may be that it is another user's. */
struct session *session_obtain(const struct fields *request, const char *slug, bool *fresh, struct fault *fault);
void session_resize(struct session *session, unsigned columns, unsigned rows);
void session_interrupt(struct session *session);
/* No look-up finds it any more; its viewers are told. What runs must be killed by somebody else. */
void session_close(struct session *session);
/* Kills all processes of the session, with SIGHUP and a moment to heed it when it is `closing`. Waits: for a worker. */
void session_kill(const struct session *session, bool closing);

/* As if its program had written it. */
void session_write(uint64_t number, const uint8_t *bytes, size_t length);

/* NULL with the fault. */
struct viewer *viewer_new(struct session *session, struct stream *stream, struct fault *fault);
void viewer_leave(struct viewer *viewer);

/* Forgets what is over, holds and reads on. Returns the milliseconds until it must be called again, or -1.
   Frees, so it must not be called by a watch. */
int terminals_tick(void);
