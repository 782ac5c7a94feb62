/* Owns the CRC-32C computation: one instruction per 8 bytes where the processor has it, else a table. */
#include "crc32c.h"

#include <string.h>

uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t length) {
    static uint32_t table[256];
    if (table[1] == 0) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++)
                value = (value >> 1) ^ (value & 1 ? 0x82F63B78u : 0); /* the polynomial, bits reversed */
            table[i] = value;
        }
    }
    crc = ~crc;
    for (const uint8_t *at = bytes, *end = at + length; at < end; at++)
        crc = (crc >> 8) ^ table[(crc ^ *at) & 0xFF];
    return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) uint32_t crc32c_sse42(uint32_t crc, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    uint64_t value = ~crc;
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        value = __builtin_ia32_crc32di(value, word);
    }
    uint32_t rest = (uint32_t)value;
    for (; length > 0; at++, length--)
        rest = __builtin_ia32_crc32qi(rest, *at);
    return ~rest;
}

bool crc32c_has_sse42(void) {
    return __builtin_cpu_supports("sse4.2");
}

#else

uint32_t crc32c_sse42(uint32_t crc, const void *bytes, size_t length) {
    return crc32c_table(crc, bytes, length);
}

bool crc32c_has_sse42(void) {
    return false;
}

#endif

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length) {
    return crc32c_has_sse42() ? crc32c_sse42(crc, bytes, length) : crc32c_table(crc, bytes, length);
}
