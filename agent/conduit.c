/* Owns the memory between agent and child, and who waits for whom.
 *
 * The child is the request's user, so what it could change is not believed: the agent counts for itself. */
#include "conduit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* The offsets count all bytes; a byte is where its offset is in the ring. */
struct conduit_memory {
    _Atomic uint64_t put, taken;
    atomic_bool waiting; /* the child, for the bell */
    alignas(4096) uint8_t bytes[CONDUIT_LENGTH];
};

static void taken_ready(struct watch *watch, uint32_t events) {
    (void)events;
    uint64_t times;
    ssize_t length = read(watch->fd, &times, sizeof times); /* the credit follows from the offset */
    (void)length;
}

bool conduit_open(struct conduit *conduit, struct conduit_exit *exit) {
    int bell[2];
    void *memory = mmap(NULL, sizeof *conduit->memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    *conduit = (struct conduit){.memory = memory, .bell = -1, .taken.fd = -1};
    *exit = (struct conduit_exit){.memory = memory, .bell = -1, .taken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (exit->taken != -1 && watch_begin(&conduit->taken, exit->taken, EPOLLIN, taken_ready) == 0 && pipe2(bell, O_CLOEXEC) == 0) {
        conduit->bell = bell[1];
        exit->bell = bell[0];
        fcntl(conduit->bell, F_SETFL, O_NONBLOCK);
        return true;
    }
    int error = errno;
    conduit_close(conduit);
    errno = error;
    return false;
}

void conduit_close(struct conduit *conduit) {
    watch_end(&conduit->taken);
    if (conduit->bell != -1)
        close(conduit->bell);
    conduit->bell = -1;
    if (conduit->memory != NULL)
        munmap(conduit->memory, sizeof *conduit->memory);
    conduit->memory = NULL;
}

/* The agent */

static void copy_in(struct conduit_memory *memory, uint64_t offset, const uint8_t *bytes, size_t length) {
    size_t at = offset % CONDUIT_LENGTH, first = CONDUIT_LENGTH - at < length ? CONDUIT_LENGTH - at : length;
    memcpy(memory->bytes + at, bytes, first);
    memcpy(memory->bytes, bytes + first, length - first);
}

bool conduit_take(struct conduit *conduit, const uint8_t *bytes, size_t length, struct fault *fault) {
    struct conduit_memory *memory = conduit->memory;
    uint64_t from = conduit->received;
    if (conduit->ended)
        return fault_set(fault, "BAD_REQUEST", "input after its end");
    conduit->received += length;
    if (memory == NULL)
        return true;
    uint64_t waiting = conduit->received - atomic_load(&memory->taken);
    if (waiting > CONDUIT_LENGTH)
        return fault_set(fault, "BAD_REQUEST", "input beyond the credit");
    copy_in(memory, from, bytes, length);
    atomic_store(&memory->put, conduit->received);
    if (waiting >= CONDUIT_PART && atomic_exchange(&memory->waiting, false)) {
        ssize_t written = write(conduit->bell, "", 1); /* it may be full of them, which wakes as well */
        (void)written;
    }
    return true;
}

void conduit_end(struct conduit *conduit) {
    conduit->ended = true;
    if (conduit->bell != -1)
        close(conduit->bell);
    conduit->bell = -1;
}

uint64_t conduit_credit(const struct conduit *conduit) {
    return (conduit->memory != NULL ? atomic_load(&conduit->memory->taken) : conduit->received) + CONDUIT_LENGTH;
}

/* The child */

size_t conduit_await(struct conduit_exit *exit, const uint8_t **bytes) {
    struct conduit_memory *memory = exit->memory;
    uint64_t length;
    while ((length = atomic_load(&memory->put) - exit->at) < CONDUIT_PART && !exit->ended) {
        atomic_store(&memory->waiting, true);
        if (atomic_load(&memory->put) - exit->at >= CONDUIT_PART) /* since it was looked at */
            continue;
        char rung[16];
        exit->ended = read(exit->bell, rung, sizeof rung) == 0;
    }
    size_t at = exit->at % CONDUIT_LENGTH, together = CONDUIT_LENGTH - at < CONDUIT_PART ? CONDUIT_LENGTH - at : CONDUIT_PART;
    *bytes = memory->bytes + at;
    return length < together ? (size_t)length : together;
}

void conduit_release(struct conduit_exit *exit, size_t length) {
    exit->at += length;
    atomic_store(&exit->memory->taken, exit->at);
    ssize_t written = write(exit->taken, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;
}
