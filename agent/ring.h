/* A ring: the last bytes of an output that has no end, found by their offset in all of it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RING_LIMIT (1u << 20)

struct ring {
    uint8_t *bytes; /* as much as was needed so far, up to the limit */
    size_t capacity;
    uint64_t end; /* how many bytes there were in all */
};

void ring_append(struct ring *ring, const uint8_t *bytes, size_t length);
/* The offset of the oldest byte that is kept. */
uint64_t ring_start(const struct ring *ring);
/* What is kept from `offset` on in one piece, at most `length` bytes; how many there are. */
size_t ring_at(const struct ring *ring, uint64_t offset, size_t length, const uint8_t **bytes);
/* Gives back what is not needed when nothing more comes. */
void ring_trim(struct ring *ring);
void ring_free(struct ring *ring);
