/* Workers: forked children that do what would block the event loop, such as flushing file systems. */
#pragma once

#include "command.h"
#include "event.h"
#include "fields.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct outcome {
    struct fault fault;
    bool has_size;
    uint64_t size;
};

typedef void work(const struct fields *request, struct outcome *outcome);

struct worker {
    struct watch pipe;
    pid_t pid;
    void (*done)(void *owner, const struct outcome *outcome);
    void *owner; /* set to NULL when it is gone; the worker frees itself */
};

/* NULL with the fault when it cannot be started. */
struct worker *worker_start(work *work, const struct fields *request, struct fault *fault);
