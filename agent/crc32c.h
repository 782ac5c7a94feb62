/* CRC-32C (Castagnoli), the checksum of a frame. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Goes on from `crc`, which is 0 at the beginning. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t length);

/* The two ways to compute it, apart only for the test that compares them. */
uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t length);
uint32_t crc32c_sse42(uint32_t crc, const void *bytes, size_t length);
bool crc32c_has_sse42(void);
