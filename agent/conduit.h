/* A conduit: bytes of the host on their way to a forked child, through memory that both have. Compared with a pipe each byte is copied
 * once less, and the child works only when there is much to do or all has come. */
#pragma once

#include "event.h"
#include "fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONDUIT_LENGTH (1u << 20)
#define CONDUIT_PART (256u * 1024) /* what the child is woken for, and is given at most at once */

struct conduit_memory;

/* The agent's end. */
struct conduit {
    struct conduit_memory *memory; /* NULL once it is closed */
    int bell;                      /* a pipe: a byte wakes the child; its end, also when the agent is killed, is the end of the bytes */
    struct watch taken;            /* rung by the child */
    uint64_t received;             /* from the host */
    bool ended;                    /* the host has no more */
};

/* The child's end. */
struct conduit_exit {
    struct conduit_memory *memory;
    int bell, taken;
    uint64_t at;
    bool ended;
};

/* Makes both ends, before the fork. The agent closes the exit's bell after it. On failure there is neither, and errno. */
bool conduit_open(struct conduit *conduit, struct conduit_exit *exit);
/* Nobody reads it any more: what comes is dropped. */
void conduit_close(struct conduit *conduit);

/* The next bytes, within the credit. */
bool conduit_take(struct conduit *conduit, const uint8_t *bytes, size_t length, struct fault *fault);
/* There are no more. */
void conduit_end(struct conduit *conduit);
/* The offset up to which the host may send. */
uint64_t conduit_credit(const struct conduit *conduit);

/* In the child: waits for bytes, which stay as they are until it is called again. 0: there are no more. */
size_t conduit_await(struct conduit_exit *exit, const uint8_t **bytes);
void conduit_release(struct conduit_exit *exit, size_t length);
