/* Workers: forked children that do what would block the event loop, such as flushing file systems. */
#pragma once

#include "fault.h"
#include "fields.h"

#include <stdbool.h>
#include <stdint.h>

struct stream;

struct outcome {
    struct fault fault;
    bool has_size, has_status;
    uint64_t size;
    int status; /* of waitpid() */
};

typedef void work(const struct fields *request, struct outcome *outcome);

/* Has the stream answered with the outcome, or refused when no worker can be started. A worker whose stream ends goes on. */
void worker_serve(struct stream *stream, work *work, const struct fields *request);
