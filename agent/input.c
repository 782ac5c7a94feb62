/* Owns what was received for a pipe and has not been written to it: at most a window, allocated only while there is some. */
#include "input.h"

#include "agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void input_close(struct input *input) {
    watch_end(&input->pipe);
    free(input->bytes);
    input->bytes = NULL;
    input->start = input->end = 0;
    input->consumed = input->received; /* nobody reads it any more, so the host need not wait with the rest */
}

/* How much of the bytes the pipe took; all of them when nobody reads it any more. */
static size_t write_part(struct input *input, const uint8_t *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        ssize_t written = write(input->pipe.fd, bytes + at, length - at);
        if (written == -1 && (errno == EAGAIN || errno == EINTR))
            return at;
        if (written == -1) { /* the reader has closed its input: its own affair */
            input_close(input);
            return length;
        }
        at += (size_t)written;
        input->consumed += (size_t)written;
    }
    return length;
}

static void flush(struct input *input) {
    if (input->bytes != NULL) {
        size_t taken = write_part(input, input->bytes + input->start, input->end - input->start);
        if (input->pipe.fd == -1)
            return;
        input->start += taken;
        if (input->start < input->end) {
            watch_change(&input->pipe, EPOLLOUT);
            return;
        }
        free(input->bytes);
        input->bytes = NULL;
        input->start = input->end = 0;
        watch_change(&input->pipe, 0); /* a writable pipe would wake us all the time */
    }
    if (input->ended)
        input_close(input);
}

static void input_ready(struct watch *watch, uint32_t events) {
    struct input *input = CONTAINER(watch, struct input, pipe);
    if (events & EPOLLERR) /* no reader is left */
        input_close(input);
    else
        flush(input);
}

int input_begin(struct input *input, int fd) {
    return watch_begin(&input->pipe, fd, 0, input_ready);
}

static bool keep(struct input *input, const uint8_t *bytes, size_t length, struct fault *fault) {
    if (input->bytes == NULL && (input->bytes = malloc(INPUT_WINDOW)) == NULL)
        return fault_set(fault, "FAILED", "out of memory");
    if (length > INPUT_WINDOW - input->end) {
        memmove(input->bytes, input->bytes + input->start, input->end - input->start);
        input->end -= input->start;
        input->start = 0;
    }
    memcpy(input->bytes + input->end, bytes, length);
    input->end += length;
    return true;
}

bool input_take(struct input *input, uint64_t offset, const uint8_t *bytes, size_t length, struct fault *fault) {
    uint64_t known = input->received - offset;
    if (known >= length)
        return true;
    bytes += known;
    length -= known;
    if (input->ended)
        return fault_set(fault, "BAD_REQUEST", "input after its end");
    input->received += length;
    if (input->pipe.fd == -1) {
        input->consumed = input->received;
        return true;
    }
    if (length > INPUT_WINDOW - (input->end - input->start))
        return fault_set(fault, "BAD_REQUEST", "input beyond the credit");
    size_t taken = input->bytes == NULL ? write_part(input, bytes, length) : 0; /* mostly the pipe takes it as it comes */
    if (taken == length)
        return true;
    if (!keep(input, bytes + taken, length - taken, fault))
        return false;
    flush(input);
    return true;
}

void input_end(struct input *input) {
    input->ended = true;
    if (input->pipe.fd != -1)
        flush(input);
}
