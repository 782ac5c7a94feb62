/* Input: bytes of the host on their way into a pipe or terminal, which may take its time. */
#pragma once

#include "event.h"
#include "fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_WINDOW (256 * 1024)

struct input {
    struct watch pipe;
    uint8_t *bytes; /* received, not yet written to the pipe: from `start` to `end`; NULL while there are none */
    size_t start, end;
    uint64_t received, consumed; /* offsets in the channel */
    bool ended;                  /* the host has no more */
};

/* Takes over a non-blocking descriptor; on failure closes it, leaves errno and returns -1. */
int input_begin(struct input *input, int fd);
/* Bytes from `offset` on, which is at most `received`; what was received before is skipped. */
bool input_take(struct input *input, uint64_t offset, const uint8_t *bytes, size_t length, struct fault *fault);
/* Closes the pipe as soon as it has everything. */
void input_end(struct input *input);
/* Nobody reads it any more: what comes is dropped. */
void input_close(struct input *input);
