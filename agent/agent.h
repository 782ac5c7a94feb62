/* What every part of the agent shares: its version, how it was started, and the log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_VERSION "1"

#define CONTAINER(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))

struct settings {
    const char *root; /* prefix of /etc and /sys; empty in a guest, a scratch directory in tests */
    bool dry;         /* log what would change the running kernel (clock, hostname, entropy, power) instead of doing it */
};
extern struct settings settings;

/* One line on standard error, which the guest's init system sends to its journal or console. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `path` under the root prefix; valid until the fourth call after this one. */
const char *rooted(const char *path);

/* Milliseconds of a clock that only goes forward and stands still while the VM is paused. */
uint64_t now_ms(void);
