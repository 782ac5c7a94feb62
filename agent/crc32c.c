/* Owns the CRC-32C computation: one instruction per 8 bytes where the processor has it, else tables.
 *
 * QEMU's emulated processors have the instruction but compute it bit by bit: 110 MiB/s where the tables make 620. */
#include "crc32c.h"

#include <endian.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* `table[k][b]` is what byte b does to the checksum when k more bytes follow it: eight bytes are taken in one step. */
static uint32_t table[8][256];

static void make_table(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = (value >> 1) ^ (value & 1 ? 0x82F63B78u : 0); /* the polynomial, bits reversed */
        table[0][i] = value;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 0xFF];
}

/* Aligned so that it lies within one page: an emulated processor looks up where to go on at each jump from a page into another. */
__attribute__((aligned(512))) uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    if (table[0][1] == 0)
        make_table();
    crc = ~crc;
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        word = le64toh(word) ^ crc;
        crc = table[7][word & 0xFF] ^ table[6][word >> 8 & 0xFF] ^ table[5][word >> 16 & 0xFF] ^
              table[4][word >> 24 & 0xFF] ^ table[3][word >> 32 & 0xFF] ^ table[2][word >> 40 & 0xFF] ^
              table[1][word >> 48 & 0xFF] ^ table[0][word >> 56];
    }
    for (; length > 0; at++, length--)
        crc = (crc >> 8) ^ table[0][(crc ^ *at) & 0xFF];
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

static bool is_emulated(void) {
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    if (!(c >> 31)) /* under no hypervisor */
        return false;
    __cpuid(0x40000000, a, b, c, d);
    unsigned name[3] = {b, c, d};
    return memcmp(name, "TCGTCGTCGTCG", 12) == 0;
}

#else

uint32_t crc32c_sse42(uint32_t crc, const void *bytes, size_t length) {
    return crc32c_table(crc, bytes, length);
}

bool crc32c_has_sse42(void) {
    return false;
}

static bool is_emulated(void) {
    return true;
}

#endif

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length) {
    static enum { UNDECIDED, INSTRUCTION, TABLES } way;
    if (way == UNDECIDED) /* once: a machine that moved to another kind of host would only be slower */
        way = crc32c_has_sse42() && !is_emulated() ? INSTRUCTION : TABLES;
    return way == INSTRUCTION ? crc32c_sse42(crc, bytes, length) : crc32c_table(crc, bytes, length);
}
