/* Owns the memory of rings. Below the limit a ring is a plain array that grows; it begins to wrap when it grows no more. */
#include "ring.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 4096

static bool has_wrapped(const struct ring *ring) {
    return ring->end > ring->capacity;
}

/* Where there is no memory, it wraps early. Once it has wrapped it does not grow again. */
static void grow(struct ring *ring, uint64_t wanted) {
    size_t capacity = ring->capacity < FIRST ? FIRST : ring->capacity;
    while (capacity < wanted && capacity < RING_LIMIT)
        capacity *= 2;
    if (capacity > RING_LIMIT)
        capacity = RING_LIMIT;
    uint8_t *grown = capacity > ring->capacity ? realloc(ring->bytes, capacity) : NULL;
    if (grown == NULL)
        return;
    ring->bytes = grown;
    ring->capacity = capacity;
}

void ring_append(struct ring *ring, const uint8_t *bytes, size_t length) {
    if (!has_wrapped(ring) && ring->end + length > ring->capacity)
        grow(ring, ring->end + length);
    if (length > ring->capacity) { /* only its end is kept */
        ring->end += length - ring->capacity;
        bytes += length - ring->capacity;
        length = ring->capacity;
    }
    while (length > 0) {
        size_t at = (size_t)(ring->end % ring->capacity), room = ring->capacity - at;
        size_t part = length < room ? length : room;
        memcpy(ring->bytes + at, bytes, part);
        ring->end += part;
        bytes += part;
        length -= part;
    }
}

uint64_t ring_start(const struct ring *ring) {
    return has_wrapped(ring) ? ring->end - ring->capacity : 0;
}

size_t ring_at(const struct ring *ring, uint64_t offset, size_t length, const uint8_t **bytes) {
    if (offset >= ring->end || ring->capacity == 0)
        return 0;
    size_t at = (size_t)(offset % ring->capacity);
    if (length > ring->end - offset)
        length = (size_t)(ring->end - offset);
    if (length > ring->capacity - at)
        length = ring->capacity - at;
    *bytes = ring->bytes + at;
    return length;
}

void ring_trim(struct ring *ring) {
    uint8_t *fitting = ring->end > 0 && ring->end < ring->capacity ? realloc(ring->bytes, (size_t)ring->end) : NULL;
    if (fitting == NULL)
        return;
    ring->bytes = fitting;
    ring->capacity = (size_t)ring->end;
}

void ring_free(struct ring *ring) {
    free(ring->bytes);
    *ring = (struct ring){.bytes = NULL};
}
